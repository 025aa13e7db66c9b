#include "broker/log/partition_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "broker/base/assert.h"
#include "protocol/record_batch/batch_builder.h"

namespace ackord::log {
namespace {

using protocol::BatchHeader;
namespace format = protocol::batch_format;

// Index positions are 32 bits, and so are offsets relative to a segment's base.
constexpr int64_t kMaxRelative = INT32_MAX;

// splitmix64's last step: neighbours become far apart.
uint64_t scatter(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

BatchInfo to_info(const BatchHeader& header) {
  BatchInfo info;
  info.base_offset = header.base_offset;
  info.last_offset = header.last_offset();
  info.leader_epoch = header.leader_epoch;
  info.max_timestamp = header.max_timestamp;
  info.producer = {header.producer_id, header.producer_epoch};
  info.base_sequence = header.base_sequence;
  info.record_count = header.records_count;
  info.transactional = header.transactional();
  info.control = header.control();
  info.size = static_cast<uint32_t>(header.size());
  return info;
}

void PartitionLog::open(Contents contents) {
  ACKORD_ASSERT(!contents.segments.empty() && !contents.epochs.empty(), "recovery makes them");
  segments_ = std::move(contents.segments);
  producers_ = std::move(contents.producers);
  epochs_ = std::move(contents.epochs);
  log_start_ = contents.log_start;
  log_end_ = contents.log_end;
  files_current_ = contents.files_current;
  high_watermark_ = log_end_;
  producers_.advance_high_watermark(high_watermark_);
}

Offset PartitionLog::last_stable_offset() const {
  const auto unstable = producers_.first_unstable_offset();
  return unstable ? std::min(*unstable, high_watermark_) : high_watermark_;
}

uint64_t PartitionLog::size_bytes() const {
  uint64_t size = 0;
  for (const auto& [base, segment] : segments_) size += segment->size();
  return size;
}

std::pair<int32_t, Offset> PartitionLog::end_offset_for_epoch(int32_t epoch) const {
  // Nothing may rest on what is not durable, so the current epoch ends at the high watermark.
  return end_of_epoch(epochs_, epoch, high_watermark_);
}

bool PartitionLog::advance_high_watermark(Offset offset) {
  if (offset <= high_watermark_) return false;
  high_watermark_ = offset;
  producers_.advance_high_watermark(offset);
  return true;
}

AppendResult PartitionLog::refusal(const Error& why) const {
  AppendResult result;
  result.error = why.code;
  result.message = why.message;
  result.log_start_offset = log_start_;
  return result;
}

AppendResult PartitionLog::duplicate(const ProducerBatch& batch) const {
  AppendResult result;
  result.base_offset = batch.first_offset();
  result.next_offset = batch.last_offset + 1;
  result.log_append_time_ms = batch.timestamp;  // as Kafka, whatever kind of time it is
  result.log_start_offset = log_start_;
  return result;
}

AppendResult PartitionLog::append(const ClientAppend& request, TimeMs now_ms) {
  ValidBatch batch;
  AppendResult refused;
  refused.log_start_offset = log_start_;
  if (!validate(request, config_, now_ms, batch, refused)) return refused;
  BatchHeader& header = batch.header;
  header.base_offset = log_end_;
  if (header.has_producer()) {
    if (const ProducerBatch* known = producers_.find_duplicate(header)) return duplicate(*known);
    // Clients of Produce version 12 raise their epoch at the end of every transaction (KIP-890).
    constexpr int16_t kEpochPerTransaction = 12;
    const bool starts_at_zero =
        header.transactional() && request.produce_version >= kEpochPerTransaction;
    auto allowed =
        producers_.check(header, Origin::kClient, request.verification_guard, starts_at_zero);
    if (allowed.has_error()) return refusal(allowed.error());
  }
  AppendResult result = write(header, batch.body, batch.new_crc, now_ms);
  if (result.error == ErrorCode::NONE) {
    header.base_offset = result.base_offset;
    producers_.apply(header);
    if (config_.log_append_time) result.log_append_time_ms = now_ms;
  }
  return result;
}

AppendResult PartitionLog::append_marker(const EndMarker& marker, TimeMs now_ms) {
  auto allowed = producers_.check_marker(marker);
  if (allowed.has_error()) return refusal(allowed.error());
  protocol::BatchOptions options;
  options.producer_id = marker.producer.id;
  options.producer_epoch = marker.producer.epoch;
  const protocol::EndTransactionMarker end{marker.commit, marker.coordinator_epoch};
  return write_built(protocol::build_end_marker(options, end, now_ms), now_ms, &end);
}

AppendResult PartitionLog::append_records(std::span<const EncodedRecord> records,
                                          std::optional<ProducerStamp> transaction, TimeMs now_ms) {
  ACKORD_ASSERT(!records.empty(), "a batch has at least one record");
  protocol::BatchOptions options;
  if (transaction) {
    options.transactional = true;
    options.producer_id = transaction->id;
    options.producer_epoch = transaction->epoch;
  }
  protocol::BatchBuilder builder(options);
  for (const EncodedRecord& record : records) {
    std::optional<std::span<const std::byte>> key;
    std::optional<std::span<const std::byte>> value;
    if (!record.null_key) key = std::span<const std::byte>(record.key);
    if (record.value) value = std::span<const std::byte>(*record.value);
    builder.add(now_ms, key, value);
  }
  if (transaction) {
    BatchHeader header;
    header.producer_id = transaction->id;
    header.producer_epoch = transaction->epoch;
    header.attributes = format::kTransactional;
    auto allowed = producers_.check(header, Origin::kCoordinator, std::nullopt, false);
    if (allowed.has_error()) return refusal(allowed.error());
  }
  return write_built(builder.build(), now_ms, nullptr);
}

AppendResult PartitionLog::write_built(std::span<const std::byte> batch, TimeMs now_ms,
                                       const protocol::EndTransactionMarker* marker) {
  BatchHeader header = *protocol::parse_header(batch);
  AppendResult result = write(header, batch.subspan(format::kHeaderSize), false, now_ms);
  if (result.error != ErrorCode::NONE) return result;
  header.base_offset = result.base_offset;
  if (marker == nullptr) {
    producers_.apply(header);
    return result;
  }
  const auto done = producers_.apply_marker(header, *marker);
  if (done && done->aborted) {
    active()->add_aborted(
        {done->producer_id, done->first_offset, done->marker_offset, done->last_stable_offset});
  }
  return result;
}

bool PartitionLog::must_roll(const BatchHeader& header, TimeMs now_ms) const {
  const Segment& segment = *active();
  if (segment.size() == 0) return false;
  const auto limit = static_cast<uint64_t>(std::min(config_.segment_bytes, kMaxRelative));
  if (segment.size() + header.size() > limit) return true;
  if (header.last_offset() - segment.base_offset() > kMaxRelative) return true;
  if (segment.age_for_roll(header.max_timestamp, now_ms) > roll_age(segment)) return true;
  const auto room = static_cast<size_t>(config_.segment_index_bytes);
  return segment.indexes()->offsets().size() >= room / 8 ||
         segment.indexes()->times().size() + 1 >= room / 12;
}

// segment.ms, sooner by a part of segment.jitter.ms that differs between logs and segments, so that
// logs which were made together are not rolled together. What must be compacted in time must be
// sealed in time.
int64_t PartitionLog::roll_age(const Segment& segment) const {
  const int64_t age = config_.compact ? std::min(config_.segment_ms, config_.max_compaction_lag_ms)
                                      : config_.segment_ms;
  const int64_t jitter = std::min(config_.segment_jitter_ms, config_.segment_ms);
  if (jitter <= 0) return age;
  const uint64_t seed =
      std::hash<TopicPartition>()(name_) + static_cast<uint64_t>(segment.base_offset());
  return age - static_cast<int64_t>(scatter(seed) % static_cast<uint64_t>(jitter));
}

Result<void> PartitionLog::roll(TimeMs now_ms) {
  files_current_ = false;
  auto created = Segment::create(files_, directory_, log_end_, now_ms);
  if (created.has_error()) return created.error();
  sealed_.push_back(std::make_shared<const SealedSegment>(
      seal(active(), directory_, log_end_, producers_.encode())));
  segments_.emplace(log_end_, *created);
  recent_.clear();
  return {};
}

AppendResult PartitionLog::write(BatchHeader header, std::span<const std::byte> body, bool new_crc,
                                 TimeMs now_ms) {
  header.base_offset = log_end_;
  header.leader_epoch = leader_epoch();
  if (must_roll(header, now_ms)) {
    auto rolled = roll(now_ms);
    if (rolled.has_error()) return refusal(rolled.error());
  }
  protocol::HeaderBytes bytes;
  protocol::write_header(header, bytes);
  if (new_crc) {
    header.crc = protocol::batch_crc(bytes, body);
    protocol::write_header(header, bytes);
  }
  const std::array<std::span<const std::byte>, 2> pieces{bytes, body};
  files_current_ = false;
  Segment& segment = *active();
  auto written = segment.file()->pwritev(pieces, segment.size());
  if (written.has_error()) {
    return refusal(error(ErrorCode::KAFKA_STORAGE_ERROR, written.error().message));
  }
  remember(header, segment.size());
  segment.add(header, config_.index_interval_bytes);
  log_end_ = header.next_offset();
  AppendResult result;
  result.base_offset = header.base_offset;
  result.next_offset = log_end_;
  result.log_start_offset = log_start_;
  return result;
}

void PartitionLog::remember(const BatchHeader& header, uint64_t position) {
  if (recent_.size() == kRecentBatches) recent_.pop_front();
  recent_.push_back({to_info(header), position});
}

SegmentPtr PartitionLog::segment_for(Offset offset) const {
  auto after = segments_.upper_bound(offset);
  return after == segments_.begin() ? nullptr : std::prev(after)->second;
}

SegmentPtr PartitionLog::segment_after(const Segment& segment) const {
  const auto after = segments_.upper_bound(segment.base_offset());
  return after == segments_.end() ? nullptr : after->second;
}

std::vector<AbortedTransaction> PartitionLog::aborted_in(Offset from, Offset until) const {
  std::vector<AbortedTransaction> found;
  auto at = segments_.upper_bound(from);
  if (at != segments_.begin()) --at;
  bool done = false;
  for (; at != segments_.end() && !done; ++at) {
    for (const AbortedRange& range : at->second->aborted()) {
      if (range.last_offset >= from && range.first_offset < until) {
        found.push_back({range.producer_id, range.first_offset});
      }
      // Whatever is aborted later began at or after this one's last stable offset.
      if (range.last_stable_offset >= until) {
        done = true;
        break;
      }
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first_offset < b.first_offset; });
  return found;
}

std::vector<AbortedRange> PartitionLog::aborted_below(Offset until) const {
  std::vector<AbortedRange> found;
  for (const auto& [base, segment] : segments_) {
    for (const AbortedRange& range : segment->aborted()) {
      if (range.first_offset < until) found.push_back(range);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first_offset < b.first_offset; });
  return found;
}

bool PartitionLog::has_segments(const std::vector<SegmentPtr>& segments) const {
  return std::all_of(segments.begin(), segments.end(), [this](const SegmentPtr& segment) {
    const auto found = segments_.find(segment->base_offset());
    return found != segments_.end() && found->second == segment;
  });
}

void PartitionLog::replace_segments(const std::vector<SegmentPtr>& old, SegmentPtr cleaned) {
  ACKORD_ASSERT(has_segments(old) && old.back() != active(), "only sealed segments are compacted");
  for (const SegmentPtr& segment : old) segments_.erase(segment->base_offset());
  segments_.emplace(cleaned->base_offset(), std::move(cleaned));
}

void PartitionLog::raise_leader_epoch(int32_t epoch) {
  epochs_changed_ |= begin_epoch(epochs_, {epoch, log_end_});
}

std::optional<std::vector<EpochStart>> PartitionLog::take_changed_epochs() {
  if (!std::exchange(epochs_changed_, false)) return std::nullopt;
  return epochs_;
}

bool PartitionLog::raise_log_start(Offset offset) {
  if (offset <= log_start_) return false;
  log_start_ = offset;
  epochs_changed_ |= trim_start(epochs_, log_start_);
  return true;
}

Offset PartitionLog::retention_start(TimeMs now_ms) const {
  if (!config_.remove) return log_start_;
  Offset start = log_start_;
  uint64_t left = size_bytes();
  for (auto at = segments_.begin(); at != segments_.end(); ++at) {
    const auto next = std::next(at);
    if (next == segments_.end() || next->first > high_watermark_) break;
    const Segment& segment = *at->second;
    // What a compaction has emptied says nothing of its age: it goes with the next one.
    if (segment.size() == 0) continue;
    const bool too_old = config_.retention_ms >= 0 && segment.max_timestamp() >= 0 &&
                         now_ms - segment.max_timestamp() > config_.retention_ms;
    const bool too_much = config_.retention_bytes >= 0 &&
                          left - segment.size() >= static_cast<uint64_t>(config_.retention_bytes);
    if (!too_old && !too_much) break;
    left -= segment.size();
    start = std::max(start, next->first);
  }
  return start;
}

std::vector<SegmentPtr> PartitionLog::drop_old_segments() {
  std::vector<SegmentPtr> dropped;
  while (segments_.size() > 1 && std::next(segments_.begin())->first <= log_start_) {
    // Its indexes are still to be written.
    if (!sealed_.empty() && sealed_.front()->segment == segments_.begin()->second) break;
    segments_.begin()->second->retire();
    dropped.push_back(segments_.begin()->second);
    segments_.erase(segments_.begin());
  }
  return dropped;
}

}  // namespace ackord::log
