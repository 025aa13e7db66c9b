// LogService: the door to all partition logs of one data directory.
//
// Owns: the directory (lock, meta.properties, checkpoints) and every Partition. Format: Kafka's, to
// the byte (docs/ARCHITECTURE.md, "The log"). A partition belongs to the core that core_of() names,
// for good. Threads: core_of() and the Task members from any core; find() on the partition's own
// core only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/io/core.h"
#include "broker/log/partition.h"
#include "broker/log/types.h"

namespace ackord::log {

// What a directory holds, known after open(): the names come from the folders, the ids from
// partition.metadata.
struct FoundPartition {
  TopicPartition name;
  Uuid topic_id;
};

class LogService {
 public:
  virtual ~LogService() = default;

  // Locks the directory, formats an empty one (meta.properties), recovers every log in it
  // (docs/ARCHITECTURE.md, "The log": the active segment is cut at the first invalid batch at or
  // above the recovery point; after an unclean stop what was read above it is made durable again).
  // Start-up: blocks; call before anything else. Errors carry the text for the operator.
  virtual Result<std::vector<FoundPartition>> open() = 0;
  // Makes everything durable and writes checkpoints and the clean-shutdown mark. Nothing may be
  // appended afterwards.
  virtual io::Task<void> close() = 0;

  virtual const std::string& cluster_id() const = 0;
  virtual const io::Core& core_of(const TopicPartition& name) const = 0;
  // Null when there is none (any more).
  virtual std::shared_ptr<Partition> find(const TopicPartition& name) = 0;

  // Durable when it ends. An existing one with the same id is success. Runs on the partition's core
  // by itself.
  virtual io::Task<Result<void>> create(TopicPartition name, Uuid topic_id, LogConfig config) = 0;
  // Many at once (an internal topic, a topic with many partitions): the directory is synced once.
  virtual io::Task<Result<void>> create_all(std::vector<TopicPartition> names, Uuid topic_id,
                                            LogConfig config) = 0;
  // Renames to `…-delete` and removes later. Durable when it ends; a missing one is success.
  virtual io::Task<Result<void>> remove(TopicPartition name) = 0;
  // New configs for a partition that is open; takes effect without a restart.
  virtual io::Task<void> configure(TopicPartition name, LogConfig config) = 0;

  // False after a storage failure: nothing is acknowledged any more.
  virtual bool online() const = 0;
  // Counts from the next partition on that is cleaned. Any core.
  virtual void configure_cleaner(CleanerConfig config) = 0;
};

std::unique_ptr<LogService> make_log_service(io::Environment& environment, LogSettings settings);

}  // namespace ackord::log
