// A snapshot of the metadata log, as a stock Kafka leaves it beside the log: `<end
// offset>-<epoch>.checkpoint`, record batches from a SnapshotHeader to a SnapshotFooter (KIP-630).
// Read at start-up, blocking.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "broker/io/file_system.h"
#include "broker/metadata/metadata_shard.h"

namespace ackord::metadata {

// Applies the newest snapshot in `directory` to `shard`; no snapshot is success. CORRUPT_MESSAGE
// names file and place.
Result<void> load_snapshot(io::FileSystem& files, const std::string& directory,
                           MetadataShard& shard);

// "00000000000000000042-0000000007.checkpoint" → 42, 7.
std::optional<std::pair<Offset, int32_t>> parse_snapshot_name(std::string_view name);

}  // namespace ackord::metadata
