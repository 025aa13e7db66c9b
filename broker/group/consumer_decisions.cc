// What GroupShard decides about consumer groups.
#include <algorithm>
#include <type_traits>

#include "broker/group/consumer_records.h"
#include "broker/group/group_shard.h"

namespace ackord::group {
namespace {

template <class Reply>
void refuse_missing(const GroupId& id, bool is_there, Reply& reply) {
  reply.error = ErrorCode::GROUP_ID_NOT_FOUND;
  reply.message = "Group " + id.str() + (is_there ? " is not a consumer group." : " not found.");
}

std::vector<TopicPartitions> to_lists(const Assignment& partitions) {
  return to_topic_partitions(partitions);
}

DescribedConsumerMember describe(const std::string& id, const ConsumerMember& member,
                                 const Assignment& target) {
  DescribedConsumerMember out;
  out.id = id;
  out.instance = member.instance;
  out.rack = member.rack;
  out.epoch = member.epoch;
  out.client_id = member.client_id;
  out.client_host = member.client_host;
  out.topics.assign(member.topics.begin(), member.topics.end());
  out.regex = member.regex;
  Assignment has;
  for (const auto& [partition, since] : member.assigned) has.insert(partition);
  for (const auto& [partition, since] : member.pending_revocation) has.insert(partition);
  out.assigned = to_lists(has);
  out.target = to_lists(target);
  out.classic = member.classic.has_value();
  return out;
}

}  // namespace

template <class ConsumerRecord>
void GroupShard::apply_to_consumer_group(const ConsumerRecord& record) {
  const std::string id = record.key.group_id.str();
  ConsumerGroup* group = to_apply<ConsumerGroup>(id, record.value.has_value());
  if (group == nullptr) return;
  group->apply(record);
  if constexpr (std::is_same_v<ConsumerRecord, ConsumerGroupMemberMetadata>) {
    if (!record.value) drop_consumer({id, record.key.member_id.str()});
  }
  if constexpr (std::is_same_v<ConsumerRecord, ConsumerGroupCurrentMemberAssignment>) {
    const ConsumerMember* member = group->member(record.key.member_id.sv());
    if (member == nullptr || member->state != MemberState::kUnrevokedPartitions ||
        member->epoch < 0)
      drop_revocation({id, record.key.member_id.str()});
  }
  if (group->state() == ConsumerGroupState::kDead) {
    for (const auto& [member, unused] : group->members()) drop_consumer({id, member});
    soft_.consumer_groups.erase(id);
    drop_group(id);
  }
}
template void GroupShard::apply_to_consumer_group(const ConsumerGroupMemberMetadata&);
template void GroupShard::apply_to_consumer_group(const ConsumerGroupMetadata&);
template void GroupShard::apply_to_consumer_group(const ConsumerGroupPartitionMetadata&);
template void GroupShard::apply_to_consumer_group(const ConsumerGroupTargetAssignmentMetadata&);
template void GroupShard::apply_to_consumer_group(const ConsumerGroupTargetAssignmentMember&);
template void GroupShard::apply_to_consumer_group(const ConsumerGroupCurrentMemberAssignment&);
template void GroupShard::apply_to_consumer_group(const ConsumerGroupRegularExpression&);

void GroupShard::drop_revocation(const MemberKey& member) {
  soft_.revocations.erase(member);
  const auto at = soft_.fencing.find(member);
  if (at != soft_.fencing.end() && at->second == FencingBegun::Why::kRevocation)
    soft_.fencing.erase(at);
}

void GroupShard::expect(Deadlines<MemberKey>& of, const MemberKey& member,
                        std::optional<int64_t> by) {
  if (by) {
    of.set(member, *by);
    return;
  }
  of.erase(member);
  const auto at = soft_.fencing.find(member);
  if (at != soft_.fencing.end() && at->second == FencingBegun::Why::kClassic)
    soft_.fencing.erase(at);
}

void GroupShard::drop_consumer(const MemberKey& member) {
  soft_.expected_joins.erase(member);
  soft_.expected_syncs.erase(member);
  soft_.sessions.erase(member);
  soft_.revocations.erase(member);
  soft_.fencing.erase(member);
}

void GroupShard::apply_soft_to(const ConsumerEffect& effect) {
  if (const auto* begun = std::get_if<RevocationBegun>(&effect)) {
    soft_.revocations.set(begun->member, begun->deadline_ms);
  } else if (const auto* fencing = std::get_if<FencingBegun>(&effect)) {
    drop_consumer(fencing->member);
    soft_.fencing[fencing->member] = fencing->why;
  } else if (const auto* checked = std::get_if<TopicsChecked>(&effect)) {
    soft_.consumer_groups[checked->group].checked_topics_version = checked->version;
  } else if (const auto* join = std::get_if<JoinExpected>(&effect)) {
    expect(soft_.expected_joins, join->member, join->deadline_ms);
  } else if (const auto* sync = std::get_if<SyncExpected>(&effect)) {
    expect(soft_.expected_syncs, sync->member, sync->deadline_ms);
  } else if (const auto* resolution = std::get_if<ResolutionBegun>(&effect)) {
    soft_.consumer_groups[resolution->group].resolving = true;
  } else if (const auto* ended = std::get_if<ResolutionEnded>(&effect)) {
    const auto at = soft_.consumer_groups.find(ended->group);
    if (at != soft_.consumer_groups.end()) at->second.resolving = false;
  }
}

const ConsumerGroupSoftState& GroupShard::soft_of_consumers(const std::string& id) const {
  static const ConsumerGroupSoftState nothing_known;
  const auto at = soft_.consumer_groups.find(id);
  return at == soft_.consumer_groups.end() ? nothing_known : at->second;
}

// ---- heartbeats

GroupShard::Outcome<ConsumerHeartbeatDecision> GroupShard::decide(const ConsumerHeartbeatOp& op,
                                                                  io::Now now) const {
  const std::string id = op.heartbeat.group.str();
  const ConsumerGroup* group = find<ConsumerGroup>(id);
  const bool joins = op.heartbeat.epoch == kJoinEpoch;
  const bool leaves = op.heartbeat.epoch < 0;
  const ConsumerHeartbeatInput input{op.heartbeat, op.topics, op.limits, soft_of_consumers(id),
                                     now.wall_ms};
  ConsumerHeartbeatDecision decision;
  std::vector<GroupEffect> effects;
  const ClassicGroup* classic = find<ClassicGroup>(id);
  if (classic != nullptr && joins) {
    decision = join_as_consumer(*classic, input, now, effects);
  } else if (group == nullptr && (leaves || is_taken(id))) {
    refuse_missing(op.heartbeat.group, is_taken(id), decision.reply);
  } else {
    decision = leaves ? decide_leave(*group, input) : decide_heartbeat(group, input);
  }
  if (decision.reply.error != ErrorCode::NONE) {
    decision.records.clear();
    return Outcome<ConsumerHeartbeatDecision>::answer(std::move(decision));
  }
  auto records = std::move(decision.records);
  decision.records.clear();
  auto outcome = Outcome<ConsumerHeartbeatDecision>::of(std::move(records), std::move(decision));
  outcome.effects = std::move(effects);
  if (op.heartbeat.epoch == kLeaveEpoch) {
    remove_from_consumer_group(id, *group, {op.heartbeat.member}, {op.topics, op.limits}, now,
                               outcome);
  }
  if (leaves) return outcome;
  const MemberKey member{id, op.heartbeat.member};
  outcome.effects.emplace_back(
      SessionRenewed{member, now.steady_ms + op.limits.session_timeout_ms});
  if (const auto timeout = outcome.reply.revocation_timeout_ms)
    outcome.effects.emplace_back(RevocationBegun{member, now.steady_ms + *timeout});
  if (const auto version = outcome.reply.checked_topics_version)
    outcome.effects.emplace_back(TopicsChecked{id, *version});
  if (!outcome.reply.resolve.empty()) outcome.effects.emplace_back(ResolutionBegun{id});
  return outcome;
}

GroupShard::Outcome<PatternsResolved::Reply> GroupShard::decide(const PatternsResolved& op,
                                                                io::Now) const {
  const ConsumerGroup* group = find<ConsumerGroup>(op.group.sv());
  std::vector<Record> records;
  if (group != nullptr && !op.found.empty())
    records = apply_resolution(op.group.sv(), *group, op.found, op.topics);
  auto outcome = Outcome<PatternsResolved::Reply>::of(std::move(records), {});
  outcome.effects.emplace_back(ResolutionEnded{op.group.str()});
  return outcome;
}

// ---- members whose time is over

void GroupShard::begin_fencing(io::Now now, Outcome<TickReply>& outcome) const {
  const auto begin = [&](const MemberKey& member, FencingBegun::Why why) {
    if (find<ConsumerGroup>(member.group) == nullptr) return;
    outcome.effects.emplace_back(FencingBegun{member, why});
    outcome.reply.fence_consumers[member.group].insert(member.member);
  };
  for (const MemberKey& member : soft_.sessions.due(now.steady_ms))
    begin(member, FencingBegun::Why::kSession);
  for (const MemberKey& member : soft_.revocations.due(now.steady_ms))
    begin(member, FencingBegun::Why::kRevocation);
  for (const MemberKey& member : soft_.expected_joins.due(now.steady_ms))
    begin(member, FencingBegun::Why::kClassic);
  for (const MemberKey& member : soft_.expected_syncs.due(now.steady_ms))
    begin(member, FencingBegun::Why::kClassic);
}

GroupShard::Outcome<FenceConsumers::Reply> GroupShard::decide(const FenceConsumers& op,
                                                              io::Now now) const {
  std::vector<std::string> members;
  const ConsumerGroup* group = find<ConsumerGroup>(op.group);
  for (const std::string& member : op.members) {
    // It may have heartbeated, or left, meanwhile.
    if (group != nullptr && group->member(member) != nullptr &&
        soft_.fencing.contains({op.group, member}))
      members.push_back(member);
  }
  Outcome<FenceConsumers::Reply> outcome;
  if (group != nullptr)
    remove_from_consumer_group(op.group, *group, members, op.context, now, outcome);
  return outcome;
}

void GroupShard::start_consumer_sessions(const StartSessions& op, io::Now now,
                                         Outcome<StartSessions::Reply>& outcome) const {
  for_each<ConsumerGroup>([&](const std::string& id, const ConsumerGroup& group) {
    const auto timeout = op.timeouts_ms.find(id);
    if (timeout == op.timeouts_ms.end()) return;
    for (const auto& [member, state] : group.members()) {
      const MemberKey key{id, member};
      const int32_t session_ms =
          state.classic ? state.classic->session_timeout_ms : timeout->second;
      if (!soft_.sessions.at(key))
        outcome.effects.emplace_back(SessionRenewed{key, now.steady_ms + session_ms});
      if (state.state == MemberState::kUnrevokedPartitions && state.epoch >= 0)
        outcome.effects.emplace_back(
            RevocationBegun{key, now.steady_ms + state.rebalance_timeout_ms});
    }
  });
}

// ---- looking

std::vector<std::string> GroupShard::consumer_groups() const {
  std::vector<std::string> ids;
  for_each<ConsumerGroup>(
      [&ids](const std::string& id, const ConsumerGroup&) { ids.push_back(id); });
  return ids;
}

GroupShard::Outcome<DescribedConsumerGroup> GroupShard::decide(const DescribeConsumerGroup& op,
                                                               io::Now) const {
  DescribedConsumerGroup answer;
  const ConsumerGroup* group = find<ConsumerGroup>(op.group.sv());
  if (group == nullptr) {
    refuse_missing(op.group, is_taken(op.group.sv()), answer);
    return Outcome<DescribedConsumerGroup>::answer(std::move(answer));
  }
  answer.state = name_of(group->state());
  answer.epoch = group->epoch();
  answer.assignment_epoch = group->assignment_epoch();
  answer.assignor = preferred_assignor(group->assignors(), op.default_assignor);
  for (const auto& [id, member] : group->members())
    answer.members.push_back(describe(id, member, group->target(id)));
  return Outcome<DescribedConsumerGroup>::answer(std::move(answer));
}

// ---- offsets

ErrorCode GroupShard::check_consumer_committer(const ConsumerGroup& group,
                                               const OffsetsToCommit& commit,
                                               bool in_transaction) const {
  const OffsetCommitter& committer = commit.committer;
  const int32_t epoch = committer.generation_or_member_epoch;
  if (epoch < 0 && group.members().empty()) return ErrorCode::NONE;
  if (in_transaction && committer.is_nobody()) return ErrorCode::NONE;
  const ConsumerMember* member = group.member(committer.member);
  if (member == nullptr) return ErrorCode::UNKNOWN_MEMBER_ID;
  // An older client does not know what to do with the errors of this protocol.
  const bool knows_protocol = commit.knows_group_id_not_found;
  if (!in_transaction && !member->classic && !knows_protocol) return ErrorCode::UNSUPPORTED_VERSION;
  const ErrorCode stale = member->classic || (in_transaction && !knows_protocol)
                              ? ErrorCode::ILLEGAL_GENERATION
                              : ErrorCode::STALE_MEMBER_EPOCH;
  if (epoch == member->epoch) return ErrorCode::NONE;
  if (epoch > member->epoch) return stale;
  // An older epoch is good for what the member has had since then (KIP-1251).
  const auto had_since = [&](const OffsetToCommit& offset) {
    const TopicIdPartition partition{offset.topic_id, offset.partition};
    auto at = member->assigned.find(partition);
    if (at == member->assigned.end()) {
      at = member->pending_revocation.find(partition);
      if (at == member->pending_revocation.end()) return false;
    }
    return epoch >= at->second;
  };
  const bool good = std::all_of(commit.offsets.begin(), commit.offsets.end(), had_since);
  return good ? ErrorCode::NONE : stale;
}

ErrorCode GroupShard::check_consumer_fetcher(const OffsetsToFetch& fetch) const {
  const ConsumerGroup* group = find<ConsumerGroup>(fetch.group.sv());
  if (group == nullptr || (!fetch.member && fetch.member_epoch < 0)) return ErrorCode::NONE;
  const ConsumerMember* member = fetch.member ? group->member(*fetch.member) : nullptr;
  if (member == nullptr) return ErrorCode::UNKNOWN_MEMBER_ID;
  if (member->epoch == fetch.member_epoch) return ErrorCode::NONE;
  return member->classic ? ErrorCode::ILLEGAL_GENERATION : ErrorCode::STALE_MEMBER_EPOCH;
}

}  // namespace ackord::group
