// The small files of a data directory: their text, and how it is written so that a crash leaves the
// old or the new one. Formats are Kafka's. Errors: KAFKA_STORAGE_ERROR for reading and writing,
// CORRUPT_MESSAGE for text that is not the format's; both name the file.
//   offset checkpoints       "0\n<count>\n" { "<topic> <partition> <offset>\n" }*
//   leader-epoch-checkpoint  "0\n<count>\n" { "<epoch> <start offset>\n" }*
//   partition.metadata       "version: 0\ntopic_id: <id>\n"
//   meta.properties          Java properties: version=1, cluster.id, node.id, directory.id
//   .kafka_cleanshutdown     {"version":0,"brokerEpoch":-1}
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/io/file_system.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::log {

using OffsetCheckpoint = std::map<TopicPartition, Offset>;

struct EpochStart {
  int32_t epoch = 0;
  Offset start_offset = 0;
  friend bool operator==(const EpochStart&, const EpochStart&) = default;
};

struct MetaProperties {
  std::string cluster_id;
  int32_t node_id = -1;
  Uuid directory_id;
};

std::string format_offsets(const OffsetCheckpoint& offsets);
Result<OffsetCheckpoint> parse_offsets(std::string_view text, const std::string& path);
std::string format_epochs(const std::vector<EpochStart>& epochs);
Result<std::vector<EpochStart>> parse_epochs(std::string_view text, const std::string& path);
std::string format_partition_metadata(const Uuid& topic_id);
Result<Uuid> parse_partition_metadata(std::string_view text, const std::string& path);
std::string format_meta_properties(const MetaProperties& properties);
Result<MetaProperties> parse_meta_properties(std::string_view text, const std::string& path);
std::string clean_shutdown_text();

// Blocking: start-up and pool threads only.
Result<std::vector<std::byte>> read_file(io::FileSystem& files, const std::string& path);
// Empty when the file is missing.
Result<std::optional<std::string>> read_text_file(io::FileSystem& files, const std::string& path);
// Creates or replaces; durable content, the name is durable once the caller has synced the folder.
Result<void> write_file(io::FileSystem& files, const std::string& path, std::string_view text);
Result<void> write_file(io::FileSystem& files, const std::string& path,
                        std::span<const std::byte> bytes);
// Through a temporary file and a rename, so that a crash leaves old or new. Durable content; the
// name is durable once the caller has synced the folder.
Result<void> swap_file(io::FileSystem& files, const std::string& directory, std::string_view name,
                       std::string_view text);
// The same, and the folder is synced: all of it is durable.
Result<void> replace_file(io::FileSystem& files, const std::string& directory,
                          std::string_view name, std::string_view text);

}  // namespace ackord::log
