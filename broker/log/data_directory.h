// DataDirectory: what a partition asks of the directory that it lies in. Any core.
#pragma once

#include <string>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/io/task.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::log {

class Journal;

class DataDirectory {
 public:
  virtual ~DataDirectory() = default;

  virtual io::FileSystem& files() = 0;
  // log.flush.policy=ack: an acknowledgement waits for the disk.
  virtual bool sync_on_ack() const = 0;
  // Of the core that calls.
  virtual Journal& journal() = 0;
  // False once anything has failed; it never recovers in this process.
  virtual bool online() const = 0;
  // Takes the directory offline: every partition's waiters get the error.
  virtual void fail(const Error& why) = 0;
  // Checkpoints; durable when they end.
  virtual io::Task<Result<void>> set_recovery_point(TopicPartition name, Offset offset) = 0;
  virtual io::Task<Result<void>> set_log_start(TopicPartition name, Offset offset) = 0;
  virtual io::Task<Result<void>> set_cleaned(TopicPartition name, Offset offset) = 0;

  // A partition with compaction has something new, or was configured: look at it soon.
  virtual void request_cleaning(const TopicPartition& name) = 0;
  // Removes the files after a time, on the core that calls; those that are gone by then are no
  // matter.
  virtual void remove_later(std::vector<std::string> paths, int64_t delay_ms) = 0;
};

}  // namespace ackord::log
