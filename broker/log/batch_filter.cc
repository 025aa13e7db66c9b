#include "broker/log/batch_filter.h"

#include <algorithm>

#include "broker/log/batch_validator.h"
#include "protocol/record_batch/batch_builder.h"

namespace ackord::log {

using protocol::BatchHeader;

Result<std::optional<bool>> is_commit(const BatchHeader& header, std::span<const std::byte> batch) {
  if (header.records_count == 0) return std::optional<bool>();
  protocol::RecordReader reader(header, batch.subspan(protocol::batch_format::kHeaderSize));
  protocol::Record record;
  if (!reader.next(record)) return *reader.failure();
  auto marker = protocol::parse_end_marker(record);
  if (marker.has_error()) return marker.error();
  if (!*marker) return std::optional<bool>();
  return std::optional<bool>((*marker)->commit);
}

bool BatchFilter::must_stay(const BatchHeader& header) const {
  if (header.next_offset() == rules_.high_watermark) return true;
  const auto last = last_batches_.find(header.producer_id);
  if (!header.has_producer() || last == last_batches_.end()) return false;
  if (last->second.last_data_offset >= 0) {
    return header.last_offset() == last->second.last_data_offset;
  }
  return header.control() && header.producer_epoch == last->second.epoch;
}

Result<BatchFilter::Kept> BatchFilter::filter(const BatchHeader& header,
                                              std::span<const std::byte> batch) {
  bool discard = false;
  bool ready_marker = false;  // of a transaction that has no records any more
  std::optional<AbortedRange> aborted;
  if (header.control()) {
    auto commit = is_commit(header, batch);
    if (commit.has_error()) return commit.error();
    auto marker = transactions_.on_control(header, *commit);
    aborted = marker.kept;
    ready_marker = marker.discardable;
    const auto horizon = header.delete_horizon();
    discard = ready_marker && horizon && *horizon <= rules_.now_ms;
  } else {
    discard = transactions_.on_data(header);
  }
  if (header.base_offset >= rules_.map_end) {
    Kept all{header, batch, aborted};
    return all;
  }
  if (discard) {
    Kept none;
    if (must_stay(header)) none = empty_batch(header);
    return none;
  }
  auto kept = filter_records(header, batch, ready_marker);
  if (kept.has_error()) return kept;
  kept->aborted = aborted;
  return kept;
}

bool BatchFilter::keeps(const BatchHeader& header, const protocol::Record& record) const {
  if (header.control() || record.offset >= rules_.map_end) return true;
  // Without a key it can never be superseded; compaction has no use for it.
  if (!record.key || record.offset < keys_.find(*record.key)) return false;
  if (record.value) return true;
  const auto horizon = header.delete_horizon();
  return !horizon || rules_.now_ms < *horizon;
}

Result<BatchFilter::Kept> BatchFilter::filter_records(const BatchHeader& header,
                                                      std::span<const std::byte> batch,
                                                      bool ready_marker) {
  auto records =
      protocol::uncompressed_records(header, batch, kMaxUncompressedBatch, uncompressed_);
  if (records.has_error()) return records.error();
  protocol::RecordReader reader(header, *records);
  protocol::Record record;
  int32_t kept = 0;
  bool tombstones = false;
  while (reader.next(record)) {
    if (!keeps(header, record)) continue;
    ++kept;
    tombstones |= !record.value;
  }
  if (reader.failure()) return *reader.failure();
  if (kept == 0) {
    Kept none;
    if (must_stay(header)) none = empty_batch(header);
    return none;
  }
  const bool new_horizon = (tombstones || ready_marker) && !header.delete_horizon();
  if (kept == header.records_count && !new_horizon) return Kept{header, batch, std::nullopt};
  std::optional<TimeMs> horizon = header.delete_horizon();
  if (new_horizon) {
    horizon = rules_.now_ms + std::min(rules_.delete_retention_ms, INT64_MAX - rules_.now_ms);
  }
  return rebuilt(header, *records, horizon);
}

BatchFilter::Kept BatchFilter::rebuilt(const BatchHeader& header,
                                       std::span<const std::byte> records,
                                       std::optional<TimeMs> horizon) {
  protocol::BatchOptions options;
  options.base_offset = header.base_offset;
  options.leader_epoch = header.leader_epoch;
  options.codec = static_cast<protocol::Codec>(header.codec());
  options.log_append_time = header.log_append_time();
  options.transactional = header.transactional();
  options.control = header.control();
  options.producer_id = header.producer_id;
  options.producer_epoch = header.producer_epoch;
  options.base_sequence = header.base_sequence;
  options.delete_horizon = horizon;
  protocol::BatchBuilder builder(options);
  protocol::RecordReader reader(header, records);
  protocol::Record record;
  while (reader.next(record)) {
    if (!keeps(header, record)) continue;
    builder.add_at(record.offset, record.timestamp, record.key, record.value, record.headers);
  }
  written_ = builder.build_up_to(header.last_offset());
  return {*protocol::parse_header(written_), written_, std::nullopt};
}

// Its header, which says what the producer has written and where the batch ended.
BatchFilter::Kept BatchFilter::empty_batch(const BatchHeader& header) {
  namespace f = protocol::batch_format;
  BatchHeader empty = header;
  empty.batch_length = static_cast<int32_t>(f::kMinBatchLength);
  empty.attributes = static_cast<int16_t>(header.attributes &
                                          (f::kLogAppendTime | f::kTransactional | f::kControl));
  empty.base_timestamp = f::kNoTimestamp;
  empty.records_count = 0;
  protocol::HeaderBytes bytes;
  protocol::write_header(empty, bytes);
  empty.crc = protocol::batch_crc(bytes, {});
  protocol::write_header(empty, bytes);
  written_.assign(bytes.begin(), bytes.end());
  return {empty, written_, std::nullopt};
}

}  // namespace ackord::log
