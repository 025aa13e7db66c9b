// GroupService: consumer groups.
#include <utility>

#include "broker/base/logging.h"
#include "broker/group/consumer_assignors.h"
#include "broker/group/group_service_impl.h"
#include "broker/group/topic_patterns.h"

namespace ackord::group {
namespace {

// Names that patterns are tried on before other work of the core comes in between.
constexpr size_t kNamesAtOnce = 500;

ConsumerHeartbeatReply failed_reply(const Error& error) {
  ConsumerHeartbeatReply reply;
  reply.error = error.code;
  reply.message = error.message;
  return reply;
}

}  // namespace

TopicView GroupServiceImpl::topics_here() const {
  return {metadata_.image(), metadata_.this_node().rack};
}

ConsumerGroupLimits GroupServiceImpl::consumer_limits_of(std::string_view group) const {
  const metadata::GroupConfig config = metadata_.group_config(group);
  const metadata::BrokerConfig& broker = metadata_.broker_config();
  ConsumerGroupLimits limits;
  limits.session_timeout_ms = config.consumer_session_timeout_ms;
  limits.heartbeat_interval_ms = config.consumer_heartbeat_interval_ms;
  limits.assignment_interval_ms = config.consumer_assignment_interval_ms;
  limits.regex_refresh_interval_ms = broker.group_consumer_regex_refresh_interval_ms;
  limits.max_size = broker.group_consumer_max_size;
  limits.default_assignor = broker.group_consumer_assignors.front();
  const std::string& policy = broker.group_consumer_migration_policy;
  limits.may_upgrade = policy == "bidirectional" || policy == "upgrade";
  limits.may_downgrade = policy == "bidirectional" || policy == "downgrade";
  limits.may_mix = policy != "disabled";
  limits.classic_max_size = broker.group_max_size;
  return limits;
}

io::Task<ConsumerHeartbeatReply> GroupServiceImpl::consumer_heartbeat(ConsumerHeartbeat heartbeat) {
  auto finding = runner_of(heartbeat.group);
  Result<Runner*> runner = co_await std::move(finding);
  if (!runner) co_return failed_reply(runner.error());
  auto deciding =
      io::on((*runner)->core().executor, consumer_heartbeat_here(**runner, std::move(heartbeat)));
  Result<ConsumerHeartbeatDecision> decided = co_await std::move(deciding);
  if (!decided) co_return failed_reply(decided.error());
  co_return std::move(decided->reply);
}

io::Task<Result<ConsumerHeartbeatDecision>> GroupServiceImpl::consumer_heartbeat_here(
    Runner& runner, ConsumerHeartbeat heartbeat) {
  const GroupId group = heartbeat.group;
  auto may_see = std::move(heartbeat.may_see);
  ConsumerHeartbeatOp op{std::move(heartbeat), topics_here(), consumer_limits_of(group.sv())};
  auto running = runner.run(std::move(op));
  Result<ConsumerHeartbeatDecision> decided = co_await std::move(running);
  if (decided) waits_of(runner).deliver(std::move(decided->answers));
  // The heartbeat does not wait for this; what is found comes with a later one.
  if (decided && !decided->resolve.empty())
    io::spawn(runner.core().executor,
              resolve_here(runner, group, std::move(decided->resolve), std::move(may_see)));
  co_return decided;
}

io::Task<void> GroupServiceImpl::resolve_here(Runner& runner, GroupId group,
                                              std::vector<std::string> patterns,
                                              TopicFilter may_see) {
  const metadata::MetadataImage& image = metadata_.image();
  ResolvedRegex seen;
  seen.version = image.version();
  seen.timestamp_ms = runner.core().clock.now().wall_ms;
  std::vector<TopicName> names;
  names.reserve(image.topics().size());
  for (const auto& [name, topic] : image.topics()) {
    if (!may_see || may_see(image, name)) names.push_back(topic->name);
  }
  PatternMatch match(patterns);
  for (size_t i = 0; i < names.size(); ++i) {
    if (i % kNamesAtOnce == kNamesAtOnce - 1) co_await io::yield();
    match.look_at(names[i].sv());
  }
  std::map<std::string, ResolvedRegex> found;
  for (const auto& [pattern, topics] : match.matches()) {
    ResolvedRegex& resolved = found[pattern] = seen;
    resolved.topics = topics;
  }
  PatternsResolved op{group, std::move(found), topics_here()};
  auto running = runner.run(std::move(op));
  auto done = co_await std::move(running);
  if (!done)
    base::log_warn("topics of patterns not logged group={} error={}", group, done.error().code);
}

void GroupServiceImpl::fence_consumers(Runner& runner, const GroupShard::TickReply& tick) {
  for (const auto& [group, members] : tick.fence_consumers) {
    io::spawn(runner.core().executor, fence_here(runner, group, {members.begin(), members.end()}));
  }
}

io::Task<void> GroupServiceImpl::fence_here(Runner& runner, std::string group,
                                            std::vector<std::string> members) {
  for (const std::string& member : members)
    base::log_info("member of a consumer group fenced: its time is over group={} member={}", group,
                   member);
  ConsumerContext context{topics_here(), consumer_limits_of(group)};
  FenceConsumers op{std::move(group), std::move(members), std::move(context)};
  auto running = runner.run(std::move(op));
  auto done = co_await std::move(running);
  if (!done) base::log_warn("fencing not logged error={}", done.error().code);
}

io::Task<DescribedConsumerGroup> GroupServiceImpl::describe_consumer_group(GroupId group) {
  DescribeConsumerGroup op{group, metadata_.broker_config().group_consumer_assignors.front()};
  auto running = run(std::move(group), std::move(op));
  Result<DescribedConsumerGroup> reply = co_await std::move(running);
  if (reply) co_return std::move(*reply);
  DescribedConsumerGroup failed;
  failed.error = reply.error().code;
  failed.message = reply.error().message;
  co_return failed;
}

}  // namespace ackord::group
