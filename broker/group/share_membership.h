// A share group as the log has it: members, epochs, assignments, and the share-partitions that have
// state (KIP-932; semantics A.2-A.4). Hard state of the group shard: it changes by records alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/group/group_records.h"
#include "broker/group/group_service.h"
#include "broker/group/share_assignor.h"

namespace ackord::group {

enum class ShareGroupState : int8_t { kEmpty, kStable, kDead };

// Kafka's names, as tools show them.
constexpr std::string_view name_of(ShareGroupState state) {
  switch (state) {
    case ShareGroupState::kEmpty: return "Empty";
    case ShareGroupState::kStable: return "Stable";
    case ShareGroupState::kDead: return "Dead";
  }
  return "Unknown";
}

struct ShareGroupTransition {
  ShareGroupState from;
  ShareGroupState to;
};
inline constexpr ShareGroupTransition kShareGroupTransitions[] = {
    // received first member's ShareGroupMemberMetadata => Stable
    {ShareGroupState::kEmpty, ShareGroupState::kStable},
    // received tombstone of the last member (left, or its session ended) => Empty
    {ShareGroupState::kStable, ShareGroupState::kEmpty},
    // received tombstone of ShareGroupMetadata (group deleted) => Dead
    {ShareGroupState::kEmpty, ShareGroupState::kDead},
    {ShareGroupState::kStable, ShareGroupState::kDead},
};
constexpr bool transition_allowed(ShareGroupState from, ShareGroupState to) {
  for (const ShareGroupTransition& transition : kShareGroupTransitions) {
    if (transition.from == from && transition.to == to) return true;
  }
  return false;
}
static_assert(!transition_allowed(ShareGroupState::kDead, ShareGroupState::kEmpty));

struct ShareMember {
  std::optional<std::string> rack;
  std::string client_id;
  std::string client_host;
  std::set<std::string, std::less<>> topics;  // subscribed, by name
  int32_t epoch = 0;
  int32_t previous_epoch = 0;
  Assignment assigned;
};

struct HeldTopic {
  std::string name;
  std::set<int32_t> partitions;
  friend bool operator==(const HeldTopic&, const HeldTopic&) = default;
};
using HeldTopics = std::map<Uuid, HeldTopic>;

class ShareGroup {
 public:
  // A new group's epoch: its first member makes it 2, as in Kafka.
  static constexpr int32_t kFirstEpoch = 1;

  ShareGroupState state() const { return state_; }
  int32_t epoch() const { return epoch_; }
  int64_t metadata_hash() const { return metadata_hash_; }
  int32_t assignment_epoch() const { return assignment_epoch_; }
  TimeMs assignment_timestamp() const { return assignment_timestamp_; }
  const std::map<std::string, ShareMember, std::less<>>& members() const { return members_; }
  // Null for an unknown member.
  const ShareMember* member(std::string_view id) const;
  // What each member should hold; it takes it over with a heartbeat. Members without one are
  // absent.
  const std::map<std::string, Assignment, std::less<>>& target() const { return target_; }
  // Share-partitions whose state is being made, and those that have it: only these are assigned.
  const HeldTopics& initializing() const { return initializing_; }
  const HeldTopics& initialized() const { return initialized_; }
  std::set<std::string, std::less<>> subscribed_topics() const;

  // The changes of one record of this group.
  void apply(const ShareGroupMemberMetadata& record);
  void apply(const ShareGroupMetadata& record);
  void apply(const ShareGroupTargetAssignmentMetadata& record);
  void apply(const ShareGroupTargetAssignmentMember& record);
  void apply(const ShareGroupCurrentMemberAssignment& record);
  void apply(const ShareGroupStatePartitionMetadata& record);

 private:
  void move_to(ShareGroupState state);

  ShareGroupState state_ = ShareGroupState::kEmpty;
  int32_t epoch_ = kFirstEpoch;
  int64_t metadata_hash_ = 0;
  int32_t assignment_epoch_ = kFirstEpoch;
  TimeMs assignment_timestamp_ = 0;
  std::map<std::string, ShareMember, std::less<>> members_;
  std::map<std::string, Assignment, std::less<>> target_;
  HeldTopics initializing_;
  HeldTopics initialized_;
};

// ---- the forms of an assignment
std::vector<TopicPartitions> to_topic_partitions(const Assignment& assignment);
std::vector<ShareGroupTopic> to_topics(const HeldTopics& held);
// Initialised or being initialised.
std::vector<ShareGroupTopic> held_by(const ShareGroup& group);

// ---- records, with a group's or a member's new values
ShareGroupMemberMetadata member_metadata_record(std::string_view group, std::string_view id,
                                                const ShareMember& member);
ShareGroupMetadata group_metadata_record(std::string_view group, int32_t epoch,
                                         int64_t metadata_hash);
ShareGroupTargetAssignmentMetadata target_metadata_record(std::string_view group, int32_t epoch,
                                                          TimeMs timestamp);
ShareGroupTargetAssignmentMember target_member_record(std::string_view group, std::string_view id,
                                                      const Assignment& target);
ShareGroupCurrentMemberAssignment current_assignment_record(std::string_view group,
                                                            std::string_view id,
                                                            const ShareMember& member);
ShareGroupStatePartitionMetadata state_partitions_record(std::string_view group,
                                                         const HeldTopics& initializing,
                                                         const HeldTopics& initialized);
// The delivery state of `deleting` is about to be removed; the group holds only the rest.
ShareGroupStatePartitionMetadata deleting_record(std::string_view group,
                                                 const HeldTopics& initializing,
                                                 const HeldTopics& initialized,
                                                 const std::vector<ShareGroupTopic>& deleting);
// The end of a group that has no members; its own record last.
std::vector<GroupRecord> group_tombstones(std::string_view group);
// Members gone: their tombstones, one epoch more, and the target's end when nobody is left.
std::vector<GroupRecord> remove_members(std::string_view group_id, const ShareGroup& group,
                                        const std::vector<std::string>& members,
                                        int64_t metadata_hash);

}  // namespace ackord::group
