// The records of consumer groups (types 3 to 8 and 16), with a group's or a member's new values,
// as Kafka writes them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/group/consumer_group.h"
#include "broker/group/group_records.h"
#include "broker/group/topic_hash.h"

namespace ackord::group {

ConsumerGroupMemberMetadata consumer_member_record(std::string_view group, std::string_view id,
                                                   const ConsumerMember& member);
ConsumerGroupMetadata consumer_epoch_record(std::string_view group, int32_t epoch,
                                            int64_t metadata_hash);
ConsumerGroupTargetAssignmentMetadata consumer_target_epoch_record(std::string_view group,
                                                                   int32_t epoch, TimeMs timestamp);
ConsumerGroupTargetAssignmentMember consumer_target_record(std::string_view group,
                                                           std::string_view id,
                                                           const Assignment& target);
ConsumerGroupCurrentMemberAssignment consumer_current_record(std::string_view group,
                                                             std::string_view id,
                                                             const ConsumerMember& member);
ConsumerGroupRegularExpression consumer_regex_record(std::string_view group, std::string_view regex,
                                                     const ResolvedRegex& resolved);
ConsumerGroupRegularExpression consumer_regex_tombstone(std::string_view group,
                                                        std::string_view regex);
ConsumerGroupPartitionMetadata consumer_partition_metadata_tombstone(std::string_view group);

// One member gone: assignment, target, itself.
void add_member_tombstones(std::string_view group, std::string_view id,
                           std::vector<GroupRecord>& records);
// The end of the group, with all that it has; its own record last.
std::vector<GroupRecord> consumer_group_tombstones(std::string_view id, const ConsumerGroup& group);

}  // namespace ackord::group
