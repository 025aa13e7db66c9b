#include "broker/txn/txn_records.h"

#include <algorithm>
#include <string>
#include <utility>

#include "broker/base/planted_bug.h"
#include "protocol/generated/transaction_log_key.h"
#include "protocol/generated/transaction_log_value.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::txn {
namespace {

using protocol::TransactionLogKey;
using protocol::TransactionLogValue;

Error corrupt(std::string why) {
  return error(ErrorCode::CORRUPT_MESSAGE, "__transaction_state: " + std::move(why));
}

TransactionLogValue to_value(const Transaction& transaction) {
  TransactionLogValue value;
  value.producer_id = transaction.producer.id.value;
  value.previous_producer_id = transaction.previous_producer_id.value;
  value.next_producer_id = transaction.next_producer_id.value;
  value.producer_epoch = transaction.producer.epoch;
  value.next_producer_epoch = transaction.next_producer_epoch;
  value.transaction_timeout_ms = transaction.timeout_ms;
  value.transaction_status = static_cast<int8_t>(transaction.state);
  value.transaction_last_update_timestamp_ms = transaction.last_update_ms;
  value.transaction_start_timestamp_ms = transaction.start_ms;
  value.client_transaction_version = transaction.client_transaction_version;
  value.abort_only =
      transaction.abort_only && !base::planted(base::PlantedBug::kAbortOnlyNotLogged);
  if (transaction.state == TxnState::kEmpty) {
    value.transaction_partitions.reset();
    return value;
  }
  auto& topics = value.transaction_partitions.emplace();
  for (const TopicPartition& partition : transaction.partitions) {
    if (topics.empty() || topics.back().topic != partition.topic.sv()) {
      topics.emplace_back().topic = String::view(partition.topic.sv());
    }
    topics.back().partition_ids.push_back(partition.partition);
  }
  return value;
}

Transaction from_value(const TransactionLogValue& value) {
  Transaction transaction;
  transaction.state = static_cast<TxnState>(value.transaction_status);
  transaction.producer = {ProducerId(value.producer_id), value.producer_epoch};
  transaction.previous_producer_id = ProducerId(value.previous_producer_id);
  transaction.next_producer_id = ProducerId(value.next_producer_id);
  transaction.next_producer_epoch = value.next_producer_epoch;
  transaction.timeout_ms = value.transaction_timeout_ms;
  transaction.client_transaction_version = value.client_transaction_version;
  transaction.abort_only = value.abort_only;
  transaction.last_update_ms = value.transaction_last_update_timestamp_ms;
  transaction.start_ms = value.transaction_start_timestamp_ms;
  if (!value.transaction_partitions) return transaction;
  for (const auto& topic : *value.transaction_partitions) {
    for (const int32_t partition : topic.partition_ids) {
      transaction.partitions.push_back({TopicName(topic.topic.sv()), partition});
    }
  }
  auto& partitions = transaction.partitions;
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  return transaction;
}

bool is_stored(int8_t status) {
  return status >= static_cast<int8_t>(TxnState::kEmpty) &&
         status <= static_cast<int8_t>(TxnState::kCompleteAbort);
}

}  // namespace

TransactionRecord make_record(const TransactionalId& id, const Transaction& transaction,
                              int16_t transaction_version) {
  const bool needs_tags = transaction.abort_only || transaction.next_producer_id.value >= 0 ||
                          transaction.client_transaction_version >= 2;
  const bool plain = transaction_version < 1 && !needs_tags;
  return {id, transaction, static_cast<int16_t>(plain ? 0 : 1)};
}

log::EncodedRecord encode(const TransactionRecord& record) {
  protocol::Writer key;
  key.int16(TransactionLogKey::kMaxVersion);
  TransactionLogKey name;
  name.transactional_id = String::view(record.id.sv());
  name.encode(key, TransactionLogKey::kMaxVersion);
  log::EncodedRecord encoded;
  encoded.key = key.finish().copy();
  if (!record.transaction) return encoded;
  protocol::Writer value;
  value.int16(record.version);
  to_value(*record.transaction).encode(value, record.version);
  encoded.value = value.finish().copy();
  return encoded;
}

Result<std::optional<TransactionRecord>> decode(std::span<const std::byte> key,
                                                std::optional<std::span<const std::byte>> value) {
  protocol::Reader key_reader(key);
  const int16_t key_version = key_reader.int16();
  if (!key_reader.ok()) return corrupt("a key without a version");
  if (key_version != TransactionLogKey::kMaxVersion) return std::optional<TransactionRecord>();
  Result<TransactionLogKey> name = TransactionLogKey::decode(key_reader, key_version);
  if (!name) return corrupt(name.error().message);
  TransactionRecord record;
  record.id = TransactionalId(name->transactional_id.sv());
  if (!value) return std::optional(std::move(record));

  protocol::Reader reader(*value);
  record.version = reader.int16();
  if (!reader.ok() || record.version < TransactionLogValue::kMinVersion ||
      record.version > TransactionLogValue::kMaxVersion) {
    return corrupt("a value of an unknown version, transactional id " + record.id.str());
  }
  Result<TransactionLogValue> stored = TransactionLogValue::decode(reader, record.version);
  if (!stored) return corrupt(stored.error().message);
  if (!is_stored(stored->transaction_status))
    return corrupt("an unknown state, transactional id " + record.id.str());
  record.transaction = from_value(*stored);
  return std::optional(std::move(record));
}

}  // namespace ackord::txn
