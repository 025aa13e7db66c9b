// What GroupShard decides about consumer groups and the classic protocol: classic members of
// consumer groups, and groups that turn from one kind into the other.
#include <algorithm>
#include <iterator>
#include <set>

#include "broker/group/consumer_classic.h"
#include "broker/group/consumer_records.h"
#include "broker/group/group_shard.h"

namespace ackord::group {
namespace {

template <class Reply>
ClassicAnswer answer_of(Ticket ticket, Reply reply) {
  return {ticket, std::move(reply)};
}

ClassicJoinReply refusal(const ClassicJoin& join, ErrorCode error) {
  ClassicJoinReply reply;
  reply.error = error;
  reply.member = join.member;
  reply.protocol.reset();
  return reply;
}

void append(std::vector<GroupRecord>& to, std::vector<GroupRecord> records) {
  std::move(records.begin(), records.end(), std::back_inserter(to));
}

// What waits is told to begin anew.
void answer_all_who_wait(const ClassicLife& life, ClassicAnswers& answers) {
  for (const auto& [id, member] : life.members()) {
    if (member.join) {
      ClassicJoinReply reply;
      reply.error = ErrorCode::REBALANCE_IN_PROGRESS;
      reply.member = id;
      answers.push_back(answer_of(*member.join, std::move(reply)));
    }
    if (member.sync) {
      ClassicSyncReply reply;
      reply.error = ErrorCode::REBALANCE_IN_PROGRESS;
      answers.push_back(answer_of(*member.sync, std::move(reply)));
    }
  }
}

void apply_to(ConsumerGroup& group, const GroupRecord& record) {
  std::visit(
      [&group](const auto& one) {
        if constexpr (requires { group.apply(one); }) group.apply(one);
      },
      record);
}

bool is_told_its_id_first(const ClassicJoin& join) {
  return join.wants_id_first && join.member.empty() && !join.instance;
}

}  // namespace

// ---- joining

GroupShard::Outcome<ClassicAnswers> GroupShard::join_consumer_group(const ConsumerGroup& group,
                                                                    const JoinClassicGroup& op,
                                                                    io::Now now) const {
  const auto refuse = [&](ErrorCode error) {
    return Outcome<ClassicAnswers>::answer({answer_of(op.ticket, refusal(op.join, error))});
  };
  if (!op.consumers->limits.may_mix) return refuse(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  ClassicJoin join = op.join;
  if (join.member.empty()) join.member = op.new_id_suffix;
  const bool known = group.member(join.member) != nullptr ||
                     (join.instance && group.static_member(*join.instance) != nullptr);
  if (!known && group.members().size() >= static_cast<size_t>(op.consumers->limits.max_size))
    return refuse(ErrorCode::GROUP_MAX_SIZE_REACHED);
  if (!supports_classic(group, join)) return refuse(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  if (is_told_its_id_first(op.join)) {
    ClassicJoinReply reply = refusal(join, ErrorCode::MEMBER_ID_REQUIRED);
    return Outcome<ClassicAnswers>::answer({answer_of(op.ticket, std::move(reply))});
  }
  const auto said = as_consumer(join, op.consumers->topics.image);
  if (!said) return refuse(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  const ConsumerHeartbeatInput input{said->heartbeat,
                                     op.consumers->topics,
                                     op.consumers->limits,
                                     soft_of_consumers(op.join.group.str()),
                                     now.wall_ms,
                                     &said->metadata,
                                     !op.join.member.empty()};
  ConsumerHeartbeatDecision decision = decide_heartbeat(&group, input);
  if (decision.reply.error != ErrorCode::NONE) return refuse(decision.reply.error);
  const std::string id = op.join.group.str();
  ClassicJoinReply reply;
  reply.member = join.member;
  reply.generation = decision.reply.member_epoch;
  reply.protocol_type = std::string(kConsumerProtocolType);
  reply.protocol = join.protocols.front().name;
  if (becomes_classic_by(group, join, op.consumers->limits)) {
    auto outcome = Outcome<ClassicAnswers>::of({}, {answer_of(op.ticket, std::move(reply))});
    ConsumerGroup after = group;
    for (const Record& record : decision.records) apply_to(after, record);
    convert_to_classic(id, after, {}, std::move(decision.records), op.consumers->topics.image, now,
                       outcome);
    return outcome;
  }
  auto outcome = Outcome<ClassicAnswers>::of(std::move(decision.records), {});
  const MemberKey member{id, join.member};
  outcome.effects.emplace_back(SessionRenewed{member, now.steady_ms + join.session_timeout_ms});
  outcome.effects.emplace_back(JoinExpected{member, std::nullopt});
  outcome.effects.emplace_back(SyncExpected{member, now.steady_ms + join.rebalance_timeout_ms});
  if (decision.checked_topics_version)
    outcome.effects.emplace_back(TopicsChecked{id, *decision.checked_topics_version});
  outcome.reply.push_back(answer_of(op.ticket, std::move(reply)));
  return outcome;
}

GroupShard::Outcome<ClassicAnswers> GroupShard::sync_consumer_group(const ConsumerGroup& group,
                                                                    const SyncClassicGroup& op,
                                                                    io::Now now) const {
  const ClassicMemberName& who = op.sync.who;
  ClassicSyncReply reply;
  reply.error = check_classic(group, who);
  if (reply.error != ErrorCode::NONE)
    return Outcome<ClassicAnswers>::answer({answer_of(op.ticket, std::move(reply))});
  const ConsumerMember& member = *group.member(who.member);
  const MemberKey key{who.group.str(), who.member};
  Outcome<ClassicAnswers> outcome;
  const auto& protocols = member.classic->supported_protocols;
  if ((op.sync.protocol_type && *op.sync.protocol_type != kConsumerProtocolType) ||
      (op.sync.protocol && protocols.front().name.sv() != *op.sync.protocol)) {
    reply.error = ErrorCode::INCONSISTENT_GROUP_PROTOCOL;
  } else if (group.assignment_epoch() > member.epoch &&
             member.state != MemberState::kUnrevokedPartitions) {
    reply.error = ErrorCode::REBALANCE_IN_PROGRESS;
    expect_join(key, member, now, outcome);
  } else {
    reply.protocol_type = op.sync.protocol_type;
    reply.protocol = op.sync.protocol;
    reply.assignment = assignment_bytes(member, op.consumers->topics.image);
    outcome.effects.emplace_back(SyncExpected{key, std::nullopt});
    outcome.effects.emplace_back(
        SessionRenewed{key, now.steady_ms + member.classic->session_timeout_ms});
  }
  outcome.reply.push_back(answer_of(op.ticket, std::move(reply)));
  return outcome;
}

// As long as it is told to rejoin the first time counts.
template <class Reply>
void GroupShard::expect_join(const MemberKey& key, const ConsumerMember& member, io::Now now,
                             Outcome<Reply>& outcome) const {
  if (soft_.expected_joins.at(key)) return;
  outcome.effects.emplace_back(JoinExpected{key, now.steady_ms + member.rebalance_timeout_ms});
}

GroupShard::Outcome<Verdict> GroupShard::beat_in_consumer_group(const ConsumerGroup& group,
                                                                const BeatClassicMember& op,
                                                                io::Now now) const {
  const ErrorCode error = check_classic(group, op.who);
  if (error != ErrorCode::NONE) return Outcome<Verdict>::answer({error});
  const ConsumerMember& member = *group.member(op.who.member);
  const MemberKey key{op.who.group.str(), op.who.member};
  const bool rejoins = must_rejoin(group, op.who.member, member);
  auto outcome =
      Outcome<Verdict>::answer({rejoins ? ErrorCode::REBALANCE_IN_PROGRESS : ErrorCode::NONE});
  outcome.effects.emplace_back(
      SessionRenewed{key, now.steady_ms + member.classic->session_timeout_ms});
  if (rejoins) expect_join(key, member, now, outcome);
  return outcome;
}

GroupShard::Outcome<LeaveClassicGroup::Reply> GroupShard::leave_consumer_group(
    const ConsumerGroup& group, const LeaveClassicGroup& op, io::Now now) const {
  Outcome<LeaveClassicGroup::Reply> outcome;
  std::vector<std::string> gone;
  for (const ClassicLeave::Member& leaving : op.leave.members) {
    const std::string* holder =
        leaving.instance ? group.static_member(*leaving.instance) : &leaving.id;
    ErrorCode error = ErrorCode::NONE;
    if (holder == nullptr || group.member(*holder) == nullptr) {
      error = ErrorCode::UNKNOWN_MEMBER_ID;
    } else if (leaving.instance && !leaving.id.empty() && leaving.id != *holder) {
      error = ErrorCode::FENCED_INSTANCE_ID;
    } else if (std::find(gone.begin(), gone.end(), *holder) == gone.end()) {
      gone.push_back(*holder);
    }
    outcome.reply.errors.push_back(error);
  }
  remove_from_consumer_group(op.leave.group.str(), group, gone, *op.consumers, now, outcome);
  return outcome;
}

// ---- from one kind to the other

template <class Reply>
void GroupShard::convert_to_classic(const std::string& id, const ConsumerGroup& group,
                                    const std::set<std::string>& leaving,
                                    std::vector<Record> records,
                                    const metadata::MetadataImage& image, io::Now now,
                                    Outcome<Reply>& outcome) const {
  append(records, consumer_group_tombstones(id, group));
  ClassicGroup classic;
  ClassicGroupMetadata record = downgraded(id, group, leaving, image, now.wall_ms);
  classic.value = *record.value;
  records.emplace_back(std::move(record));
  outcome.batches.push_back({std::move(records), std::nullopt, std::nullopt});
  const ClassicLife life(classic);
  ClassicDecision decision(id, life, classic_limits_, now);
  // Where nobody has left, what is assigned stays.
  decision.converted(!leaving.empty());
  for (GroupEffect& effect : decision.take_effects()) outcome.effects.push_back(std::move(effect));
}

template <class Reply>
void GroupShard::remove_from_consumer_group(const std::string& id, const ConsumerGroup& group,
                                            const std::vector<std::string>& members,
                                            const ConsumerContext& context, io::Now now,
                                            Outcome<Reply>& outcome) const {
  if (members.empty()) return;
  const std::set<std::string> leaving(members.begin(), members.end());
  if (!becomes_classic(group, leaving, context.limits)) {
    outcome.batches.push_back(
        {remove_consumers(id, group, members, context.topics), std::nullopt, std::nullopt});
    return;
  }
  convert_to_classic(id, group, leaving, {}, context.topics.image, now, outcome);
}
template void GroupShard::remove_from_consumer_group(const std::string&, const ConsumerGroup&,
                                                     const std::vector<std::string>&,
                                                     const ConsumerContext&, io::Now,
                                                     Outcome<ConsumerHeartbeatDecision>&) const;
template void GroupShard::remove_from_consumer_group(const std::string&, const ConsumerGroup&,
                                                     const std::vector<std::string>&,
                                                     const ConsumerContext&, io::Now,
                                                     Outcome<FenceConsumers::Reply>&) const;

ConsumerHeartbeatDecision GroupShard::join_as_consumer(const ClassicGroup& group,
                                                       const ConsumerHeartbeatInput& input,
                                                       io::Now now,
                                                       std::vector<GroupEffect>& effects) const {
  const std::string id = input.request.group.str();
  return with_life(id, group, [&](const ClassicLife& life) {
    ConsumerHeartbeatDecision decision;
    if (life.phase().state == ClassicGroupState::kEmpty) {
      decision = decide_heartbeat(nullptr, input);
      decision.records.insert(decision.records.begin(), classic_group_tombstone(id));
      return decision;
    }
    Upgrade upgrade = upgraded(id, life, input.topics, input.limits);
    if (!upgrade.refusal.empty()) {
      decision.reply.error = ErrorCode::GROUP_ID_NOT_FOUND;
      decision.reply.message = std::move(upgrade.refusal);
      return decision;
    }
    decision = decide_heartbeat(&upgrade.group, input);
    append(upgrade.records, std::move(decision.records));
    decision.records = std::move(upgrade.records);
    answer_all_who_wait(life, decision.answers);
    for (const auto& [member, classic] : life.members()) {
      const bool replaced = classic.instance && classic.instance == input.request.instance;
      if (replaced) continue;
      effects.emplace_back(
          SessionRenewed{{id, member}, now.steady_ms + classic.session_timeout_ms});
    }
    return decision;
  });
}

}  // namespace ackord::group
