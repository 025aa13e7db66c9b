// Producer transactions, as their coordinators and the partitions that they write to see them
// (KIP-664, 994, 1152; kafka-transactions.sh), and the ends that an operator can give them. Works
// with any broker; what it says of share acknowledgements needs one that has them.
//
// Errors: the broker's code and message; those that may pass are tried again until the deadline.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cluster.h"

namespace ackord::ctl {

struct TransactionFilter {
  std::vector<std::string> states;  // none: all
  std::vector<int64_t> producer_ids;
  int64_t longer_than_ms = -1;  // open for longer than that
  std::string pattern;          // RE2, of the whole transactional id
};

struct ListedTransaction {
  std::string id;
  BrokerId coordinator;
  int64_t producer_id = -1;
  std::string state;
};

struct Transaction {
  std::string id;
  BrokerId coordinator;
  int64_t producer_id = -1;
  int16_t producer_epoch = -1;
  std::string state;
  int32_t timeout_ms = -1;
  TimeMs start_time_ms = -1;
  std::map<std::string, std::vector<int32_t>> partitions;

  bool open() const { return state == "Ongoing"; }
  // Decided, and its markers are under way.
  bool prepared() const { return state == "PrepareCommit" || state == "PrepareAbort"; }
  // KIP-939: no timeout ends it.
  bool two_phase() const { return timeout_ms == INT32_MAX; }
  bool holds_share_acknowledgements() const { return partitions.contains("__share_group_state"); }
};

// A producer as a partition remembers it.
struct PartitionProducer {
  int64_t producer_id = -1;
  int32_t producer_epoch = -1;
  int32_t coordinator_epoch = -1;  // of the last marker; -1: there was none
  int32_t last_sequence = -1;
  TimeMs last_timestamp = -1;
  Offset transaction_start_offset = -1;  // -1: none is open here
};

// INVALID_REQUEST names states that the broker does not know; UNSUPPORTED_VERSION: it cannot filter
// so.
Result<std::vector<ListedTransaction>> list_transactions(client::Cluster& cluster,
                                                         const TransactionFilter& filter,
                                                         const client::Deadline& deadline);

// TRANSACTIONAL_ID_NOT_FOUND when nobody has used the id.
Result<Transaction> describe_transaction(client::Cluster& cluster, const std::string& id,
                                         const client::Deadline& deadline);

Result<std::vector<PartitionProducer>> producers_of(client::Cluster& cluster,
                                                    const std::string& topic, int32_t partition,
                                                    const client::Deadline& deadline);

// Takes over the transactional id (InitProducerId without keeping what is prepared): the open
// transaction is aborted, whoever has it is fenced. Returns when that is done everywhere.
Result<void> fence(client::Cluster& cluster, const std::string& id,
                   const client::Deadline& deadline);

// Ends it under its producer's own identity (EndTxn). Returns when the coordinator has decided.
Result<void> commit(client::Cluster& cluster, const Transaction& transaction,
                    const client::Deadline& deadline);

// An abort marker on one partition, of a transaction that its coordinator has forgotten.
struct PartitionAbort {
  std::string topic;
  int32_t partition = 0;
  int64_t producer_id = -1;
  int16_t producer_epoch = -1;
  int32_t coordinator_epoch = 0;
};
Result<void> write_abort_marker(client::Cluster& cluster, const PartitionAbort& abort,
                                const client::Deadline& deadline);

}  // namespace ackord::ctl
