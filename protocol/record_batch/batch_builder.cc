#include "protocol/record_batch/batch_builder.h"

#include <algorithm>
#include <array>

#include "protocol/record_batch/big_endian.h"
#include "protocol/wire/varint.h"

namespace ackord::protocol {
namespace {

namespace f = batch_format;

void put_unsigned(std::vector<std::byte>& out, uint64_t value) {
  std::array<std::byte, kMaxVarlongSize> bytes;
  const size_t size = put_varint(bytes.data(), value);
  out.insert(out.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
}
void put_int(std::vector<std::byte>& out, int32_t value) { put_unsigned(out, zigzag32(value)); }

}  // namespace

void BatchBuilder::put_bytes(std::vector<std::byte>& out,
                             std::optional<std::span<const std::byte>> bytes) {
  if (!bytes) return put_int(out, -1);
  put_int(out, static_cast<int32_t>(bytes->size()));
  out.insert(out.end(), bytes->begin(), bytes->end());
}

void BatchBuilder::add(TimeMs timestamp, std::optional<std::span<const std::byte>> key,
                       std::optional<std::span<const std::byte>> value,
                       std::span<const RecordHeader> headers) {
  add_at(options_.base_offset + last_delta_ + 1, timestamp, key, value, headers);
}

void BatchBuilder::add_at(Offset offset, TimeMs timestamp,
                          std::optional<std::span<const std::byte>> key,
                          std::optional<std::span<const std::byte>> value,
                          std::span<const RecordHeader> headers) {
  if (count_ == 0) base_timestamp_ = options_.delete_horizon.value_or(timestamp);
  last_delta_ = static_cast<int32_t>(offset - options_.base_offset);
  max_timestamp_ = std::max(max_timestamp_, timestamp);
  record_.clear();
  record_.push_back(std::byte{0});  // attributes
  put_unsigned(record_, zigzag64(timestamp - base_timestamp_));
  put_int(record_, last_delta_);
  put_bytes(record_, key);
  put_bytes(record_, value);
  put_int(record_, static_cast<int32_t>(headers.size()));
  for (const RecordHeader& header : headers) {
    put_bytes(record_, std::as_bytes(std::span(header.key)));
    put_bytes(record_, header.value);
  }
  put_int(records_, static_cast<int32_t>(record_.size()));
  records_.insert(records_.end(), record_.begin(), record_.end());
  ++count_;
}

std::vector<std::byte> BatchBuilder::build() {
  return build_up_to(options_.base_offset + last_delta_);
}

std::vector<std::byte> BatchBuilder::build_up_to(Offset last_offset) {
  std::vector<std::byte> out(f::kHeaderSize);
  compress(options_.codec, options_.level, records_, out);
  BatchHeader header;
  header.base_offset = options_.base_offset;
  header.batch_length = static_cast<int32_t>(out.size() - f::kLogOverhead);
  header.leader_epoch = options_.leader_epoch;
  header.attributes = static_cast<int16_t>(options_.codec);
  if (options_.log_append_time) header.attributes |= f::kLogAppendTime;
  if (options_.transactional) header.attributes |= f::kTransactional;
  if (options_.control) header.attributes |= f::kControl;
  if (options_.delete_horizon) header.attributes |= f::kDeleteHorizon;
  header.last_offset_delta = static_cast<int32_t>(last_offset - options_.base_offset);
  header.base_timestamp = base_timestamp_;
  header.max_timestamp = max_timestamp_;
  header.producer_id = options_.producer_id;
  header.producer_epoch = options_.producer_epoch;
  header.base_sequence = options_.base_sequence;
  header.records_count = count_;
  HeaderBytes bytes;
  write_header(header, bytes);
  header.crc = batch_crc(bytes, std::span<const std::byte>(out).subspan(f::kHeaderSize));
  write_header(header, bytes);
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

std::vector<std::byte> build_end_marker(BatchOptions options, EndTransactionMarker marker,
                                        TimeMs timestamp) {
  std::array<std::byte, f::kControlKeySize> key;
  store_big(key.data(), f::kControlKeyVersion);
  store_big(key.data() + 2, marker.commit ? f::kControlCommit : f::kControlAbort);
  std::array<std::byte, f::kEndMarkerSize> value;
  store_big(value.data(), f::kEndMarkerVersion);
  store_big(value.data() + 2, marker.coordinator_epoch);
  options.codec = Codec::kNone;
  options.transactional = true;
  options.control = true;
  options.base_sequence = f::kNoSequence;
  BatchBuilder builder(options);
  builder.add(timestamp, std::span<const std::byte>(key), std::span<const std::byte>(value));
  return builder.build();
}

Result<std::optional<EndTransactionMarker>> parse_end_marker(const Record& record) {
  const auto invalid = [](const char* why) { return error(ErrorCode::INVALID_RECORD, why); };
  if (!record.key || record.key->size() < f::kControlKeySize)
    return invalid("control record key is short");
  if (load_big<int16_t>(record.key->data()) < f::kControlKeyVersion) {
    return invalid("control record key has a negative version");
  }
  const auto type = load_big<int16_t>(record.key->data() + 2);
  if (type != f::kControlAbort && type != f::kControlCommit) {
    return std::optional<EndTransactionMarker>();
  }
  if (!record.value || record.value->size() < f::kEndMarkerSize)
    return invalid("end marker is short");
  EndTransactionMarker marker;
  marker.commit = type == f::kControlCommit;
  marker.coordinator_epoch = load_big<int32_t>(record.value->data() + 2);
  return std::optional<EndTransactionMarker>(marker);
}

}  // namespace ackord::protocol
