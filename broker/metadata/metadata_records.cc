#include "broker/metadata/metadata_records.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "protocol/generated/broker_registration_change_record.h"
#include "protocol/generated/clear_elr_record.h"
#include "protocol/generated/delegation_token_record.h"
#include "protocol/generated/fence_broker_record.h"
#include "protocol/generated/no_op_record.h"
#include "protocol/generated/register_controller_record.h"
#include "protocol/generated/remove_delegation_token_record.h"
#include "protocol/generated/unfence_broker_record.h"
#include "protocol/generated/unregister_broker_record.h"
#include "protocol/generated/unregister_controller_record.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::metadata {
namespace {

constexpr uint32_t kFrameVersion = 1;

struct OtherType {
  int16_t type;
  std::string_view name;
  bool matters;
};

template <class T>
constexpr OtherType other(bool matters) {
  return {T::kApiKey, T::kName, matters};
}

// Leaders and registrations are this process's own business; nothing is fenced on one node.
constexpr std::array kOtherTypes = {
    other<protocol::UnregisterBrokerRecord>(false),
    other<protocol::FenceBrokerRecord>(false),
    other<protocol::UnfenceBrokerRecord>(false),
    other<protocol::BrokerRegistrationChangeRecord>(false),
    other<protocol::NoOpRecord>(false),
    other<protocol::RegisterControllerRecord>(false),
    other<protocol::UnregisterControllerRecord>(false),
    other<protocol::ClearElrRecord>(false),
    other<protocol::DelegationTokenRecord>(true),
    other<protocol::RemoveDelegationTokenRecord>(true),
};

// A record of type T, when `type` is its number; tried for each alternative.
template <class T>
bool decode_as(uint32_t type, int16_t version, protocol::Reader& in,
               Result<std::optional<MetadataRecord>>& out) {
  if (type != static_cast<uint32_t>(T::kApiKey)) return false;
  if (version < T::kMinVersion || version > T::kMaxVersion) {
    out = error(ErrorCode::CORRUPT_MESSAGE,
                fmt::format("{} of unknown version {}", T::kName, version));
    return true;
  }
  Result<T> record = T::decode(in, version);
  if (!record) {
    out = error(ErrorCode::CORRUPT_MESSAGE, record.error().message);
  } else {
    out = std::optional<MetadataRecord>(std::move(*record));
  }
  return true;
}

template <class... T>
Result<std::optional<MetadataRecord>> decode_any(uint32_t type, int16_t version,
                                                 protocol::Reader& in,
                                                 std::type_identity<std::variant<T...>>) {
  Result<std::optional<MetadataRecord>> out = std::optional<MetadataRecord>();
  (void)(decode_as<T>(type, version, in, out) || ...);
  return out;
}

bool has_partition(const MetadataRecord& record) {
  if (const auto* partition = std::get_if<protocol::PartitionRecord>(&record))
    return partition->partition_id >= 0;
  if (const auto* changed = std::get_if<protocol::PartitionChangeRecord>(&record))
    return changed->partition_id >= 0;
  return true;
}

}  // namespace

log::EncodedRecord encode_record(const MetadataRecord& record) {
  protocol::Writer out;
  std::visit(
      [&out](const auto& one) {
        out.unsigned_varint(kFrameVersion);
        out.unsigned_varint(static_cast<uint32_t>(one.kApiKey));
        out.unsigned_varint(static_cast<uint32_t>(one.kMaxVersion));
        one.encode(out, one.kMaxVersion);
      },
      record);
  log::EncodedRecord encoded;
  encoded.null_key = true;
  encoded.value = out.finish().copy();
  return encoded;
}

Result<std::optional<MetadataRecord>> decode_record(std::span<const std::byte> value) {
  protocol::Reader in(value);
  const uint32_t frame = in.unsigned_varint();
  const uint32_t type = in.unsigned_varint();
  const uint32_t version = in.unsigned_varint();
  if (!in.ok() || frame != kFrameVersion || version > INT16_MAX) {
    return error(ErrorCode::CORRUPT_MESSAGE,
                 fmt::format("a metadata record with frame version {}", frame));
  }
  auto record =
      decode_any(type, static_cast<int16_t>(version), in, std::type_identity<MetadataRecord>());
  if (record && *record && !has_partition(**record))
    return error(ErrorCode::CORRUPT_MESSAGE, "a negative partition");
  return record;
}

std::string unserved_name(std::span<const std::byte> value) {
  protocol::Reader in(value);
  in.unsigned_varint();  // frame version
  const uint32_t type = in.unsigned_varint();
  for (const OtherType& one : kOtherTypes) {
    if (static_cast<uint32_t>(one.type) == type) return one.matters ? std::string(one.name) : "";
  }
  return std::to_string(type);
}

}  // namespace ackord::metadata
