// Records: the value of a schema field of type `records`, a run of record batches. It is never
// copied: a decoded one borrows from the frame; one that a Fetch answers is a list of pieces, each
// a shared buffer or a range of a file that the connection sends with sendfile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ackord {

// A file whose bytes can be sent. Shared by all ranges that refer to it: a deleted segment lives
// until the last is gone.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The descriptor for sendfile, or -1 when there is none (simulation).
  virtual int native_handle() const = 0;
  // Copies `out.size()` bytes from `position`; false when they cannot be read.
  virtual bool read_at(uint64_t position, std::span<std::byte> out) const = 0;
};

struct FileRange {
  std::shared_ptr<const ByteSource> source;
  uint64_t position = 0;
  uint64_t size = 0;
};

using SharedBuffer = std::shared_ptr<const std::vector<std::byte>>;

class Records {
 public:
  struct Piece {
    // Exactly one of the three holds the bytes.
    std::span<const std::byte> view;
    SharedBuffer buffer;
    FileRange range;
    uint64_t size() const {
      return range.source ? range.size : buffer ? buffer->size() : view.size();
    }
  };

  Records() = default;
  // Borrows.
  static Records view(std::span<const std::byte> bytes);
  void append(SharedBuffer buffer);
  void append(FileRange range);

  uint64_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  // The bytes, when they are one piece in memory (always so for a decoded field); else empty.
  std::span<const std::byte> bytes() const;
  // `size` bytes from `from`; what lies beyond the end is left out. File ranges and views are not
  // copied, a part of a shared buffer is.
  Records slice(uint64_t from, uint64_t size) const;
  // A copy of everything, for printers and tests.
  std::vector<std::byte> copy() const;

 private:
  std::vector<Piece> pieces_;
  uint64_t size_ = 0;
};

}  // namespace ackord
