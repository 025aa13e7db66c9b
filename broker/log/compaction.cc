#include "broker/log/compaction.h"

#include <fmt/format.h>

#include "broker/base/assert.h"
#include "broker/log/batch_validator.h"
#include "broker/log/checkpoint_files.h"
#include "broker/log/log_names.h"
#include "broker/log/segment_swap.h"

namespace ackord::log {
namespace {

constexpr size_t kWriteChunk = size_t{1} << 20;

Error cannot_compact(const Segment& segment, uint64_t position, std::string_view why) {
  return error(ErrorCode::CORRUPT_MESSAGE,
               fmt::format("{} position {}: {}", segment.path(names::kLog), position, why));
}

}  // namespace

Compaction::Compaction(io::FileSystem& files, CompactionInput input)
    : files_(files), in_(std::move(input)), keys_(in_.secret, in_.max_keys) {
  ACKORD_ASSERT(!in_.segments.empty(), "a pass has something to read");
  map_end_ = in_.first_dirty;
  // The last one that begins at or below the first dirty offset.
  while (at_ + 1 < in_.segments.size() && in_.segments[at_ + 1]->base_offset() <= in_.first_dirty) {
    ++at_;
  }
  std::vector<AbortedRange> aborted = in_.aborted;
  // Their markers will not be met.
  std::erase_if(aborted, [from = in_.segments[at_]->base_offset()](const AbortedRange& range) {
    return range.last_offset < from;
  });
  transactions_.emplace(std::move(aborted));
}

Result<bool> Compaction::step(uint64_t bytes) {
  const uint64_t until = bytes_read_ + bytes;
  while (!ended_ && !finished_ && bytes_read_ < until) {
    auto done = cleaning_ ? clean_step() : index_step();
    if (done.has_error()) return done.error();
  }
  return !ended_ || finished_.has_value();
}

Result<bool> Compaction::next_batch(const Segment& segment) {
  if (!scan_) {
    scan_.emplace(*segment.file(), 0, segment.size(), BatchScanner::Check::kChecksums);
  }
  if (scan_->next()) {
    bytes_read_ += scan_->header().size();
    return true;
  }
  if (scan_->io_error()) return *scan_->io_error();
  if (!scan_->failure().empty()) {
    return cannot_compact(segment, scan_->position(), scan_->failure());
  }
  scan_.reset();
  return false;
}

// ---- the latest offset of each key

Result<void> Compaction::index_step() {
  const Segment& segment = *in_.segments[at_];
  auto more = next_batch(segment);
  if (more.has_error()) return more.error();
  if (*more) {
    auto room = index_batch();
    if (room.has_error())
      return cannot_compact(segment, scan_->batch_position(), room.error().message);
    if (*room) return {};
    if (map_end_ <= in_.first_dirty) {
      return cannot_compact(segment, scan_->batch_position(),
                            "one batch has more keys than log.cleaner.dedupe.buffer.size holds");
    }
    return start_cleaning();
  }
  ++at_;
  const bool last = at_ == in_.segments.size();
  map_end_ = last ? in_.round_end : in_.segments[at_]->base_offset();
  return last ? start_cleaning() : Result<void>();
}

// False when the keys have no more room.
Result<bool> Compaction::index_batch() {
  const protocol::BatchHeader& header = scan_->header();
  if (header.control()) {
    auto commit = is_commit(header, scan_->batch());
    if (commit.has_error()) return commit.error();
    transactions_->on_control(header, *commit);
  } else if (!transactions_->on_data(header) && header.last_offset() >= in_.first_dirty) {
    std::vector<std::byte> buffer;
    auto records =
        protocol::uncompressed_records(header, scan_->batch(), kMaxUncompressedBatch, buffer);
    if (records.has_error()) return records.error();
    protocol::RecordReader reader(header, *records);
    protocol::Record record;
    while (reader.next(record)) {
      if (!record.key || record.offset < in_.first_dirty) continue;
      if (!keys_.put(*record.key, record.offset)) return false;
    }
    if (reader.failure()) return *reader.failure();
  }
  if (header.last_offset() >= in_.first_dirty) map_end_ = header.next_offset();
  return true;
}

// ---- what stays

Result<uint64_t> Compaction::index_size(const Segment& segment) const {
  uint64_t largest = 0;
  for (const auto suffix : {names::kIndex, names::kTimeIndex}) {
    auto file = files_.open(segment.path(suffix), io::OpenMode::kRead);
    if (file.has_error()) return file.error();
    auto size = (*file)->size();
    if (size.has_error()) return size.error();
    largest = std::max(largest, *size);
  }
  return largest;
}

// Small segments go together, as far as sizes and 32-bit relative offsets allow.
Result<void> Compaction::start_cleaning() {
  uint64_t size = 0;
  uint64_t index = 0;
  for (size_t i = 0; i < in_.segments.size(); ++i) {
    const SegmentPtr& segment = in_.segments[i];
    if (segment->base_offset() >= map_end_) break;
    const Offset next =
        i + 1 < in_.segments.size() ? in_.segments[i + 1]->base_offset() : in_.round_end;
    auto entries = index_size(*segment);
    if (entries.has_error()) return entries.error();
    size += segment->size();
    index += *entries;
    const bool fits = !groups_.empty() && size <= static_cast<uint64_t>(in_.segment_bytes) &&
                      index <= static_cast<uint64_t>(in_.segment_index_bytes) &&
                      next - 1 - groups_.back().front()->base_offset() <= INT32_MAX;
    if (!fits) {
      groups_.emplace_back();
      size = segment->size();
      index = *entries;
    }
    groups_.back().push_back(segment);
  }
  transactions_.emplace(std::move(in_.aborted));
  filter_.emplace(FilterRules{map_end_, in_.high_watermark, in_.delete_retention_ms, in_.now_ms},
                  keys_, in_.last_batches, *transactions_);
  scan_.reset();
  cleaning_ = true;
  at_ = 0;
  return {};
}

Result<void> Compaction::open_group() {
  auto created = create_cleaned(files_, in_.directory, groups_.front().front()->base_offset());
  if (created.has_error()) return created.error();
  cleaned_ = *created;
  changed_ = groups_.front().size() > 1;
  written_ = 0;
  at_ = 0;
  return {};
}

Result<void> Compaction::clean_step() {
  if (groups_.empty()) {
    ended_ = true;
    return {};
  }
  if (!cleaned_) {
    auto opened = open_group();
    if (opened.has_error()) return opened;
  }
  const Segment& segment = *groups_.front()[at_];
  auto more = next_batch(segment);
  if (more.has_error()) return more.error();
  if (!*more) {
    ++at_;
    return at_ == groups_.front().size() ? close_group() : Result<void>();
  }
  auto kept = filter_->filter(scan_->header(), scan_->batch());
  if (kept.has_error()) {
    return cannot_compact(segment, scan_->batch_position(), kept.error().message);
  }
  if (!kept->header || *kept->header != scan_->header()) changed_ = true;
  return keep(*kept);
}

Result<void> Compaction::keep(const BatchFilter::Kept& kept) {
  if (kept.aborted) cleaned_->add_aborted(*kept.aborted);
  if (!kept.header) return {};
  // Written anew, records can take more than they did.
  if (cleaned_->size() + kept.header->size() > INT32_MAX) {
    return cannot_compact(*cleaned_, cleaned_->size(), "the segment would become too large");
  }
  cleaned_->add(*kept.header, in_.index_interval_bytes);
  pending_.insert(pending_.end(), kept.bytes.begin(), kept.bytes.end());
  return pending_.size() < kWriteChunk ? Result<void>() : flush();
}

Result<void> Compaction::flush() {
  if (pending_.empty()) return {};
  const std::span<const std::byte> piece = pending_;
  auto done = cleaned_->file()->pwritev(std::span(&piece, 1), written_);
  if (done.has_error()) return done;
  written_ += pending_.size();
  bytes_written_ += pending_.size();
  pending_.clear();
  return {};
}

Result<void> Compaction::close_group() {
  auto flushed = flush();
  if (flushed.has_error()) return flushed;
  if (changed_) {
    auto finished = finish_cleaned(files_, in_.directory, *cleaned_);
    if (finished.has_error()) return finished;
  } else {
    auto discarded = discard_cleaned(files_, *cleaned_);
    if (discarded.has_error()) return discarded;
  }
  finished_ = Group{std::move(groups_.front()), std::move(cleaned_), !changed_};
  cleaned_ = nullptr;
  groups_.pop_front();
  return {};
}

std::optional<Compaction::Group> Compaction::take_group() {
  return std::exchange(finished_, std::nullopt);
}

Result<void> Compaction::discard() {
  scan_.reset();
  ended_ = true;
  const SegmentPtr cleaned = finished_ ? finished_->cleaned : cleaned_;
  if (!cleaned) return {};
  return discard_cleaned(files_, *cleaned);
}

}  // namespace ackord::log
