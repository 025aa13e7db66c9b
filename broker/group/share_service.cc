// GroupService: share groups.
#include <algorithm>
#include <utility>

#include "broker/base/logging.h"
#include "broker/group/group_service_impl.h"

namespace ackord::group {
namespace {

// Initialisations of one heartbeat that run at the same time.
constexpr size_t kInitializationsAtOnce = 64;

}  // namespace

ShareGroupLimits GroupServiceImpl::limits_of(std::string_view group) const {
  const metadata::GroupConfig config = metadata_.group_config(group);
  ShareGroupLimits limits;
  limits.session_timeout_ms = config.share_session_timeout_ms;
  limits.heartbeat_interval_ms = config.share_heartbeat_interval_ms;
  limits.assignment_interval_ms = config.share_assignment_interval_ms;
  limits.max_size = metadata_.broker_config().group_share_max_size;
  limits.rack = metadata_.this_node().rack;
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
  op.topics_version = metadata_.image().topics_version();
  if (!runner.shard().only_renews(heartbeat, op.topics_version))
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

}  // namespace ackord::group
