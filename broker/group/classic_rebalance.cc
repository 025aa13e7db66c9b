// ClassicDecision: how a group gathers its members and begins a generation.
#include <algorithm>
#include <map>
#include <utility>

#include "broker/group/classic_decision.h"

namespace ackord::group {

void ClassicDecision::rebalance_or_complete() {
  if (draft_.phase.state == ClassicGroupState::kPreparingRebalance) return complete_if_gathered();
  prepare();
}

// Whoever waits for an assignment is told to join again.
void ClassicDecision::prepare() {
  ClassicPhase& phase = draft_.phase;
  const bool completing = phase.state == ClassicGroupState::kCompletingRebalance;
  draft_.for_each([&](const std::string& id, const ClassicMember& before) {
    const bool forgets = completing && (before.sync || !before.assignment.empty());
    if (!before.must_sync && !forgets) return;
    ClassicMember member = before;
    member.must_sync = false;
    if (completing) member.assignment = {};
    if (member.sync) {
      ClassicSyncReply reply;
      reply.error = ErrorCode::REBALANCE_IN_PROGRESS;
      answers_.push_back({*std::exchange(member.sync, std::nullopt), std::move(reply)});
      renew_session(id, member.session_timeout_ms);
    }
    draft_.put(id, std::move(member));
  });
  phase.initial = phase.state == ClassicGroupState::kEmpty;
  phase.move_to(ClassicGroupState::kPreparingRebalance, now_.wall_ms);
  if (phase.initial) {
    phase.more_came = false;
    phase.delay_ms = limits_.initial_rebalance_delay_ms;
    phase.remaining_ms = std::max(rebalance_timeout_ms() - phase.delay_ms, 0);
    phase.deadline_ms = now_.steady_ms + phase.delay_ms;
  } else if (all_joined()) {
    complete();
  } else {
    phase.deadline_ms = now_.steady_ms + rebalance_timeout_ms();
  }
}

// A group that was empty waits for its time in any case.
void ClassicDecision::complete_if_gathered() {
  if (draft_.phase.state != ClassicGroupState::kPreparingRebalance) return;
  if (!draft_.phase.initial && all_joined()) complete();
}

bool ClassicDecision::all_joined() const {
  return draft_.size() == draft_.joined() && !draft_.has_pending();
}

void ClassicDecision::complete() {
  draft_.phase.deadline_ms.reset();
  // Static members may be away for as long as their session lasts.
  std::vector<std::string> absent;
  draft_.for_each([&absent](const std::string& id, const ClassicMember& member) {
    if (!member.join && !member.instance) absent.push_back(id);
  });
  for (const std::string& id : absent) remove(id);
  if (draft_.size() != 0 && !elect_leader()) {
    // Nobody is there who could lead; the sessions of those who are away will end.
    draft_.phase.deadline_ms = now_.steady_ms + rebalance_timeout_ms();
    return;
  }
  ++draft_.phase.generation;
  if (draft_.size() != 0) return begin_generation();
  draft_.phase.protocol.reset();
  draft_.phase.move_to(ClassicGroupState::kEmpty, now_.wall_ms);
  log_group();
}

void ClassicDecision::begin_generation() {
  ClassicPhase& phase = draft_.phase;
  phase.protocol = select_protocol();
  phase.move_to(ClassicGroupState::kCompletingRebalance, now_.wall_ms);
  draft_.for_each([&](const std::string& id, ClassicMember member) {
    if (member.join) {
      answers_.push_back(
          {*std::exchange(member.join, std::nullopt), standing(id, phase.leader == id)});
    }
    member.is_new = false;
    member.must_sync = true;
    renew_session(id, member.session_timeout_ms);
    draft_.put(id, std::move(member));
  });
  phase.deadline_ms = now_.steady_ms + rebalance_timeout_ms();
}

// The leader stays, unless it has not come back.
bool ClassicDecision::elect_leader() {
  const ClassicMember* leader = draft_.member(draft_.phase.leader);
  if (leader != nullptr && leader->join) return true;
  std::string elected;
  draft_.for_each([&elected](const std::string& id, const ClassicMember& member) {
    if (elected.empty() && member.join) elected = id;
  });
  if (elected.empty()) return false;
  draft_.phase.leader = elected;
  return true;
}

// Each member votes for the first of its protocols that all know. Of those with the most votes it
// is the first by name.
std::string ClassicDecision::select_protocol() const {
  std::map<std::string, int> votes;
  draft_.for_each([&](const std::string&, const ClassicMember& member) {
    for (const ClassicProtocol& protocol : *member.protocols) {
      if (!draft_.common(protocol.name)) continue;
      ++votes[protocol.name];
      break;
    }
  });
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? std::string() : most->first;
}

int32_t ClassicDecision::rebalance_timeout_ms() const {
  int32_t longest = 0;
  draft_.for_each([&longest](const std::string&, const ClassicMember& member) {
    longest = std::max(longest, member.rebalance_timeout_ms);
  });
  return longest;
}

void ClassicDecision::deadline_reached() {
  ClassicPhase& phase = draft_.phase;
  if (phase.state != ClassicGroupState::kPreparingRebalance) return syncing_is_over();
  if (!phase.initial || !phase.more_came || phase.remaining_ms == 0) return complete();
  const int32_t waited_ms = phase.delay_ms;
  phase.more_came = false;
  phase.delay_ms = std::min(limits_.initial_rebalance_delay_ms, phase.remaining_ms);
  phase.remaining_ms = std::max(phase.remaining_ms - waited_ms, 0);
  phase.deadline_ms = now_.steady_ms + phase.delay_ms;
}

// Those that have not asked for their assignment are removed.
void ClassicDecision::syncing_is_over() {
  draft_.phase.deadline_ms.reset();
  std::vector<std::string> late;
  draft_.for_each([&late](const std::string& id, const ClassicMember& member) {
    if (member.must_sync) late.push_back(id);
  });
  if (late.empty()) return;
  for (const std::string& id : late) remove(id);
  prepare();
}

void ClassicDecision::loaded() {
  draft_.for_each([this](const std::string& id, const ClassicMember& member) {
    renew_session(id, member.session_timeout_ms);
  });
  if (draft_.size() > limits_.max_size) prepare();
}

void ClassicDecision::converted(bool somebody_left) {
  draft_.for_each([this](const std::string& id, const ClassicMember& member) {
    renew_session(id, member.session_timeout_ms);
  });
  if (somebody_left) prepare();
}

void ClassicDecision::made() {
  if (!records_.empty()) return;
  ClassicPhase nothing;
  nothing.since_ms = now_.wall_ms;
  records_.emplace_back(classic_group_record(group_, nothing, {}));
}

void ClassicDecision::log_group() {
  std::vector<std::pair<std::string, const ClassicMember*>> members;
  draft_.for_each([&members](const std::string& id, const ClassicMember& member) {
    members.emplace_back(id, &member);
  });
  records_.emplace_back(classic_group_record(group_, draft_.phase, members));
}

}  // namespace ackord::group
