// LocalBatchTxnService: BatchTxnService over the shards of this process. Ownership, threads and
// errors: batch_txn_service.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/io/core.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/batch_txn_service.h"
#include "broker/share/staging_gate.h"
#include "broker/share/state_shards.h"

namespace ackord::share {

class LocalBatchTxnService final : public BatchTxnService {
 public:
  // To be made before the shards are.
  LocalBatchTxnService(io::Environment& environment, metadata::MetadataService& metadata,
                       StateShards& shards, const StagingGate& gate);

  // After a load of the shards: timers start, decisions that not all participants know are driven
  // on behind.
  io::Task<Result<void>> resume();

  io::Task<BatchTxnReply> begin(BatchTxnId id, int32_t timeout_ms) override;
  io::Task<BatchTxnReply> prepare(BatchTxnId id) override;
  io::Task<BatchTxnReply> abort(BatchTxnId id) override;
  io::Task<BatchTxnReply> commit(BatchTxnId id) override;
  io::Task<PartitionError> enlist(BatchTxnId id, std::vector<int32_t> participants) override;
  io::Task<ErrorCode> doom(BatchTxnId id) override;
  io::Task<Result<std::vector<BatchTxnListing>>> list(GroupId group,
                                                      std::vector<BatchTxnState> states,
                                                      std::string prefix) override;
  io::Task<Result<int64_t>> live(std::optional<GroupId> group) override;

 private:
  // The state partition that coordinates the group's; only when the shards are there.
  int32_t coordinator_of(const GroupId& group) const;
  // Whether the state topic is there; without it there is no batch transaction.
  bool topic_exists() const;
  io::Task<Result<void>> ready();
  // Runs the operation on the coordinator; while another closes the transaction, it waits.
  template <class Op>
  io::Task<Result<typename Op::Reply>> settled(BatchTxnId id, Op op);
  template <class Op>
  io::Task<Result<typename Op::Reply>> settled_here(int32_t index, Op op);
  io::Task<BatchTxnReply> end(BatchTxnId id, BatchTxnClosing why);
  io::Task<BatchTxnReply> close_and_decide(BatchTxnId id, BatchTxnClosing why, uint64_t token,
                                           std::vector<int32_t> participants);
  // How many records they hold; the error of the first that does not answer.
  template <class Op>
  io::Task<Result<int64_t>> count_staged(Op op, std::vector<int32_t> participants);
  // Tells the participants of a decision, and the coordinator that they know.
  io::Task<BatchTxnReply> resolve(BatchTxnId id, BatchTxnReply decided);
  io::Task<void> time_out(BatchTxnId id);
  io::Task<void> drive_on(BatchTxnId id, BatchTxnReply decided);
  io::Task<Result<std::vector<DescribeBatchTxnHere::Partition>>> pending(
      BatchTxnId id, std::vector<int32_t> participants);

  io::Environment& environment_;
  metadata::MetadataService& metadata_;
  StateShards& shards_;
  const StagingGate& gate_;
};

}  // namespace ackord::share
