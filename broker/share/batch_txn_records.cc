#include "broker/share/batch_txn_records.h"

#include <string>

#include "broker/base/planted_bug.h"
#include "protocol/generated/batch_txn_key.h"
#include "protocol/generated/batch_txn_value.h"
#include "protocol/wire/writer.h"

namespace ackord::share {
namespace {

constexpr int16_t kVersion = 0;

Error corrupt(const std::string& why) {
  return error(ErrorCode::CORRUPT_MESSAGE, "batch transaction record: " + why);
}

}  // namespace

log::EncodedRecord encode(const BatchTxnRecord& record) {
  protocol::BatchTxnKey key;
  key.transaction_id = String(record.id.transaction_id.str());
  key.group_id = String(record.id.group_id.str());
  protocol::Writer key_out;
  key_out.int16(protocol::BatchTxnKey::kApiKey);
  key.encode(key_out, kVersion);
  log::EncodedRecord out{key_out.finish().copy(), std::nullopt};
  if (!record.value) return out;
  protocol::BatchTxnValue value;
  value.state = static_cast<int8_t>(record.value->state);
  value.create_time_ms = record.value->create_time_ms;
  value.prepare_time_ms = record.value->prepare_time_ms;
  value.timeout_ms = record.value->timeout_ms;
  value.last_update_ms = record.value->last_update_ms;
  value.abort_only =
      record.value->abort_only && !base::planted(base::PlantedBug::kBatchAbortOnlyNotLogged);
  value.staged_records = record.value->staged_records;
  if (!base::planted(base::PlantedBug::kParticipantsNotLogged))
    value.state_partitions = record.value->state_partitions;
  protocol::Writer value_out;
  value_out.int16(kVersion);
  value.encode(value_out, kVersion);
  out.value = value_out.finish().copy();
  return out;
}

Result<BatchTxnRecord> decode_batch_txn(protocol::Reader& key,
                                        std::optional<std::span<const std::byte>> value) {
  Result<protocol::BatchTxnKey> id = protocol::BatchTxnKey::decode(key, kVersion);
  if (!id) return corrupt(id.error().message);
  BatchTxnRecord record{{GroupId(id->group_id.str()), TransactionalId(id->transaction_id.str())},
                        std::nullopt};
  if (!value) return record;
  protocol::Reader in(*value);
  const int16_t version = in.int16();
  if (!in.ok() || version != kVersion) return corrupt("value version " + std::to_string(version));
  Result<protocol::BatchTxnValue> wire = protocol::BatchTxnValue::decode(in, version);
  if (!wire) return corrupt(wire.error().message);
  if (!is_known_batch_txn_state(wire->state)) return corrupt("a state is not known");
  BatchTxnRecord::Value& out = record.value.emplace();
  out.state = static_cast<BatchTxnState>(wire->state);
  out.create_time_ms = wire->create_time_ms;
  out.prepare_time_ms = wire->prepare_time_ms;
  out.timeout_ms = wire->timeout_ms;
  out.last_update_ms = wire->last_update_ms;
  out.abort_only = wire->abort_only;
  out.staged_records = wire->staged_records;
  out.state_partitions = std::move(wire->state_partitions);
  return record;
}

}  // namespace ackord::share
