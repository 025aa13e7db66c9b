#include "broker/group/group_records.h"

#include <array>
#include <type_traits>
#include <utility>

#include "protocol/generated/legacy_offset_commit_key.h"
#include "protocol/generated/legacy_offset_commit_value.h"
#include "protocol/generated/streams_group_current_member_assignment_key.h"
#include "protocol/generated/streams_group_member_metadata_key.h"
#include "protocol/generated/streams_group_metadata_key.h"
#include "protocol/generated/streams_group_target_assignment_member_key.h"
#include "protocol/generated/streams_group_target_assignment_metadata_key.h"
#include "protocol/generated/streams_group_topology_key.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::group {
namespace {

template <class Schema>
std::vector<std::byte> encode_prefixed(int16_t prefix, const Schema& schema, int16_t version) {
  protocol::Writer out;
  out.int16(prefix);
  schema.encode(out, version);
  return out.finish().copy();
}

Error corrupt(std::string why) { return error(ErrorCode::CORRUPT_MESSAGE, std::move(why)); }

template <class Value>
Result<std::optional<Value>> decode_value(std::optional<std::span<const std::byte>> bytes) {
  if (!bytes) return std::optional<Value>();
  protocol::Reader in(*bytes);
  const int16_t version = in.int16();
  if (!in.ok() || version < Value::kMinVersion || version > Value::kMaxVersion) {
    return corrupt(std::string(Value::kName) + ": version " + std::to_string(version) +
                   " is not known");
  }
  Result<Value> value = Value::decode(in, version);
  if (!value) return corrupt(value.error().message);
  return std::optional<Value>(std::move(*value));
}

template <class Record>
Result<std::optional<GroupRecord>> decode_as(
    protocol::Reader& in, std::optional<std::span<const std::byte>> value_bytes) {
  auto key = Record::Key::decode(in, 0);
  if (!key) return corrupt(key.error().message);
  auto value = decode_value<typename Record::Value>(value_bytes);
  if (!value) return value.error();
  return std::optional<GroupRecord>(Record{std::move(*key), std::move(*value)});
}

// Type 0: as type 1, without leader epoch.
Result<std::optional<GroupRecord>> decode_legacy(
    protocol::Reader& in, std::optional<std::span<const std::byte>> value_bytes) {
  auto key = protocol::LegacyOffsetCommitKey::decode(in, 0);
  if (!key) return corrupt(key.error().message);
  auto value = decode_value<protocol::LegacyOffsetCommitValue>(value_bytes);
  if (!value) return value.error();
  OffsetCommit record;
  record.key.group = std::move(key->group);
  record.key.topic = std::move(key->topic);
  record.key.partition = key->partition;
  if (*value) {
    record.value.emplace();
    record.value->offset = (*value)->offset;
    record.value->metadata = std::move((*value)->metadata);
    record.value->commit_timestamp = (*value)->commit_timestamp;
  }
  return std::optional<GroupRecord>(std::move(record));
}

}  // namespace

OffsetCommit offset_tombstone(std::string_view group, const TopicPartition& partition) {
  OffsetCommit record;
  record.key.group = String(group);
  record.key.topic = String(partition.topic.sv());
  record.key.partition = partition.partition;
  return record;
}

namespace {

// Kafka's: the newest, but for an offset with an expiry of its own, which only version 1 of its
// value has, and for classic groups.
template <class Record>
int16_t version_of(const typename Record::Value& value) {
  if constexpr (std::is_same_v<Record, OffsetCommit>) {
    if (value.expire_timestamp >= 0) return 1;
  }
  if constexpr (std::is_same_v<Record, ClassicGroupMetadata>) return 3;
  return Record::Value::kMaxVersion;
}

}  // namespace

log::EncodedRecord encode(const GroupRecord& record) {
  return std::visit(
      [](const auto& r) {
        using Record = std::decay_t<decltype(r)>;
        log::EncodedRecord encoded;
        encoded.key = encode_prefixed(Record::Key::kApiKey, r.key, 0);
        if (r.value) {
          const int16_t version = version_of<Record>(*r.value);
          encoded.value = encode_prefixed(version, *r.value, version);
        }
        return encoded;
      },
      record);
}

Result<std::optional<GroupRecord>> decode(std::span<const std::byte> key,
                                          std::optional<std::span<const std::byte>> value) {
  protocol::Reader in(key);
  const int16_t type = in.int16();
  if (!in.ok()) return corrupt("a record without a key type");
  switch (type) {
    case protocol::LegacyOffsetCommitKey::kApiKey: return decode_legacy(in, value);
    case OffsetCommit::Key::kApiKey: return decode_as<OffsetCommit>(in, value);
    case ClassicGroupMetadata::Key::kApiKey: return decode_as<ClassicGroupMetadata>(in, value);
    case ShareGroupMemberMetadata::Key::kApiKey:
      return decode_as<ShareGroupMemberMetadata>(in, value);
    case ShareGroupMetadata::Key::kApiKey: return decode_as<ShareGroupMetadata>(in, value);
    case ShareGroupTargetAssignmentMetadata::Key::kApiKey:
      return decode_as<ShareGroupTargetAssignmentMetadata>(in, value);
    case ShareGroupTargetAssignmentMember::Key::kApiKey:
      return decode_as<ShareGroupTargetAssignmentMember>(in, value);
    case ShareGroupCurrentMemberAssignment::Key::kApiKey:
      return decode_as<ShareGroupCurrentMemberAssignment>(in, value);
    case ShareGroupStatePartitionMetadata::Key::kApiKey:
      return decode_as<ShareGroupStatePartitionMetadata>(in, value);
    case ConsumerGroupCurrentMemberAssignment::Key::kApiKey:
      return decode_as<ConsumerGroupCurrentMemberAssignment>(in, value);
    case ConsumerGroupMemberMetadata::Key::kApiKey:
      return decode_as<ConsumerGroupMemberMetadata>(in, value);
    case ConsumerGroupMetadata::Key::kApiKey: return decode_as<ConsumerGroupMetadata>(in, value);
    case ConsumerGroupPartitionMetadata::Key::kApiKey:
      return decode_as<ConsumerGroupPartitionMetadata>(in, value);
    case ConsumerGroupRegularExpression::Key::kApiKey:
      return decode_as<ConsumerGroupRegularExpression>(in, value);
    case ConsumerGroupTargetAssignmentMember::Key::kApiKey:
      return decode_as<ConsumerGroupTargetAssignmentMember>(in, value);
    case ConsumerGroupTargetAssignmentMetadata::Key::kApiKey:
      return decode_as<ConsumerGroupTargetAssignmentMetadata>(in, value);
    default: return std::optional<GroupRecord>();
  }
}

namespace {

struct KeyType {
  int16_t type;
  std::string_view name;
};
template <class... Key>
constexpr std::array<KeyType, sizeof...(Key)> types_of() {
  return {{{Key::kApiKey, Key::kName}...}};
}
// Groups that another broker coordinated: those of KIP-1071.
constexpr auto kUnserved = types_of<
    protocol::StreamsGroupCurrentMemberAssignmentKey, protocol::StreamsGroupMemberMetadataKey,
    protocol::StreamsGroupMetadataKey, protocol::StreamsGroupTargetAssignmentMemberKey,
    protocol::StreamsGroupTargetAssignmentMetadataKey, protocol::StreamsGroupTopologyKey>();

}  // namespace

std::string unserved_name(std::span<const std::byte> key,
                          std::optional<std::span<const std::byte>> value) {
  if (!value) return {};
  protocol::Reader in(key);
  const int16_t type = in.int16();
  for (const KeyType& one : kUnserved) {
    if (one.type == type) return std::string(one.name);
  }
  return std::to_string(type);
}

}  // namespace ackord::group
