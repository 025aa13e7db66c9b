// The names of a data directory's files and folders, which are Kafka's.
//   <topic>-<partition>/                           a partition
//   <topic>-<partition>.<32 hex digits>-delete/    one that was removed and is still on the disk
//   <base offset, 20 digits>.{log,index,timeindex,txnindex,snapshot}
//   the same with .cleaned, .swap or .deleted behind it
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/types/ids.h"

namespace ackord::log::names {

constexpr std::string_view kLog = ".log";
constexpr std::string_view kIndex = ".index";
constexpr std::string_view kTimeIndex = ".timeindex";
constexpr std::string_view kTxnIndex = ".txnindex";
constexpr std::string_view kSnapshot = ".snapshot";
constexpr std::string_view kDeleteSuffix = "-delete";
// What an interrupted atomic write leaves behind.
constexpr std::string_view kTemporary = ".tmp";
// Behind a segment's file names: being compacted, compacted and about to replace (segment_swap.h),
// and removed but still on the disk.
constexpr std::string_view kCleaned = ".cleaned";
constexpr std::string_view kSwap = ".swap";
constexpr std::string_view kDeleted = ".deleted";

// journal.h; not Kafka's, and gone after a clean stop.
constexpr std::string_view kJournal = ".journal";
// Ackord has the directory open, or has left it without a clean stop; not Kafka's either.
constexpr std::string_view kOpened = ".ackord_opened";

constexpr std::string_view kLock = ".lock";
constexpr std::string_view kMetaProperties = "meta.properties";
constexpr std::string_view kCleanShutdown = ".kafka_cleanshutdown";
constexpr std::string_view kRecoveryPoints = "recovery-point-offset-checkpoint";
constexpr std::string_view kLogStarts = "log-start-offset-checkpoint";
constexpr std::string_view kCleanerOffsets = "cleaner-offset-checkpoint";
constexpr std::string_view kLeaderEpochs = "leader-epoch-checkpoint";
constexpr std::string_view kPartitionMetadata = "partition.metadata";

std::string join(std::string_view directory, std::string_view name);
// "00000000000000000042.log"
std::string file_name(Offset base_offset, std::string_view suffix);
// The base offset, when `name` is such a name with this suffix.
std::optional<Offset> parse_file_name(std::string_view name, std::string_view suffix);

std::string folder_name(const TopicPartition& partition);
// Empty for a folder that is no partition's.
std::optional<TopicPartition> parse_folder_name(std::string_view name);
// At most 255 bytes, the limit of file systems; the topic is cut for it.
std::string deleted_folder_name(const TopicPartition& partition, const Uuid& unique);

}  // namespace ackord::log::names
