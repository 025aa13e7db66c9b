// SnapshotTaker: keeps the metadata log from growing for ever. When enough has been written since
// the last snapshot (metadata.log.max.record.bytes.between.snapshots), it writes one of the state
// as it is, and then lets the log begin there. A crash at any point leaves a log and a snapshot
// that belong together.
// Threads: the core of the metadata log; the work is a pool thread's.
#pragma once

#include <memory>
#include <string>

#include "broker/io/core.h"
#include "broker/io/signal.h"
#include "broker/log/partition.h"
#include "broker/metadata/snapshot_writer.h"

namespace ackord::metadata {

class SnapshotTaker {
 public:
  // `directory`: the metadata partition's folder. Both outlive it, and so do its tasks.
  SnapshotTaker(const io::Core& home, io::FileSystem& files,
                std::shared_ptr<log::Partition> partition, std::string directory,
                int64_t every_bytes)
      : home_(home),
        files_(files),
        partition_(std::move(partition)),
        directory_(std::move(directory)),
        every_bytes_(every_bytes) {}
  SnapshotTaker(const SnapshotTaker&) = delete;

  // After a change of `shard`. Nothing else of it happens before this returns.
  void consider(const MetadataShard& shard, const ShardIdentity& identity);

  // The same however little has been written; ends when it is there.
  io::Task<Result<void>> take_now(const MetadataShard& shard, ShardIdentity identity);

 private:
  SnapshotSource begin(const MetadataShard& shard, const ShardIdentity& identity);
  static io::Task<void> take_aside(SnapshotTaker* self, SnapshotSource source);
  static io::Task<Result<void>> take(SnapshotTaker* self, SnapshotSource source);
  static io::Task<Result<void>> gather(SnapshotTaker* self, std::shared_ptr<SnapshotWriter> writer,
                                       Offset end);
  static io::Task<Result<void>> finish(SnapshotTaker* self, std::shared_ptr<SnapshotWriter> writer,
                                       Offset end);

  io::Core home_;
  io::FileSystem& files_;
  std::shared_ptr<log::Partition> partition_;
  std::string directory_;
  int64_t every_bytes_;
  int64_t size_then_ = 0;  // of the log, at the last snapshot
  bool taking_ = false;
  io::Signal taken_;
};

}  // namespace ackord::metadata
