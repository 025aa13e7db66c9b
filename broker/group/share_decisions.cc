// What GroupShard decides about share groups.
#include "broker/group/group_shard.h"

namespace ackord::group {

bool GroupShard::only_renews(const ShareHeartbeat& heartbeat, uint64_t topics_version) const {
  const auto settled = soft_.settled_share_groups.find(heartbeat.group.sv());
  if (settled == soft_.settled_share_groups.end() || settled->second != topics_version)
    return false;
  if (soft_.state_changes.contains(heartbeat.group.sv())) return false;
  const ShareGroup* group = share_group(heartbeat.group.sv());
  const ShareMember* member = group != nullptr ? group->member(heartbeat.member) : nullptr;
  return member != nullptr && heartbeat.epoch > 0 && heartbeat.epoch == member->epoch &&
         member->epoch == group->epoch() && !heartbeat.topics &&
         (!heartbeat.rack || heartbeat.rack == member->rack) &&
         heartbeat.client_id == member->client_id && heartbeat.client_host == member->client_host;
}

GroupShard::Outcome<ShareHeartbeatDecision> GroupShard::decide(const ShareHeartbeatOp& op,
                                                               io::Now now) const {
  const std::string id = op.heartbeat.group.str();
  if (only_renews(op.heartbeat, op.topics_version)) {
    ShareHeartbeatDecision same;
    same.reply.member = op.heartbeat.member;
    same.reply.member_epoch = op.heartbeat.epoch;
    same.reply.heartbeat_interval_ms = op.limits.heartbeat_interval_ms;
    auto outcome = Outcome<ShareHeartbeatDecision>::answer(std::move(same));
    outcome.effects.emplace_back(
        SessionRenewed{{id, op.heartbeat.member}, now.steady_ms + op.limits.session_timeout_ms});
    return outcome;
  }
  const ShareGroup* group = share_group(id);
  ShareHeartbeatDecision decision;
  std::set<TopicIdPartition> in_flight;
  if (const auto begun = soft_.initializations.find(id); begun != soft_.initializations.end()) {
    for (const auto& [partition, deadline] : begun->second) {
      if (deadline > now.steady_ms) in_flight.insert(partition);
    }
  }
  const ShareHeartbeatInput input{op.heartbeat, op.topics, op.limits, in_flight, now.wall_ms};
  if (soft_.state_changes.contains(id)) {
    decision.reply.error = ErrorCode::COORDINATOR_LOAD_IN_PROGRESS;
    decision.reply.message = "The state of group " + id + " is being changed.";
  } else if (group == nullptr && is_taken(id)) {
    decision.reply.error = ErrorCode::GROUP_ID_NOT_FOUND;
    decision.reply.message = "Group " + id + " is not a share group.";
  } else if (op.heartbeat.epoch >= 0) {
    decision = decide_heartbeat(group, input);
  } else if (group != nullptr) {
    decision = decide_leave(*group, input);
  } else {
    decision.reply.error = ErrorCode::GROUP_ID_NOT_FOUND;
    decision.reply.message = "Group " + id + " not found.";
  }
  auto records = std::move(decision.records);
  decision.records.clear();
  auto outcome = Outcome<ShareHeartbeatDecision>::of(std::move(records), std::move(decision));
  if (outcome.reply.reply.error == ErrorCode::NONE && op.heartbeat.epoch >= 0) {
    outcome.effects.emplace_back(
        SessionRenewed{{id, op.heartbeat.member}, now.steady_ms + op.limits.session_timeout_ms});
  }
  const ShareHeartbeatDecision& decided = outcome.reply;
  if (group != nullptr && decided.reply.error == ErrorCode::NONE && op.heartbeat.epoch > 0 &&
      outcome.batches.empty() && group->initializing().empty() &&
      decided.reply.member_epoch == group->epoch())
    outcome.effects.emplace_back(ShareGroupSettled{id, op.topics_version});
  for (const ShareInitialization& initialization : outcome.reply.initialize) {
    outcome.effects.emplace_back(InitializationBegun{
        id, initialization.partition, now.steady_ms + op.limits.initialize_retry_interval_ms});
  }
  return outcome;
}

GroupShard::Outcome<ShareInitializationEnded::Reply> GroupShard::decide(
    const ShareInitializationEnded& op, io::Now) const {
  const ShareGroup* group = share_group(op.group.sv());
  if (group == nullptr) return Outcome<ShareInitializationEnded::Reply>::answer({});
  HeldTopics initializing = group->initializing();
  HeldTopics initialized = group->initialized();
  bool changed = false;
  for (const auto& [partition, succeeded] : op.results) {
    const auto at = initializing.find(partition.topic_id);
    // Its topic has gone meanwhile, or it was begun twice.
    if (at == initializing.end() || at->second.partitions.erase(partition.partition) == 0) continue;
    changed = true;
    if (succeeded) {
      HeldTopic& topic = initialized[partition.topic_id];
      topic.name = at->second.name;
      topic.partitions.insert(partition.partition);
    }
    if (at->second.partitions.empty()) initializing.erase(at);
  }
  std::vector<Record> records;
  if (changed)
    records.emplace_back(state_partitions_record(op.group.sv(), initializing, initialized));
  return Outcome<ShareInitializationEnded::Reply>::of(std::move(records), {});
}

GroupShard::Outcome<StartSessions::Reply> GroupShard::decide(const StartSessions& op,
                                                             io::Now now) const {
  Outcome<StartSessions::Reply> outcome;
  for_each<ShareGroup>([&](const std::string& id, const ShareGroup& group) {
    const auto timeout = op.timeouts_ms.find(id);
    if (timeout == op.timeouts_ms.end()) return;
    for (const auto& [member, unused] : group.members()) {
      const MemberKey key{id, member};
      if (!soft_.sessions.at(key))
        outcome.effects.emplace_back(SessionRenewed{key, now.steady_ms + timeout->second});
    }
  });
  start_consumer_sessions(op, now, outcome);
  start_classic_groups(now, outcome);
  // Groups that the start has found are not looked at for what is over before one interval has
  // passed.
  outcome.effects.emplace_back(ExpiryChecked{now.steady_ms + retention_.check_interval_ms, ""});
  return outcome;
}

void GroupShard::tick_share_groups(const std::vector<MemberKey>& ended,
                                   Outcome<TickReply>& outcome) const {
  std::map<std::string, std::vector<std::string>> expired;
  for (const MemberKey& key : ended) expired[key.group].push_back(key.member);
  for (const auto& [id, members] : expired) {
    const ShareGroup& group = *share_group(id);
    // The topics are not at hand here. A hash that is out of date is set right by the next
    // heartbeat.
    const int64_t hash = members.size() == group.members().size() ? 0 : group.metadata_hash();
    outcome.batches.push_back(
        {remove_members(id, group, members, hash), std::nullopt, std::nullopt});
  }
}

GroupShard::Outcome<Verdict> GroupShard::decide(const CheckShareMember& op, io::Now) const {
  const ShareGroup* group = share_group(op.group.sv());
  const ShareMember* member = group != nullptr ? group->member(op.member) : nullptr;
  if (member == nullptr || op.epoch <= 0)
    return Outcome<Verdict>::answer({ErrorCode::UNKNOWN_MEMBER_ID});
  return Outcome<Verdict>::answer(
      {op.epoch > member->epoch ? ErrorCode::STALE_MEMBER_EPOCH : ErrorCode::NONE});
}

GroupShard::Outcome<ShareGroupPartitions> GroupShard::decide(const DescribeShareGroup& op,
                                                             io::Now) const {
  ShareGroupPartitions answer;
  const ShareGroup* group = share_group(op.group.sv());
  if (group == nullptr) {
    answer.error = ErrorCode::GROUP_ID_NOT_FOUND;
    answer.message = "Group " + op.group.str() + " not found.";
  } else {
    answer.state = name_of(group->state());
    answer.initialized = to_topics(group->initialized());
    answer.initializing = to_topics(group->initializing());
  }
  return Outcome<ShareGroupPartitions>::answer(std::move(answer));
}

}  // namespace ackord::group
