// AnswerWriter: writes answers to a stream, many at a time. Pieces in memory are gathered into one
// system call; file ranges go from the page cache to the socket.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/io/task.h"
#include "broker/net/stream.h"
#include "protocol/wire/output_chain.h"

namespace ackord::net {

// The 4-byte big-endian size before a frame.
using SizePrefix = std::array<std::byte, 4>;
SizePrefix size_prefix(uint64_t size);

class AnswerWriter {
 public:
  // Both outlive it. `files` reads ahead what is not in the page cache, so that the core never
  // waits for the disk.
  // `on_progress` is called whenever a peer that was slow has taken something.
  AnswerWriter(Stream& stream, io::FileSystem& files, std::function<void()> on_progress)
      : stream_(stream), files_(files), on_progress_(std::move(on_progress)) {}

  // Both must live until send() has ended.
  void add(const SizePrefix& prefix, const protocol::OutputChain& answer);
  // Writes what was added. False when the stream is broken or a file range cannot be read.
  io::Task<bool> send();

 private:
  struct Part {
    iovec memory;            // used when `range` is null
    const FileRange* range;  // borrowed from the answer
  };

  io::Task<bool> send_memory(size_t first, size_t last, bool more);
  io::Task<bool> send_range(const FileRange* range);
  io::Task<bool> send_copied(const FileRange* range);
  io::Task<void> wait_writable();

  Stream& stream_;
  io::FileSystem& files_;
  std::function<void()> on_progress_;
  std::vector<Part> parts_;
  std::vector<iovec> gathered_;
};

}  // namespace ackord::net
