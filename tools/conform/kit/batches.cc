#include "tools/conform/kit/batches.h"

#include <zlib.h>

#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/big_endian.h"
#include "protocol/record_batch/crc32c.h"
#include "tools/conform/kit/failure.h"
#include "tools/conform/kit/kit.h"

namespace ackord::conform {
namespace {

namespace format = protocol::batch_format;
using OptionalBytes = std::optional<std::span<const std::byte>>;

constexpr size_t kMaxUncompressed = 64u << 20;

OptionalBytes bytes_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return std::as_bytes(std::span<const char>(text->data(), text->size()));
}

std::optional<std::string> text_of(const OptionalBytes& bytes) {
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

template <class Number>
void patch(std::vector<std::byte>& batch, size_t at, const std::optional<Number>& value) {
  if (value) protocol::store_big(batch.data() + at, *value);
}

std::vector<RecordRead> read_records(const protocol::BatchHeader& header,
                                     std::span<const std::byte> batch) {
  std::vector<std::byte> buffer;
  const auto records = protocol::uncompressed_records(header, batch, kMaxUncompressed, buffer);
  if (!records) throw Failure("a batch in the answer: " + records.error().message);
  protocol::RecordReader reader(header, *records);
  protocol::Record record;
  std::vector<RecordRead> out;
  while (reader.next(record)) {
    RecordRead read{
        record.offset, record.timestamp, text_of(record.key), text_of(record.value), {}};
    for (const auto& header_read : record.headers)
      read.headers.emplace_back(std::string(header_read.key), text_of(header_read.value));
    out.push_back(std::move(read));
  }
  if (reader.failure()) throw Failure("a batch in the answer: " + reader.failure()->message);
  return out;
}

}  // namespace

std::vector<std::byte> build_batch(const BatchSpec& spec) {
  protocol::BatchOptions options;
  options.codec = spec.codec;
  options.transactional = spec.transactional;
  options.control = spec.control;
  options.producer_id = ProducerId(spec.producer_id);
  options.producer_epoch = spec.producer_epoch;
  options.base_sequence = spec.base_sequence;
  protocol::BatchBuilder builder(options);
  const int64_t now = now_ms();
  for (const RecordSpec& record : spec.records) {
    std::vector<protocol::RecordHeader> headers;
    for (const auto& [key, value] : record.headers) headers.push_back({key, bytes_of(value)});
    builder.add(record.timestamp.value_or(now), bytes_of(record.key), bytes_of(record.value),
                headers);
  }
  std::vector<std::byte> batch = builder.build();
  patch(batch, format::kBaseOffset, spec.base_offset);
  patch(batch, format::kLeaderEpoch, spec.leader_epoch);
  patch(batch, format::kMagic, spec.magic);
  patch(batch, format::kAttributes, spec.attributes);
  patch(batch, format::kLastOffsetDelta, spec.last_offset_delta);
  patch(batch, format::kBaseTimestamp, spec.base_timestamp);
  patch(batch, format::kMaxTimestamp, spec.max_timestamp);
  patch(batch, format::kRecordsCount, spec.records_count);
  const uint32_t crc = protocol::crc32c(std::span(batch).subspan(format::kAttributes));
  protocol::store_big(batch.data() + format::kCrc, spec.bad_crc ? ~crc : crc);
  return batch;
}

std::vector<RecordSpec> records_of(const std::vector<std::string>& values) {
  std::vector<RecordSpec> out;
  for (const std::string& value : values) out.push_back({.value = value});
  return out;
}

std::vector<std::string> numbered(int count, const std::string& prefix) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(prefix + std::to_string(i));
  return out;
}

// offset int64 | size int32 | crc32 uint32 | magic int8 | attributes int8 | timestamp int64 (only
// magic 1) | key_length int32 = -1 | value_length int32 | value. The checksum covers what follows
// it.
std::vector<std::byte> old_message(int8_t magic, const std::string& value) {
  std::vector<std::byte> body;
  const auto put = [](std::vector<std::byte>& out, auto number) {
    std::byte raw[sizeof number];
    protocol::store_big(raw, number);
    out.insert(out.end(), raw, raw + sizeof number);
  };
  put(body, magic);
  put(body, int8_t{0});
  if (magic == 1) put(body, now_ms());
  put(body, int32_t{-1});
  put(body, static_cast<int32_t>(value.size()));
  for (const char c : value) body.push_back(static_cast<std::byte>(c));
  const auto crc = static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
  std::vector<std::byte> out;
  put(out, int64_t{0});
  put(out, static_cast<int32_t>(body.size() + sizeof crc));
  put(out, crc);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

std::vector<BatchRead> parse_batches(std::span<const std::byte> bytes) {
  std::vector<BatchRead> out;
  while (bytes.size() >= format::kHeaderSize) {
    const auto header = protocol::parse_header(bytes);
    if (!header) throw Failure("a batch in the answer: " + header.error().message);
    if (header->size() > bytes.size()) break;
    const auto batch = bytes.subspan(0, header->size());
    BatchRead read;
    read.header = *header;
    read.crc_ok = protocol::crc32c(batch.subspan(format::kAttributes)) == header->crc;
    read.records = read_records(*header, batch);
    out.push_back(std::move(read));
    bytes = bytes.subspan(header->size());
  }
  return out;
}

std::vector<std::string> values_of(const std::vector<BatchRead>& batches) {
  std::vector<std::string> out;
  for (const BatchRead& batch : batches) {
    if (batch.header.control()) continue;
    for (const RecordRead& record : batch.records) out.push_back(record.value.value_or("null"));
  }
  return out;
}

std::vector<int64_t> offsets_of(const std::vector<BatchRead>& batches) {
  std::vector<int64_t> out;
  for (const BatchRead& batch : batches) {
    if (batch.header.control()) continue;
    for (const RecordRead& record : batch.records) out.push_back(record.offset);
  }
  return out;
}

}  // namespace ackord::conform
