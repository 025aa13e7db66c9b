#include "broker/metadata/snapshot_writer.h"

#include <fmt/format.h>

#include <utility>

#include "broker/metadata/config_change.h"
#include "broker/metadata/metadata_snapshot.h"
#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/record_reader.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::metadata {
namespace {

// Control records of the metadata log, and their values' version (SnapshotHeaderRecord and
// SnapshotFooterRecord of Kafka's schemas: version int16 | [timestamp int64] | tags).
constexpr int16_t kSnapshotHeader = 3;
constexpr int16_t kSnapshotFooter = 4;
constexpr int16_t kControlVersion = 0;
constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kMaxUncompressed = 1u << 30;

// Types that a stock Kafka writes and that say nothing any more once partitions are written as
// they are: changes of partitions and registrations, fencing, no-ops.
constexpr uint32_t kPartitionChange = 5;
constexpr uint32_t kFenceBroker = 7;
constexpr uint32_t kUnfenceBroker = 8;
constexpr uint32_t kBrokerRegistrationChange = 17;
constexpr uint32_t kNoOp = 20;

bool is_obsolete(std::span<const std::byte> value) {
  protocol::Reader in(value);
  in.unsigned_varint();  // frame version
  const uint32_t type = in.unsigned_varint();
  return type == kPartitionChange || type == kFenceBroker || type == kUnfenceBroker ||
         type == kBrokerRegistrationChange || type == kNoOp;
}

Error corrupt(std::string_view why) {
  return error(ErrorCode::CORRUPT_MESSAGE, fmt::format("the metadata log: {}", why));
}

}  // namespace

Result<void> SnapshotWriter::add_snapshot(std::span<const std::byte> batches) {
  while (!batches.empty()) {
    const auto header = protocol::parse_header(batches);
    if (!header || header->size() > batches.size()) return corrupt("not a record batch");
    auto added = add_batch(batches.first(header->size()));
    if (!added) return added;
    batches = batches.subspan(header->size());
  }
  return {};
}

Result<void> SnapshotWriter::add_log(std::span<const std::byte> batches, Offset from) {
  while (!batches.empty()) {
    const auto header = protocol::parse_header(batches);
    if (!header || header->size() > batches.size()) return corrupt("not a record batch");
    if (header->base_offset >= source_.end) return {};
    if (header->last_offset() >= from) {
      auto added = add_batch(batches.first(header->size()));
      if (!added) return added;
    }
    batches = batches.subspan(header->size());
  }
  return {};
}

Result<void> SnapshotWriter::add_batch(std::span<const std::byte> batch) {
  const protocol::BatchHeader header = *protocol::parse_header(batch);
  if (header.control()) return {};
  std::vector<std::byte> buffer;
  const auto records = protocol::uncompressed_records(header, batch, kMaxUncompressed, buffer);
  if (!records) return records.error();
  protocol::RecordReader reader(header, *records);
  protocol::Record record;
  while (reader.next(record)) {
    if (!record.value) continue;
    auto added = add_record(*record.value);
    if (!added) return added;
  }
  if (reader.failure()) return *reader.failure();
  return {};
}

Result<void> SnapshotWriter::add_record(std::span<const std::byte> value) {
  const auto record = decode_record(value);
  if (!record) return record.error();
  const bool known = record->has_value();
  if (known && std::holds_alternative<protocol::BeginTransactionRecord>(**record)) {
    pending_.emplace();
  } else if (known && std::holds_alternative<protocol::AbortTransactionRecord>(**record)) {
    pending_.reset();
  } else if (known && std::holds_alternative<protocol::EndTransactionRecord>(**record)) {
    auto ended = std::exchange(pending_, std::nullopt);
    if (ended) {
      for (auto& one : *ended) kept_.push_back(std::move(one));
    }
  } else if (known && std::holds_alternative<protocol::RegisterBrokerRecord>(**record) &&
             std::get<protocol::RegisterBrokerRecord>(**record).broker_id ==
                 source_.identity.node) {
    registration_.assign(value.begin(), value.end());
  } else if (!(known && is_in_image(**record)) && !is_obsolete(value)) {
    keep({value.begin(), value.end()});
  }
  return {};
}

// What put_image() writes in its last state.
bool SnapshotWriter::is_in_image(const MetadataRecord& record) const {
  if (const auto* config = std::get_if<protocol::ConfigRecord>(&record)) {
    const auto type = static_cast<ResourceType>(config->resource_type);
    const std::string_view name = config->resource_name.sv();
    return type == ResourceType::kTopic || type == ResourceType::kGroup ||
           type == ResourceType::kClientMetrics ||
           (type == ResourceType::kBroker &&
            (name.empty() || name == std::to_string(source_.identity.node.value)));
  }
  return std::holds_alternative<protocol::FeatureLevelRecord>(record) ||
         std::holds_alternative<protocol::ClientQuotaRecord>(record) ||
         std::holds_alternative<protocol::UserScramCredentialRecord>(record) ||
         std::holds_alternative<protocol::RemoveUserScramCredentialRecord>(record) ||
         std::holds_alternative<protocol::AccessControlEntryRecord>(record) ||
         std::holds_alternative<protocol::RemoveAccessControlEntryRecord>(record) ||
         std::holds_alternative<protocol::TopicRecord>(record) ||
         std::holds_alternative<protocol::PartitionRecord>(record) ||
         std::holds_alternative<protocol::RemoveTopicRecord>(record) ||
         std::holds_alternative<protocol::ProducerIdsRecord>(record);
}

void SnapshotWriter::keep(std::vector<std::byte> value) {
  (pending_ ? *pending_ : kept_).push_back(std::move(value));
}

Result<std::string> SnapshotWriter::write(io::FileSystem& files, const std::string& directory) {
  protocol::Writer header;
  header.int16(kControlVersion);
  header.int64(source_.now_ms);
  header.unsigned_varint(0);
  put_control(kSnapshotHeader, header.finish().copy());
  put_image();
  for (const auto& value : kept_) put_value(value);
  flush();
  protocol::Writer footer;
  footer.int16(kControlVersion);
  footer.unsigned_varint(0);
  put_control(kSnapshotFooter, footer.finish().copy());
  const std::string name = snapshot_name(source_.end, source_.end_epoch);
  auto written = store_snapshot(files, directory, name, out_);
  if (!written) return written.error();
  return name;
}

void SnapshotWriter::put_image() {
  const MetadataImage& image = source_.image;
  for (const auto& [name, level] : image.features().levels) {
    protocol::FeatureLevelRecord record;
    record.name = String(name);
    record.feature_level = level;
    put(record);
  }
  if (!registration_.empty()) put_value(registration_);
  for (const auto& [name, topic] : image.topics()) {
    protocol::TopicRecord named;
    named.name = topic->name;
    named.topic_id = topic->id;
    put(named);
    for (int32_t partition = 0; partition < topic->partitions; ++partition) {
      put(partition_record(topic->id, partition, topic->leader_epoch(partition), source_.identity));
    }
    for (const auto& [key, value] : topic->configs)
      put(config_record(ResourceType::kTopic, topic->name, key, value));
  }
  for (const auto& [group, configs] : image.all_group_configs()) {
    for (const auto& [key, value] : configs)
      put(config_record(ResourceType::kGroup, group, key, value));
  }
  for (const auto& [subscription, configs] : image.all_metrics_configs()) {
    for (const auto& [key, value] : configs)
      put(config_record(ResourceType::kClientMetrics, subscription, key, value));
  }
  for (const auto& [key, value] : image.broker_configs())
    put(config_record(ResourceType::kBroker, "", key, value));
  for (const auto& [key, value] : image.node_configs()) {
    put(config_record(ResourceType::kBroker, std::to_string(source_.identity.node.value), key,
                      value));
  }
  for (const auto& [entity, values] : image.quotas()) {
    for (const auto& [key, value] : values) put(quota_record(entity, key, value));
  }
  for (const auto& [user, credentials] : image.scram()) {
    for (const auto& [mechanism, credential] : credentials)
      put(scram_record(user, mechanism, credential));
  }
  for (const auto& [id, acl] : image.acls().by_id()) put(acl_record(id, *acl));
  if (source_.next_producer_id == 0) return;
  protocol::ProducerIdsRecord ids;
  ids.broker_id = source_.identity.node;
  ids.broker_epoch = source_.broker_epoch;
  ids.next_producer_id = source_.next_producer_id;
  put(ids);
}

void SnapshotWriter::put(const MetadataRecord& record) { put_value(*encode_record(record).value); }

void SnapshotWriter::put_value(std::span<const std::byte> value) {
  if (!batch_) {
    protocol::BatchOptions options;
    options.base_offset = next_offset_;
    options.leader_epoch = source_.end_epoch;
    batch_.emplace(options);
  }
  batch_->add(source_.now_ms, std::nullopt, value);
  if (batch_->records_size() >= kBatchBytes) flush();
}

void SnapshotWriter::flush() {
  if (!batch_) return;
  next_offset_ += batch_->count();
  const std::vector<std::byte> bytes = batch_->build();
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  batch_.reset();
}

void SnapshotWriter::put_control(int16_t type, std::span<const std::byte> value) {
  protocol::Writer key;
  key.int16(kControlVersion);
  key.int16(type);
  protocol::BatchOptions options;
  options.base_offset = next_offset_++;
  options.leader_epoch = source_.end_epoch;
  options.control = true;
  protocol::BatchBuilder builder(options);
  const std::vector<std::byte> key_bytes = key.finish().copy();
  builder.add(source_.now_ms, std::span<const std::byte>(key_bytes), value);
  const std::vector<std::byte> bytes = builder.build();
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

}  // namespace ackord::metadata
