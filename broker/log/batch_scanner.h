// BatchScanner: reads the batches of a segment file in order, blocking. For start-up and pool
// threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/io/file_system.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::log {

class BatchScanner {
 public:
  enum class Check { kHeaders, kChecksums };

  // Reads [position, end) of `file`, which it borrows.
  BatchScanner(const io::File& file, uint64_t position, uint64_t end, Check check)
      : file_(file), position_(position), end_(end), check_(check) {}

  // False at the end, or where the bytes are no valid batch: then failure() says why and position()
  // where.
  bool next();
  const protocol::BatchHeader& header() const { return header_; }
  // The current batch's bytes, until the next call. Only with kChecksums, or for a control batch.
  std::span<const std::byte> batch() const { return batch_; }
  uint64_t batch_position() const { return batch_position_; }
  // Behind the last valid batch.
  uint64_t position() const { return position_; }
  // Empty when the file was read to its end.
  const std::string& failure() const { return failure_; }
  // A read that the disk refused; not the same as a torn file.
  const std::optional<Error>& io_error() const { return io_error_; }

 private:
  // The bytes [position_, position_ + size) in the window; empty when the file ends before.
  std::span<const std::byte> window(size_t size);

  const io::File& file_;
  uint64_t position_;
  uint64_t end_;
  Check check_;
  protocol::BatchHeader header_;
  std::span<const std::byte> batch_;
  uint64_t batch_position_ = 0;
  std::vector<std::byte> buffer_;
  uint64_t buffer_position_ = 0;
  size_t buffer_size_ = 0;
  std::string failure_;
  std::optional<Error> io_error_;
};

}  // namespace ackord::log
