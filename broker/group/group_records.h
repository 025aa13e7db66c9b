// The records of `__consumer_offsets` that this room knows: offsets (types 0, 1), classic groups
// (type 2), consumer groups (types 3-8, 16) and share groups (types 10-15). Key: int16 type, then
// the key's schema. Value: int16 version, then the value's schema. Source: semantics A.4, D.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "broker/log/types.h"
#include "protocol/generated/consumer_group_current_member_assignment_key.h"
#include "protocol/generated/consumer_group_current_member_assignment_value.h"
#include "protocol/generated/consumer_group_member_metadata_key.h"
#include "protocol/generated/consumer_group_member_metadata_value.h"
#include "protocol/generated/consumer_group_metadata_key.h"
#include "protocol/generated/consumer_group_metadata_value.h"
#include "protocol/generated/consumer_group_partition_metadata_key.h"
#include "protocol/generated/consumer_group_partition_metadata_value.h"
#include "protocol/generated/consumer_group_regular_expression_key.h"
#include "protocol/generated/consumer_group_regular_expression_value.h"
#include "protocol/generated/consumer_group_target_assignment_member_key.h"
#include "protocol/generated/consumer_group_target_assignment_member_value.h"
#include "protocol/generated/consumer_group_target_assignment_metadata_key.h"
#include "protocol/generated/consumer_group_target_assignment_metadata_value.h"
#include "protocol/generated/group_metadata_key.h"
#include "protocol/generated/group_metadata_value.h"
#include "protocol/generated/offset_commit_key.h"
#include "protocol/generated/offset_commit_value.h"
#include "protocol/generated/share_group_current_member_assignment_key.h"
#include "protocol/generated/share_group_current_member_assignment_value.h"
#include "protocol/generated/share_group_member_metadata_key.h"
#include "protocol/generated/share_group_member_metadata_value.h"
#include "protocol/generated/share_group_metadata_key.h"
#include "protocol/generated/share_group_metadata_value.h"
#include "protocol/generated/share_group_state_partition_metadata_key.h"
#include "protocol/generated/share_group_state_partition_metadata_value.h"
#include "protocol/generated/share_group_target_assignment_member_key.h"
#include "protocol/generated/share_group_target_assignment_member_value.h"
#include "protocol/generated/share_group_target_assignment_metadata_key.h"
#include "protocol/generated/share_group_target_assignment_metadata_value.h"

namespace ackord::group {

// A decoded one borrows from the bytes it was read from; a copy owns.
template <class KeySchema, class ValueSchema>
struct KeyedRecord {
  using Key = KeySchema;
  using Value = ValueSchema;
  Key key;
  std::optional<Value> value;  // absent: tombstone
  friend bool operator==(const KeyedRecord&, const KeyedRecord&) = default;
};

// Type 0 is read as one of type 1.
using OffsetCommit = KeyedRecord<protocol::OffsetCommitKey, protocol::OffsetCommitValue>;
using ClassicGroupMetadata = KeyedRecord<protocol::GroupMetadataKey, protocol::GroupMetadataValue>;
using ShareGroupMemberMetadata =
    KeyedRecord<protocol::ShareGroupMemberMetadataKey, protocol::ShareGroupMemberMetadataValue>;
using ShareGroupMetadata =
    KeyedRecord<protocol::ShareGroupMetadataKey, protocol::ShareGroupMetadataValue>;
using ShareGroupTargetAssignmentMetadata =
    KeyedRecord<protocol::ShareGroupTargetAssignmentMetadataKey,
                protocol::ShareGroupTargetAssignmentMetadataValue>;
using ShareGroupTargetAssignmentMember =
    KeyedRecord<protocol::ShareGroupTargetAssignmentMemberKey,
                protocol::ShareGroupTargetAssignmentMemberValue>;
using ShareGroupCurrentMemberAssignment =
    KeyedRecord<protocol::ShareGroupCurrentMemberAssignmentKey,
                protocol::ShareGroupCurrentMemberAssignmentValue>;
using ShareGroupStatePartitionMetadata =
    KeyedRecord<protocol::ShareGroupStatePartitionMetadataKey,
                protocol::ShareGroupStatePartitionMetadataValue>;

using ConsumerGroupCurrentMemberAssignment =
    KeyedRecord<protocol::ConsumerGroupCurrentMemberAssignmentKey,
                protocol::ConsumerGroupCurrentMemberAssignmentValue>;
using ConsumerGroupMemberMetadata = KeyedRecord<protocol::ConsumerGroupMemberMetadataKey,
                                                protocol::ConsumerGroupMemberMetadataValue>;
using ConsumerGroupMetadata =
    KeyedRecord<protocol::ConsumerGroupMetadataKey, protocol::ConsumerGroupMetadataValue>;
using ConsumerGroupPartitionMetadata = KeyedRecord<protocol::ConsumerGroupPartitionMetadataKey,
                                                   protocol::ConsumerGroupPartitionMetadataValue>;
using ConsumerGroupRegularExpression = KeyedRecord<protocol::ConsumerGroupRegularExpressionKey,
                                                   protocol::ConsumerGroupRegularExpressionValue>;
using ConsumerGroupTargetAssignmentMember =
    KeyedRecord<protocol::ConsumerGroupTargetAssignmentMemberKey,
                protocol::ConsumerGroupTargetAssignmentMemberValue>;
using ConsumerGroupTargetAssignmentMetadata =
    KeyedRecord<protocol::ConsumerGroupTargetAssignmentMetadataKey,
                protocol::ConsumerGroupTargetAssignmentMetadataValue>;

using GroupRecord =
    std::variant<OffsetCommit, ClassicGroupMetadata, ShareGroupMemberMetadata, ShareGroupMetadata,
                 ShareGroupTargetAssignmentMetadata, ShareGroupTargetAssignmentMember,
                 ShareGroupCurrentMemberAssignment, ShareGroupStatePartitionMetadata,
                 ConsumerGroupCurrentMemberAssignment, ConsumerGroupMemberMetadata,
                 ConsumerGroupMetadata, ConsumerGroupPartitionMetadata,
                 ConsumerGroupRegularExpression, ConsumerGroupTargetAssignmentMember,
                 ConsumerGroupTargetAssignmentMetadata>;

OffsetCommit offset_tombstone(std::string_view group, const TopicPartition& partition);

log::EncodedRecord encode(const GroupRecord& record);
// nullopt: a type that is not known. Errors: CORRUPT_MESSAGE with the reason.
Result<std::optional<GroupRecord>> decode(std::span<const std::byte> key,
                                          std::optional<std::span<const std::byte>> value);
// The type of a record that decode() does not know: the schema's name, or the number. Empty for a
// tombstone.
std::string unserved_name(std::span<const std::byte> key,
                          std::optional<std::span<const std::byte>> value);

}  // namespace ackord::group
