// What the journals of a directory hold after an unclean stop (journal.h). Blocking, at start-up.
// Errors: KAFKA_STORAGE_ERROR of the disk.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "broker/io/file_system.h"
#include "protocol/types/ids.h"

namespace ackord::log {

// Whole record batches that a log had made durable, oldest first. Some or all of them may stand in
// its own files too.
using JournaledBatches = std::vector<std::vector<std::byte>>;
// By topic id and partition.
using Journals = std::map<std::pair<Uuid, int32_t>, JournaledBatches>;

// Empty without journals.
Result<Journals> read_journals(io::FileSystem& files, const std::string& directory);

// Once nothing needs them any more. The caller syncs the directory.
Result<void> remove_journals(io::FileSystem& files, const std::string& directory);

}  // namespace ackord::log
