// LocalShareService: what operators look at, and their release of records.
#include <algorithm>
#include <utility>

#include "broker/share/local_share_service.h"

namespace ackord::share {

io::Task<Result<ReleaseRanges::Reply>> LocalShareService::release_ranges(
    SharePartitionKey key, std::vector<OffsetRange> ranges, std::optional<std::string> member_id) {
  const auto source = source_of({key.topic_id, key.partition});
  if (!source) co_return source.error();
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) co_return ready.error();
  ReleaseRanges op;
  op.limit = limit_of(metadata_.group_config(key.group_id));
  op.key = std::move(key);
  op.ranges = std::move(ranges);
  op.member_id = std::move(member_id);
  const int32_t index = shards_.index_of(op.key);
  auto running = shards_.run(index, std::move(op));
  Result<ReleaseRanges::Reply> reply = co_await std::move(running);
  co_return reply;
}

io::Task<ArchiveReport::ByTopic> LocalShareService::archived() {
  ArchiveReport::ByTopic all;
  for (const io::Core& core : environment_.cores) {
    auto asking = io::on(core.executor, report_.counters());
    const ArchiveReport::ByTopic here = co_await std::move(asking);
    for (const auto& [name, counters] : here) all[name] += counters;
  }
  co_return all;
}

io::Task<std::vector<PartitionGauges>> LocalShareService::gauges() {
  std::vector<PartitionGauges> all;
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    auto asking = gauges_of(index);
    std::vector<PartitionGauges> some = co_await std::move(asking);
    std::ranges::move(some, std::back_inserter(all));
  }
  co_return all;
}

io::Task<std::vector<PartitionGauges>> LocalShareService::gauges_of(int32_t index) {
  std::vector<PartitionGauges> out;
  auto running = shards_.run(index, Positions{});
  Result<Positions::Reply> positions = co_await std::move(running);
  if (!positions) co_return out;
  for (Positions::Entry& entry : positions->entries) {
    if (entry.start_offset < 0) continue;
    const auto topic = metadata_.image().topic(entry.key.topic_id);
    if (!topic) continue;
    TopicPartition source{topic->name, entry.key.partition};
    const io::Core& core = log_.core_of(source);
    auto looking = io::on(core.executor, look_into_log(std::move(source), std::move(entry)));
    out.push_back(co_await std::move(looking));
  }
  co_return out;
}

// On the source partition's core.
io::Task<PartitionGauges> LocalShareService::look_into_log(TopicPartition source,
                                                           Positions::Entry position) {
  PartitionGauges out;
  out.key = std::move(position.key);
  const std::shared_ptr<log::Partition> partition = log_.find(source);
  if (!partition) co_return out;
  const Offset start = std::max(position.start_offset, partition->log_start_offset());
  out.lag = std::max<int64_t>(0, partition->high_watermark() - start - position.done);
  if (out.lag == 0) co_return out;
  auto reading = partition->read({start, 1, true, log::Isolation::kReadUncommitted, true});
  const log::ReadResult read = co_await std::move(reading);
  if (read.error != ErrorCode::NONE || read.batches.empty()) co_return out;
  const TimeMs age = environment_.here().clock.now().wall_ms - read.batches.front().max_timestamp;
  out.oldest_unacknowledged_age_ms = std::max<int64_t>(0, age);
  co_return out;
}

}  // namespace ackord::share
