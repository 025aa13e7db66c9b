// Share acknowledgements inside a producer's transaction (docs/PROTOCOL.md part 1):
// TxnShareAcknowledge, AddShareAcksToTxn, and what DescribeSharePartitions says of what is in
// flight.
//
//   auto [topic, member, producer] = staging(kit);
//   stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
//   producer.commit();
//
// Errors: Failure.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tools/conform/kit/share_member.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

// States of what is in flight, as DescribeSharePartitions has them; others are in share_state.h.
constexpr int8_t kAcquiredState = 1;
constexpr int8_t kStagedState = 5;

// What a stage says instead of what is true.
struct StageOptions {
  std::optional<json::value> transactional_id;
  std::optional<std::string> group;
  std::optional<std::string> member;
  std::optional<int32_t> member_epoch;
  std::optional<int64_t> start;
};
Object stage_request(const TxnProducer& producer, const ShareMember& member,
                     const std::vector<ShareAck>& acks, const StageOptions& options = {});
// The whole answer; repeated while a coordinator is busy.
Value try_stage(Kit& kit, const TxnProducer& producer, const ShareMember& member,
                const std::vector<ShareAck>& acks, const StageOptions& options = {});
// Of one partition: its error code. An error at the top is a Failure.
Value try_stage_one(Kit& kit, const TxnProducer& producer, const ShareMember& member,
                    const ShareAck& ack, const StageOptions& options = {});
// Failure unless everything is staged.
void stage(Kit& kit, const TxnProducer& producer, const ShareMember& member,
           const std::vector<ShareAck>& acks, const StageOptions& options = {});

// AddShareAcksToTxn; the whole answer. Repeated while a coordinator is busy.
Value try_enlist(Kit& kit, const TxnProducer& producer, const std::string& group,
                 const std::vector<SharePart>& parts, std::optional<int64_t> start = {});
// The start of the transaction. Failure unless it succeeds.
int64_t enlist(Kit& kit, const TxnProducer& producer, const std::string& group, const Topic& topic,
               std::optional<int64_t> start = {});

// The first state partition that its open transaction lists.
int64_t state_partition_of(const TxnProducer& producer);
// A marker from a client to one state partition: the error code.
struct StateMarker {
  int epoch = 0;
  bool committed = kCommit;
  int32_t coordinator_epoch = 0;
  int8_t transaction_version = 2;  // of version 2 on; before it is 0
  int16_t version = 2;             // of WriteTxnMarkers
};
Value write_state_marker(Kit& kit, int64_t producer_id, int64_t state_partition,
                         const StateMarker& marker);

// The partition's part of DescribeSharePartitions.
Value in_flight(Kit& kit, const std::string& group, const Topic& topic, int32_t partition = 0,
                int32_t max_ranges = 1000);
// First offset, last offset, state, delivery count of its ranges.
using Flight = std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>;
Flight flight_of(Kit& kit, const std::string& group, const Topic& topic, int32_t partition = 0);
void expect_lag(Kit& kit, const std::string& group, const Topic& topic, int64_t lag);

// Nothing of the partition is staged.
void expect_nothing_staged(Kit& kit, const std::string& group, const Topic& topic,
                           int32_t partition = 0);

// Ten records acquired by a member, and a producer that is initialised.
struct Staging {
  Topic topic;
  ShareMember member;
  TxnProducer producer;
};
Staging staging(Kit& kit, TxnVersion version = TxnVersion::kTwo, const Configs& group_configs = {},
                const InitOptions& init = {});
// A case that runs over EndTxn 4 and 5 runs in both transaction versions.
TxnVersion version_of(const Kit& kit);

}  // namespace ackord::conform
