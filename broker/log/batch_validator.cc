#include "broker/log/batch_validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "protocol/compression/compression.h"
#include "protocol/record_batch/crc32c.h"
#include "protocol/record_batch/record_reader.h"

namespace ackord::log {
namespace {

using protocol::BatchHeader;
using protocol::Codec;
namespace format = protocol::batch_format;

// The first Produce version whose clients know zstd (KIP-110).
constexpr int16_t kZstdProduceVersion = 7;
// compression.type's names for "leave it" and "none".
constexpr std::string_view kProducerCodec = "producer";
constexpr std::string_view kUncompressed = "uncompressed";

bool refuse(AppendResult& refusal, ErrorCode code, std::string message) {
  refusal.error = code;
  refusal.message = std::move(message);
  return false;
}

// Number of batches, format, codec, size, checksum.
bool check_frame(const ClientAppend& request, const LogConfig& config, BatchHeader& header,
                 AppendResult& refusal) {
  const auto bytes = request.records;
  auto sole = sole_batch(bytes, request.produce_version);
  if (sole.has_error()) return refuse(refusal, sole.error().code, sole.error().message);
  header = *sole;
  if (protocol::find_codec(header.codec()) == nullptr) {
    return refuse(refusal, ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
                  fmt::format("unknown compression type {}", header.codec()));
  }
  if (header.size() > static_cast<uint64_t>(config.max_message_bytes)) {
    return refuse(refusal, ErrorCode::MESSAGE_TOO_LARGE,
                  fmt::format("the batch of {} bytes exceeds max.message.bytes of {}",
                              header.size(), config.max_message_bytes));
  }
  const uint32_t crc = protocol::crc32c(bytes.subspan(format::kAttributes));
  if (crc != header.crc) {
    return refuse(refusal, ErrorCode::CORRUPT_MESSAGE,
                  fmt::format("the batch's checksum is {}, its header says {}", crc, header.crc));
  }
  return true;
}

bool check_header(const BatchHeader& header, AppendResult& refusal) {
  const auto invalid = [&refusal](std::string why) {
    return refuse(refusal, ErrorCode::INVALID_RECORD, std::move(why));
  };
  if (header.base_offset != 0) {
    return invalid(
        fmt::format("the batch's base offset should be 0, but it is {}", header.base_offset));
  }
  if (header.control()) return invalid("clients are not allowed to write control records");
  if (header.records_count <= 0)
    return invalid(fmt::format("invalid record count {}", header.records_count));
  if (header.last_offset_delta + int64_t{1} != header.records_count) {
    return invalid(fmt::format("last offset delta {} does not go with {} records",
                               header.last_offset_delta, header.records_count));
  }
  if (header.has_producer() && header.base_sequence < 0) {
    return invalid(fmt::format("invalid sequence number {} of producer {}", header.base_sequence,
                               header.producer_id.value));
  }
  if (header.transactional() && !header.has_producer()) {
    return invalid("a transactional batch without a producer id");
  }
  return true;
}

// Why the log does not take this timestamp; nullopt when it does.
std::optional<std::string> bad_timestamp(const BatchHeader& header, const LogConfig& config,
                                         TimeMs timestamp, TimeMs now_ms) {
  if (config.log_append_time) {
    if (header.log_append_time()) return "a client may not set LogAppendTime";
    return std::nullopt;
  }
  if (timestamp == format::kNoTimestamp) return std::nullopt;
  // A timestamp is whatever a client sent, so nothing is added to it.
  const TimeMs earliest = std::max<TimeMs>(now_ms, 0) - config.timestamp_before_max_ms;
  const bool far = config.timestamp_after_max_ms > INT64_MAX - now_ms;
  if (timestamp < earliest || (!far && timestamp > now_ms + config.timestamp_after_max_ms)) {
    return fmt::format("timestamp {} is out of range [now - {}, now + {}]", timestamp,
                       config.timestamp_before_max_ms, config.timestamp_after_max_ms);
  }
  return std::nullopt;
}

// Walks all records: shape, offsets, keys, timestamps. `max_timestamp` becomes the records'
// largest.
bool check_records(const BatchHeader& header, std::span<const std::byte> records,
                   const LogConfig& config, TimeMs now_ms, TimeMs& max_timestamp,
                   AppendResult& refusal) {
  protocol::RecordReader reader(header, records);
  protocol::Record record;
  bool timestamps_bad = false;
  int32_t index = 0;
  for (; reader.next(record); ++index) {
    max_timestamp = std::max(max_timestamp, record.timestamp);
    if (record.offset != header.base_offset + index) {
      return refuse(refusal, ErrorCode::INVALID_RECORD,
                    fmt::format("record {} of the batch has offset delta {}", index,
                                record.offset - header.base_offset));
    }
    if (config.compact && !record.key) {
      refusal.record_errors.push_back(
          {index, "Compacted topic cannot accept message without key."});
    } else if (auto why = bad_timestamp(header, config, record.timestamp, now_ms)) {
      timestamps_bad = true;
      refusal.record_errors.push_back({index, std::move(*why)});
    }
  }
  if (reader.failure()) {
    return refuse(refusal, reader.failure()->code, reader.failure()->message);
  }
  if (index != header.records_count) {
    return refuse(refusal, ErrorCode::INVALID_RECORD, "the batch has fewer records than it says");
  }
  if (refusal.record_errors.empty()) return true;
  return timestamps_bad
             ? refuse(refusal, ErrorCode::INVALID_TIMESTAMP,
                      "One or more records have been rejected due to invalid timestamp")
             : refuse(refusal, ErrorCode::INVALID_RECORD,
                      fmt::format("One or more records have been rejected due to {} record "
                                  "errors in total",
                                  refusal.record_errors.size()));
}

// The codec that the topic wants, when it is not the batch's.
const protocol::CodecInfo* other_codec(const BatchHeader& header, const LogConfig& config) {
  if (config.compression_type == kProducerCodec) return nullptr;
  const auto* wanted =
      protocol::find_codec(config.compression_type == kUncompressed ? std::string_view("none")
                                                                    : config.compression_type);
  if (wanted == nullptr || static_cast<int>(wanted->codec) == header.codec()) return nullptr;
  return wanted;
}

}  // namespace

Result<BatchHeader> sole_batch(std::span<const std::byte> records, int16_t produce_version) {
  auto header = protocol::parse_header(records);
  if (header.has_error()) {
    const bool unknown_format = records.size() >= format::kMagicEnd &&
                                static_cast<int8_t>(records[format::kMagic]) > format::kMagicV2;
    if (unknown_format) return header;
    return error(ErrorCode::INVALID_RECORD, header.error().message);
  }
  if (header->size() != records.size()) {
    return error(ErrorCode::INVALID_RECORD,
                 "a produce request must hold exactly one record batch per partition");
  }
  if (header->codec() == static_cast<int>(Codec::kZstd) && produce_version < kZstdProduceVersion) {
    return error(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
                 fmt::format("zstd needs Produce version {}", kZstdProduceVersion));
  }
  return header;
}

bool validate(const ClientAppend& request, const LogConfig& config, TimeMs now_ms, ValidBatch& out,
              AppendResult& refusal) {
  BatchHeader& header = out.header;
  if (!check_frame(request, config, header, refusal) || !check_header(header, refusal))
    return false;
  if (header.log_append_time() && !config.log_append_time) {
    header.attributes &= static_cast<int16_t>(~format::kLogAppendTime);
    out.new_crc = true;
  }
  out.body = request.records.subspan(format::kHeaderSize);

  thread_local std::vector<std::byte> buffer;  // decompression reuses its capacity
  auto records =
      protocol::uncompressed_records(header, request.records, kMaxUncompressedBatch, buffer);
  if (records.has_error()) return refuse(refusal, records.error().code, records.error().message);
  TimeMs max_timestamp = format::kNoTimestamp;
  if (!check_records(header, *records, config, now_ms, max_timestamp, refusal)) return false;

  if (config.log_append_time) {
    header.attributes |= format::kLogAppendTime;
    max_timestamp = now_ms;
    out.new_crc = true;
  }
  if (header.max_timestamp != max_timestamp) {
    header.max_timestamp = max_timestamp;
    out.new_crc = true;
  }
  if (const auto* codec = other_codec(header, config)) {
    protocol::compress(codec->codec, config.compression_level, *records, out.recompressed);
    out.body = out.recompressed;
    header.attributes = static_cast<int16_t>((header.attributes & ~format::kCodecMask) |
                                             static_cast<int16_t>(codec->codec));
    header.batch_length = static_cast<int32_t>(format::kMinBatchLength + out.body.size());
    out.new_crc = true;
  }
  // A buffer that one huge batch has grown is not kept for ever.
  constexpr size_t kKeptCapacity = size_t{8} << 20;
  if (buffer.capacity() > kKeptCapacity) std::vector<std::byte>().swap(buffer);
  if (header.size() > static_cast<uint64_t>(config.max_message_bytes)) {
    return refuse(refusal, ErrorCode::MESSAGE_TOO_LARGE,
                  "the recompressed batch exceeds max.message.bytes");
  }
  if (header.size() > static_cast<uint64_t>(config.segment_bytes)) {
    return refuse(refusal, ErrorCode::RECORD_LIST_TOO_LARGE,
                  fmt::format("the batch of {} bytes exceeds segment.bytes of {}", header.size(),
                              config.segment_bytes));
  }
  return true;
}

}  // namespace ackord::log
