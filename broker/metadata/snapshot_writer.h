// SnapshotWriter: a snapshot of the metadata log, which stands for all records below its end
// (KIP-630: SnapshotHeader, records, SnapshotFooter, each batch at the next offset from 0).
// Topics, partitions, configs, features, users, ACLs and producer ids are written as they are in
// the end; records of other types are kept as they came, so that none is lost that this room does
// not know. Threads: one at a time, a pool thread: it blocks. Errors: CORRUPT_MESSAGE for batches
// that are none, KAFKA_STORAGE_ERROR of the disk.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/metadata/metadata_shard.h"
#include "protocol/record_batch/batch_builder.h"

namespace ackord::metadata {

struct SnapshotSource {
  MetadataImage image;
  int64_t next_producer_id = 0;
  int64_t broker_epoch = -1;
  ShardIdentity identity;
  Offset end = 0;         // the log below it is what the rest says
  int32_t end_epoch = 0;  // leader epoch of the log's last record below `end`
  TimeMs now_ms = 0;
};

class SnapshotWriter {
 public:
  explicit SnapshotWriter(SnapshotSource source) : source_(std::move(source)) {}

  // Batches in order: first those of the snapshot before, if there is one, then of the log from
  // where that ended. Those from `end` on are left out.
  Result<void> add_snapshot(std::span<const std::byte> batches);
  Result<void> add_log(std::span<const std::byte> batches, Offset from);
  // Content and name are durable when it ends. The snapshot's name.
  Result<std::string> write(io::FileSystem& files, const std::string& directory);

 private:
  Result<void> add_batch(std::span<const std::byte> batch);
  Result<void> add_record(std::span<const std::byte> value);
  bool is_in_image(const MetadataRecord& record) const;
  void keep(std::vector<std::byte> value);
  void put_image();
  void put(const MetadataRecord& record);
  void put_value(std::span<const std::byte> value);
  void put_control(int16_t type, std::span<const std::byte> value);
  void flush();

  SnapshotSource source_;
  std::vector<std::vector<std::byte>> kept_;
  std::vector<std::byte> registration_;  // this broker's last one
  // Of a metadata transaction (KIP-868) whose end has not come yet.
  std::optional<std::vector<std::vector<std::byte>>> pending_;

  std::vector<std::byte> out_;
  std::optional<protocol::BatchBuilder> batch_;
  Offset next_offset_ = 0;
};

}  // namespace ackord::metadata
