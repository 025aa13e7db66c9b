#include "broker/group/consumer_records.h"

#include "broker/group/assignment.h"
#include "broker/group/record_keys.h"

namespace ackord::group {
namespace {

std::optional<String> text_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return String(*text);
}

using CurrentTopics =
    std::vector<protocol::ConsumerGroupCurrentMemberAssignmentValue::TopicPartitions>;

CurrentTopics topics_of(const OwnedPartitions& partitions) {
  CurrentTopics topics;
  for (const auto& [partition, epoch] : partitions) {
    if (topics.empty() || topics.back().topic_id != partition.topic_id) {
      topics.emplace_back().topic_id = partition.topic_id;
      topics.back().assignment_epochs.emplace();
    }
    topics.back().partitions.push_back(partition.partition);
    topics.back().assignment_epochs->push_back(epoch);
  }
  return topics;
}

}  // namespace

ConsumerGroupMemberMetadata consumer_member_record(std::string_view group, std::string_view id,
                                                   const ConsumerMember& member) {
  auto record = of_member<ConsumerGroupMemberMetadata>(group, id);
  auto& value = record.value.emplace();
  value.instance_id = text_of(member.instance);
  value.rack_id = text_of(member.rack);
  value.client_id = member.client_id;
  value.client_host = member.client_host;
  for (const std::string& topic : member.topics) value.subscribed_topic_names.emplace_back(topic);
  value.subscribed_topic_regex = String(member.regex);
  value.rebalance_timeout_ms = member.rebalance_timeout_ms;
  value.server_assignor = text_of(member.assignor);
  value.classic_member_metadata = member.classic;
  return record;
}

ConsumerGroupMetadata consumer_epoch_record(std::string_view group, int32_t epoch,
                                            int64_t metadata_hash) {
  auto record = of_group<ConsumerGroupMetadata>(group);
  auto& value = record.value.emplace();
  value.epoch = epoch;
  value.metadata_hash = metadata_hash;
  return record;
}

ConsumerGroupTargetAssignmentMetadata consumer_target_epoch_record(std::string_view group,
                                                                   int32_t epoch,
                                                                   TimeMs timestamp) {
  auto record = of_group<ConsumerGroupTargetAssignmentMetadata>(group);
  auto& value = record.value.emplace();
  value.assignment_epoch = epoch;
  value.assignment_timestamp = timestamp;
  return record;
}

ConsumerGroupTargetAssignmentMember consumer_target_record(std::string_view group,
                                                           std::string_view id,
                                                           const Assignment& target) {
  auto record = of_member<ConsumerGroupTargetAssignmentMember>(group, id);
  using Topic = protocol::ConsumerGroupTargetAssignmentMemberValue::TopicPartition;
  record.value.emplace().topic_partitions = to_list<Topic>(target);
  return record;
}

ConsumerGroupCurrentMemberAssignment consumer_current_record(std::string_view group,
                                                             std::string_view id,
                                                             const ConsumerMember& member) {
  auto record = of_member<ConsumerGroupCurrentMemberAssignment>(group, id);
  auto& value = record.value.emplace();
  value.member_epoch = member.epoch;
  value.previous_member_epoch = member.previous_epoch;
  value.state = static_cast<int8_t>(member.state);
  value.assigned_partitions = topics_of(member.assigned);
  value.partitions_pending_revocation = topics_of(member.pending_revocation);
  return record;
}

ConsumerGroupRegularExpression consumer_regex_tombstone(std::string_view group,
                                                        std::string_view regex) {
  auto record = of_group<ConsumerGroupRegularExpression>(group);
  record.key.regular_expression = String(regex);
  return record;
}

ConsumerGroupRegularExpression consumer_regex_record(std::string_view group, std::string_view regex,
                                                     const ResolvedRegex& resolved) {
  auto record = consumer_regex_tombstone(group, regex);
  auto& value = record.value.emplace();
  for (const std::string& topic : resolved.topics) value.topics.emplace_back(topic);
  value.version = resolved.version;
  value.timestamp = resolved.timestamp_ms;
  return record;
}

ConsumerGroupPartitionMetadata consumer_partition_metadata_tombstone(std::string_view group) {
  return of_group<ConsumerGroupPartitionMetadata>(group);
}

void add_member_tombstones(std::string_view group, std::string_view id,
                           std::vector<GroupRecord>& records) {
  records.emplace_back(of_member<ConsumerGroupCurrentMemberAssignment>(group, id));
  records.emplace_back(of_member<ConsumerGroupTargetAssignmentMember>(group, id));
  records.emplace_back(of_member<ConsumerGroupMemberMetadata>(group, id));
}

std::vector<GroupRecord> consumer_group_tombstones(std::string_view id,
                                                   const ConsumerGroup& group) {
  std::vector<GroupRecord> records;
  for (const auto& [member, unused] : group.members())
    records.emplace_back(of_member<ConsumerGroupCurrentMemberAssignment>(id, member));
  for (const auto& [member, unused] : group.members())
    records.emplace_back(of_member<ConsumerGroupTargetAssignmentMember>(id, member));
  records.emplace_back(of_group<ConsumerGroupTargetAssignmentMetadata>(id));
  for (const auto& [member, unused] : group.members())
    records.emplace_back(of_member<ConsumerGroupMemberMetadata>(id, member));
  for (const auto& [regex, unused] : group.resolved())
    records.emplace_back(consumer_regex_tombstone(id, regex));
  records.emplace_back(consumer_partition_metadata_tombstone(id));
  records.emplace_back(of_group<ConsumerGroupMetadata>(id));
  return records;
}

}  // namespace ackord::group
