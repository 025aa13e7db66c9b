// BatchTxnService: the door to batch transactions: share acknowledgements that commit without a
// producer, for engines whose sink is not Kafka (docs/PROTOCOL.md part 2).
//
// Works on the shards of `__share_group_state` (share_service.h), each as coordinator of some
// groups and as participant of any. Threads: every member from any core. Whatever it answers is
// durable; commits and aborts are answered when every participant is resolved, too. Errors of the
// shards behind: COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "broker/io/task.h"
#include "broker/share/batch_txn_types.h"
#include "protocol/types/result.h"

namespace ackord::share {

struct BatchTxnListing {
  BatchTxnId id;
  BatchTxnRecord::Value value;
  std::vector<DescribeBatchTxnHere::Partition> pending;  // ONGOING and PREPARE only
};

class BatchTxnService {
 public:
  virtual ~BatchTxnService() = default;

  // INVALID_TXN_STATE for one that has ended or is prepared. Of an ONGOING one nothing changes;
  // `staged_records` says what it holds. While share.version goes down: as staging_gate.h says.
  virtual io::Task<BatchTxnReply> begin(BatchTxnId id, int32_t timeout_ms) = 0;
  // Closes, counts, decides. TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE, TRANSACTION_ABORTABLE;
  // CONCURRENT_TRANSACTIONS when another request has been closing it for too long.
  virtual io::Task<BatchTxnReply> prepare(BatchTxnId id) = 0;
  virtual io::Task<BatchTxnReply> abort(BatchTxnId id) = 0;
  virtual io::Task<BatchTxnReply> commit(BatchTxnId id) = 0;

  // The steps of BatchTxnAcknowledge around ShareService::take_guards() and stage(): state
  // partitions join, durable; and what a refusal for good does.
  virtual io::Task<PartitionError> enlist(BatchTxnId id, std::vector<int32_t> participants) = 0;
  virtual io::Task<ErrorCode> doom(BatchTxnId id) = 0;

  // In the order of the ids. `states` empty: all.
  virtual io::Task<Result<std::vector<BatchTxnListing>>> list(GroupId group,
                                                              std::vector<BatchTxnState> states,
                                                              std::string prefix) = 0;
  // How many are ONGOING or in PREPARE, of the group or of all.
  virtual io::Task<Result<int64_t>> live(std::optional<GroupId> group) = 0;
};

}  // namespace ackord::share
