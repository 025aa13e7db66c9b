// StatePruner: keeps one partition of `__share_group_state` from growing for ever (semantics A.6).
//
// Share partitions that nobody writes to hold back the records of those that are written: every
// share.coordinator.cold.partition.snapshot.interval.ms they get a fresh snapshot. Every
// share.coordinator.state.topic.prune.interval.ms the log then begins at the oldest of the latest
// snapshots, but never after the first record of an open transaction. A crash at any point leaves
// all that a load needs: nothing is deleted before what takes its place is durable.
//
// Threads: the shard's core. While nothing is written it has no timer. Owned by StateShards.
#pragma once

#include <cstdint>

#include "broker/coordinator/runtime.h"
#include "broker/share/share_shard.h"

namespace ackord::share {

class StatePruner {
 public:
  using Runner = coordinator::ShardRunner<ShareShard>;
  struct Intervals {
    int64_t prune_ms = 300000;
    int64_t cold_snapshot_ms = 300000;
  };

  // `runner` outlives its work.
  StatePruner(Runner& runner, Intervals intervals)
      : core_(runner.core()), runner_(runner), intervals_(intervals) {}
  StatePruner(const StatePruner&) = delete;
  StatePruner& operator=(const StatePruner&) = delete;
  ~StatePruner();

  // After each change of the shard, inside its decision.
  void changed();

 private:
  struct Job {
    io::Clock::TimerId timer = 0;
    bool running = false;
  };

  void arm(Job& job, int64_t after_ms, io::Task<void> (*work)(StatePruner*));
  static io::Task<void> run(StatePruner* self, Job* job, io::Task<void> (*work)(StatePruner*));
  static io::Task<void> snapshot_cold(StatePruner* self);
  static io::Task<void> prune(StatePruner* self);

  io::Core core_;
  Runner& runner_;
  Intervals intervals_;
  Offset seen_end_ = -1;
  Job cold_;
  Job pruning_;
};

}  // namespace ackord::share
