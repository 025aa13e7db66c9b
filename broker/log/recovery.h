// Opening a partition's folder at start-up. Blocking.
//
// After a clean stop nothing is read but the indexes of the active segment, the batches behind its
// last index entry, and the newest producer snapshot. After an unclean one every segment from the
// recovery point on is read and checked:
//   - at the first invalid batch at or above the recovery point the log is cut, later segments are
//   removed
//     (what is acknowledged is below: a segment's successor is acknowledged only after the recovery
//     point has passed the segment);
//   - one that ends before the next one begins has lost its end, and the log is cut there, too:
//     Ackord compacts only below the recovery point. Another broker's compaction may have left the
//     gap, so this goes only for a directory that Ackord has had last;
//   - an invalid batch below it is an Error that names file and position: it was durable, so the
//   disk has lost it;
//   - what lies above it is written again and synced, for no answer may rest on pages that only the
//   cache holds;
//   - what the journal has of the log behind its end is appended to it.
// Indexes and producer state are rebuilt from what was read.
#pragma once

#include <string>

#include "broker/io/file_system.h"
#include "broker/log/journal_replay.h"
#include "broker/log/partition_log.h"
#include "broker/log/types.h"

namespace ackord::log {

struct RecoveryInput {
  std::string directory;      // the partition's
  Offset recovery_point = 0;  // everything below was durable
  Offset log_start = 0;       // of the checkpoint; 0 when there is none
  // What an unclean stop has left of the log in the journal; null: nothing. Borrowed.
  const JournaledBatches* journaled = nullptr;
  bool clean = false;  // the last stop was
  bool own = false;    // the last broker was this one
  // Readers may have seen what is lost (log.flush.policy=os), so an unclean stop begins a new
  // leader epoch in any case.
  bool epoch_on_unclean = false;
  // Names were made or changed in the folder that are not synced yet.
  bool folder_changed = false;
  TimeMs now_ms = 0;  // the age of a segment that has no timestamp counts from here
};

struct Recovered {
  PartitionLog::Contents contents;
  uint64_t cut_bytes = 0;
};

Result<Recovered> recover(io::FileSystem& files, const RecoveryInput& input);

}  // namespace ackord::log
