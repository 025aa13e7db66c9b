#include "broker/log/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "broker/base/logging.h"
#include "broker/log/batch_scanner.h"
#include "broker/log/leader_epochs.h"
#include "broker/log/log_names.h"
#include "broker/log/segment_swap.h"
#include "protocol/record_batch/record_reader.h"

namespace ackord::log {
namespace {

using protocol::BatchHeader;

// The interval of indexes that are rebuilt before the topic's configs are known.
constexpr int32_t kIndexInterval = LogConfig{}.index_interval_bytes;
constexpr size_t kRewriteChunk = size_t{1} << 20;

Error unreadable(const Segment& segment, uint64_t position, Offset offset, std::string_view why) {
  return error(
      ErrorCode::KAFKA_STORAGE_ERROR,
      fmt::format("{}: no valid batch at position {} (offset {}), though it was durable: {}",
                  segment.path(names::kLog), position, offset, why));
}

class Recovery {
 public:
  Recovery(io::FileSystem& files, const RecoveryInput& input)
      : files_(files), in_(input), folder_changed_(input.folder_changed) {}

  Result<Recovered> run();

 private:
  Result<void> list_folder();
  Result<void> open_segments();
  Result<void> trust(const SegmentPtr& segment);
  Result<void> read_aborted(Segment& segment);
  Result<bool> open_active(const SegmentPtr& segment);
  Result<void> load_snapshot(Offset limit);
  Result<void> replay_until(Offset limit);
  Result<void> replay(const Segment& segment, Offset limit);
  Result<void> append_journaled();
  Result<bool> append_journaled(std::span<const std::byte> batches);
  Result<void> apply(Segment* rebuilt, const BatchHeader& header, std::span<const std::byte> batch);
  Result<void> scan_from(Offset first_base);
  Result<bool> scan(const SegmentPtr& segment, bool sealed);
  Result<void> make_durable(const SegmentPtr& segment, uint64_t rewrite_from, bool sealed);
  Result<void> cut(Offset after_base);
  Result<void> remove(const std::string& name);
  Result<void> start_empty(Offset base);
  Result<void> open_epochs();
  Result<void> remove_stray_snapshots();

  io::FileSystem& files_;
  const RecoveryInput& in_;
  std::vector<std::string> names_;
  std::map<Offset, SegmentPtr> segments_;
  ProducerState producers_;
  Offset producers_at_ = 0;  // all below is in `producers_`
  std::vector<EpochStart> batch_epochs_;
  std::vector<EpochStart> epochs_;
  Offset log_end_ = 0;
  uint64_t cut_bytes_ = 0;
  bool folder_changed_;
  bool snapshot_current_ = false;  // the state of the log's end is on the disk
};

Result<void> Recovery::remove(const std::string& name) {
  folder_changed_ = true;
  return files_.remove(names::join(in_.directory, name));
}

Result<void> Recovery::list_folder() {
  auto settled = settle_folder(files_, in_.directory);
  if (settled.has_error()) return settled.error();
  folder_changed_ |= *settled;
  auto listed = files_.list(in_.directory);
  if (listed.has_error()) return listed.error();
  names_ = std::move(*listed);
  return {};
}

Result<void> Recovery::open_segments() {
  for (const std::string& name : names_) {
    const auto base = names::parse_file_name(name, names::kLog);
    if (!base) continue;
    auto file = files_.open(names::join(in_.directory, name), io::OpenMode::kReadWrite);
    if (file.has_error()) return file.error();
    auto segment = std::make_shared<Segment>(in_.directory, *base, *file);
    segment->set_created(in_.now_ms);
    segments_.emplace(*base, std::move(segment));
  }
  return {};
}

Result<void> Recovery::read_aborted(Segment& segment) {
  const std::string path = segment.path(names::kTxnIndex);
  if (!files_.exists(path)) return {};
  auto bytes = read_file(files_, path);
  if (bytes.has_error()) return bytes.error();
  auto entries = decode_aborted(*bytes);
  if (entries.has_error()) {
    return error(ErrorCode::KAFKA_STORAGE_ERROR,
                 fmt::format("{}: {}", path, entries.error().message));
  }
  segment.set_aborted(std::move(*entries));
  return {};
}

// A sealed segment that was durable: only what lookups need at once is read.
Result<void> Recovery::trust(const SegmentPtr& segment) {
  auto size = segment->file()->size();
  if (size.has_error()) return size.error();
  auto aborted = read_aborted(*segment);
  if (aborted.has_error()) return aborted;
  const std::string times_path = segment->path(names::kTimeIndex);
  const std::string offsets_path = segment->path(names::kIndex);
  SegmentIndexes indexes(segment->base_offset());
  const bool there = files_.exists(times_path) && files_.exists(offsets_path);
  // A compaction may leave nothing of a segment; a swap that a crash has cut off, no indexes of it.
  if (*size == 0) {
    segment->drop_indexes();
    if (there) return {};
    folder_changed_ = true;
    auto written = write_file(files_, offsets_path, indexes.encode_offsets());
    if (written.has_error()) return written;
    return write_file(files_, times_path, indexes.encode_times());
  }
  bool sane = there;
  if (sane) {
    auto times = read_file(files_, times_path);
    if (times.has_error()) return times.error();
    sane = indexes.decode({}, *times, *size).has_value() && !indexes.times().empty();
  }
  if (sane) {
    const TimeEntry last = indexes.times().back();
    segment->restore(*size, last.timestamp, segment->base_offset() + last.relative_offset);
    segment->drop_indexes();
    return {};
  }
  base::log_warn("indexes rebuilt file={}", segment->path(names::kLog));
  segment->reset();
  BatchScanner scan(*segment->file(), 0, *size, BatchScanner::Check::kHeaders);
  while (scan.next()) segment->add(scan.header(), kIndexInterval);
  if (scan.io_error()) return *scan.io_error();
  if (!scan.failure().empty()) {
    return unreadable(*segment, scan.position(), segment->base_offset(), scan.failure());
  }
  aborted = read_aborted(*segment);
  if (aborted.has_error()) return aborted;
  segment->finish_time_index();
  auto written = write_file(files_, offsets_path, segment->indexes()->encode_offsets());
  if (written.has_error()) return written;
  folder_changed_ = true;
  return write_file(files_, times_path, segment->indexes()->encode_times());
}

// The active segment after a clean stop. False when its files do not fit together and it must be
// read instead.
Result<bool> Recovery::open_active(const SegmentPtr& segment) {
  auto size = segment->file()->size();
  if (size.has_error()) return size.error();
  const std::string offsets_path = segment->path(names::kIndex);
  const std::string times_path = segment->path(names::kTimeIndex);
  if (*size != 0 && (!files_.exists(offsets_path) || !files_.exists(times_path))) return false;
  auto indexes = std::make_shared<SegmentIndexes>(segment->base_offset());
  if (*size != 0) {
    auto offsets = read_file(files_, offsets_path);
    auto times = read_file(files_, times_path);
    if (offsets.has_error()) return offsets.error();
    if (times.has_error()) return times.error();
    if (indexes->decode(*offsets, *times, *size).has_error()) return false;
  }
  auto aborted = read_aborted(*segment);
  if (aborted.has_error()) return false;
  log_end_ = segment->base_offset();
  if (*size == 0) return true;
  uint64_t position = 0;
  if (!indexes->offsets().empty()) {
    position = static_cast<uint64_t>(indexes->offsets().back().position);
  }
  TimeEntry last{-1, -1};
  if (!indexes->times().empty()) last = indexes->times().back();
  segment->set_indexes(indexes);
  segment->restore(position, last.timestamp, segment->base_offset() + last.relative_offset);
  if (position != 0) {
    BatchScanner first(*segment->file(), 0, *size, BatchScanner::Check::kHeaders);
    if (!first.next()) return false;
    segment->restore_first_timestamp(first.header().max_timestamp);
  }
  BatchScanner scan(*segment->file(), position, *size, BatchScanner::Check::kHeaders);
  while (scan.next()) {
    if (scan.header().base_offset < log_end_) return false;
    segment->add(scan.header(), kIndexInterval);
    log_end_ = scan.header().next_offset();
  }
  if (scan.io_error()) return *scan.io_error();
  return scan.failure().empty();
}

// The newest readable snapshot at or below `limit`; unreadable ones, and those above, are removed.
Result<void> Recovery::load_snapshot(Offset limit) {
  for (auto name = names_.rbegin(); name != names_.rend(); ++name) {
    const auto offset = names::parse_file_name(*name, names::kSnapshot);
    if (!offset || *offset > limit) continue;
    auto bytes = read_file(files_, names::join(in_.directory, *name));
    if (bytes.has_error()) return bytes.error();
    auto decoded = producers_.decode(*bytes);
    if (decoded.has_value()) {
      producers_at_ = *offset;
      return {};
    }
    base::log_warn("snapshot ignored file={}/{} why=\"{}\"", in_.directory, *name,
                   decoded.error().message);
    auto removed = remove(*name);
    if (removed.has_error()) return removed;
    name->clear();
  }
  producers_ = ProducerState();
  producers_at_ = segments_.begin()->first;
  return {};
}

Result<void> Recovery::apply(Segment* rebuilt, const BatchHeader& header,
                             std::span<const std::byte> batch) {
  if (batch_epochs_.empty() || header.leader_epoch > batch_epochs_.back().epoch) {
    batch_epochs_.push_back({header.leader_epoch, header.base_offset});
  }
  if (!header.control()) {
    if (header.next_offset() > producers_at_) producers_.apply(header);
    return {};
  }
  protocol::RecordReader reader(header, batch.subspan(protocol::batch_format::kHeaderSize));
  protocol::Record record;
  if (!header.has_producer() || !reader.next(record)) return {};
  auto marker = protocol::parse_end_marker(record);
  if (marker.has_error() || !marker->has_value()) return {};
  if (header.next_offset() <= producers_at_) return {};
  const auto done = producers_.apply_marker(header, **marker);
  if (rebuilt != nullptr && done && done->aborted) {
    rebuilt->add_aborted(
        {done->producer_id, done->first_offset, done->marker_offset, done->last_stable_offset});
  }
  return {};
}

Result<void> Recovery::replay(const Segment& segment, Offset limit) {
  auto size = segment.file()->size();
  if (size.has_error()) return size.error();
  uint64_t from = 0;
  if (segment.indexes()) from = segment.indexes()->position_of(producers_at_);
  BatchScanner scan(*segment.file(), from, *size, BatchScanner::Check::kHeaders);
  while (scan.next()) {
    if (scan.header().base_offset >= limit) return {};
    auto applied = apply(nullptr, scan.header(), scan.batch());
    if (applied.has_error()) return applied;
  }
  if (scan.io_error()) return *scan.io_error();
  if (!scan.failure().empty()) {
    return unreadable(segment, scan.position(), segment.base_offset(), scan.failure());
  }
  return {};
}

Result<void> Recovery::replay_until(Offset limit) {
  if (producers_at_ >= limit) return {};
  auto at = segments_.upper_bound(producers_at_);
  if (at != segments_.begin()) --at;
  for (; at != segments_.end() && at->first < limit; ++at) {
    auto replayed = replay(*at->second, limit);
    if (replayed.has_error()) return replayed;
  }
  producers_at_ = limit;
  return {};
}

// Copies what stands in the page cache onto itself, so that the sync below has something to write.
Result<void> Recovery::make_durable(const SegmentPtr& segment, uint64_t rewrite_from, bool sealed) {
  std::vector<std::byte> buffer(std::min<uint64_t>(kRewriteChunk, segment->size() - rewrite_from));
  for (uint64_t at = rewrite_from; at < segment->size();) {
    const auto chunk =
        std::span(buffer).first(std::min<uint64_t>(buffer.size(), segment->size() - at));
    auto got = segment->file()->pread(chunk, at);
    if (got.has_error()) return got.error();
    if (*got != chunk.size()) return unreadable(*segment, at, segment->base_offset(), "short read");
    const std::span<const std::byte> piece = chunk;
    auto written = segment->file()->pwritev(std::span(&piece, 1), at);
    if (written.has_error()) return written;
    at += chunk.size();
  }
  folder_changed_ = true;
  if (!sealed) return segment->file()->datasync_now();
  return write_sealed(files_, seal(segment, in_.directory, log_end_, producers_.encode()));
}

// Reads one segment with all its checks. False when it was cut.
Result<bool> Recovery::scan(const SegmentPtr& segment, bool sealed) {
  auto size = segment->file()->size();
  if (size.has_error()) return size.error();
  segment->reset();
  if (segment->base_offset() > log_end_) log_end_ = segment->base_offset();
  // What it holds is found again; what it holds of a part that is cut must not stay.
  if (files_.exists(segment->path(names::kTxnIndex))) {
    auto removed = files_.remove(segment->path(names::kTxnIndex));
    if (removed.has_error()) return removed.error();
    folder_changed_ = true;
  }
  uint64_t rewrite_from = UINT64_MAX;
  uint64_t end = 0;
  std::string why;
  BatchScanner scan(*segment->file(), 0, *size, BatchScanner::Check::kChecksums);
  while (scan.next()) {
    const BatchHeader& header = scan.header();
    if (header.base_offset < log_end_ ||
        header.last_offset() - segment->base_offset() > INT32_MAX) {
      why = fmt::format("offset {} where {} was expected", header.base_offset, log_end_);
      break;
    }
    if (header.next_offset() > in_.recovery_point) rewrite_from = std::min(rewrite_from, end);
    auto applied = apply(segment.get(), header, scan.batch());
    if (applied.has_error()) return applied.error();
    segment->add(header, kIndexInterval);
    log_end_ = header.next_offset();
    end = scan.position();
  }
  if (scan.io_error()) return *scan.io_error();
  if (why.empty()) why = scan.failure();
  const bool torn = end < *size;
  if (torn && log_end_ < in_.recovery_point) return unreadable(*segment, end, log_end_, why);
  if (torn) {
    cut_bytes_ += *size - end;
    base::log_warn("log cut file={} position={} offset={} bytes={} why=\"{}\"",
                   segment->path(names::kLog), end, log_end_, *size - end, why);
    auto shorter = segment->file()->truncate(end);
    if (shorter.has_error()) return shorter.error();
  }
  if (torn || sealed || rewrite_from < end) {
    auto durable = make_durable(segment, std::min(rewrite_from, end), sealed && !torn);
    if (durable.has_error()) return durable.error();
  }
  return !torn;
}

Result<void> Recovery::cut(Offset after_base) {
  while (segments_.rbegin()->first > after_base) {
    const SegmentPtr last = segments_.rbegin()->second;
    auto size = last->file()->size();
    if (size.has_value()) cut_bytes_ += *size;
    base::log_warn("segment removed behind a cut file={}", last->path(names::kLog));
    for (const auto suffix : {names::kLog, names::kIndex, names::kTimeIndex, names::kTxnIndex}) {
      if (!files_.exists(last->path(suffix))) continue;
      auto removed = files_.remove(last->path(suffix));
      if (removed.has_error()) return removed;
    }
    folder_changed_ = true;
    segments_.erase(last->base_offset());
  }
  return {};
}

Result<void> Recovery::scan_from(Offset first_base) {
  auto loaded = load_snapshot(first_base);
  if (loaded.has_error()) return loaded;
  auto replayed = replay_until(first_base);
  if (replayed.has_error()) return replayed;
  log_end_ = first_base;
  for (auto at = segments_.find(first_base); at != segments_.end(); ++at) {
    auto whole = scan(at->second, std::next(at) != segments_.end());
    if (whole.has_error()) return whole.error();
    const auto next = std::next(at);
    const bool gap = next != segments_.end() && next->first > log_end_;
    if (*whole && !(gap && in_.own)) continue;
    auto dropped = cut(at->first);
    if (dropped.has_error()) return dropped;
    break;
  }
  if (log_end_ < in_.recovery_point) {
    return error(
        ErrorCode::KAFKA_STORAGE_ERROR,
        fmt::format("{}: the log ends at offset {}, but was durable up to {}",
                    segments_.rbegin()->second->path(names::kLog), log_end_, in_.recovery_point));
  }
  return {};
}

// False where the journal is about another log than this one has become: a broker that knows no
// journal has written to it since.
Result<bool> Recovery::append_journaled(std::span<const std::byte> batches) {
  Segment& active = *segments_.rbegin()->second;
  while (!batches.empty()) {
    const auto header = protocol::parse_header(batches);
    if (header.has_error() || header->size() > batches.size()) return false;
    const auto batch = batches.first(header->size());
    batches = batches.subspan(header->size());
    if (header->next_offset() <= log_end_) continue;
    const bool older = !batch_epochs_.empty() && header->leader_epoch < batch_epochs_.back().epoch;
    if (older || header->base_offset < log_end_) return false;
    if (header->base_offset > log_end_) {
      return error(ErrorCode::KAFKA_STORAGE_ERROR,
                   fmt::format("{}: the log ends at offset {}, but was durable up to {}",
                               active.path(names::kLog), log_end_, header->base_offset));
    }
    auto written = active.file()->pwritev(std::span(&batch, 1), active.size());
    if (written.has_error()) return written.error();
    auto applied = apply(&active, *header, batch);
    if (applied.has_error()) return applied.error();
    active.add(*header, kIndexInterval);
    log_end_ = header->next_offset();
  }
  return true;
}

Result<void> Recovery::append_journaled() {
  if (in_.journaled == nullptr) return {};
  Segment& active = *segments_.rbegin()->second;
  const uint64_t before = active.size();
  for (const auto& batches : *in_.journaled) {
    auto same = append_journaled(batches);
    if (same.has_error()) return same.error();
    if (!*same) {
      base::log_warn("journal ignored, the log has changed since file={} offset={}",
                     active.path(names::kLog), log_end_);
      break;
    }
  }
  if (active.size() == before) return {};
  base::log_info("end of a log restored from the journal file={} bytes={} log_end={}",
                 active.path(names::kLog), active.size() - before, log_end_);
  return active.file()->datasync_now();
}

Result<void> Recovery::start_empty(Offset base) {
  auto segment = Segment::create(files_, in_.directory, base, in_.now_ms);
  if (segment.has_error()) return segment.error();
  segments_.emplace(base, *segment);
  folder_changed_ = true;
  return {};
}

Result<void> Recovery::open_epochs() {
  const std::string path = names::join(in_.directory, names::kLeaderEpochs);
  auto text = read_text_file(files_, path);
  if (text.has_error()) return text.error();
  if (*text) {
    auto parsed = parse_epochs(**text, path);
    if (parsed.has_error()) return parsed.error();
    epochs_ = std::move(*parsed);
  }
  const auto before = epochs_;
  trim_end(epochs_, log_end_);
  for (const EpochStart& entry : batch_epochs_) {
    if (entry.epoch >= 0 && (epochs_.empty() || entry.epoch > epochs_.back().epoch)) {
      epochs_.push_back(entry);
    }
  }
  if (epochs_.empty()) epochs_.push_back({0, segments_.begin()->first});
  const bool empty = log_end_ == segments_.begin()->first;
  if (!in_.clean && !empty && (cut_bytes_ > 0 || in_.epoch_on_unclean)) {
    begin_epoch(epochs_, {epochs_.back().epoch + 1, log_end_});
  }
  trim_start(epochs_, std::max(in_.log_start, segments_.begin()->first));
  if (epochs_ == before) return {};
  folder_changed_ = true;
  return swap_file(files_, in_.directory, names::kLeaderEpochs, format_epochs(epochs_));
}

// Kept: those at a segment's beginning, and the newest.
Result<void> Recovery::remove_stray_snapshots() {
  std::optional<std::string> newest;
  for (auto name = names_.rbegin(); name != names_.rend(); ++name) {
    const auto offset = names::parse_file_name(*name, names::kSnapshot);
    if (!offset) continue;
    const bool above = *offset > log_end_;
    const bool stray = newest && segments_.count(*offset) == 0;
    if (!above && !newest) newest = *name;
    if (!above && !stray) continue;
    auto removed = remove(*name);
    if (removed.has_error()) return removed;
  }
  return {};
}

Result<Recovered> Recovery::run() {
  auto step = list_folder();
  if (step.has_error()) return step.error();
  step = open_segments();
  if (step.has_error()) return step.error();
  if (segments_.empty()) {
    step = start_empty(in_.log_start);
    if (step.has_error()) return step.error();
  }
  // From here on the segments are read; those before it were durable when they were rolled.
  auto first = std::prev(segments_.end());
  if (!in_.clean) {
    first = segments_.upper_bound(in_.recovery_point);
    if (first != segments_.begin()) --first;
  }
  for (auto at = segments_.begin(); at != first; ++at) {
    step = trust(at->second);
    if (step.has_error()) return step.error();
  }
  bool opened = false;
  if (in_.clean) {
    auto active = open_active(first->second);
    if (active.has_error()) return active.error();
    opened = *active;
    if (!opened)
      base::log_warn("active segment is read again file={}", first->second->path(names::kLog));
  }
  if (opened) {
    step = load_snapshot(log_end_);
    if (step.has_error()) return step.error();
    snapshot_current_ = producers_at_ == log_end_;
    step = replay_until(log_end_);
  } else {
    step = scan_from(first->first);
    if (step.has_error()) return step.error();
    if (!in_.clean) step = append_journaled();
  }
  if (step.has_error()) return step.error();
  step = open_epochs();
  if (step.has_error()) return step.error();
  step = remove_stray_snapshots();
  if (step.has_error()) return step.error();
  if (folder_changed_) {
    step = files_.sync_directory_now(in_.directory);
    if (step.has_error()) return step.error();
  }
  Recovered result;
  result.contents.log_start = std::max(in_.log_start, segments_.begin()->first);
  result.contents.log_end = std::max(log_end_, result.contents.log_start);
  const bool empty = segments_.size() == 1 && log_end_ == segments_.begin()->first;
  result.contents.files_current = (opened && snapshot_current_) || empty;
  result.contents.segments = std::move(segments_);
  result.contents.producers = std::move(producers_);
  result.contents.epochs = std::move(epochs_);
  result.cut_bytes = cut_bytes_;
  return result;
}

}  // namespace

Result<Recovered> recover(io::FileSystem& files, const RecoveryInput& input) {
  return Recovery(files, input).run();
}

}  // namespace ackord::log
