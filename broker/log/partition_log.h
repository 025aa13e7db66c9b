// PartitionLog: the synchronous core of one partition: segments, producer state, epochs and
// positions. Its state is a function of the bytes appended (but for verification guards). It writes
// to the active segment's file; syncing is the flusher's business, which tells it with
// advance_high_watermark(). One core; borrows the FileSystem. Errors: of appends see AppendResult;
// KAFKA_STORAGE_ERROR from the disk means that the directory must go offline.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/log/batch_validator.h"
#include "broker/log/checkpoint_files.h"
#include "broker/log/leader_epochs.h"
#include "broker/log/producer_state.h"
#include "broker/log/segment.h"
#include "broker/log/types.h"

namespace ackord::log {

// A batch of the active segment that was appended lately, so that readers at the tail need not look
// at the file.
struct RecentBatch {
  BatchInfo info;
  uint64_t position = 0;
};
constexpr size_t kRecentBatches = 256;

BatchInfo to_info(const protocol::BatchHeader& header);

class PartitionLog {
 public:
  PartitionLog(io::FileSystem& files, std::string directory, TopicPartition name)
      : files_(files), directory_(std::move(directory)), name_(std::move(name)) {}

  // ---- what recovery builds (recovery.h)
  struct Contents {
    std::map<Offset, SegmentPtr> segments;  // at least one
    ProducerState producers;
    std::vector<EpochStart> epochs;  // at least one
    Offset log_start = 0;
    Offset log_end = 0;
    // The files on the disk say all that is known: the log is empty, or was closed cleanly.
    bool files_current = false;
  };
  void open(Contents contents);

  const TopicPartition& name() const { return name_; }
  const std::string& directory() const { return directory_; }
  const LogConfig& config() const { return config_; }
  void configure(const LogConfig& config) { config_ = config; }

  // ---- positions
  int32_t leader_epoch() const { return epochs_.back().epoch; }
  Offset log_start() const { return log_start_; }
  Offset log_end() const { return log_end_; }
  Offset high_watermark() const { return high_watermark_; }
  Offset last_stable_offset() const;
  uint64_t size_bytes() const;
  std::pair<int32_t, Offset> end_offset_for_epoch(int32_t epoch) const;
  // Everything below is durable. True when the high watermark moved.
  bool advance_high_watermark(Offset offset);

  // ---- appending
  AppendResult append(const ClientAppend& request, TimeMs now_ms);
  AppendResult append_marker(const EndMarker& marker, TimeMs now_ms);
  AppendResult append_records(std::span<const EncodedRecord> records,
                              std::optional<ProducerStamp> transaction, TimeMs now_ms);
  // Closes the active segment and starts a new one.
  Result<void> roll(TimeMs now_ms);
  // False when closing would write what the disk has already.
  bool needs_closing() const { return !files_current_; }
  // Segments that were rolled and are not yet durable, oldest first.
  std::deque<std::shared_ptr<const SealedSegment>>& sealed() { return sealed_; }
  const std::deque<std::shared_ptr<const SealedSegment>>& sealed() const { return sealed_; }

  // ---- segments
  const std::map<Offset, SegmentPtr>& segments() const { return segments_; }
  const SegmentPtr& active() const { return segments_.rbegin()->second; }
  // The one that holds `offset`; null below the first.
  SegmentPtr segment_for(Offset offset) const;
  // The next one after `segment`; null for the last.
  SegmentPtr segment_after(const Segment& segment) const;
  const std::deque<RecentBatch>& recent() const { return recent_; }
  // Aborted transactions with records in [from, until), once each, by first offset.
  std::vector<AbortedTransaction> aborted_in(Offset from, Offset until) const;

  // Aborted transactions with data below `until`, by first offset.
  std::vector<AbortedRange> aborted_below(Offset until) const;

  // ---- compaction
  // Whether they are all still there.
  bool has_segments(const std::vector<SegmentPtr>& segments) const;
  // `cleaned` holds what is left of them.
  void replace_segments(const std::vector<SegmentPtr>& old, SegmentPtr cleaned);

  // The end of the log begins this epoch, unless it has come further.
  void raise_leader_epoch(int32_t epoch);
  // The epochs, when trimming or raising has changed them since the last call: to be written.
  std::optional<std::vector<EpochStart>> take_changed_epochs();

  // ---- removal
  // Raises the log start, never lowers it. True when it moved.
  bool raise_log_start(Offset offset);
  // What retention.ms and retention.bytes let go: the new log start.
  Offset retention_start(TimeMs now_ms) const;
  // Takes the segments that lie wholly below the log start out of the list; their files are the
  // caller's to delete.
  std::vector<SegmentPtr> drop_old_segments();

  ProducerState& producers() { return producers_; }
  const ProducerState& producers() const { return producers_; }

 private:
  AppendResult refusal(const Error& why) const;
  AppendResult duplicate(const ProducerBatch& batch) const;
  // Sets offset, epoch and checksum, rolls when it is time, writes, and changes the state.
  AppendResult write(protocol::BatchHeader header, std::span<const std::byte> body, bool new_crc,
                     TimeMs now_ms);
  int64_t roll_age(const Segment& segment) const;
  bool must_roll(const protocol::BatchHeader& header, TimeMs now_ms) const;
  void remember(const protocol::BatchHeader& header, uint64_t position);
  // A batch that was built here, from its bytes.
  AppendResult write_built(std::span<const std::byte> batch, TimeMs now_ms,
                           const protocol::EndTransactionMarker* marker);

  io::FileSystem& files_;
  std::string directory_;
  TopicPartition name_;
  LogConfig config_;
  std::map<Offset, SegmentPtr> segments_;
  std::deque<std::shared_ptr<const SealedSegment>> sealed_;
  ProducerState producers_;
  std::vector<EpochStart> epochs_;
  std::deque<RecentBatch> recent_;
  Offset log_start_ = 0;
  Offset log_end_ = 0;
  Offset high_watermark_ = 0;
  bool files_current_ = false;
  bool epochs_changed_ = false;
};

}  // namespace ackord::log
