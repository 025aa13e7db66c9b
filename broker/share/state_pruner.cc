#include "broker/share/state_pruner.h"

#include <algorithm>
#include <utility>

#include "broker/base/logging.h"

namespace ackord::share {

StatePruner::~StatePruner() {
  for (const Job* job : {&cold_, &pruning_}) {
    if (job->timer != 0) core_.clock.cancel(job->timer);
  }
}

void StatePruner::changed() {
  const Offset end = runner_.partition().log_end_offset();
  if (end == seen_end_) return;  // only soft state
  seen_end_ = end;
  arm(cold_, intervals_.cold_snapshot_ms, snapshot_cold);
  arm(pruning_, intervals_.prune_ms, prune);
}

void StatePruner::arm(Job& job, int64_t after_ms, io::Task<void> (*work)(StatePruner*)) {
  if (job.timer != 0 || job.running) return;
  job.timer = core_.clock.call_at(core_.clock.now().steady_ms + after_ms, [this, &job, work] {
    job.timer = 0;
    job.running = true;
    io::spawn(core_.executor, run(this, &job, work));
  });
}

io::Task<void> StatePruner::run(StatePruner* self, Job* job, io::Task<void> (*work)(StatePruner*)) {
  auto working = work(self);
  co_await std::move(working);
  job->running = false;
}

io::Task<void> StatePruner::snapshot_cold(StatePruner* self) {
  SnapshotCold op;
  op.older_than_ms = self->intervals_.cold_snapshot_ms;
  for (bool more = true; more;) {
    auto running = self->runner_.run(op);
    const Result<SnapshotCold::Reply> reply = co_await std::move(running);
    more = reply && reply->more;
  }
}

io::Task<void> StatePruner::prune(StatePruner* self) {
  log::Partition& partition = self->runner_.partition();
  const Offset prunable = self->runner_.shard().prunable_offset();
  // The snapshots too that stand for what goes.
  auto durable = partition.durable(partition.log_end_offset());
  const Result<void> done = co_await std::move(durable);
  if (!done) co_return;
  const Offset before = std::min(prunable, partition.last_stable_offset());
  if (before <= partition.log_start_offset()) co_return;
  auto deleting = partition.delete_records(before);
  const Result<Offset> start = co_await std::move(deleting);
  if (!start)
    base::log_warn("share state not pruned partition={}-{} error={}", partition.name().topic.sv(),
                   partition.name().partition, start.error().code);
}

}  // namespace ackord::share
