#include "broker/share/share_records.h"

#include <string>

#include "broker/share/batch_txn_records.h"
#include "protocol/generated/batch_txn_key.h"
#include "protocol/generated/share_snapshot_key.h"
#include "protocol/generated/share_snapshot_value.h"
#include "protocol/generated/share_update_key.h"
#include "protocol/generated/share_update_value.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::share {

namespace {

using protocol::Reader;
using protocol::Writer;

constexpr int16_t kVersion = 0;

// Both values have their own, equal structs for batches and owners.
template <class Value>
void fill(Value& value, const std::vector<StateBatch>& batches, const std::vector<Owner>& owners) {
  for (const StateBatch& batch : batches) {
    typename Value::StateBatch& out = value.state_batches.emplace_back();
    out.first_offset = batch.first_offset;
    out.last_offset = batch.last_offset;
    out.delivery_state = static_cast<int8_t>(batch.delivery_state);
    out.delivery_count = batch.delivery_count;
    out.owner_index = batch.owner_index;
    out.staged_ack_type = batch.staged_ack_type;
    out.staged_delivery_state = batch.staged_delivery_state;
  }
  for (const Owner& owner : owners) {
    typename Value::Owner& out = value.owners.emplace_back();
    out.producer_id = owner.producer_id;
    out.producer_epoch = owner.producer_epoch;
    if (owner.transaction_id) out.transaction_id = String(owner.transaction_id->sv());
    out.staged_timestamp_ms = owner.staged_timestamp_ms;
  }
}

// Null: it is sound. What the state machine takes for granted is checked here.
template <class Value>
const char* read(const Value& value, std::vector<StateBatch>& batches, std::vector<Owner>& owners) {
  for (const auto& owner : value.owners) {
    Owner& out = owners.emplace_back();
    out.producer_id = owner.producer_id;
    out.producer_epoch = owner.producer_epoch;
    if (owner.transaction_id) out.transaction_id = TransactionalId(owner.transaction_id->str());
    out.staged_timestamp_ms = owner.staged_timestamp_ms;
  }
  for (const auto& batch : value.state_batches) {
    if (batch.first_offset < 0 || batch.first_offset > batch.last_offset)
      return "a range is ill-formed";
    if (!is_known_state(batch.delivery_state)) return "a delivery state is not known";
    const auto state = static_cast<RecordState>(batch.delivery_state);
    if (state == RecordState::ACQUIRED) return "ACQUIRED is never stored";
    if (state == RecordState::TX_PENDING) {
      if (batch.owner_index < 0 || static_cast<size_t>(batch.owner_index) >= owners.size()) {
        return "a staged range has no owner";
      }
      const auto to = static_cast<RecordState>(batch.staged_delivery_state);
      if (!hard_transition_allowed(state, to) || to == RecordState::AVAILABLE) {
        return "a staged range has no state for its commit";
      }
    }
    batches.push_back({batch.first_offset, batch.last_offset, state, batch.delivery_count,
                       batch.owner_index, batch.staged_ack_type, batch.staged_delivery_state});
  }
  return nullptr;
}

template <class Key>
std::vector<std::byte> encode_key(const SharePartitionKey& key) {
  Key wire;
  wire.group_id = decltype(wire.group_id)(key.group_id.str());
  wire.topic_id = key.topic_id;
  wire.partition = key.partition;
  Writer out;
  out.int16(Key::kApiKey);
  wire.encode(out, kVersion);
  return out.finish().copy();
}

template <class Value>
std::vector<std::byte> encode_value(const Value& value) {
  Writer out;
  out.int16(kVersion);
  value.encode(out, kVersion);
  return out.finish().copy();
}

Error corrupt(const std::string& why) {
  return error(ErrorCode::CORRUPT_MESSAGE, "share state record: " + why);
}

template <class Key>
Result<SharePartitionKey> decode_key(Reader& in) {
  Result<Key> key = Key::decode(in, kVersion);
  if (!key) return corrupt(key.error().message);
  return SharePartitionKey{GroupId(std::string(key->group_id.sv())), key->topic_id, key->partition};
}

// The value's fields behind its version number.
template <class Value>
Result<Value> decode_value(std::span<const std::byte> bytes) {
  Reader in(bytes);
  const int16_t version = in.int16();
  if (!in.ok() || version != kVersion) return corrupt("value version " + std::to_string(version));
  Result<Value> value = Value::decode(in, version);
  if (!value) return corrupt(value.error().message);
  return value;
}

Result<ShareRecord> decode_snapshot(SharePartitionKey key,
                                    std::optional<std::span<const std::byte>> value) {
  ShareSnapshot record{std::move(key), std::nullopt};
  if (!value) return ShareRecord(std::move(record));
  Result<protocol::ShareSnapshotValue> wire = decode_value<protocol::ShareSnapshotValue>(*value);
  if (!wire) return wire.error();
  ShareSnapshot::Value& out = record.value.emplace();
  out.snapshot_epoch = wire->snapshot_epoch;
  out.state_epoch = wire->state_epoch;
  out.leader_epoch = wire->leader_epoch;
  out.start_offset = wire->start_offset;
  out.delivery_complete_count = wire->delivery_complete_count;
  out.create_timestamp = wire->create_timestamp;
  out.write_timestamp = wire->write_timestamp;
  if (const char* why = read(*wire, out.state_batches, out.owners)) return corrupt(why);
  return ShareRecord(std::move(record));
}

Result<ShareRecord> decode_update(SharePartitionKey key,
                                  std::optional<std::span<const std::byte>> value) {
  if (!value) return corrupt("an update without a value");
  Result<protocol::ShareUpdateValue> wire = decode_value<protocol::ShareUpdateValue>(*value);
  if (!wire) return wire.error();
  ShareUpdate record;
  record.key = std::move(key);
  record.snapshot_epoch = wire->snapshot_epoch;
  record.leader_epoch = wire->leader_epoch;
  record.start_offset = wire->start_offset;
  record.delivery_complete_count = wire->delivery_complete_count;
  if (const char* why = read(*wire, record.state_batches, record.owners)) return corrupt(why);
  return ShareRecord(std::move(record));
}

log::EncodedRecord encode_snapshot(const ShareSnapshot& record) {
  log::EncodedRecord out{encode_key<protocol::ShareSnapshotKey>(record.key), std::nullopt};
  if (!record.value) return out;
  protocol::ShareSnapshotValue value;
  value.snapshot_epoch = record.value->snapshot_epoch;
  value.state_epoch = record.value->state_epoch;
  value.leader_epoch = record.value->leader_epoch;
  value.start_offset = record.value->start_offset;
  value.delivery_complete_count = record.value->delivery_complete_count;
  value.create_timestamp = record.value->create_timestamp;
  value.write_timestamp = record.value->write_timestamp;
  fill(value, record.value->state_batches, record.value->owners);
  out.value = encode_value(value);
  return out;
}

log::EncodedRecord encode_update(const ShareUpdate& record) {
  protocol::ShareUpdateValue value;
  value.snapshot_epoch = record.snapshot_epoch;
  value.leader_epoch = record.leader_epoch;
  value.start_offset = record.start_offset;
  value.delivery_complete_count = record.delivery_complete_count;
  fill(value, record.state_batches, record.owners);
  return {encode_key<protocol::ShareUpdateKey>(record.key), encode_value(value)};
}

}  // namespace

log::EncodedRecord encode(const ShareRecord& record) {
  if (const auto* snapshot = std::get_if<ShareSnapshot>(&record)) return encode_snapshot(*snapshot);
  if (const auto* update = std::get_if<ShareUpdate>(&record)) return encode_update(*update);
  return encode(std::get<BatchTxnRecord>(record));
}

Result<std::optional<ShareRecord>> decode(std::span<const std::byte> key,
                                          std::optional<std::span<const std::byte>> value) {
  Reader in(key);
  const int16_t type = in.int16();
  if (!in.ok()) return corrupt("the key is too short");
  Result<ShareRecord> record = ShareRecord(ShareUpdate());
  if (type == protocol::ShareSnapshotKey::kApiKey) {
    Result<SharePartitionKey> parsed = decode_key<protocol::ShareSnapshotKey>(in);
    if (!parsed) return parsed.error();
    record = decode_snapshot(std::move(*parsed), value);
  } else if (type == protocol::ShareUpdateKey::kApiKey) {
    Result<SharePartitionKey> parsed = decode_key<protocol::ShareUpdateKey>(in);
    if (!parsed) return parsed.error();
    record = decode_update(std::move(*parsed), value);
  } else if (type == protocol::BatchTxnKey::kApiKey) {
    Result<BatchTxnRecord> transaction = decode_batch_txn(in, value);
    if (!transaction) return transaction.error();
    record = ShareRecord(std::move(*transaction));
  } else {
    return std::optional<ShareRecord>();
  }
  if (!record) return record.error();
  return std::optional<ShareRecord>(std::move(*record));
}

}  // namespace ackord::share
