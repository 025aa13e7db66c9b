#include "broker/share/state_shards.h"

#include <string>
#include <utility>

namespace ackord::share {

StateShards::StateShards(io::Environment& environment, log::LogService& log,
                         metadata::MetadataService& metadata)
    : environment_(environment),
      metadata_(metadata),
      shards_(
          environment, log, std::string(metadata::kShareStateTopic),
          [this] { return make_topic(); },
          [&environment, &metadata](int32_t) {
            const metadata::BrokerConfig& config = metadata.broker_config();
            return ShareShard(
                ShardConfig{environment.random.next(),
                            config.share_coordinator_snapshot_update_records_per_snapshot,
                            config.share_batch_transaction_retention_ms});
          },
          [this](int32_t index, Runner& runner) { prepare(index, runner); }) {}

io::Task<Result<int32_t>> StateShards::make_topic() {
  auto ensuring = metadata_.ensure_internal_topic(metadata::kShareStateTopic);
  Result<std::shared_ptr<const metadata::TopicImage>> topic = co_await std::move(ensuring);
  if (!topic) co_return topic.error();
  const int32_t partitions = (*topic)->partitions;
  waiting_.clear();
  closings_.clear();
  for (int32_t i = 0; i < partitions; ++i) {
    waiting_.push_back(std::make_unique<Waiting>());
    closings_.push_back(std::make_unique<io::Signal>());
  }
  pruners_.clear();
  pruners_.resize(static_cast<size_t>(partitions));
  co_return partitions;
}

// Every core's image changes at its own moment, and a fetch looks at that of its own core: so each
// core wakes those on all cores.
void StateShards::wake(std::string_view group) {
  for (const io::Core& core : environment_.cores)
    core.executor.post([this, group = std::string(group)] { wake_here(group); });
}

void StateShards::wake_here(std::string_view group) {
  for (int32_t index = 0; index < partitions(); ++index) {
    if (&runner(index).core().executor != io::Executor::current()) continue;
    for (auto& [key, signal] : *waiting_[static_cast<size_t>(index)]) {
      if (key.group_id.sv() == group) signal.notify();
    }
  }
}

void StateShards::prepare(int32_t index, Runner& runner) {
  Waiting* waiting = waiting_[static_cast<size_t>(index)].get();
  io::Signal* closing = closings_[static_cast<size_t>(index)].get();
  runner.on_tick([this](const ShareShard::TickReply& reply) {
    if (!reply.timed_out.empty()) batch_timeout_hook_(reply.timed_out);
  });
  const metadata::BrokerConfig& config = metadata_.broker_config();
  auto& pruner = pruners_[static_cast<size_t>(index)];
  pruner = std::make_unique<StatePruner>(
      runner, StatePruner::Intervals{config.share_coordinator_state_topic_prune_interval_ms,
                                     config.share_coordinator_cold_partition_snapshot_interval_ms});
  runner.on_applied([this, waiting, closing, &runner, pruner = pruner.get()] {
    pruner->changed();
    if (runner.shard().batch_transactions().take_closing_ended()) closing->notify();
    std::vector<Archived> archived = runner.shard().take_archived();
    if (!archived.empty())
      io::spawn(runner.core().executor, tell_archived(runner, std::move(archived)));
    for (const SharePartitionKey& key : runner.shard().take_wakes()) {
      const auto at = waiting->find(key);
      if (at == waiting->end()) continue;
      io::Signal signal = std::move(at->second);
      waiting->erase(at);
      signal.notify();
    }
  });
}

io::Task<void> StateShards::tell_archived(Runner& runner, std::vector<Archived> archived) {
  auto durable = runner.partition().durable(runner.partition().log_end_offset());
  const Result<void> done = co_await std::move(durable);
  if (done && on_archived_) on_archived_(std::move(archived));
}

}  // namespace ackord::share
