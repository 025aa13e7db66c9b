// StateShards: the shards of `__share_group_state`, what keeps their logs short, and who waits for
// records of which share partition.
//
// Threads: run() from any core; waiting() and Waiting on the shard's own core.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/coordinator/shard_set.h"
#include "broker/io/signal.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/share_shard.h"
#include "broker/share/state_pruner.h"

namespace ackord::share {

class StateShards {
 public:
  using Runner = coordinator::ShardRunner<ShareShard>;

  StateShards(io::Environment& environment, log::LogService& log,
              metadata::MetadataService& metadata);

  // Told what shards give up, once that is durable, on the shard's core. Before ensure() only.
  using OnArchived = std::function<void(std::vector<Archived>)>;
  void on_archived(OnArchived listener) { on_archived_ = std::move(listener); }

  io::Task<Result<void>> ensure() { return shards_.ensure(); }
  int32_t partitions() const { return shards_.partitions(); }
  // Only after ensure().
  int32_t index_of(const SharePartitionKey& key) const {
    return state_partition_of(key, partitions());
  }
  Runner& runner(int32_t index) { return shards_.at(index); }
  Runner& runner_of(const SharePartitionKey& key) { return runner(index_of(key)); }

  template <class Op>
  io::Task<Result<typename Op::Reply>> run(int32_t index, Op op) {
    return shards_.template run<Op>(index, std::move(op));
  }

  // Notified when records of the key may have become available. On the shard's core.
  io::Signal& waiting(int32_t index, const SharePartitionKey& key) {
    return (*waiting_[static_cast<size_t>(index)])[key];
  }
  // Notified when a batch transaction is not being closed any more. On the shard's core.
  io::Signal& closing_ended(int32_t index) { return *closings_[static_cast<size_t>(index)]; }
  // Called on the shard's core with batch transactions whose time is over. To be set before the
  // shards are made.
  void on_batch_timeout(std::function<void(const std::vector<BatchTxnId>&)> hook) {
    batch_timeout_hook_ = std::move(hook);
  }
  // Whoever waits for records of the group looks again: its configs have changed on this core.
  void wake(std::string_view group);

 private:
  using Waiting = std::unordered_map<SharePartitionKey, io::Signal>;

  io::Task<Result<int32_t>> make_topic();
  void prepare(int32_t index, Runner& runner);
  void wake_here(std::string_view group);
  io::Task<void> tell_archived(Runner& runner, std::vector<Archived> archived);

  io::Environment& environment_;
  metadata::MetadataService& metadata_;
  // By state partition.
  std::vector<std::unique_ptr<Waiting>> waiting_;
  std::vector<std::unique_ptr<io::Signal>> closings_;
  std::vector<std::unique_ptr<StatePruner>> pruners_;
  std::function<void(const std::vector<BatchTxnId>&)> batch_timeout_hook_;
  OnArchived on_archived_;
  coordinator::ShardSet<ShareShard> shards_;
};

}  // namespace ackord::share
