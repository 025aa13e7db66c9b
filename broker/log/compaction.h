// Compaction: one pass over a partition's sealed segments. First the dirty ones are read for the
// latest offset of each key, then all from the log's start are rewritten, in groups that become one
// segment each. It reads immutable files only and writes `.cleaned` ones (segment_swap.h); the
// partition's core takes each finished group and swaps it in.
// Threads: one at a time, a pool thread: it blocks. Errors: KAFKA_STORAGE_ERROR of the disk;
// anything else is a batch that cannot be compacted: the partition stays as it is.
// Source: KIP-58, KIP-98, KIP-534 and Kafka's Cleaner.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/log/batch_filter.h"
#include "broker/log/batch_scanner.h"
#include "broker/log/segment.h"

namespace ackord::log {

struct CompactionInput {
  std::string directory;              // the partition's
  std::vector<SegmentPtr> segments;   // sealed, from the log's first on; all below round_end
  std::vector<AbortedRange> aborted;  // with data in them
  LastBatches last_batches;
  Offset first_dirty = 0;
  Offset high_watermark = 0;
  Offset round_end = 0;  // the base offset of the first segment that is left alone
  int64_t segment_bytes = 0;
  int32_t segment_index_bytes = 0;
  int32_t index_interval_bytes = 0;
  int64_t delete_retention_ms = 0;
  TimeMs now_ms = 0;
  HashSecret secret{};
  size_t max_keys = 0;
};

class Compaction {
 public:
  Compaction(io::FileSystem& files, CompactionInput input);

  // Goes on for about `bytes` of input. False when the pass has ended.
  Result<bool> step(uint64_t bytes);

  struct Group {
    std::vector<SegmentPtr> old;
    SegmentPtr cleaned;
    // Nothing would change: the old segment may stay.
    bool unchanged = false;
  };
  // A group that is finished. step() waits for it to be taken.
  std::optional<Group> take_group();
  // What is being written is given up.
  Result<void> discard();

  // After the last step: everything below is clean.
  Offset end() const { return map_end_; }
  uint64_t bytes_read() const { return bytes_read_; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  Result<void> index_step();
  Result<bool> index_batch();
  Result<void> start_cleaning();
  Result<uint64_t> index_size(const Segment& segment) const;
  Result<void> clean_step();
  Result<void> open_group();
  Result<void> close_group();
  Result<void> keep(const BatchFilter::Kept& kept);
  Result<void> flush();
  // The next batch of the segment number `at`; false at its end.
  Result<bool> next_batch(const Segment& segment);

  io::FileSystem& files_;
  CompactionInput in_;
  KeyOffsets keys_;
  std::optional<CleanedTransactions> transactions_;
  std::optional<BatchScanner> scan_;
  bool cleaning_ = false;
  bool ended_ = false;
  size_t at_ = 0;  // segment that is read
  Offset map_end_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t bytes_written_ = 0;

  std::deque<std::vector<SegmentPtr>> groups_;  // the first one is being written
  std::optional<BatchFilter> filter_;
  SegmentPtr cleaned_;
  bool changed_ = false;
  std::optional<Group> finished_;
  std::vector<std::byte> pending_;  // kept, to be written at `written_`
  uint64_t written_ = 0;
};

}  // namespace ackord::log
