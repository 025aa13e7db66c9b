// A classic group: as its last record says (hard state), and as it lives between two records (soft
// state, gone after a restart), which is what its members see.
//
// Kafka logs a group when it is made, when its leader has assigned, when a static member has come
// back, and when it has become empty; the gathering of members before that is not logged. So the
// life of a group begins with its record and runs ahead of it. A group that has only offsets is a
// classic one whose record is not there.
// Source: KIP-62, KIP-345, KIP-394; semantics D.1.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/group/classic_types.h"
#include "broker/group/group_records.h"
#include "broker/io/clock.h"

namespace ackord::group {

enum class ClassicGroupState : int8_t {
  kEmpty,
  kPreparingRebalance,
  kCompletingRebalance,
  kStable,
  kDead,
};

// Kafka's names, as tools show them.
constexpr std::string_view name_of(ClassicGroupState state) {
  switch (state) {
    case ClassicGroupState::kEmpty: return "Empty";
    case ClassicGroupState::kPreparingRebalance: return "PreparingRebalance";
    case ClassicGroupState::kCompletingRebalance: return "CompletingRebalance";
    case ClassicGroupState::kStable: return "Stable";
    case ClassicGroupState::kDead: return "Dead";
  }
  return "Unknown";
}

struct ClassicGroupTransition {
  ClassicGroupState from;
  ClassicGroupState to;
};
inline constexpr ClassicGroupTransition kClassicGroupTransitions[] = {
    // received JoinGroup of a first member => PreparingRebalance
    {ClassicGroupState::kEmpty, ClassicGroupState::kPreparingRebalance},
    // received JoinGroup that changes something, or a member is gone => PreparingRebalance
    {ClassicGroupState::kStable, ClassicGroupState::kPreparingRebalance},
    {ClassicGroupState::kCompletingRebalance, ClassicGroupState::kPreparingRebalance},
    // all have joined, or the time to join is over => CompletingRebalance
    {ClassicGroupState::kPreparingRebalance, ClassicGroupState::kCompletingRebalance},
    // the same, and nobody is left => Empty
    {ClassicGroupState::kPreparingRebalance, ClassicGroupState::kEmpty},
    // received SyncGroup of the leader => Stable
    {ClassicGroupState::kCompletingRebalance, ClassicGroupState::kStable},
    // received tombstone of GroupMetadata (group deleted) => Dead
    {ClassicGroupState::kEmpty, ClassicGroupState::kDead},
    {ClassicGroupState::kStable, ClassicGroupState::kDead},
    {ClassicGroupState::kPreparingRebalance, ClassicGroupState::kDead},
    {ClassicGroupState::kCompletingRebalance, ClassicGroupState::kDead},
};
constexpr bool transition_allowed(ClassicGroupState from, ClassicGroupState to) {
  for (const ClassicGroupTransition& transition : kClassicGroupTransitions) {
    if (transition.from == from && transition.to == to) return true;
  }
  return false;
}
static_assert(!transition_allowed(ClassicGroupState::kDead, ClassicGroupState::kEmpty));

// What Kafka calls the protocol type of consumers; others are opaque here.
inline constexpr std::string_view kConsumerProtocolType = "consumer";

// Hard: the value of the last GroupMetadata record. Without one: generation 0 and no protocol type.
struct ClassicGroup {
  ClassicGroup() {
    value.protocol.reset();
    value.leader.reset();
  }
  protocol::GroupMetadataValue value;
};

struct ClassicMember {
  std::optional<std::string> instance;
  std::string client_id;
  std::string client_host;
  int32_t rebalance_timeout_ms = 0;
  int32_t session_timeout_ms = 0;
  std::shared_ptr<const std::vector<ClassicProtocol>> protocols;  // never null
  SharedBytes assignment;
  // The requests of it that wait for an answer.
  std::optional<Ticket> join;
  std::optional<Ticket> sync;
  bool is_new = false;     // the answer to its first JoinGroup is still to come
  bool must_sync = false;  // joined this generation and has not sent SyncGroup

  // Empty when it does not know the protocol.
  SharedBytes metadata(std::string_view protocol) const;
  bool knows(std::string_view protocol) const;
};

// All of a living group but its members.
struct ClassicPhase {
  ClassicGroupState state = ClassicGroupState::kEmpty;
  TimeMs since_ms = -1;  // wall clock; -1: not known
  int32_t generation = 0;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol;
  std::string leader;  // "": none
  // The end of gathering or of syncing, whichever the group is in; steady ms.
  std::optional<int64_t> deadline_ms;
  // The group was empty before this rebalance: it waits a while for more members, and again when
  // more came, in all for no longer than a rebalance.
  bool initial = false;
  bool more_came = false;
  int32_t delay_ms = 0;
  int32_t remaining_ms = 0;

  // Asserts the transition.
  void move_to(ClassicGroupState next, TimeMs now_ms);
};

// One decision's change of a life: absolute, so it holds on whatever was there.
struct ClassicChange {
  std::string group;
  ClassicPhase phase;
  std::vector<std::pair<std::string, std::optional<ClassicMember>>> members;  // absent: gone
  std::vector<std::pair<std::string, bool>> pending;                          // false: not any more
};

// Soft: a group with members, or with ids given out.
class ClassicLife {
 public:
  explicit ClassicLife(const ClassicGroup& recorded);

  const ClassicPhase& phase() const { return phase_; }
  const std::map<std::string, ClassicMember, std::less<>>& members() const { return members_; }
  // Null for an unknown member.
  const ClassicMember* member(std::string_view id) const;
  // The member of a static instance; null when there is none.
  const std::string* of_instance(std::string_view instance) const;
  // Ids that were given out and have not joined.
  const std::set<std::string, std::less<>>& pending() const { return pending_; }
  // How many know the protocol, wait with a JoinGroup, have to sync.
  int knowing(std::string_view protocol) const;
  int joined() const { return joined_; }
  int unsynced() const { return unsynced_; }

  // UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
  ErrorCode check(std::string_view id, const std::optional<std::string>& instance) const;
  // Topics that its members subscribe to by the protocol in force; absent when that cannot be told.
  // O(members): for what is asked seldom.
  std::optional<std::set<std::string, std::less<>>> subscribed_topics() const;

  void apply(const ClassicChange& change);

 private:
  void put(const std::string& id, ClassicMember member);
  void erase(std::string_view id);
  void count(const ClassicMember& member, int by);

  ClassicPhase phase_;
  std::map<std::string, ClassicMember, std::less<>> members_;
  std::map<std::string, std::string, std::less<>> instances_;
  std::set<std::string, std::less<>> pending_;
  std::map<std::string, int, std::less<>> knowing_;
  int joined_ = 0;
  int unsynced_ = 0;
};

// The record of a group; `members` empty for an empty one.
ClassicGroupMetadata classic_group_record(
    std::string_view group, const ClassicPhase& phase,
    const std::vector<std::pair<std::string, const ClassicMember*>>& members);
ClassicGroupMetadata classic_group_tombstone(std::string_view group);

}  // namespace ackord::group
