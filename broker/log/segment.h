// Segment: one .log file of a partition, with its indexes. The last one of a partition is active
// and grows; the others are sealed and never change. Shared: a deleted segment lives until the last
// reader lets go of it. Threads: the partition's core (its file's bytes may be read from anywhere).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/log/indexes.h"
#include "broker/log/types.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::log {

class Segment {
 public:
  Segment(std::string directory, Offset base_offset, std::shared_ptr<io::File> file)
      : directory_(std::move(directory)),
        base_offset_(base_offset),
        file_(std::move(file)),
        indexes_(std::make_shared<SegmentIndexes>(base_offset)) {}

  // Makes the file of a new segment; the caller syncs the folder.
  static Result<std::shared_ptr<Segment>> create(io::FileSystem& files,
                                                 const std::string& directory, Offset base_offset,
                                                 TimeMs now_ms);

  Offset base_offset() const { return base_offset_; }
  const std::shared_ptr<io::File>& file() const { return file_; }
  uint64_t size() const { return size_; }
  std::string path(std::string_view suffix) const;
  // The same file, opened again under the name that it has now.
  void use_file(std::shared_ptr<io::File> file) { file_ = std::move(file); }
  // Its files are about to be renamed or removed: what is open stays readable, and no index is
  // looked for by its name any more.
  void retire() { retired_ = true; }
  bool retired() const { return retired_; }

  // True the first time: what is wrong with its bytes is said once, not with every read.
  bool take_complaint() { return !std::exchange(complained_, true); }

  // ---- growing (the active segment, and any while it is recovered)
  // Accounts for a batch that stands at size(). An index entry is made when enough bytes have gone
  // by.
  void add(const protocol::BatchHeader& batch, int32_t index_interval_bytes);
  void add_aborted(const AbortedRange& range) { aborted_.push_back(range); }
  // The largest timestamp gets its entry, as Kafka writes when it closes a segment.
  void finish_time_index();
  // Forgets everything but the file, before a recovery reads it again.
  void reset();

  // ---- times
  TimeMs max_timestamp() const { return max_timestamp_; }
  // The last offset of the batch that holds it.
  Offset offset_of_max_timestamp() const { return offset_of_max_timestamp_; }
  // The first batch's; -1 when it has none, or is not known.
  TimeMs first_timestamp() const { return first_timestamp_; }
  // How long the segment has been growing, as segment.ms counts it: in the records' time when they
  // have one.
  int64_t age_for_roll(TimeMs batch_timestamp, TimeMs now_ms) const;
  void set_created(TimeMs now_ms) { created_ms_ = now_ms; }

  // ---- indexes
  // Null when they are on the disk only.
  const std::shared_ptr<SegmentIndexes>& indexes() const { return indexes_; }
  void drop_indexes() { indexes_.reset(); }
  void set_indexes(std::shared_ptr<SegmentIndexes> indexes) { indexes_ = std::move(indexes); }
  const std::vector<AbortedRange>& aborted() const { return aborted_; }
  void set_aborted(std::vector<AbortedRange> aborted) { aborted_ = std::move(aborted); }

  // What is known of a segment that is opened without reading it.
  void restore(uint64_t size, TimeMs max_timestamp, Offset offset_of_max_timestamp);
  // The first batch's timestamp, which segment.ms counts from.
  void restore_first_timestamp(TimeMs timestamp) { first_timestamp_ = timestamp; }

 private:
  std::string directory_;
  Offset base_offset_;
  std::shared_ptr<io::File> file_;
  std::shared_ptr<SegmentIndexes> indexes_;
  std::vector<AbortedRange> aborted_;
  uint64_t size_ = 0;
  uint64_t bytes_since_entry_ = 0;
  TimeMs max_timestamp_ = -1;
  Offset offset_of_max_timestamp_ = -1;
  TimeMs first_timestamp_ = -1;
  TimeMs created_ms_ = -1;
  bool retired_ = false;
  bool complained_ = false;
};

using SegmentPtr = std::shared_ptr<Segment>;

// What is left to do for a segment that was rolled, off the core: its files become complete and
// durable.
struct SealedSegment {
  SegmentPtr segment;
  std::string directory;
  std::vector<std::byte> offset_index;
  std::vector<std::byte> time_index;
  std::vector<std::byte> txn_index;  // empty: no such file
  Offset next_base_offset = 0;
  std::vector<std::byte> snapshot;  // the producer state at next_base_offset
};
SealedSegment seal(const SegmentPtr& segment, std::string directory, Offset next_base_offset,
                   std::vector<std::byte> snapshot);
// Blocking: on a pool thread, or at start-up.
Result<void> write_sealed(io::FileSystem& files, const SealedSegment& sealed);

}  // namespace ackord::log
