// What a start checks of the segment files that it found: that none has gone. Blocking.
//
// A log whose middle is missing would be served as if those offsets had been compacted away, so an
// incomplete one stops the start with the file named. Known to be there: all below the recovery
// point; the beginning, when the log start was written down; and, unless the log has ever been
// compacted, every offset between. A compaction leaves gaps, and notes the partition in the
// cleaner's checkpoint before it makes the first one.
#pragma once

#include <optional>
#include <string>

#include "broker/io/file_system.h"
#include "broker/log/partition_log.h"

namespace ackord::log {

struct KnownExtent {
  Offset recovery_point = 0;
  std::optional<Offset> log_start;  // of the checkpoint
  bool compacted = false;           // ever
};

// KAFKA_STORAGE_ERROR with the text for the operator.
Result<void> check_continuity(io::FileSystem& files, const std::string& directory,
                              const PartitionLog::Contents& contents, const KnownExtent& known);

}  // namespace ackord::log
