// A consumer group as the log has it (KIP-848; semantics D.2): members, epochs, who is to have what
// and who has what, patterns and the topics that they stand for. Hard state of the group shard: it
// changes by records alone. What it counts (subscribers of a topic, owners of partitions, …) is
// kept with every record, so that no look at it costs more than a lookup.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/group/assignment.h"
#include "broker/group/group_records.h"

namespace ackord::group {

using Names = std::set<std::string, std::less<>>;

enum class ConsumerGroupState : int8_t { kEmpty, kAssigning, kReconciling, kStable, kDead };

// Kafka's names, as tools show them.
constexpr std::string_view name_of(ConsumerGroupState state) {
  switch (state) {
    case ConsumerGroupState::kEmpty: return "Empty";
    case ConsumerGroupState::kAssigning: return "Assigning";
    case ConsumerGroupState::kReconciling: return "Reconciling";
    case ConsumerGroupState::kStable: return "Stable";
    case ConsumerGroupState::kDead: return "Dead";
  }
  return "Unknown";
}

struct ConsumerGroupTransition {
  ConsumerGroupState from;
  ConsumerGroupState to;
};
inline constexpr ConsumerGroupTransition kConsumerGroupTransitions[] = {
    // received the first member, with an epoch that has no assignment => Assigning
    {ConsumerGroupState::kEmpty, ConsumerGroupState::kAssigning},
    // received the first member => Reconciling, Stable
    {ConsumerGroupState::kEmpty, ConsumerGroupState::kReconciling},
    {ConsumerGroupState::kEmpty, ConsumerGroupState::kStable},
    // received an assignment for the group's epoch => Reconciling, Stable
    {ConsumerGroupState::kAssigning, ConsumerGroupState::kReconciling},
    {ConsumerGroupState::kAssigning, ConsumerGroupState::kStable},
    // received the last member's arrival at its target => Stable
    {ConsumerGroupState::kReconciling, ConsumerGroupState::kStable},
    // received a new epoch => Assigning
    {ConsumerGroupState::kReconciling, ConsumerGroupState::kAssigning},
    {ConsumerGroupState::kStable, ConsumerGroupState::kAssigning},
    // received a member that is not at its target => Reconciling
    {ConsumerGroupState::kStable, ConsumerGroupState::kReconciling},
    // received the tombstone of the last member => Empty
    {ConsumerGroupState::kAssigning, ConsumerGroupState::kEmpty},
    {ConsumerGroupState::kReconciling, ConsumerGroupState::kEmpty},
    {ConsumerGroupState::kStable, ConsumerGroupState::kEmpty},
    // received the tombstone of the group (deleted, or turned into a classic one) => Dead
    {ConsumerGroupState::kEmpty, ConsumerGroupState::kDead},
    {ConsumerGroupState::kAssigning, ConsumerGroupState::kDead},
    {ConsumerGroupState::kReconciling, ConsumerGroupState::kDead},
    {ConsumerGroupState::kStable, ConsumerGroupState::kDead},
};
constexpr bool transition_allowed(ConsumerGroupState from, ConsumerGroupState to) {
  for (const ConsumerGroupTransition& transition : kConsumerGroupTransitions) {
    if (transition.from == from && transition.to == to) return true;
  }
  return false;
}
static_assert(!transition_allowed(ConsumerGroupState::kDead, ConsumerGroupState::kEmpty));

// The numbers are those of ConsumerGroupCurrentMemberAssignmentValue.State.
enum class MemberState : int8_t {
  kStable = 0,
  kUnrevokedPartitions = 1,
  kUnreleasedPartitions = 2,
  kUnknown = 127,  // of another version of Kafka
};

struct ConsumerMemberTransition {
  MemberState from;
  MemberState to;
};
inline constexpr ConsumerMemberTransition kConsumerMemberTransitions[] = {
    // received a target without something that it owns => UnrevokedPartitions
    {MemberState::kStable, MemberState::kUnrevokedPartitions},
    {MemberState::kUnreleasedPartitions, MemberState::kUnrevokedPartitions},
    // received a target with something that others own => UnreleasedPartitions
    {MemberState::kStable, MemberState::kUnreleasedPartitions},
    // received a heartbeat that owns nothing of what it must give up => Stable,
    // UnreleasedPartitions
    {MemberState::kUnrevokedPartitions, MemberState::kStable},
    {MemberState::kUnrevokedPartitions, MemberState::kUnreleasedPartitions},
    // received a heartbeat when all of the target is free => Stable
    {MemberState::kUnreleasedPartitions, MemberState::kStable},
    // received a heartbeat that owns nothing => like one that is Stable
    {MemberState::kUnknown, MemberState::kStable},
    {MemberState::kUnknown, MemberState::kUnrevokedPartitions},
    {MemberState::kUnknown, MemberState::kUnreleasedPartitions},
};
constexpr bool transition_allowed(MemberState from, MemberState to) {
  if (from == to) return true;
  for (const ConsumerMemberTransition& transition : kConsumerMemberTransitions) {
    if (transition.from == from && transition.to == to) return true;
  }
  return false;
}

// Partitions, each with the member's epoch at which it got it (KIP-1251).
using OwnedPartitions = std::map<TopicIdPartition, int32_t>;

// Of a member that speaks the classic protocol.
using ClassicMemberMetadata = protocol::ConsumerGroupMemberMetadataValue::ClassicMemberMetadata;

constexpr int32_t kJoinEpoch = 0;
constexpr int32_t kLeaveEpoch = -1;
constexpr int32_t kStaticLeaveEpoch = -2;  // a static member that means to come back

struct ConsumerMember {
  std::optional<std::string> instance;
  std::optional<std::string> rack;
  std::string client_id;
  std::string client_host;
  Names topics;       // subscribed by name
  std::string regex;  // "": none
  int32_t rebalance_timeout_ms = -1;
  std::optional<std::string> assignor;
  std::optional<ClassicMemberMetadata> classic;  // set: it speaks the classic protocol

  MemberState state = MemberState::kStable;
  int32_t epoch = 0;
  int32_t previous_epoch = -1;
  OwnedPartitions assigned;
  OwnedPartitions pending_revocation;

  bool is_at(int32_t target_epoch) const {
    return state == MemberState::kStable && epoch == target_epoch;
  }
  friend bool operator==(const ConsumerMember&, const ConsumerMember&) = default;
};

struct ResolvedRegex {
  Names topics;
  int64_t version = 0;  // of the metadata that was looked at
  TimeMs timestamp_ms = 0;
  friend bool operator==(const ResolvedRegex&, const ResolvedRegex&) = default;
};

class ConsumerGroup {
 public:
  // A new group's epoch: its first member makes it 2, as in Kafka.
  static constexpr int32_t kFirstEpoch = 1;
  static constexpr int32_t kFree = -1;  // the epoch of a partition that nobody has

  // How many members name a topic, and how many patterns stand for it.
  struct Interest {
    int32_t names = 0;
    int32_t patterns = 0;
  };
  using Members = std::map<std::string, ConsumerMember, std::less<>>;
  using Counts = std::map<std::string, int32_t, std::less<>>;

  ConsumerGroupState state() const { return state_; }
  int32_t epoch() const { return epoch_; }
  int64_t metadata_hash() const { return metadata_hash_; }
  int32_t assignment_epoch() const { return assignment_epoch_; }
  TimeMs assignment_timestamp() const { return assignment_timestamp_; }
  // A record of a type that Kafka wrote before 4.1 is there: the next epoch removes it.
  bool has_partition_metadata() const { return has_partition_metadata_; }

  const Members& members() const { return members_; }
  // Null for an unknown member.
  const ConsumerMember* member(std::string_view id) const;
  // The id of the member that has this instance; null when there is none.
  const std::string* static_member(std::string_view instance) const;
  int32_t classic_members() const { return classic_members_; }
  // Of members that speak the classic protocol: how many support each.
  const Counts& classic_protocols() const { return classic_protocols_; }

  // What each member should have. Members without an entry have nothing.
  const std::map<std::string, Assignment, std::less<>>& target() const { return target_; }
  const Assignment& target(std::string_view member) const;
  // The epoch of the member that has the partition, also while it is to give it up; kFree.
  int32_t partition_epoch(const TopicIdPartition& partition) const;

  const std::map<std::string, Interest, std::less<>>& subscribed_topics() const { return topics_; }
  // How many members have each pattern.
  const Counts& patterns() const { return patterns_; }
  int32_t members_with(std::string_view regex) const;
  const std::map<std::string, ResolvedRegex, std::less<>>& resolved() const { return resolved_; }
  // How many members prefer each assignor.
  const Counts& assignors() const { return assignors_; }

  // The changes of one record of this group.
  void apply(const ConsumerGroupMemberMetadata& record);
  void apply(const ConsumerGroupMetadata& record);
  void apply(const ConsumerGroupPartitionMetadata& record);
  void apply(const ConsumerGroupTargetAssignmentMetadata& record);
  void apply(const ConsumerGroupTargetAssignmentMember& record);
  void apply(const ConsumerGroupCurrentMemberAssignment& record);
  void apply(const ConsumerGroupRegularExpression& record);

 private:
  void count_subscription(const std::string& id, const ConsumerMember& member, int32_t by);
  void add_partitions(const ConsumerMember& member);
  void remove_partitions(const ConsumerMember& member);
  void count_patterns_topics(const Names& topics, int32_t by);
  void set_current(ConsumerMember& member,
                   const std::optional<protocol::ConsumerGroupCurrentMemberAssignmentValue>& value);
  void update_state();
  void move_to(ConsumerGroupState state);

  ConsumerGroupState state_ = ConsumerGroupState::kEmpty;
  int32_t epoch_ = kFirstEpoch;
  int64_t metadata_hash_ = 0;
  int32_t assignment_epoch_ = kFirstEpoch;
  TimeMs assignment_timestamp_ = 0;
  bool has_partition_metadata_ = false;
  Members members_;
  std::map<std::string, Assignment, std::less<>> target_;
  std::map<std::string, ResolvedRegex, std::less<>> resolved_;

  // Counted from the above.
  std::map<std::string, std::string, std::less<>> static_members_;
  std::map<std::string, Interest, std::less<>> topics_;
  Counts patterns_;
  Counts assignors_;
  int32_t classic_members_ = 0;
  Counts classic_protocols_;
  std::map<TopicIdPartition, int32_t> partition_epochs_;
  size_t settled_ = 0;  // members at their target
};

}  // namespace ackord::group
