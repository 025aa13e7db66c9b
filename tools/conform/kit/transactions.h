// TxnProducer: a transactional producer, request by request. A copy of one keeps its producer id
// and epoch, and so plays the zombie when the other goes on.
//
// The functions named try_… send one request, once, and hand back the answer, changing nothing
// here; the others repeat while the coordinator is busy, expect success, and follow the answer:
// producer id, epoch, sequence numbers. Errors: Failure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/conform/kit/coordinators.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

constexpr bool kCommit = true;
constexpr bool kAbort = false;
// The last epoch that a producer id is given to a producer with (32767 is for aborts).
constexpr int16_t kLastEpoch = INT16_MAX - 1;

struct ProducerIdentity {
  int64_t id = -1;
  int16_t epoch = -1;
  bool operator==(const ProducerIdentity&) const = default;
};
std::string show(const ProducerIdentity& identity);

// A fresh idempotent producer, without a transactional id.
ProducerIdentity idempotent_producer(Kit& kit);

struct InitOptions {
  int16_t version = 4;
  int32_t timeout_ms = 60000;
  ProducerIdentity current;  // what the producer says it has (version 3 on); none: a new start
  bool enable_2pc = false;   // version 6 on, as the next
  bool keep_prepared = false;
};
// Without a transactional id: an idempotent producer.
Object init_request(const std::optional<std::string>& transactional_id,
                    const InitOptions& options = {});

struct TxnPart {
  Topic topic;
  int32_t partition = 0;
};

struct TxnBatch {
  int32_t partition = 0;
  std::optional<int32_t> sequence;  // nothing: the next one
  std::optional<int16_t> version;   // of Produce; nothing: the transaction version's
  bool transactional = true;        // as the batch's header says
  Connection* connection = nullptr;
};

struct TxnOffset {
  int64_t offset = 0;
  int32_t partition = 0;
  std::optional<int16_t> version;  // of TxnOffsetCommit; nothing: the transaction version's
  int32_t generation = -1;         // or the member epoch; version 3 on, as the next two
  std::string member;
  std::optional<std::string> instance;
  int32_t leader_epoch = -1;  // version 2 on
  std::optional<std::string> metadata = "";
};

// How a transaction is led. 1: partitions and groups are added by requests of their own, the epoch
// stays. 2 (KIP-890): Produce 12 and TxnOffsetCommit 5 add them; EndTxn 5 answers the next epoch.
enum class TxnVersion { kOne = 1, kTwo = 2 };

class TxnProducer {
 public:
  // Not initialised yet. An empty id: one of its own.
  explicit TxnProducer(Kit& kit, TxnVersion version = TxnVersion::kTwo, std::string id = {});

  const std::string& id() const { return id_; }
  const ProducerIdentity& identity() const { return identity_; }
  int64_t producer_id() const { return identity_.id; }
  int16_t epoch() const { return identity_.epoch; }
  void set_identity(const ProducerIdentity& identity);
  // With another epoch of the same producer id.
  TxnProducer with_epoch(int epoch) const;

  void init(const InitOptions& options = {});
  Value try_init(const InitOptions& options = {});
  // Again and again, until the epoch is this: thousands of requests, many in flight. Skip where the
  // broker is too slow for that within the case's time (each of them is durable).
  void init_until(int16_t epoch);

  // AddPartitionsToTxn; needed in version 1 only, where produce() does it.
  void add(const Topic& topic, int32_t partition = 0);
  // The results by topic, whatever the version calls them. Version 4 on: as brokers send it.
  Value try_add(const std::vector<TxnPart>& parts, int16_t version = 3, bool verify_only = false);
  // The error code of one partition.
  Value try_add(const Topic& topic, int16_t version = 3, bool verify_only = false);

  // The base offset.
  int64_t produce(const Topic& topic, const std::vector<std::string>& values,
                  int32_t partition = 0);
  // The partition's part of the answer.
  Value try_produce(const Topic& topic, const std::vector<std::string>& values,
                    const TxnBatch& batch = {});

  // AddOffsetsToTxn; needed in version 1 only, where commit_offset() does it.
  void add_group(const std::string& group);
  Value try_add_group(const std::string& group, int16_t version = 3);
  void commit_offset(const std::string& group, const Topic& topic, const TxnOffset& offset);
  // The partition's part of the answer.
  Value try_commit_offset(const std::string& group, const Topic& topic, const TxnOffset& offset);

  // EndTxn, and waits until the markers are written.
  void commit() { end(kCommit); }
  void abort() { end(kAbort); }
  // EndTxn alone: the next transaction may meet markers that are still being written.
  void end_without_waiting(bool committed);
  Value try_end(bool committed, std::optional<int16_t> version = {},
                Connection* connection = nullptr);

  // Its part of DescribeTransactions.
  Value describe() const;
  std::string state() const { return describe()["transactionState"].text(); }
  // Until no transaction is open or being ended.
  void wait_until_complete() const;

 private:
  void end(bool committed);
  int16_t end_version() const { return version_ == TxnVersion::kTwo ? 5 : 4; }

  Kit* kit_;
  TxnVersion version_;
  std::string id_;
  ProducerIdentity identity_;
  std::map<std::pair<std::string, int32_t>, int32_t> next_sequence_;
};

// A producer with an open transaction that holds these values.
TxnProducer begin_transaction(Kit& kit, const Topic& topic, const std::vector<std::string>& values,
                              TxnVersion version = TxnVersion::kTwo, const InitOptions& init = {});

// A group that does not exist, whose coordinator is there and has loaded. As new_group() of
// groups.h, but for brokers that have offsets of groups and nothing else of them, too.
std::string offsets_group(Kit& kit);

// Waits until the last stable offset of the partition is this.
void wait_for_stable(Kit& kit, const Topic& topic, int64_t offset, int32_t partition = 0);

// What a read_committed consumer is given of a partition: fetched up to the last stable offset,
// without what the aborted list says.
std::vector<std::string> committed_values(Kit& kit, const Topic& topic, int32_t partition = 0);

}  // namespace ackord::conform
