#include "broker/group/share_membership.h"

#include "broker/base/assert.h"
#include "broker/group/assignment.h"
#include "broker/group/record_keys.h"

namespace ackord::group {
namespace {

template <class TopicList>
HeldTopics to_held(const TopicList& topics) {
  HeldTopics held;
  for (const auto& topic : topics) {
    HeldTopic& entry = held[topic.topic_id];
    entry.name = topic.topic_name.str();
    entry.partitions.insert(topic.partitions.begin(), topic.partitions.end());
  }
  return held;
}

std::vector<protocol::ShareGroupStatePartitionMetadataValue::TopicPartitionsInfo> to_infos(
    const HeldTopics& held) {
  std::vector<protocol::ShareGroupStatePartitionMetadataValue::TopicPartitionsInfo> infos;
  for (const auto& [id, topic] : held) {
    if (topic.partitions.empty()) continue;
    auto& info = infos.emplace_back();
    info.topic_id = id;
    info.topic_name = topic.name;
    info.partitions.assign(topic.partitions.begin(), topic.partitions.end());
  }
  return infos;
}

}  // namespace

const ShareMember* ShareGroup::member(std::string_view id) const {
  const auto at = members_.find(id);
  return at == members_.end() ? nullptr : &at->second;
}

std::set<std::string, std::less<>> ShareGroup::subscribed_topics() const {
  std::set<std::string, std::less<>> topics;
  for (const auto& [id, member] : members_)
    topics.insert(member.topics.begin(), member.topics.end());
  return topics;
}

void ShareGroup::apply(const ShareGroupMemberMetadata& record) {
  if (!record.value) {
    members_.erase(record.key.member_id.str());
    if (members_.empty() && state_ == ShareGroupState::kStable) move_to(ShareGroupState::kEmpty);
    return;
  }
  ShareMember& member = members_[record.key.member_id.str()];
  member.rack.reset();
  if (record.value->rack_id) member.rack = record.value->rack_id->str();
  member.client_id = record.value->client_id.str();
  member.client_host = record.value->client_host.str();
  member.topics.clear();
  for (const String& topic : record.value->subscribed_topic_names)
    member.topics.insert(topic.str());
  if (state_ == ShareGroupState::kEmpty) move_to(ShareGroupState::kStable);
}

void ShareGroup::apply(const ShareGroupMetadata& record) {
  if (!record.value) {
    move_to(ShareGroupState::kDead);
    return;
  }
  epoch_ = record.value->epoch;
  metadata_hash_ = record.value->metadata_hash;
}

void ShareGroup::apply(const ShareGroupTargetAssignmentMetadata& record) {
  if (!record.value) return;
  assignment_epoch_ = record.value->assignment_epoch;
  assignment_timestamp_ = record.value->assignment_timestamp;
}

void ShareGroup::apply(const ShareGroupTargetAssignmentMember& record) {
  if (!record.value) {
    target_.erase(record.key.member_id.str());
  } else {
    target_[record.key.member_id.str()] = to_assignment(record.value->topic_partitions);
  }
}

void ShareGroup::apply(const ShareGroupCurrentMemberAssignment& record) {
  const auto at = members_.find(record.key.member_id.sv());
  // After compaction a tombstone may stand before the member's own record, or without it.
  if (at == members_.end() && !record.value) return;
  if (!record.value) {
    at->second.epoch = 0;
    at->second.previous_epoch = 0;
    at->second.assigned.clear();
    return;
  }
  ShareMember& member = at == members_.end() ? members_[record.key.member_id.str()] : at->second;
  if (state_ == ShareGroupState::kEmpty) move_to(ShareGroupState::kStable);
  member.epoch = record.value->member_epoch;
  member.previous_epoch = record.value->previous_member_epoch;
  member.assigned = to_assignment(record.value->assigned_partitions);
}

void ShareGroup::apply(const ShareGroupStatePartitionMetadata& record) {
  initializing_.clear();
  initialized_.clear();
  if (!record.value) return;
  initializing_ = to_held(record.value->initializing_topics);
  initialized_ = to_held(record.value->initialized_topics);
}

void ShareGroup::move_to(ShareGroupState state) {
  ACKORD_ASSERT(transition_allowed(state_, state), "a share group follows the transition table");
  state_ = state;
}

std::vector<TopicPartitions> to_topic_partitions(const Assignment& assignment) {
  return to_list<TopicPartitions>(assignment);
}

std::vector<ShareGroupTopic> held_by(const ShareGroup& group) {
  HeldTopics all = group.initialized();
  for (const auto& [id, topic] : group.initializing()) {
    all[id].name = topic.name;
    all[id].partitions.insert(topic.partitions.begin(), topic.partitions.end());
  }
  return to_topics(all);
}

ShareGroupMemberMetadata member_metadata_record(std::string_view group, std::string_view id,
                                                const ShareMember& member) {
  auto record = of_member<ShareGroupMemberMetadata>(group, id);
  auto& value = record.value.emplace();
  value.rack_id.reset();  // the schema's default is the empty text
  if (member.rack) value.rack_id = String(*member.rack);
  value.client_id = member.client_id;
  value.client_host = member.client_host;
  for (const std::string& topic : member.topics) value.subscribed_topic_names.emplace_back(topic);
  return record;
}

ShareGroupMetadata group_metadata_record(std::string_view group, int32_t epoch,
                                         int64_t metadata_hash) {
  auto record = of_group<ShareGroupMetadata>(group);
  auto& value = record.value.emplace();
  value.epoch = epoch;
  value.metadata_hash = metadata_hash;
  return record;
}

ShareGroupTargetAssignmentMetadata target_metadata_record(std::string_view group, int32_t epoch,
                                                          TimeMs timestamp) {
  auto record = of_group<ShareGroupTargetAssignmentMetadata>(group);
  auto& value = record.value.emplace();
  value.assignment_epoch = epoch;
  value.assignment_timestamp = timestamp;
  return record;
}

ShareGroupTargetAssignmentMember target_member_record(std::string_view group, std::string_view id,
                                                      const Assignment& target) {
  using Topic = protocol::ShareGroupTargetAssignmentMemberValue::TopicPartition;
  auto record = of_member<ShareGroupTargetAssignmentMember>(group, id);
  record.value.emplace().topic_partitions = to_list<Topic>(target);
  return record;
}

ShareGroupCurrentMemberAssignment current_assignment_record(std::string_view group,
                                                            std::string_view id,
                                                            const ShareMember& member) {
  using Topic = protocol::ShareGroupCurrentMemberAssignmentValue::TopicPartitions;
  auto record = of_member<ShareGroupCurrentMemberAssignment>(group, id);
  auto& value = record.value.emplace();
  value.member_epoch = member.epoch;
  value.previous_member_epoch = member.previous_epoch;
  value.state = 0;  // Stable: a share member has nothing to give back first
  value.assigned_partitions = to_list<Topic>(member.assigned);
  return record;
}

ShareGroupStatePartitionMetadata state_partitions_record(std::string_view group,
                                                         const HeldTopics& initializing,
                                                         const HeldTopics& initialized) {
  auto record = of_group<ShareGroupStatePartitionMetadata>(group);
  auto& value = record.value.emplace();
  value.initializing_topics = to_infos(initializing);
  value.initialized_topics = to_infos(initialized);
  return record;
}

std::vector<ShareGroupTopic> to_topics(const HeldTopics& held) {
  std::vector<ShareGroupTopic> topics;
  for (const auto& [id, topic] : held) {
    topics.push_back(
        {id, TopicName(topic.name), {topic.partitions.begin(), topic.partitions.end()}});
  }
  return topics;
}

ShareGroupStatePartitionMetadata deleting_record(std::string_view group,
                                                 const HeldTopics& initializing,
                                                 const HeldTopics& initialized,
                                                 const std::vector<ShareGroupTopic>& deleting) {
  auto record = state_partitions_record(group, initializing, initialized);
  for (const ShareGroupTopic& topic : deleting) {
    auto& out = record.value->deleting_topics.emplace_back();
    out.topic_id = topic.topic_id;
    out.topic_name = topic.name;
  }
  return record;
}

std::vector<GroupRecord> group_tombstones(std::string_view group) {
  std::vector<GroupRecord> records;
  records.emplace_back(of_group<ShareGroupTargetAssignmentMetadata>(group));
  records.emplace_back(of_group<ShareGroupStatePartitionMetadata>(group));
  records.emplace_back(of_group<ShareGroupMetadata>(group));
  return records;
}

std::vector<GroupRecord> remove_members(std::string_view group_id, const ShareGroup& group,
                                        const std::vector<std::string>& members,
                                        int64_t metadata_hash) {
  std::vector<GroupRecord> records;
  for (const std::string& id : members) {
    records.emplace_back(of_member<ShareGroupCurrentMemberAssignment>(group_id, id));
    records.emplace_back(of_member<ShareGroupTargetAssignmentMember>(group_id, id));
    records.emplace_back(of_member<ShareGroupMemberMetadata>(group_id, id));
  }
  const int32_t epoch = group.epoch() + 1;
  records.emplace_back(group_metadata_record(group_id, epoch, metadata_hash));
  // Timestamp 0: the next member is assigned to at once.
  if (members.size() == group.members().size())
    records.emplace_back(target_metadata_record(group_id, epoch, 0));
  return records;
}

}  // namespace ackord::group
