// A snapshot of the metadata log, as a stock Kafka leaves it beside the log: `<end
// offset>-<epoch>.checkpoint`, record batches from a SnapshotHeader to a SnapshotFooter (KIP-630).
// Blocking: at start-up, and on a pool thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/metadata/metadata_shard.h"

namespace ackord::metadata {

// Applies the newest snapshot in `directory` to `shard`; no snapshot is success. CORRUPT_MESSAGE
// names file and place.
Result<void> load_snapshot(io::FileSystem& files, const std::string& directory,
                           MetadataShard& shard);

// What a directory that was formatted, but has not been served yet, is to begin with: the levels in
// its bootstrap.checkpoint; empty when there is none. Errors as above.
using FeatureLevels = std::map<std::string, int16_t, std::less<>>;
Result<FeatureLevels> read_bootstrap_features(io::FileSystem& files,
                                              const std::string& log_directory);

// The newest one as it is stored; empty when there is none.
struct StoredSnapshot {
  std::string path;
  std::vector<std::byte> bytes;
  Offset end = 0;
};
Result<std::optional<StoredSnapshot>> read_newest_snapshot(io::FileSystem& files,
                                                           const std::string& directory);

// Content and name are durable when it ends; a crash leaves nothing that could be taken for one.
Result<void> store_snapshot(io::FileSystem& files, const std::string& directory,
                            const std::string& name, std::span<const std::byte> bytes);
// Those that end below `end`, and what a crash has left of one.
Result<void> remove_old_snapshots(io::FileSystem& files, const std::string& directory, Offset end);

std::string snapshot_name(Offset end, int32_t epoch);
// "00000000000000000042-0000000007.checkpoint" → 42, 7.
std::optional<std::pair<Offset, int32_t>> parse_snapshot_name(std::string_view name);

}  // namespace ackord::metadata
