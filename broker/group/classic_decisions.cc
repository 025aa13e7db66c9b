// What GroupShard decides about classic groups. The rules are ClassicDecision's; here is which
// group, and what of it is known.
#include <map>
#include <set>

#include "broker/group/consumer_records.h"
#include "broker/group/group_shard.h"

namespace ackord::group {
namespace {

template <class Reply>
ClassicAnswers refused(Ticket ticket, Reply reply) {
  ClassicAnswers answers;
  answers.push_back({ticket, std::move(reply)});
  return answers;
}

}  // namespace

void GroupShard::apply_to_classic_group(const ClassicGroupMetadata& record) {
  const std::string id = record.key.group.str();
  ClassicGroup* group = to_apply<ClassicGroup>(id, record.value.has_value());
  if (group == nullptr) return;
  if (record.value) {
    group->value = *record.value;
    return;
  }
  drop_group(id);
}

void GroupShard::drop_classic_life(const std::string& id) {
  const auto at = soft_.classic.find(id);
  if (at == soft_.classic.end()) return;
  for (const auto& [member, unused] : at->second.members()) soft_.sessions.erase({id, member});
  for (const std::string& member : at->second.pending()) soft_.sessions.erase({id, member});
  soft_.classic_deadlines.erase(id);
  soft_.classic.erase(at);
}

void GroupShard::apply_soft_to(const ClassicChange& change) {
  const ClassicGroup* group = find<ClassicGroup>(change.group);
  if (group == nullptr) return;
  const auto at = soft_.classic.try_emplace(change.group, *group).first;
  at->second.apply(change);
  if (change.phase.deadline_ms) {
    soft_.classic_deadlines.set(change.group, *change.phase.deadline_ms);
  } else {
    soft_.classic_deadlines.erase(change.group);
  }
  // An empty group is as its record says.
  if (change.phase.state == ClassicGroupState::kEmpty && at->second.pending().empty())
    soft_.classic.erase(at);
}

template <class Reply, class Act>
void GroupShard::on_classic(const std::string& id, const ClassicGroup& group, io::Now now,
                            Act&& act, Outcome<Reply>& outcome, ClassicAnswers& answers) const {
  with_life(id, group, [&](const ClassicLife& life) {
    ClassicDecision decision(id, life, classic_limits_, now);
    act(decision);
    std::vector<Record> records = decision.take_records();
    if (!records.empty())
      outcome.batches.push_back({std::move(records), std::nullopt, std::nullopt});
    for (GroupEffect& effect : decision.take_effects())
      outcome.effects.push_back(std::move(effect));
    ClassicAnswers answered = decision.take_answers();
    answers.insert(answers.end(), std::make_move_iterator(answered.begin()),
                   std::make_move_iterator(answered.end()));
  });
}

GroupShard::Outcome<ClassicAnswers> GroupShard::decide(const JoinClassicGroup& op,
                                                       io::Now now) const {
  const std::string id = op.join.group.str();
  const ConsumerGroup* consumers = consumer_group(id);
  if (consumers != nullptr && !consumers->members().empty())
    return join_consumer_group(*consumers, op, now);
  // A consumer group without members gives its name, and its offsets, to one who joins anew.
  const bool gives_way = consumers != nullptr && consumers->state() == ConsumerGroupState::kEmpty;
  const bool exists = hard_.groups.contains(id) && !gives_way;
  const ClassicGroup* group = find<ClassicGroup>(id);
  ClassicJoinReply reply;
  if (exists && group == nullptr) {
    reply.error = ErrorCode::INCONSISTENT_GROUP_PROTOCOL;
    return Outcome<ClassicAnswers>::answer(refused(op.ticket, std::move(reply)));
  }
  if (!exists && !op.join.member.empty()) {
    reply.error = ErrorCode::UNKNOWN_MEMBER_ID;
    reply.member = op.join.member;
    return Outcome<ClassicAnswers>::answer(refused(op.ticket, std::move(reply)));
  }
  Outcome<ClassicAnswers> outcome;
  if (gives_way) {
    outcome.batches.push_back(
        {consumer_group_tombstones(id, *consumers), std::nullopt, std::nullopt});
  }
  const ClassicGroup made;
  const auto join = [&](ClassicDecision& decision) {
    decision.join(op.join, op.ticket, op.new_id_suffix);
    if (!exists) decision.made();
  };
  on_classic(id, exists ? *group : made, now, join, outcome, outcome.reply);
  return outcome;
}

GroupShard::Outcome<ClassicAnswers> GroupShard::decide(const SyncClassicGroup& op,
                                                       io::Now now) const {
  const std::string id = op.sync.who.group.str();
  if (const ConsumerGroup* consumers = consumer_group(id))
    return sync_consumer_group(*consumers, op, now);
  const ClassicGroup* group = find<ClassicGroup>(id);
  Outcome<ClassicAnswers> outcome;
  if (group == nullptr) {
    ClassicSyncReply reply;
    reply.error = ErrorCode::UNKNOWN_MEMBER_ID;
    outcome.reply = refused(op.ticket, std::move(reply));
    return outcome;
  }
  const auto sync = [&op](ClassicDecision& decision) { decision.sync(op.sync, op.ticket); };
  on_classic(id, *group, now, sync, outcome, outcome.reply);
  return outcome;
}

GroupShard::Outcome<LeaveClassicGroup::Reply> GroupShard::decide(const LeaveClassicGroup& op,
                                                                 io::Now now) const {
  const std::string id = op.leave.group.str();
  if (const ConsumerGroup* consumers = consumer_group(id))
    return leave_consumer_group(*consumers, op, now);
  const ClassicGroup* group = find<ClassicGroup>(id);
  Outcome<LeaveClassicGroup::Reply> outcome;
  if (group == nullptr) {
    outcome.reply.errors.assign(op.leave.members.size(), ErrorCode::UNKNOWN_MEMBER_ID);
    return outcome;
  }
  const auto leave = [&](ClassicDecision& decision) {
    outcome.reply.errors = decision.leave(op.leave.members);
  };
  on_classic(id, *group, now, leave, outcome, outcome.reply.answers);
  return outcome;
}

GroupShard::Outcome<Verdict> GroupShard::decide(const BeatClassicMember& op, io::Now now) const {
  const std::string id = op.who.group.str();
  if (const ConsumerGroup* consumers = consumer_group(id))
    return beat_in_consumer_group(*consumers, op, now);
  const ClassicGroup* group = find<ClassicGroup>(id);
  if (group == nullptr) return Outcome<Verdict>::answer({ErrorCode::UNKNOWN_MEMBER_ID});
  return with_life(id, *group, [&](const ClassicLife& life) {
    const ErrorCode error = life.check(op.who.member, op.who.instance);
    if (error != ErrorCode::NONE) return Outcome<Verdict>::answer({error});
    if (op.who.generation != life.phase().generation)
      return Outcome<Verdict>::answer({ErrorCode::ILLEGAL_GENERATION});
    const bool gathering = life.phase().state == ClassicGroupState::kPreparingRebalance;
    auto outcome =
        Outcome<Verdict>::answer({gathering ? ErrorCode::REBALANCE_IN_PROGRESS : ErrorCode::NONE});
    const int32_t timeout_ms = life.member(op.who.member)->session_timeout_ms;
    outcome.effects.emplace_back(SessionRenewed{{id, op.who.member}, now.steady_ms + timeout_ms});
    return outcome;
  });
}

void GroupShard::start_classic_groups(io::Now now, Outcome<StartSessions::Reply>& outcome) const {
  ClassicAnswers nobody_waits;
  for_each<ClassicGroup>([&](const std::string& id, const ClassicGroup& group) {
    if (group.value.members.empty() || soft_.classic.contains(id)) return;
    const auto load = [](ClassicDecision& decision) { decision.loaded(); };
    on_classic(id, group, now, load, outcome, nobody_waits);
  });
}

void GroupShard::tick_classic_groups(const std::vector<MemberKey>& ended, io::Now now,
                                     Outcome<TickReply>& outcome) const {
  std::map<std::string, std::vector<std::string>> sessions;
  for (const MemberKey& key : ended) sessions[key.group].push_back(key.member);
  std::set<std::string> due;
  for (std::string& id : soft_.classic_deadlines.due(now.steady_ms)) {
    sessions.try_emplace(id);
    due.insert(std::move(id));
  }
  for (const auto& [id, members] : sessions) {
    const auto act = [&](ClassicDecision& decision) {
      for (const std::string& member : members) decision.session_ended(member);
      if (due.contains(id)) decision.deadline_reached();
    };
    on_classic(id, *find<ClassicGroup>(id), now, act, outcome, outcome.reply.answers);
  }
}

// Whether offsets may be committed on behalf of whoever says so.
ErrorCode GroupShard::check_classic_committer(const OffsetsToCommit& commit,
                                              bool in_transaction) const {
  const std::string id = commit.group.str();
  const OffsetCommitter& who = commit.committer;
  return with_life(id, *find<ClassicGroup>(id), [&](const ClassicLife& life) {
    const ClassicGroupState state = life.phase().state;
    const bool empty = state == ClassicGroupState::kEmpty;
    if (empty && who.generation_or_member_epoch < 0) return ErrorCode::NONE;
    if (who.is_nobody()) {
      // An old producer does not say for whom it commits.
      return in_transaction ? ErrorCode::NONE : ErrorCode::UNKNOWN_MEMBER_ID;
    }
    const ErrorCode error = life.check(who.member, who.instance);
    if (error != ErrorCode::NONE) return error;
    if (who.generation_or_member_epoch != life.phase().generation)
      return ErrorCode::ILLEGAL_GENERATION;
    // It knows the generation, but has no assignment of it yet.
    const bool early = !in_transaction && state == ClassicGroupState::kCompletingRebalance;
    return early ? ErrorCode::REBALANCE_IN_PROGRESS : ErrorCode::NONE;
  });
}

// Offsets committed by a member show that it is there.
void GroupShard::renew_committers_session(const OffsetsToCommit& commit, io::Now now,
                                          Outcome<Verdict>& outcome) const {
  const std::string id = commit.group.str();
  const auto at = soft_.classic.find(id);
  if (at == soft_.classic.end()) return;
  const ClassicMember* member = at->second.member(commit.committer.member);
  if (member == nullptr) return;
  outcome.effects.emplace_back(
      SessionRenewed{{id, commit.committer.member}, now.steady_ms + member->session_timeout_ms});
}

}  // namespace ackord::group
