// BatchWalker: the headers of a segment's batches, one after the other, without blocking the core.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/io/task.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::log {

class BatchWalker {
 public:
  // Walks [position, end), where only whole batches lie.
  BatchWalker(std::shared_ptr<io::File> file, uint64_t position, uint64_t end)
      : file_(std::move(file)), next_(position), end_(end) {}
  BatchWalker(const BatchWalker&) = delete;

  // False at the end. KAFKA_STORAGE_ERROR, CORRUPT_MESSAGE. The walker must live until the task
  // ends.
  io::Task<Result<bool>> next();
  const protocol::BatchHeader& header() const { return header_; }
  uint64_t position() const { return position_; }
  // The whole current batch.
  io::Task<Result<std::vector<std::byte>>> read_batch();

 private:
  Error past_the_end() const;

  std::shared_ptr<io::File> file_;
  uint64_t next_;
  uint64_t end_;
  uint64_t position_ = 0;
  protocol::BatchHeader header_;
  std::vector<std::byte> window_;
  uint64_t window_position_ = 0;
  size_t window_size_ = 0;
};

}  // namespace ackord::log
