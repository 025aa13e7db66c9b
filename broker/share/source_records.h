// SourceRecords: the keys and values of given offsets of a partition, for dead letters that copy
// them. Offsets are asked for in ascending order; one log batch is in memory at a time.
//
// Threads: made and used on one core; reading hops to the partition's. Errors: none; what cannot be
// read any more is not there.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "broker/io/core.h"
#include "broker/log/log_service.h"
#include "protocol/record_batch/record_reader.h"

namespace ackord::share {

class SourceRecords {
 public:
  SourceRecords(log::LogService& log, TopicPartition source)
      : log_(log), source_(std::move(source)) {}

  // Null when the log has no such record. Lives until the next call.
  io::Task<const protocol::Record*> find(Offset offset);

 private:
  // Takes the next batch of what was read; false when there is none that can be read.
  bool next_batch();

  log::LogService& log_;
  TopicPartition source_;
  std::vector<std::byte> bytes_;
  std::span<const std::byte> left_;
  std::vector<std::byte> uncompressed_;
  std::optional<protocol::RecordReader> reader_;
  protocol::Record record_;
  bool current_ = false;      // record_ holds one
  Offset end_of_batch_ = -1;  // the last offset of the batch that is read
};

}  // namespace ackord::share
