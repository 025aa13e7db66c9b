// OffsetCheckpointFile: one of the directory's files of "partition -> offset" (checkpoint_files.h).
// It belongs to one core; changes come from all. One write is in flight at a time, and the next
// covers all changes made meanwhile.
#pragma once

#include <functional>
#include <string>

#include "broker/io/executor.h"
#include "broker/io/file_system.h"
#include "broker/io/position_gate.h"
#include "broker/log/checkpoint_files.h"

namespace ackord::log {

class OffsetCheckpointFile {
 public:
  // Both outlive it, and so do its tasks.
  OffsetCheckpointFile(io::FileSystem& files, io::Executor& home, std::string directory,
                       std::string name)
      : files_(files), home_(home), directory_(std::move(directory)), name_(std::move(name)) {}

  // ---- start-up, before any task runs; blocking
  // A missing file is an empty one.
  Result<void> load();
  const OffsetCheckpoint& offsets() const { return offsets_; }
  Result<void> replace(OffsetCheckpoint offsets);

  // ---- any core; durable when they end. An offset is only ever raised.
  io::Task<Result<void>> set(TopicPartition partition, Offset offset);
  io::Task<Result<void>> merge(OffsetCheckpoint offsets);
  io::Task<Result<void>> erase(TopicPartition partition);

 private:
  using Edit = std::function<bool(OffsetCheckpoint&)>;  // whether anything changed
  static io::Task<Result<void>> change(OffsetCheckpointFile* self, Edit edit);
  static io::Task<void> write_loop(OffsetCheckpointFile* self);

  io::FileSystem& files_;
  io::Executor& home_;
  std::string directory_;
  std::string name_;
  OffsetCheckpoint offsets_;
  int64_t changes_ = 0;
  io::PositionGate written_{0};  // changes that are durable
  bool writing_ = false;
};

}  // namespace ackord::log
