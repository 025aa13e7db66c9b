// Whether a partition's log is worth a compaction, and up to where. Pure; Kafka's rules
// (LogCleanerManager): never the active segment, nothing at or above the last stable offset,
// nothing younger than min.compaction.lag.ms; when the dirty part exceeds
// min.cleanable.dirty.ratio, or when some of it is older than max.compaction.lag.ms.
#pragma once

#include <optional>
#include <vector>

#include "broker/log/partition_log.h"

namespace ackord::log {

struct CompactionPlan {
  std::vector<SegmentPtr> segments;  // from the log's first to the last one that may be compacted
  Offset first_dirty = 0;
  Offset round_end = 0;
  uint64_t clean_bytes = 0;
  uint64_t dirty_bytes = 0;
  bool due = false;
  // Not due, but may become so without another segment being rolled: after this time, or, when an
  // open transaction or an unfinished flush is in the way, once that has ended.
  std::optional<int64_t> again_in_ms;
  bool held_back = false;
};

// `cleaned_up_to`: where the last one ended; what does not fit the log is not believed. A segment
// whose first timestamp is not known does not count for max.compaction.lag.ms.
CompactionPlan plan_compaction(const PartitionLog& log, Offset cleaned_up_to, TimeMs now_ms);

// Dirty sealed segments whose first timestamp is not known, when max.compaction.lag.ms asks for it.
std::vector<SegmentPtr> segments_of_unknown_age(const PartitionLog& log, Offset cleaned_up_to);

}  // namespace ackord::log
