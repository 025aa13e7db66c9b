// The files of segments that a compaction replaces, changed so that a crash at any point leaves the
// old segments or the new one (Kafka's names and order). Blocking: pool threads and start-up.
//   1 all of the new segment's files are complete and synced as `.cleaned`
//   2 the indexes become `.swap`, then the log does: from there on the new segment counts
//   3 the old files become `.deleted`, the new indexes get their names, and last the log does
// Each step's names are synced before the next begins. The transaction index is there even when it
// is empty, so that an old one cannot be taken for it. A start completes what has reached step 2
// and discards what has not.
#pragma once

#include <string>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/log/segment.h"

namespace ackord::log {

// A segment being written by a compaction.
Result<SegmentPtr> create_cleaned(io::FileSystem& files, const std::string& directory,
                                  Offset base_offset);
// Step 1: syncs the log file and writes the indexes.
Result<void> finish_cleaned(io::FileSystem& files, const std::string& directory, Segment& cleaned);
// A compaction that is given up.
Result<void> discard_cleaned(io::FileSystem& files, const Segment& cleaned);

// Steps 2 and 3, for the segments `old` (the first has the same base offset). `cleaned` has its
// final file then. Returns the files that became `.deleted`.
Result<std::vector<std::string>> swap_segments(io::FileSystem& files, const std::string& directory,
                                               const std::vector<SegmentPtr>& old,
                                               Segment& cleaned);

// The segments' files become `.deleted`; returns their names. Those that are gone already are
// skipped. The caller syncs the folder.
Result<std::vector<std::string>> mark_deleted(io::FileSystem& files,
                                              const std::vector<SegmentPtr>& segments);

// What a start does with `.cleaned`, `.swap`, `.deleted` and temporary files. True when names have
// changed: the caller syncs the folder.
Result<bool> settle_folder(io::FileSystem& files, const std::string& directory);

}  // namespace ackord::log
