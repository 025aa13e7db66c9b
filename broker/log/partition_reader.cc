// The readers of LocalPartition. What can change while they wait (segments, positions) is taken
// before.
#include <algorithm>

#include "broker/base/logging.h"
#include "broker/base/planted_bug.h"
#include "broker/log/batch_validator.h"
#include "broker/log/batch_walker.h"
#include "broker/log/local_partition.h"
#include "broker/log/log_names.h"
#include "protocol/record_batch/record_reader.h"

namespace ackord::log {
namespace {

// Indexes of sealed segments that a partition keeps in memory.
constexpr size_t kLoadedIndexes = 4;

io::Task<Result<std::vector<std::byte>>> read_index(std::shared_ptr<io::File> file) {
  auto size = file->size();
  if (size.has_error()) co_return size.error();
  std::vector<std::byte> bytes(*size);
  auto reading = file->read(bytes, 0);
  auto got = co_await std::move(reading);
  if (got.has_error()) co_return got.error();
  bytes.resize(*got);
  co_return bytes;
}

// The first record of the batch with a timestamp of at least `timestamp`, at or above `from`.
Result<TimestampedOffset> find_record(const protocol::BatchHeader& header,
                                      std::span<const std::byte> batch, TimeMs timestamp,
                                      Offset from) {
  std::vector<std::byte> buffer;
  auto records = protocol::uncompressed_records(header, batch, kMaxUncompressedBatch, buffer);
  if (records.has_error()) return records.error();
  protocol::RecordReader reader(header, *records);
  protocol::Record record;
  while (reader.next(record)) {
    if (record.timestamp >= timestamp && record.offset >= from) {
      return TimestampedOffset{record.offset, record.timestamp, header.leader_epoch};
    }
  }
  if (reader.failure()) return *reader.failure();
  return TimestampedOffset{};
}

// `best`, or the batch's first record at or above `from` with the largest timestamp above it.
Result<TimestampedOffset> largest_record(const protocol::BatchHeader& header,
                                         std::span<const std::byte> batch, Offset from,
                                         TimestampedOffset best) {
  std::vector<std::byte> buffer;
  auto records = protocol::uncompressed_records(header, batch, kMaxUncompressedBatch, buffer);
  if (records.has_error()) return records.error();
  protocol::RecordReader reader(header, *records);
  protocol::Record record;
  while (reader.next(record)) {
    if (record.offset < from) continue;
    if (best.offset < 0 || record.timestamp > best.timestamp)
      best = {record.offset, record.timestamp, header.leader_epoch};
  }
  if (reader.failure()) return *reader.failure();
  return best;
}

}  // namespace

io::Task<ReadResult> LocalPartition::read(ReadSpec spec) {
  return read_range(shared_from_this(), spec, false);
}

io::Task<ReadResult> LocalPartition::read_all(Offset offset, int64_t max_bytes) {
  ReadSpec spec;
  spec.offset = offset;
  spec.max_bytes = max_bytes;
  spec.want_batches = true;
  return read_range(shared_from_this(), spec, true);
}

io::Task<ReadResult> LocalPartition::read_range(Self self, ReadSpec spec, bool to_the_end) {
  const PartitionLog& log = *self->log_;
  ReadResult result;
  result.high_watermark = log.high_watermark();
  result.last_stable_offset = log.last_stable_offset();
  result.log_start_offset = log.log_start();
  if (auto why = self->refusal()) {
    result.error = why->code;
    co_return result;
  }
  if (spec.offset < log.log_start() || spec.offset > log.log_end()) {
    result.error = ErrorCode::OFFSET_OUT_OF_RANGE;
    co_return result;
  }
  const bool committed = spec.isolation == Isolation::kReadCommitted;
  Want want;
  want.offset = spec.offset;
  want.max_bytes = spec.max_bytes;
  want.at_least_one_batch = spec.at_least_one_batch;
  want.batches = spec.want_batches;
  want.bound = committed ? result.last_stable_offset : result.high_watermark;
  if (to_the_end || base::planted(base::PlantedBug::kReadBeforeDurable)) want.bound = log.log_end();
  Range range;
  if (want.offset < want.bound && !self->find_recent(want, range)) {
    auto finding = find_range(self, want);
    auto found = co_await std::move(finding);
    if (found.has_error()) {
      // The files may have gone while they were looked at.
      const auto gone = self->refusal();
      result.log_start_offset = log.log_start();
      result.error = gone                            ? gone->code
                     : spec.offset < log.log_start() ? ErrorCode::OFFSET_OUT_OF_RANGE
                                                     : ErrorCode::KAFKA_STORAGE_ERROR;
      co_return result;
    }
    range = std::move(*found);
  }
  if (range.segment && range.size != 0) {
    result.records.append(FileRange{range.segment->file(), range.position, range.size});
    result.batches = std::move(range.batches);
    if (committed) result.aborted = log.aborted_in(spec.offset, range.next_offset);
  }
  co_return result;
}

// From memory, when the active segment's latest batches are all that is wanted.
bool LocalPartition::find_recent(const Want& want, Range& out) const {
  const auto& recent = log_->recent();
  if (recent.empty() || want.offset < recent.front().info.base_offset) return false;
  auto at = std::lower_bound(
      recent.begin(), recent.end(), want.offset,
      [](const RecentBatch& batch, Offset offset) { return batch.info.last_offset < offset; });
  if (at == recent.end()) return true;
  out.segment = log_->active();
  out.position = at->position;
  for (; at != recent.end() && at->info.last_offset < want.bound; ++at) {
    const bool first = out.size == 0 && want.at_least_one_batch;
    if (!first && static_cast<int64_t>(out.size + at->info.size) > want.max_bytes) break;
    out.size += at->info.size;
    out.next_offset = at->info.last_offset + 1;
    if (want.batches) out.batches.push_back(at->info);
  }
  return true;
}

io::Task<Result<LocalPartition::Range>> LocalPartition::find_range(Self self, Want want) {
  SegmentPtr segment = self->log_->segment_for(want.offset);
  // A segment may end before its successor begins; then the first batch of the next one is meant.
  while (segment && segment->base_offset() < want.bound) {
    auto finding = find_in_segment(self, segment, want);
    auto found = co_await std::move(finding);
    if (found.has_error() && !segment->retired() && segment->take_complaint()) {
      base::log_error("segment cannot be read file={} offset={} why=\"{}\"",
                      segment->path(names::kLog), want.offset, found.error().message);
    }
    if (found.has_error() || found->segment) co_return found;
    segment = self->log_->segment_after(*segment);
  }
  co_return Range{};
}

io::Task<Result<LocalPartition::Range>> LocalPartition::find_in_segment(Self self,
                                                                        SegmentPtr segment,
                                                                        Want want) {
  const uint64_t end = segment->size();
  auto loading = load_indexes(self, segment);
  auto loaded = co_await std::move(loading);
  if (loaded.has_error()) co_return loaded.error();
  const std::shared_ptr<SegmentIndexes> indexes = *loaded;
  Range range;
  BatchWalker first(segment->file(), indexes->position_of(want.offset), end);
  for (;;) {
    auto walking = first.next();
    auto more = co_await std::move(walking);
    if (more.has_error()) co_return more.error();
    if (!*more) co_return range;
    if (first.header().last_offset() >= want.offset) break;
  }
  range.segment = segment;
  range.position = first.position();
  if (first.header().last_offset() >= want.bound) co_return range;
  const auto first_size = static_cast<int64_t>(first.header().size());
  if (first_size > want.max_bytes && !want.at_least_one_batch) co_return range;
  range.size = first.header().size();
  range.next_offset = first.header().next_offset();
  if (want.batches) range.batches.push_back(to_info(first.header()));
  const uint64_t limit =
      std::min(end, range.position + static_cast<uint64_t>(std::max<int64_t>(want.max_bytes, 0)));
  uint64_t from = range.position + range.size;
  // Nobody wants to see the batches between, so the search for the last one starts at the index.
  if (!want.batches && limit > from)
    from = std::max(from, indexes->position_before(limit, want.bound));
  BatchWalker rest(segment->file(), from, end);
  while (from < limit) {
    auto walking = rest.next();
    auto more = co_await std::move(walking);
    if (more.has_error()) co_return more.error();
    if (!*more || rest.header().last_offset() >= want.bound) break;
    // A batch that begins at the limit's index entry may pass it; the one before then ends where
    // this begins.
    if (rest.position() + rest.header().size() > limit) {
      range.size = rest.position() - range.position;
      range.next_offset = std::max(range.next_offset, rest.header().base_offset);
      break;
    }
    range.size = rest.position() + rest.header().size() - range.position;
    range.next_offset = rest.header().next_offset();
    if (want.batches) range.batches.push_back(to_info(rest.header()));
  }
  co_return range;
}

io::Task<Result<std::shared_ptr<SegmentIndexes>>> LocalPartition::load_indexes(Self self,
                                                                               SegmentPtr segment) {
  if (segment->indexes()) {
    auto indexes = segment->indexes();
    co_return indexes;
  }
  auto indexes = std::make_shared<SegmentIndexes>(segment->base_offset());
  // Its indexes' names may be another segment's by now, or nobody's.
  if (segment->retired()) co_return indexes;
  io::FileSystem& files = self->directory_.files();
  auto offsets_file = files.open(segment->path(names::kIndex), io::OpenMode::kRead);
  if (offsets_file.has_error()) co_return offsets_file.error();
  auto times_file = files.open(segment->path(names::kTimeIndex), io::OpenMode::kRead);
  if (times_file.has_error()) co_return times_file.error();
  auto reading_offsets = read_index(*offsets_file);
  auto offsets = co_await std::move(reading_offsets);
  if (offsets.has_error()) co_return offsets.error();
  auto reading_times = read_index(*times_file);
  auto times = co_await std::move(reading_times);
  if (times.has_error()) co_return times.error();
  auto decoded = indexes->decode(*offsets, *times, segment->size());
  // An index only saves reading; without one the segment is searched from its beginning.
  if (decoded.has_error()) indexes = std::make_shared<SegmentIndexes>(segment->base_offset());
  if (segment->retired()) co_return indexes;
  segment->set_indexes(indexes);
  self->loaded_.push_back(segment);
  if (self->loaded_.size() > kLoadedIndexes) {
    self->loaded_.front()->drop_indexes();
    self->loaded_.pop_front();
  }
  co_return indexes;
}

io::Task<Result<TimestampedOffset>> LocalPartition::offset_for_timestamp(TimeMs timestamp,
                                                                         Isolation isolation) {
  const Offset bound =
      isolation == Isolation::kReadCommitted ? log_->last_stable_offset() : log_->high_watermark();
  return find_timestamp(shared_from_this(), timestamp, bound);
}

io::Task<Result<TimestampedOffset>> LocalPartition::find_timestamp(Self self, TimeMs timestamp,
                                                                   Offset bound) {
  if (auto why = self->refusal()) co_return *why;
  const Offset from = self->log_->log_start();
  std::vector<SegmentPtr> segments;
  for (const auto& [base, segment] : self->log_->segments()) {
    if (segment->max_timestamp() >= timestamp) segments.push_back(segment);
  }
  for (const SegmentPtr& segment : segments) {
    auto loading = load_indexes(self, segment);
    auto indexes = co_await std::move(loading);
    if (indexes.has_error()) co_return indexes.error();
    const uint64_t start = (*indexes)->position_of((*indexes)->offset_before(timestamp));
    BatchWalker walker(segment->file(), start, segment->size());
    for (;;) {
      auto walking = walker.next();
      auto more = co_await std::move(walking);
      if (more.has_error()) co_return more.error();
      if (!*more) break;
      const protocol::BatchHeader& header = walker.header();
      if (header.base_offset >= bound) co_return TimestampedOffset{};
      if (header.max_timestamp < timestamp || header.last_offset() < from) continue;
      auto reading = walker.read_batch();
      auto batch = co_await std::move(reading);
      if (batch.has_error()) co_return batch.error();
      auto found = find_record(header, *batch, timestamp, from);
      if (found.has_error()) co_return found.error();
      if (found->offset < 0) continue;
      if (found->offset >= bound) co_return TimestampedOffset{};
      co_return *found;
    }
  }
  co_return TimestampedOffset{};
}

io::Task<Result<TimestampedOffset>> LocalPartition::offset_of_max_timestamp() {
  return find_max_timestamp(shared_from_this());
}

io::Task<Result<TimestampedOffset>> LocalPartition::find_max_timestamp(Self self) {
  // The answer may name any record of the log, so all of it must be durable first.
  auto waiting = wait_durable(self, self->log_->log_end());
  auto durable = co_await std::move(waiting);
  if (durable.has_error()) co_return durable.error();
  TimeMs largest = -1;
  for (const auto& [base, segment] : self->log_->segments()) {
    if (segment->size() != 0) largest = std::max(largest, segment->max_timestamp());
  }
  if (largest >= 0) {
    auto finding = find_timestamp(self, largest, self->log_->high_watermark());
    auto found = co_await std::move(finding);
    if (found.has_error() || found->offset >= 0) co_return found;
  }
  auto searching = search_max_timestamp(self);
  auto found = co_await std::move(searching);
  co_return found;
}

// What the segments know as their largest is of a record below the log start, or of a batch that
// compaction has emptied, or there are no timestamps at all.
io::Task<Result<TimestampedOffset>> LocalPartition::search_max_timestamp(Self self) {
  std::vector<SegmentPtr> segments;
  for (const auto& [base, segment] : self->log_->segments()) segments.push_back(segment);
  std::stable_sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) {
    return a->max_timestamp() > b->max_timestamp();
  });
  TimestampedOffset best;
  for (const SegmentPtr& segment : segments) {
    if (best.offset >= 0 && segment->max_timestamp() <= best.timestamp) break;
    auto looking = max_in_segment(self, segment, best);
    auto found = co_await std::move(looking);
    if (found.has_error()) co_return found;
    best = *found;
  }
  co_return best;
}

io::Task<Result<TimestampedOffset>> LocalPartition::max_in_segment(Self self, SegmentPtr segment,
                                                                   TimestampedOffset best) {
  const Offset from = self->log_->log_start();
  const Offset bound = self->log_->high_watermark();
  BatchWalker walker(segment->file(), 0, segment->size());
  for (;;) {
    auto walking = walker.next();
    auto more = co_await std::move(walking);
    if (more.has_error()) co_return more.error();
    if (!*more || walker.header().base_offset >= bound) co_return best;
    const protocol::BatchHeader& header = walker.header();
    if (header.records_count == 0 || header.last_offset() < from) continue;
    if (best.offset >= 0 && header.max_timestamp <= best.timestamp) continue;
    auto reading = walker.read_batch();
    auto batch = co_await std::move(reading);
    if (batch.has_error()) co_return batch.error();
    auto largest = largest_record(header, *batch, from, best);
    if (largest.has_error()) co_return largest.error();
    best = *largest;
    if (best.offset >= 0 && best.timestamp >= segment->max_timestamp()) co_return best;
  }
}

}  // namespace ackord::log
