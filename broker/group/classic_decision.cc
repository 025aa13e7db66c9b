// Joining, syncing and leaving; what follows for the group as a whole is in classic_rebalance.cc.
#include "broker/group/classic_decision.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ackord::group {
namespace {

bool inconsistent(const std::optional<std::string>& asked, const std::optional<std::string>& is) {
  return asked && is && *asked != *is;
}

std::shared_ptr<const std::vector<ClassicProtocol>> protocols_of(const ClassicJoin& request) {
  return std::make_shared<const std::vector<ClassicProtocol>>(request.protocols);
}

// As validation refuses it: without a protocol.
ClassicJoinReply refusal(std::string_view member, ErrorCode error) {
  ClassicJoinReply reply;
  reply.error = error;
  reply.member = member;
  reply.protocol.reset();
  return reply;
}

}  // namespace

// ---- joining

void ClassicDecision::join(const ClassicJoin& request, Ticket ticket,
                           const std::string& new_id_suffix) {
  if (!accepts(request.member)) {
    forget_pending(request.member);
    if (draft_.member(request.member) != nullptr) remove(request.member);
    refuse_join(ticket, "", ErrorCode::GROUP_MAX_SIZE_REACHED);
  } else if (!request.member.empty()) {
    join_known(request, ticket);
  } else {
    join_new(request, ticket, request.instance.value_or(request.client_id) + "-" + new_id_suffix);
  }
}

// While members gather, those that have come back count: so a group that is too large since its
// limit was lowered loses the last ones.
bool ClassicDecision::accepts(std::string_view id) const {
  const ClassicMember* known = draft_.member(id);
  switch (draft_.phase.state) {
    case ClassicGroupState::kPreparingRebalance:
      return (known != nullptr && known->join) || draft_.joined() < limits_.max_size;
    case ClassicGroupState::kCompletingRebalance:
    case ClassicGroupState::kStable: return known != nullptr || draft_.size() < limits_.max_size;
    default: return true;
  }
}

bool ClassicDecision::supports(const ClassicJoin& request) const {
  if (draft_.phase.state == ClassicGroupState::kEmpty)
    return !request.protocol_type.empty() && !request.protocols.empty();
  return draft_.phase.protocol_type == request.protocol_type &&
         std::any_of(request.protocols.begin(), request.protocols.end(),
                     [this](const ClassicProtocol& one) { return draft_.common(one.name); });
}

void ClassicDecision::join_new(const ClassicJoin& request, Ticket ticket, const std::string& id) {
  if (!supports(request)) return refuse_join(ticket, "", ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  if (request.instance) {
    const std::string* holder = draft_.of_instance(*request.instance);
    if (holder != nullptr) return replace_static(request, ticket, std::string(*holder), id);
  } else if (request.wants_id_first) {
    draft_.set_pending(id, true);
    renew_session(id, request.session_timeout_ms);
    return refuse_join(ticket, id, ErrorCode::MEMBER_ID_REQUIRED);
  }
  add_member(request, ticket, id);
}

void ClassicDecision::join_known(const ClassicJoin& request, Ticket ticket) {
  if (!supports(request))
    return refuse_join(ticket, request.member, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  if (draft_.is_pending(request.member)) {
    // An id is given out only to one without an instance.
    if (request.instance)
      return refuse_join(ticket, request.member, ErrorCode::UNKNOWN_SERVER_ERROR);
    return add_member(request, ticket, request.member);
  }
  const ErrorCode error = draft_.check(request.member, request.instance);
  if (error != ErrorCode::NONE) {
    answers_.push_back({ticket, refusal(request.member, error)});
    return;
  }
  const bool unchanged = *draft_.member(request.member)->protocols == request.protocols;
  const bool leads = draft_.phase.leader == request.member;
  const bool completing = draft_.phase.state == ClassicGroupState::kCompletingRebalance;
  const bool stable = draft_.phase.state == ClassicGroupState::kStable;
  // Its answer may have been lost: it has it again. A leader that joins a stable group wants to
  // assign anew, though.
  if (unchanged && (completing || (stable && !leads))) {
    answers_.push_back({ticket, standing(request.member, completing && leads)});
  } else {
    update_member(request, ticket);
    rebalance_or_complete();
  }
}

void ClassicDecision::add_member(const ClassicJoin& request, Ticket ticket, const std::string& id) {
  ClassicMember member;
  member.instance = request.instance;
  member.client_id = request.client_id;
  member.client_host = request.client_host;
  member.rebalance_timeout_ms = request.rebalance_timeout_ms;
  member.session_timeout_ms = request.session_timeout_ms;
  member.protocols = protocols_of(request);
  member.join = ticket;
  member.is_new = true;
  if (draft_.phase.state == ClassicGroupState::kPreparingRebalance && draft_.phase.initial)
    draft_.phase.more_came = true;
  if (draft_.size() == 0) draft_.phase.protocol_type = request.protocol_type;
  if (draft_.phase.leader.empty()) draft_.phase.leader = id;
  if (draft_.is_pending(id)) draft_.set_pending(id, false);
  draft_.put(id, std::move(member));
  renew_session(id, kNewMemberJoinTimeoutMs);
  rebalance_or_complete();
}

void ClassicDecision::update_member(const ClassicJoin& request, Ticket ticket) {
  ClassicMember member = *draft_.member(request.member);
  member.protocols = protocols_of(request);
  member.rebalance_timeout_ms = request.rebalance_timeout_ms;
  member.session_timeout_ms = request.session_timeout_ms;
  member.join = ticket;
  draft_.put(request.member, std::move(member));
}

// A static member that has been started again takes its old place under a new id; requests under
// the old one are fenced.
void ClassicDecision::replace_static(const ClassicJoin& request, Ticket ticket,
                                     const std::string& old_id, const std::string& new_id) {
  ClassicMember member = *draft_.member(old_id);
  if (member.join)
    answers_.push_back({*member.join, refusal(old_id, ErrorCode::FENCED_INSTANCE_ID)});
  if (member.sync) {
    ClassicSyncReply fenced;
    fenced.error = ErrorCode::FENCED_INSTANCE_ID;
    answers_.push_back({*member.sync, std::move(fenced)});
  }
  sessions_.emplace_back(SessionEnded{{group_, old_id}});
  renew_session(new_id, member.session_timeout_ms);
  member.sync.reset();
  member.is_new = false;
  member.protocols = protocols_of(request);
  member.rebalance_timeout_ms = request.rebalance_timeout_ms;
  member.session_timeout_ms = request.session_timeout_ms;
  member.join = ticket;
  draft_.erase(old_id);
  draft_.put(new_id, std::move(member));
  const std::string leader_before = draft_.phase.leader;
  if (leader_before == old_id) draft_.phase.leader = new_id;
  switch (draft_.phase.state) {
    case ClassicGroupState::kStable:
      // Nothing happens to the others as long as the group would choose the same protocol.
      if (draft_.phase.protocol == select_protocol())
        return keep_static(request, ticket, new_id, leader_before);
      return rebalance_or_complete();
    // The leader may have been told the old id: its assignment would miss the new one.
    case ClassicGroupState::kCompletingRebalance: return prepare();
    default: return complete_if_gathered();
  }
}

void ClassicDecision::keep_static(const ClassicJoin& request, Ticket ticket, const std::string& id,
                                  const std::string& leader_before) {
  ClassicMember member = *draft_.member(id);
  member.join.reset();
  draft_.put(id, std::move(member));
  log_group();
  const bool leads = draft_.phase.leader == id;
  ClassicJoinReply reply = standing(id, leads && request.knows_skip_assignment);
  reply.skip_assignment = leads && request.knows_skip_assignment;
  // One that does not know that it may skip it would assign anew: it is not told that it leads.
  if (!request.knows_skip_assignment) reply.leader = leader_before;
  answers_.push_back({ticket, std::move(reply)});
}

void ClassicDecision::refuse_join(Ticket ticket, std::string_view member, ErrorCode error) {
  ClassicJoinReply reply;
  reply.error = error;
  reply.member = member;
  answers_.push_back({ticket, std::move(reply)});
}

ClassicJoinReply ClassicDecision::standing(const std::string& id, bool with_members) const {
  ClassicJoinReply reply;
  reply.member = id;
  reply.generation = draft_.phase.generation;
  reply.protocol_type = draft_.phase.protocol_type;
  reply.protocol = draft_.phase.protocol;
  reply.leader = draft_.phase.leader;
  if (!with_members) return reply;
  draft_.for_each([&](const std::string& other, const ClassicMember& member) {
    reply.members.push_back(
        {other, member.instance, member.metadata(draft_.phase.protocol.value_or(""))});
  });
  return reply;
}

// ---- syncing

void ClassicDecision::sync(const ClassicSync& request, Ticket ticket) {
  const std::string& id = request.who.member;
  ClassicSyncReply reply;
  reply.error = check_sync(request);
  if (reply.error != ErrorCode::NONE) {
    answers_.push_back({ticket, std::move(reply)});
    return;
  }
  clear_must_sync(id);
  ClassicMember member = *draft_.member(id);
  if (draft_.phase.state == ClassicGroupState::kStable) {
    reply.protocol_type = draft_.phase.protocol_type;
    reply.protocol = draft_.phase.protocol;
    reply.assignment = member.assignment;
    answers_.push_back({ticket, std::move(reply)});
    return;
  }
  member.sync = ticket;
  draft_.put(id, std::move(member));
  if (draft_.phase.leader == id) assign(request);
}

ErrorCode ClassicDecision::check_sync(const ClassicSync& request) const {
  const ErrorCode error = draft_.check(request.who.member, request.who.instance);
  if (error != ErrorCode::NONE) return error;
  if (request.who.generation != draft_.phase.generation) return ErrorCode::ILLEGAL_GENERATION;
  if (inconsistent(request.protocol_type, draft_.phase.protocol_type) ||
      inconsistent(request.protocol, draft_.phase.protocol))
    return ErrorCode::INCONSISTENT_GROUP_PROTOCOL;
  const bool gathering = draft_.phase.state == ClassicGroupState::kPreparingRebalance;
  return gathering ? ErrorCode::REBALANCE_IN_PROGRESS : ErrorCode::NONE;
}

void ClassicDecision::clear_must_sync(const std::string& id) {
  ClassicMember member = *draft_.member(id);
  if (!member.must_sync) return;
  member.must_sync = false;
  draft_.put(id, std::move(member));
  if (draft_.unsynced() == 0) draft_.phase.deadline_ms.reset();
}

// Members that the leader leaves out have nothing to do.
void ClassicDecision::assign(const ClassicSync& request) {
  std::map<std::string_view, SharedBytes> assignments;
  for (const auto& [id, assignment] : request.assignments)
    assignments.insert_or_assign(id, assignment);
  ClassicSyncReply reply;
  reply.protocol_type = draft_.phase.protocol_type;
  reply.protocol = draft_.phase.protocol;
  draft_.for_each([&](const std::string& id, ClassicMember member) {
    const auto at = assignments.find(id);
    member.assignment = at == assignments.end() ? SharedBytes() : at->second;
    if (member.sync) {
      reply.assignment = member.assignment;
      answers_.push_back({*std::exchange(member.sync, std::nullopt), reply});
      renew_session(id, member.session_timeout_ms);
    }
    draft_.put(id, std::move(member));
  });
  // The record has the time at which the generation began.
  log_group();
  draft_.phase.move_to(ClassicGroupState::kStable, now_.wall_ms);
}

// ---- going

std::vector<ErrorCode> ClassicDecision::leave(const std::vector<ClassicLeave::Member>& members) {
  std::vector<ErrorCode> errors;
  for (const ClassicLeave::Member& leaver : members) {
    std::string id = leaver.id;
    ErrorCode error = ErrorCode::NONE;
    if (id.empty()) {
      const std::string* holder = leaver.instance ? draft_.of_instance(*leaver.instance) : nullptr;
      if (holder != nullptr) id = *holder;
      if (holder == nullptr) error = ErrorCode::UNKNOWN_MEMBER_ID;
    } else if (!draft_.is_pending(id)) {
      error = draft_.check(id, leaver.instance);
    }
    errors.push_back(error);
    if (error != ErrorCode::NONE) continue;
    if (draft_.is_pending(id)) {
      forget_pending(id);
    } else {
      remove(id);
    }
  }
  if (std::find(errors.begin(), errors.end(), ErrorCode::NONE) == errors.end()) return errors;
  switch (draft_.phase.state) {
    case ClassicGroupState::kStable:
    case ClassicGroupState::kCompletingRebalance: rebalance_or_complete(); break;
    case ClassicGroupState::kPreparingRebalance: complete_if_gathered(); break;
    default: break;
  }
  return errors;
}

void ClassicDecision::session_ended(const std::string& id) {
  const bool gathering = draft_.phase.state == ClassicGroupState::kPreparingRebalance;
  if (draft_.is_pending(id)) {
    forget_pending(id);
    if (gathering && all_joined()) complete();
    return;
  }
  const ClassicMember* member = draft_.member(id);
  // One whose request waits here is there; it has a session again when it is answered. Only a new
  // member may be waiting for an answer that nobody reads.
  if (member == nullptr || (!member->is_new && (member->join || member->sync))) {
    sessions_.emplace_back(SessionEnded{{group_, id}});
    return;
  }
  remove(id);
  if (!gathering) {
    rebalance_or_complete();
  } else if (all_joined()) {
    complete();
  }
}

// A request of it that waits is answered so that a client that is still there joins anew.
void ClassicDecision::remove(const std::string& id) {
  const ClassicMember& member = *draft_.member(id);
  if (member.join) refuse_join(*member.join, "", ErrorCode::UNKNOWN_MEMBER_ID);
  if (member.sync) {
    ClassicSyncReply gone;
    gone.error = ErrorCode::UNKNOWN_MEMBER_ID;
    answers_.push_back({*member.sync, std::move(gone)});
  }
  draft_.erase(id);
  sessions_.emplace_back(SessionEnded{{group_, id}});
  if (draft_.phase.leader != id) return;
  draft_.phase.leader.clear();
  draft_.for_each([this](const std::string& other, const ClassicMember&) {
    if (draft_.phase.leader.empty()) draft_.phase.leader = other;
  });
}

void ClassicDecision::forget_pending(const std::string& id) {
  if (!draft_.is_pending(id)) return;
  draft_.set_pending(id, false);
  sessions_.emplace_back(SessionEnded{{group_, id}});
}

void ClassicDecision::renew_session(const std::string& id, int32_t timeout_ms) {
  sessions_.emplace_back(SessionRenewed{{group_, id}, now_.steady_ms + timeout_ms});
}

std::vector<GroupEffect> ClassicDecision::take_effects() {
  std::vector<GroupEffect> effects;
  effects.emplace_back(draft_.change(group_));
  effects.insert(effects.end(), std::make_move_iterator(sessions_.begin()),
                 std::make_move_iterator(sessions_.end()));
  return effects;
}

}  // namespace ackord::group
