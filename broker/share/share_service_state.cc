#include <optional>
#include <utility>

#include "broker/base/logging.h"
#include "broker/share/local_share_service.h"

namespace ackord::share {
// ---------------------------------------------------------------- topics that are gone

io::Task<Result<void>> LocalShareService::load() {
  if (!metadata_.image().topic(metadata::kShareStateTopic)) co_return Result<void>();
  auto ensuring = shards_.ensure();
  const Result<void> done = co_await std::move(ensuring);
  if (!done) co_return done;
  std::vector<io::Task<Result<void>>> sweeps;
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    sweeps.push_back(io::on(shards_.runner(index).core().executor, sweep_here(index)));
  }
  auto all = io::when_all(std::move(sweeps));
  const std::vector<Result<void>> swept = co_await std::move(all);
  for (const Result<void>& one : swept) {
    if (!one) co_return one;
  }
  auto letters = resume_letters();
  const Result<void> with_letters = co_await std::move(letters);
  if (!with_letters) co_return with_letters;
  auto resuming = batch_transactions_.resume();
  const Result<void> resumed = co_await std::move(resuming);
  co_return resumed;
}

// A stop may also have come between a record that is ARCHIVING and its dead letter.
io::Task<Result<void>> LocalShareService::resume_letters() {
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    auto resuming = shards_.run(index, ResumeLetters{});
    const Result<ResumeLetters::Reply> resumed = co_await std::move(resuming);
    if (!resumed) co_return resumed.error();
    if (resumed->waiting_records > 0) {
      base::log_info("dead letters are taken up again state-partition={} records={}", index,
                     resumed->waiting_records);
    }
  }
  co_return Result<void>();
}

// A stop may have come between the removal of a topic and that of its state.
io::Task<Result<void>> LocalShareService::sweep_here(int32_t index) {
  std::vector<Uuid> gone;
  for (const Uuid& topic : shards_.runner(index).shard().topics()) {
    if (!metadata_.image().topic(topic)) gone.push_back(topic);
  }
  return delete_here(index, std::move(gone));
}

io::Task<Result<void>> LocalShareService::delete_here(int32_t index, std::vector<Uuid> topics) {
  for (const Uuid& topic : topics) {
    auto deleting = shards_.runner(index).run(DeleteTopic{topic});
    const Result<DeleteTopic::Reply> deleted = co_await std::move(deleting);
    if (!deleted) {
      base::log_warn("share state of a removed topic stays topic_id={} error={}", topic,
                     deleted.error().code);
      co_return deleted.error();
    }
  }
  co_return Result<void>();
}

// Told on every core: each sees to its own shards.
void LocalShareService::topic_removed(const metadata::TopicImage& topic) {
  auto deleting = [](io::Task<Result<void>> task) -> io::Task<void> {
    (void)co_await std::move(task);
  };
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    io::Executor& executor = shards_.runner(index).core().executor;
    if (&executor != io::Executor::current()) continue;
    io::spawn(executor, deleting(delete_here(index, {topic.id})));
  }
}

// ---------------------------------------------------------------- views

io::Task<Result<int64_t>> LocalShareService::staged_records() {
  if (!metadata_.image().topic(metadata::kShareStateTopic)) co_return int64_t{0};
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) co_return ready.error();
  std::vector<io::Task<Result<StagedByOwner::Reply>>> asking;
  for (int32_t index = 0; index < shards_.partitions(); ++index)
    asking.push_back(shards_.run(index, StagedByOwner{}));
  auto all = io::when_all(std::move(asking));
  const std::vector<Result<StagedByOwner::Reply>> replies = co_await std::move(all);
  int64_t records = 0;
  for (const Result<StagedByOwner::Reply>& reply : replies) {
    if (!reply) co_return reply.error();
    for (const StagedByOwner::Entry& entry : reply->entries) records += entry.records;
  }
  co_return records;
}

io::Task<Result<Describe::Reply>> LocalShareService::describe(GroupId group,
                                                              TopicIdPartition partition,
                                                              int32_t max_ranges) {
  const auto source = source_of(partition);
  if (!source) co_return source.error();
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) co_return ready.error();
  Describe op;
  op.key = {std::move(group), partition.topic_id, partition.partition};
  op.max_ranges = max_ranges;
  const int32_t index = shards_.index_of(op.key);
  auto running = shards_.run(index, std::move(op));
  Result<Describe::Reply> reply = co_await std::move(running);
  co_return reply;
}

// ---------------------------------------------------------------- transactional acknowledgements

io::Task<Result<std::vector<int32_t>>> LocalShareService::state_partitions(
    GroupId group, std::vector<TopicIdPartition> partitions) {
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) co_return ready.error();
  std::vector<int32_t> indexes;
  indexes.reserve(partitions.size());
  for (const TopicIdPartition& partition : partitions) {
    indexes.push_back(shards_.index_of({group, partition.topic_id, partition.partition}));
  }
  co_return indexes;
}

io::Task<bool> LocalShareService::already_staged(GroupId group, Owner owner,
                                                 std::vector<AcknowledgePartition> partitions) {
  for (auto& [index, shard] : by_shard(group, std::move(partitions))) {
    IsStagedBy op;
    op.owner = owner;
    for (AcknowledgePartition& one : shard.items) {
      op.partitions.push_back(
          {{group, one.partition.topic_id, one.partition.partition}, std::move(one.batches)});
    }
    auto running = shards_.run(index, std::move(op));
    const Result<IsStagedBy::Reply> reply = co_await std::move(running);
    if (!reply || !reply->staged) co_return false;
  }
  co_return true;
}

io::Task<Result<Guards>> LocalShareService::take_guards(OwnerId owner,
                                                        std::vector<int32_t> state_partitions) {
  Guards guards;
  for (const int32_t index : state_partitions) {
    if (guards.contains(index)) continue;
    TakeGuard op{owner, environment_.random.next() | 1};
    auto running = shards_.run(index, std::move(op));
    const Result<Guard> guard = co_await std::move(running);
    if (!guard) co_return guard.error();
    guards.emplace(index, *guard);
  }
  co_return guards;
}

io::Task<std::vector<Stage::PartitionReply>> LocalShareService::stage(
    GroupId group, Owner owner, std::string member, Guards guards,
    std::vector<AcknowledgePartition> partitions, StageCheck check) {
  std::vector<Stage::PartitionReply> replies(partitions.size());
  const metadata::GroupConfig config = metadata_.group_config(group);
  const bool dlq = dead_letters_on(metadata_, config);
  auto shards = by_shard(group, std::move(partitions));
  std::vector<io::Task<Result<Stage::Reply>>> tasks;
  for (auto& [index, shard] : shards) {
    Stage op;
    op.owner = owner;
    op.guard = guards[index];
    op.member_id = member;
    for (AcknowledgePartition& one : shard.items) {
      Stage::Partition part;
      part.key = {group, one.partition.topic_id, one.partition.partition};
      part.batches = std::move(one.batches);
      part.dlq = dlq;
      part.max_staged_records = config.share_partition_max_staged_records;
      op.partitions.push_back(std::move(part));
    }
    tasks.push_back(
        io::on(shards_.runner(index).core().executor, stage_here(index, std::move(op), check)));
  }
  auto running = io::when_all(std::move(tasks));
  std::vector<Result<Stage::Reply>> staged = co_await std::move(running);
  size_t which = 0;
  for (auto& [index, shard] : shards) {
    Result<Stage::Reply>& reply = staged[which++];
    for (size_t i = 0; i < shard.places.size(); ++i) {
      replies[shard.places[i]] =
          reply ? std::move((*reply)[i]) : Stage::PartitionReply{unavailable(reply.error()), false};
    }
  }
  co_return replies;
}

// What the log knows of the producer, and what may forbid the stage, is looked up on the shard's
// core, at the moment of the decision.
io::Task<Result<Stage::Reply>> LocalShareService::stage_here(int32_t index, Stage op,
                                                             StageCheck check) {
  ErrorCode refused = gate_.check();
  if (refused == ErrorCode::NONE && check) refused = check();
  if (refused != ErrorCode::NONE) co_return error(refused);
  op.producer = shards_.runner(index).partition().producer(op.owner.producer_id);
  auto running = shards_.runner(index).run(std::move(op));
  Result<Stage::Reply> reply = co_await std::move(running);
  co_return reply;
}

io::Task<Result<Marker::Reply>> LocalShareService::marker_here(int32_t index, Marker op) {
  op.producer = shards_.runner(index).partition().producer(op.marker.producer.id);
  auto running = shards_.runner(index).run(std::move(op));
  Result<Marker::Reply> reply = co_await std::move(running);
  co_return reply;
}

ErrorCode LocalShareService::check_state_partition(int32_t index) const {
  if (!shards_.partitions()) return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  if (index < 0 || index >= shards_.partitions()) return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  return ErrorCode::NONE;
}

io::Task<ErrorCode> LocalShareService::write(int32_t index, Marker op) {
  const ErrorCode refusal = check_state_partition(index);
  if (refusal != ErrorCode::NONE) co_return refusal;
  auto running = io::on(shards_.runner(index).core().executor, marker_here(index, std::move(op)));
  const Result<Marker::Reply> reply = co_await std::move(running);
  // The sender retries it; a coordinator's own codes would end the transaction's completion.
  if (!reply) co_return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  co_return reply->error.error_code;
}

io::Task<ErrorCode> LocalShareService::write_marker(int32_t state_partition,
                                                    log::EndMarker marker) {
  Marker op;
  op.marker = marker;
  return write(state_partition, std::move(op));
}

io::Task<Result<WatchProducer::Reply>> LocalShareService::watch_producer(int32_t state_partition,
                                                                         ProducerId producer_id) {
  const ErrorCode refusal = check_state_partition(state_partition);
  if (refusal != ErrorCode::NONE) co_return error(refusal);
  auto running =
      shards_.run(state_partition, WatchProducer{producer_id, environment_.random.next() | 1});
  Result<WatchProducer::Reply> reply = co_await std::move(running);
  if (!reply) co_return error(ErrorCode::NOT_LEADER_OR_FOLLOWER, reply.error().message);
  co_return reply;
}

io::Task<ErrorCode> LocalShareService::write_foreign_marker(int32_t state_partition,
                                                            log::EndMarker marker,
                                                            Marker::FromTheWire from_the_wire) {
  Marker op;
  op.marker = marker;
  op.from_the_wire = from_the_wire;
  return write(state_partition, std::move(op));
}

}  // namespace ackord::share
