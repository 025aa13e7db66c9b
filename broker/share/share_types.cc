#include "broker/share/share_types.h"

#include <limits>

namespace ackord::share {

namespace {

PartitionError invalid(const char* why) { return {ErrorCode::INVALID_REQUEST, why}; }

// Common to both kinds of acknowledgement.
PartitionError check_shape(const AcknowledgementBatch& batch) {
  if (batch.first_offset > batch.last_offset)
    return invalid("The first offset is above the last one.");
  if (batch.acknowledge_types.empty()) return invalid("There are no acknowledge types.");
  const uint64_t types = batch.acknowledge_types.size();
  const uint64_t offsets =
      static_cast<uint64_t>(batch.last_offset) - static_cast<uint64_t>(batch.first_offset) + 1;
  if (types > 1 && types != offsets)
    return invalid("One acknowledge type per offset is needed, or one for all.");
  return {};
}

}  // namespace

std::string SharePartitionKey::to_string() const {
  return group_id.str() + ":" + topic_id.to_string() + ":" + std::to_string(partition);
}

int32_t state_partition_of(const SharePartitionKey& key, int32_t partitions) {
  // Java's String.hashCode, over UTF-16 units.
  uint32_t hash = 0;
  const std::string text = key.to_string();
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t point = size == 1 ? lead : lead & (0xffu >> (size + 1));
    for (size_t j = 1; j < size && i + j < text.size(); ++j) {
      point = point << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3fu);
    }
    if (point >= 0x10000) {
      hash = hash * 31 + (0xd800 + ((point - 0x10000) >> 10));
      hash = hash * 31 + (0xdc00 + ((point - 0x10000) & 0x3ff));
    } else {
      hash = hash * 31 + point;
    }
    i += size;
  }
  const auto signed_hash = static_cast<int32_t>(hash);
  const int32_t positive =
      signed_hash == std::numeric_limits<int32_t>::min() ? 0 : std::abs(signed_hash);
  return positive % partitions;
}

PartitionError check_acknowledgement_batches(const std::vector<AcknowledgementBatch>& batches,
                                             int8_t max_type) {
  Offset previous = -1;
  for (const AcknowledgementBatch& batch : batches) {
    if (PartitionError error = check_shape(batch); !error.ok()) return error;
    // Kafka lets a range begin at the end of the one before it.
    if (batch.first_offset < previous) return invalid("The ranges overlap or are not in order.");
    for (const int8_t type : batch.acknowledge_types) {
      if (type < 0 || type > max_type)
        return invalid("The acknowledge type is not known or not allowed here.");
    }
    previous = batch.last_offset;
  }
  return {};
}

PartitionError check_staged_batches(const std::vector<AcknowledgementBatch>& batches) {
  const AcknowledgementBatch* previous = nullptr;
  for (const AcknowledgementBatch& batch : batches) {
    if (PartitionError error = check_shape(batch); !error.ok()) return error;
    if (batch.first_offset < 0) return invalid("An offset is negative.");
    if (previous != nullptr && batch.first_offset <= previous->last_offset) {
      return invalid("The ranges overlap or are not in order.");
    }
    for (const int8_t type : batch.acknowledge_types) {
      if (type != static_cast<int8_t>(AcknowledgeType::ACCEPT) &&
          type != static_cast<int8_t>(AcknowledgeType::REJECT) &&
          type != static_cast<int8_t>(AcknowledgeType::GAP)) {
        return invalid("Only ACCEPT, REJECT and gap can be part of a transaction.");
      }
    }
    previous = &batch;
  }
  return {};
}

std::string Owner::to_string() const {
  if (is_batch())
    return "batch transaction " + (transaction_id ? transaction_id->str() : std::string("?"));
  std::string text =
      "producer " + std::to_string(producer_id.value) + " epoch " + std::to_string(producer_epoch);
  if (transaction_id) text += " (" + transaction_id->str() + ")";
  return text;
}

}  // namespace ackord::share
