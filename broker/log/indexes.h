// The three indexes of a segment in memory, and as bytes (index_format.h). Plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::log {

struct OffsetEntry {
  int32_t relative_offset = 0;  // of the batch's last record
  int32_t position = 0;         // of the batch
  friend bool operator==(const OffsetEntry&, const OffsetEntry&) = default;
};

struct TimeEntry {
  TimeMs timestamp = 0;
  int32_t relative_offset = 0;
  friend bool operator==(const TimeEntry&, const TimeEntry&) = default;
};

// A transaction that was aborted: its data lies in [first_offset, last_offset], the marker is at
// last_offset.
struct AbortedRange {
  ProducerId producer_id;
  Offset first_offset = 0;
  Offset last_offset = 0;
  Offset last_stable_offset = 0;
  friend bool operator==(const AbortedRange&, const AbortedRange&) = default;
};

// Offsets and positions, for offsets and timestamps. Sparse: what is looked up is where to start
// reading.
class SegmentIndexes {
 public:
  explicit SegmentIndexes(Offset base_offset) : base_offset_(base_offset) {}

  const std::vector<OffsetEntry>& offsets() const { return offsets_; }
  const std::vector<TimeEntry>& times() const { return times_; }

  void add_offset(Offset last_offset, uint64_t position);
  // Ignored unless both the timestamp and the offset are beyond the last entry's.
  void add_time(TimeMs timestamp, Offset offset);

  // The position of the last indexed batch that begins at or before `offset`; 0 when there is none.
  uint64_t position_of(Offset offset) const;
  // The last indexed batch that begins at or before `position` and ends below `bound`; 0 when there
  // is none.
  uint64_t position_before(uint64_t position, Offset bound) const;
  // An offset up to which all records are earlier than `timestamp`.
  Offset offset_before(TimeMs timestamp) const;

  std::vector<std::byte> encode_offsets() const;
  std::vector<std::byte> encode_times() const;
  // CORRUPT_MESSAGE when the entries do not grow or lie outside the segment. Trailing zeros, which
  // a preallocated file has, are no entries.
  Result<void> decode(std::span<const std::byte> offsets, std::span<const std::byte> times,
                      uint64_t log_size);

 private:
  Offset base_offset_;
  std::vector<OffsetEntry> offsets_;
  std::vector<TimeEntry> times_;
};

std::vector<std::byte> encode_aborted(std::span<const AbortedRange> entries);
Result<std::vector<AbortedRange>> decode_aborted(std::span<const std::byte> bytes);

}  // namespace ackord::log
