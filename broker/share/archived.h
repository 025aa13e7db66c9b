// Records that a share group gives up: for the operator's log, the counters and the dead letters.
// Plain data; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "broker/share/share_types.h"

namespace ackord::share {

enum class ArchiveReason : int8_t {
  kRejected,            // REJECT, plain or committed
  kDeliveryLimit,       // released or expired for the last time (share.delivery.count.limit)
  kGap,                 // the consumer found no record there: control records, compaction
  kLeftTheLog,          // below the log start when its lock or its transaction ended
  kCompacted,           // a compaction had taken it
  kAbortedTransaction,  // read_committed: of a producer that aborted
  kUnknown,             // found in the log, at a start or written from outside
};

constexpr std::string_view name_of(ArchiveReason reason) {
  switch (reason) {
    case ArchiveReason::kRejected: return "rejected";
    case ArchiveReason::kDeliveryLimit: return "delivery-limit";
    case ArchiveReason::kGap: return "gap";
    case ArchiveReason::kLeftTheLog: return "left-the-log";
    case ArchiveReason::kCompacted: return "compacted";
    case ArchiveReason::kAbortedTransaction: return "aborted-transaction";
    case ArchiveReason::kUnknown: return "unknown";
  }
  return "unknown";
}

// A range that has become ARCHIVED, or ARCHIVING: then it waits for its dead letters.
struct ArchivedRange {
  Offset first_offset = 0;
  Offset last_offset = 0;
  int16_t delivery_count = 0;
  RecordState state = RecordState::ARCHIVED;
  ArchiveReason reason = ArchiveReason::kUnknown;

  int64_t records() const { return last_offset - first_offset + 1; }
  friend bool operator==(const ArchivedRange&, const ArchivedRange&) = default;
};

// Of one share partition.
struct Archived {
  SharePartitionKey key;
  std::vector<ArchivedRange> ranges;
};

}  // namespace ackord::share
