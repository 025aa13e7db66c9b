// GroupService: opening, groups of any kind, markers.
#include "broker/group/group_service.h"

#include <iterator>
#include <utility>

#include "broker/base/logging.h"
#include "broker/group/group_service_impl.h"

namespace ackord::group {

OffsetRetention retention_of(const metadata::BrokerConfig& config) {
  constexpr int64_t kMinuteMs = 60000;
  return {config.offsets_retention_minutes * kMinuteMs, config.offsets_retention_check_interval_ms};
}

ClassicGroupLimits classic_limits_of(const metadata::BrokerConfig& config) {
  return {config.group_max_size, config.group_initial_rebalance_delay_ms};
}

// ---- opening

void GroupServiceImpl::prepare(Runner& runner) {
  runner.on_tick([this, &runner](GroupShard::TickReply reply) {
    waits_of(runner).deliver(std::move(reply.answers));
    fence_consumers(runner, reply);
  });
}

io::Task<Result<int32_t>> GroupServiceImpl::make_topic() {
  auto making = metadata_.ensure_internal_topic(metadata::kOffsetsTopic);
  Result<std::shared_ptr<const metadata::TopicImage>> topic = co_await std::move(making);
  if (!topic) co_return topic.error();
  co_return (*topic)->partitions;
}

io::Task<Result<void>> GroupServiceImpl::ensure_ready() { return shards_.ensure(); }

io::Task<Result<void>> GroupServiceImpl::load() {
  if (metadata_.image().topic(metadata::kOffsetsTopic) == nullptr) co_return Result<void>();
  auto opening = shards_.ensure();
  Result<void> opened = co_await std::move(opening);
  if (!opened) co_return opened;
  std::vector<io::Task<Result<void>>> sweeps;
  for (int32_t at = 0; at < shards_.partitions(); ++at) {
    Runner& runner = shards_.at(at);
    sweeps.push_back(io::on(runner.core().executor, sweep_here(runner)));
  }
  auto all = io::when_all(std::move(sweeps));
  std::vector<Result<void>> results = co_await std::move(all);
  for (Result<void>& result : results) {
    if (!result) co_return result;
  }
  co_return Result<void>();
}

// What a stop may have left undone: sessions are not logged, and a topic may have gone without our
// being told.
io::Task<Result<void>> GroupServiceImpl::sweep_here(Runner& runner) {
  StartSessions sessions;
  for (const std::string& group : runner.shard().share_groups()) {
    sessions.timeouts_ms[group] = limits_of(group).session_timeout_ms;
  }
  for (const std::string& group : runner.shard().consumer_groups()) {
    sessions.timeouts_ms[group] = consumer_limits_of(group).session_timeout_ms;
  }
  TopicsRemoved removed;
  for (const RemovedTopic& topic : runner.shard().held_topics()) {
    const auto by_name = metadata_.image().topic(topic.name.sv());
    const bool there =
        topic.id.is_zero() ? by_name != nullptr : metadata_.image().topic(topic.id) != nullptr;
    if (!there) removed.topics.push_back(topic);
  }
  auto starting = runner.run(std::move(sessions));
  auto started = co_await std::move(starting);
  if (!started) co_return started.error();
  if (!removed.topics.empty()) {
    auto removing = runner.run(std::move(removed));
    auto done = co_await std::move(removing);
    if (!done) co_return done.error();
  }
  co_return Result<void>();
}

io::Task<Result<int32_t>> GroupServiceImpl::partition_of(GroupId group) {
  auto opening = shards_.ensure();
  Result<void> ready = co_await std::move(opening);
  if (!ready) co_return ready.error();
  co_return metadata::coordinator_partition(group.sv(), shards_.partitions());
}

io::Task<Result<GroupServiceImpl::Runner*>> GroupServiceImpl::runner_of(GroupId group) {
  auto opening = shards_.ensure();
  Result<void> ready = co_await std::move(opening);
  if (!ready) co_return ready.error();
  co_return &shards_.at(metadata::coordinator_partition(group.sv(), shards_.partitions()));
}

// ---- groups of any kind

io::Task<Result<std::vector<ListedGroup>>> GroupServiceImpl::list_groups() {
  std::vector<io::Task<Result<std::vector<ListedGroup>>>> lists;
  for (int32_t at = 0; at < shards_.partitions(); ++at)
    lists.push_back(shards_.run(at, ListGroups{}));
  auto all = io::when_all(std::move(lists));
  std::vector<Result<std::vector<ListedGroup>>> results = co_await std::move(all);
  std::vector<ListedGroup> groups;
  for (auto& result : results) {
    if (!result) co_return result.error();
    groups.insert(groups.end(), std::make_move_iterator(result->begin()),
                  std::make_move_iterator(result->end()));
  }
  co_return groups;
}

io::Task<Result<DescribedClassicGroup>> GroupServiceImpl::describe_classic_group(GroupId group) {
  DescribeClassicGroup op{group};
  return run(std::move(group), std::move(op));
}

io::Task<Result<void>> GroupServiceImpl::delete_group(GroupId group) {
  BeginDeletion op{group};
  auto beginning = run(group, std::move(op));
  Result<BeginDeletion::Reply> begun = co_await std::move(beginning);
  if (!begun) co_return begun.error();
  if (begun->error != ErrorCode::NONE) co_return error(begun->error);
  if (begun->ended) co_return Result<void>();
  EndDeletion end;
  end.group = group;
  auto removing = remove_states(group, std::move(begun->states), end.kept);
  const ErrorCode failure = co_await std::move(removing);
  auto ending = run(std::move(group), std::move(end));
  Result<EndDeletion::Reply> ended = co_await std::move(ending);
  if (!ended) co_return ended.error();
  if (failure != ErrorCode::NONE) co_return error(failure);
  co_return Result<void>();
}

// NONE when all are removed; those that are not are in `kept`.
io::Task<ErrorCode> GroupServiceImpl::remove_states(GroupId group,
                                                    std::vector<ShareGroupTopic> states,
                                                    std::vector<ShareGroupTopic>& kept) {
  ErrorCode failure = ErrorCode::NONE;
  for (const ShareGroupTopic& topic : states) {
    std::vector<io::Task<ErrorCode>> calls;
    for (const int32_t partition : topic.partitions)
      calls.push_back(states_.remove(group, topic.topic_id, partition));
    auto all = io::when_all(std::move(calls));
    const std::vector<ErrorCode> errors = co_await std::move(all);
    ShareGroupTopic left{topic.topic_id, topic.name, {}};
    for (size_t i = 0; i < errors.size(); ++i) {
      if (errors[i] == ErrorCode::NONE) continue;
      left.partitions.push_back(topic.partitions[i]);
      const bool staged = errors[i] == ErrorCode::NON_EMPTY_GROUP;
      failure = staged ? errors[i] : ErrorCode::GROUP_DELETION_FAILED;
      base::log_warn("share state not removed group={} topic={} partition={} error={}", group,
                     topic.name, topic.partitions[i], errors[i]);
    }
    if (!left.partitions.empty()) kept.push_back(std::move(left));
  }
  co_return failure;
}

void GroupServiceImpl::topic_removed(const metadata::TopicImage& topic) {
  for (int32_t at = 0; at < shards_.partitions(); ++at) {
    Runner& runner = shards_.at(at);
    if (&runner.core().executor != io::Executor::current()) continue;
    io::spawn(runner.core().executor,
              topic_removed_here(runner, RemovedTopic{topic.name, topic.id}));
  }
}

io::Task<void> GroupServiceImpl::topic_removed_here(Runner& runner, RemovedTopic topic) {
  TopicsRemoved op;
  op.topics.push_back(std::move(topic));
  auto running = runner.run(std::move(op));
  auto done = co_await std::move(running);
  if (!done) base::log_warn("offsets of a removed topic stay error={}", done.error().code);
}

// ---- transactions

io::Task<ErrorCode> GroupServiceImpl::write_marker(int32_t offsets_partition,
                                                   log::EndMarker marker) {
  if (!shards_.ready()) co_return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  if (offsets_partition < 0 || offsets_partition >= shards_.partitions()) {
    co_return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  }
  Runner& runner = shards_.at(offsets_partition);
  auto running = io::on(runner.core().executor, write_marker_here(runner, marker));
  Result<Verdict> reply = co_await std::move(running);
  // A coordinator that cannot answer now is no leader, to the sender: it tries again.
  if (!reply) co_return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  co_return reply->error;
}

io::Task<Result<Verdict>> GroupServiceImpl::write_marker_here(Runner& runner,
                                                              log::EndMarker marker) {
  auto known = runner.partition().producer(marker.producer.id);
  WriteMarker op{marker, std::move(known)};
  auto running = runner.run(std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  co_return reply;
}

std::unique_ptr<GroupService> make_group_service(io::Environment& environment, log::LogService& log,
                                                 metadata::MetadataService& metadata,
                                                 ShareStateKeeper& states) {
  return std::make_unique<GroupServiceImpl>(environment, log, metadata, states);
}

}  // namespace ackord::group
