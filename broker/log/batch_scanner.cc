#include "broker/log/batch_scanner.h"

#include <algorithm>

namespace ackord::log {
namespace {

constexpr size_t kWindow = 256 * 1024;
// Enough for a header and the small batches around it, when bodies are not wanted.
constexpr size_t kHeaderWindow = 16 * 1024;

}  // namespace

std::span<const std::byte> BatchScanner::window(size_t size) {
  if (position_ >= buffer_position_ && position_ + size <= buffer_position_ + buffer_size_) {
    return {buffer_.data() + (position_ - buffer_position_), size};
  }
  if (size > end_ - position_) return {};
  const size_t usual = check_ == Check::kChecksums ? kWindow : kHeaderWindow;
  const size_t wanted = std::min<uint64_t>(std::max(size, usual), end_ - position_);
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  auto got = file_.pread(std::span(buffer_).first(wanted), position_);
  if (got.has_error()) {
    io_error_ = got.error();
    buffer_size_ = 0;
    return {};
  }
  buffer_position_ = position_;
  buffer_size_ = *got;
  if (buffer_size_ < size) return {};
  return std::span<const std::byte>(buffer_).first(size);
}

bool BatchScanner::next() {
  if (!failure_.empty() || io_error_ || position_ >= end_) return false;
  const auto head = window(protocol::batch_format::kHeaderSize);
  if (head.empty()) {
    if (!io_error_) failure_ = "the file ends within a batch's header";
    return false;
  }
  auto header = protocol::parse_header(head);
  if (header.has_error()) {
    failure_ = header.error().message;
    return false;
  }
  if (header->size() > end_ - position_) {
    failure_ = "the file ends within a batch";
    return false;
  }
  header_ = *header;
  batch_ = {};
  if (check_ == Check::kChecksums || header_.control()) {
    batch_ = window(header_.size());
    if (batch_.empty()) {
      if (!io_error_) failure_ = "the file ends within a batch";
      return false;
    }
  }
  if (check_ == Check::kChecksums) {
    auto checked = protocol::check_batch(header_, batch_);
    if (checked.has_error()) {
      failure_ = checked.error().message;
      return false;
    }
  }
  batch_position_ = position_;
  position_ += header_.size();
  return true;
}

}  // namespace ackord::log
