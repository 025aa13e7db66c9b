#include "broker/group/group_service.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/base/logging.h"
#include "broker/coordinator/shard_set.h"
#include "broker/group/group_shard.h"

namespace ackord::group {
namespace {

using Runner = coordinator::ShardRunner<GroupShard>;

// Initialisations of one heartbeat that run at the same time.
constexpr size_t kInitializationsAtOnce = 64;

OffsetRetention retention_of(const metadata::BrokerConfig& config) {
  constexpr int64_t kMinuteMs = 60000;
  return {config.offsets_retention_minutes * kMinuteMs, config.offsets_retention_check_interval_ms};
}

class GroupServiceImpl final : public GroupService {
 public:
  GroupServiceImpl(io::Environment& environment, log::LogService& log,
                   metadata::MetadataService& metadata, ShareStateKeeper& states)
      : environment_(environment),
        metadata_(metadata),
        states_(states),
        shards_(
            environment, log, std::string(metadata::kOffsetsTopic), [this] { return make_topic(); },
            [retention = retention_of(metadata.broker_config())](int32_t) {
              return GroupShard(retention);
            }) {
    metadata_.on_topic_removed([this](const metadata::TopicImage& topic) { topic_removed(topic); });
  }

  io::Task<Result<void>> load() override;
  io::Task<Result<void>> ensure_ready() override;
  io::Task<Result<int32_t>> partition_of(GroupId group) override;
  io::Task<ShareHeartbeatReply> share_heartbeat(ShareHeartbeat heartbeat) override;
  io::Task<ErrorCode> check_share_member(GroupId group, std::string member, int32_t epoch) override;
  io::Task<ShareGroupPartitions> share_group_partitions(GroupId group) override;
  io::Task<ErrorCode> txn_offset_commit(TxnOffsetCommit commit,
                                        std::optional<uint64_t> guard) override;
  io::Task<Result<std::optional<uint64_t>>> begin_txn_offset_commit(
      GroupId group, log::ProducerStamp producer) override;
  io::Task<ErrorCode> commit_offsets(OffsetsToCommit commit) override;
  io::Task<Result<FetchedOffsets>> fetch_offsets(OffsetsToFetch fetch) override;
  io::Task<Result<std::vector<ListedGroup>>> list_groups() override;
  io::Task<Result<DescribedClassicGroup>> describe_classic_group(GroupId group) override;
  io::Task<Result<void>> delete_group(GroupId group) override;
  io::Task<ErrorCode> delete_offsets(GroupId group,
                                     std::vector<TopicPartition> partitions) override;
  io::Task<ErrorCode> write_marker(int32_t offsets_partition, log::EndMarker marker) override;

 private:
  io::Task<Result<int32_t>> make_topic();
  // The runner of the group's shard, made ready if need be.
  io::Task<Result<Runner*>> runner_of(GroupId group);

  // ---- on the runner's core
  io::Task<Result<void>> sweep_here(Runner& runner);
  io::Task<Result<ShareHeartbeatDecision>> heartbeat_here(Runner& runner, ShareHeartbeat heartbeat);
  io::Task<void> initialize_here(Runner& runner, GroupId group, int32_t state_epoch,
                                 std::vector<ShareInitialization> work);
  io::Task<Result<Verdict>> commit_here(Runner& runner, TxnOffsetCommit commit,
                                        std::optional<uint64_t> guard);
  io::Task<Result<Verdict>> write_marker_here(Runner& runner, log::EndMarker marker);
  io::Task<void> topic_removed_here(Runner& runner, RemovedTopic topic);

  io::Task<ErrorCode> remove_states(GroupId group, std::vector<ShareGroupTopic> states,
                                    std::vector<ShareGroupTopic>& kept);
  void topic_removed(const metadata::TopicImage& topic);
  std::vector<SubscribedTopic> topics_of(const GroupShard& shard,
                                         const ShareHeartbeat& heartbeat) const;
  ShareGroupLimits limits_of(std::string_view group) const;

  // Runs the operation on the group's shard.
  template <class Op>
  io::Task<Result<typename Op::Reply>> run(GroupId group, Op op) {
    auto finding = runner_of(std::move(group));
    Result<Runner*> runner = co_await std::move(finding);
    if (!runner) co_return runner.error();
    auto running = io::on((*runner)->core().executor, (*runner)->run(std::move(op)));
    auto reply = co_await std::move(running);
    co_return reply;
  }

  io::Environment& environment_;
  metadata::MetadataService& metadata_;
  ShareStateKeeper& states_;
  coordinator::ShardSet<GroupShard> shards_;
};

// ---- opening

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
  TopicsRemoved removed;
  for (const RemovedTopic& topic : runner.shard().held_topics()) {
    const auto by_name = metadata_.image().topic(topic.name.sv());
    const bool there =
        topic.id.is_zero() ? by_name != nullptr : metadata_.image().topic(topic.id) != nullptr;
    if (!there) removed.topics.push_back(topic);
  }
  if (!sessions.timeouts_ms.empty()) {
    auto starting = runner.run(std::move(sessions));
    auto started = co_await std::move(starting);
    if (!started) co_return started.error();
  }
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

io::Task<Result<Runner*>> GroupServiceImpl::runner_of(GroupId group) {
  auto opening = shards_.ensure();
  Result<void> ready = co_await std::move(opening);
  if (!ready) co_return ready.error();
  co_return &shards_.at(metadata::coordinator_partition(group.sv(), shards_.partitions()));
}

// ---- share groups

ShareGroupLimits GroupServiceImpl::limits_of(std::string_view group) const {
  const metadata::GroupConfig config = metadata_.group_config(group);
  ShareGroupLimits limits;
  limits.session_timeout_ms = config.share_session_timeout_ms;
  limits.heartbeat_interval_ms = config.share_heartbeat_interval_ms;
  limits.assignment_interval_ms = config.share_assignment_interval_ms;
  limits.max_size = metadata_.broker_config().group_share_max_size;
  return limits;
}

std::vector<SubscribedTopic> GroupServiceImpl::topics_of(const GroupShard& shard,
                                                         const ShareHeartbeat& heartbeat) const {
  auto names = shard.subscribed_topics(heartbeat.group.sv());
  if (heartbeat.topics) {
    for (const TopicName& topic : *heartbeat.topics) names.insert(topic.str());
  }
  std::vector<SubscribedTopic> topics;
  for (const std::string& name : names) {
    if (const auto topic = metadata_.image().topic(name))
      topics.push_back({topic->name, topic->id, topic->partitions});
  }
  return topics;
}

io::Task<ShareHeartbeatReply> GroupServiceImpl::share_heartbeat(ShareHeartbeat heartbeat) {
  ShareHeartbeatReply failed;
  auto finding = runner_of(heartbeat.group);
  Result<Runner*> runner = co_await std::move(finding);
  if (!runner) {
    failed.error = runner.error().code;
    failed.message = runner.error().message;
    co_return failed;
  }
  auto deciding =
      io::on((*runner)->core().executor, heartbeat_here(**runner, std::move(heartbeat)));
  Result<ShareHeartbeatDecision> decided = co_await std::move(deciding);
  if (!decided) {
    failed.error = decided.error().code;
    failed.message = decided.error().message;
    co_return failed;
  }
  co_return std::move(decided->reply);
}

io::Task<Result<ShareHeartbeatDecision>> GroupServiceImpl::heartbeat_here(
    Runner& runner, ShareHeartbeat heartbeat) {
  ShareHeartbeatOp op;
  op.topics = topics_of(runner.shard(), heartbeat);
  op.limits = limits_of(heartbeat.group.sv());
  const GroupId group = heartbeat.group;
  op.heartbeat = std::move(heartbeat);
  auto running = runner.run(std::move(op));
  Result<ShareHeartbeatDecision> decided = co_await std::move(running);
  // The heartbeat does not wait for this; the assignment comes with a later one.
  if (decided && !decided->initialize.empty()) {
    io::spawn(runner.core().executor,
              initialize_here(runner, group, decided->state_epoch, std::move(decided->initialize)));
  }
  co_return decided;
}

io::Task<void> GroupServiceImpl::initialize_here(Runner& runner, GroupId group, int32_t state_epoch,
                                                 std::vector<ShareInitialization> work) {
  ShareInitializationEnded ended;
  ended.group = group;
  for (size_t from = 0; from < work.size(); from += kInitializationsAtOnce) {
    const size_t to = std::min(work.size(), from + kInitializationsAtOnce);
    std::vector<io::Task<ErrorCode>> calls;
    for (size_t i = from; i < to; ++i) {
      calls.push_back(states_.initialize(group, work[i].partition.topic_id,
                                         work[i].partition.partition, state_epoch,
                                         work[i].start_offset));
    }
    auto all = io::when_all(std::move(calls));
    std::vector<ErrorCode> errors = co_await std::move(all);
    for (size_t i = from; i < to; ++i) {
      const ErrorCode error = errors[i - from];
      ended.results.emplace_back(work[i].partition, error == ErrorCode::NONE);
      if (error == ErrorCode::NONE) continue;
      base::log_warn("share partition not initialised group={} topic={} partition={} error={}",
                     group, work[i].partition.topic_id, work[i].partition.partition, error);
    }
  }
  auto running = runner.run(std::move(ended));
  auto done = co_await std::move(running);
  if (!done)
    base::log_warn("end of initialisation not logged group={} error={}", group, done.error().code);
}

io::Task<ErrorCode> GroupServiceImpl::check_share_member(GroupId group, std::string member,
                                                         int32_t epoch) {
  CheckShareMember op{group, std::move(member), epoch};
  auto running = run(std::move(group), std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

io::Task<ShareGroupPartitions> GroupServiceImpl::share_group_partitions(GroupId group) {
  DescribeShareGroup op{group};
  auto running = run(std::move(group), std::move(op));
  Result<ShareGroupPartitions> reply = co_await std::move(running);
  if (reply) co_return std::move(*reply);
  ShareGroupPartitions failed;
  failed.error = reply.error().code;
  failed.message = reply.error().message;
  co_return failed;
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

// ---- offsets

io::Task<Result<std::optional<uint64_t>>> GroupServiceImpl::begin_txn_offset_commit(
    GroupId group, log::ProducerStamp producer) {
  BeginTxnOffsetCommit op{producer, environment_.random.next()};
  return run(std::move(group), op);
}

io::Task<ErrorCode> GroupServiceImpl::txn_offset_commit(TxnOffsetCommit commit,
                                                        std::optional<uint64_t> guard) {
  auto finding = runner_of(commit.commit.group);
  Result<Runner*> runner = co_await std::move(finding);
  if (!runner) co_return runner.error().code;
  auto running =
      io::on((*runner)->core().executor, commit_here(**runner, std::move(commit), guard));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

// The log is looked at and decided on without a break in between.
io::Task<Result<Verdict>> GroupServiceImpl::commit_here(Runner& runner, TxnOffsetCommit commit,
                                                        std::optional<uint64_t> guard) {
  auto known = runner.partition().producer(commit.producer.id);
  TxnOffsetCommitOp op{std::move(commit), guard, std::move(known)};
  auto running = runner.run(std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  co_return reply;
}

io::Task<ErrorCode> GroupServiceImpl::commit_offsets(OffsetsToCommit commit) {
  GroupId group = commit.group;
  CommitOffsets op{std::move(commit)};
  auto running = run(std::move(group), std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

io::Task<Result<FetchedOffsets>> GroupServiceImpl::fetch_offsets(OffsetsToFetch fetch) {
  GroupId group = fetch.group;
  FetchOffsets op{std::move(fetch)};
  return run(std::move(group), std::move(op));
}

io::Task<ErrorCode> GroupServiceImpl::delete_offsets(GroupId group,
                                                     std::vector<TopicPartition> partitions) {
  if (group.empty()) co_return ErrorCode::INVALID_GROUP_ID;
  DeleteOffsets op{group, std::move(partitions)};
  auto running = run(std::move(group), std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  co_return reply ? reply->error : reply.error().code;
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

}  // namespace

std::unique_ptr<GroupService> make_group_service(io::Environment& environment, log::LogService& log,
                                                 metadata::MetadataService& metadata,
                                                 ShareStateKeeper& states) {
  return std::make_unique<GroupServiceImpl>(environment, log, metadata, states);
}

}  // namespace ackord::group
