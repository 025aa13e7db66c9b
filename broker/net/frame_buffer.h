// FrameBuffer: the memory of one frame while it arrives. It grows with the bytes that have come,
// never with the size that a peer announces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "broker/base/assert.h"

namespace ackord::net {

class FrameBuffer {
 public:
  static constexpr size_t kFirstStep = 64 * 1024;

  explicit FrameBuffer(size_t size) : size_(size) { reserve(std::min(size, kFirstStep)); }
  FrameBuffer(const FrameBuffer&) = delete;
  FrameBuffer& operator=(const FrameBuffer&) = delete;
  ~FrameBuffer() { std::free(bytes_); }

  size_t size() const { return size_; }
  size_t missing() const { return size_ - filled_; }
  size_t capacity() const { return capacity_; }

  // How much larger room() makes it: 0 while there is room, or nothing is missing.
  size_t growth() const {
    return filled_ == capacity_ ? std::min(size_, capacity_ * 2) - capacity_ : 0;
  }
  // Where the next bytes go; empty when the frame is complete.
  std::span<std::byte> room() {
    if (filled_ == capacity_ && filled_ < size_) reserve(std::min(size_, capacity_ * 2));
    return {bytes_ + filled_, capacity_ - filled_};
  }
  void filled(size_t count) { filled_ += count; }
  void fill(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto target = room();
      const size_t count = std::min(target.size(), bytes.size());
      std::memcpy(target.data(), bytes.data(), count);
      filled_ += count;
      bytes = bytes.subspan(count);
    }
  }

  // The complete frame; this object is empty afterwards.
  std::shared_ptr<const std::byte> take() {
    return std::shared_ptr<const std::byte>(
        std::exchange(bytes_, nullptr),
        [](const std::byte* bytes) { std::free(const_cast<std::byte*>(bytes)); });
  }

 private:
  void reserve(size_t capacity) {
    // Not a vector: it would clear what is about to be overwritten, and copy what realloc moves.
    bytes_ = static_cast<std::byte*>(std::realloc(bytes_, capacity));
    ACKORD_ASSERT(bytes_ != nullptr, "out of memory");
    capacity_ = capacity;
  }

  std::byte* bytes_ = nullptr;
  size_t size_;
  size_t capacity_ = 0;
  size_t filled_ = 0;
};

}  // namespace ackord::net
