#include "broker/log/batch_walker.h"

#include <fmt/format.h>

#include <algorithm>

namespace ackord::log {
namespace {

// About what an index entry leaves to search, and the batch behind it.
constexpr size_t kWindow = 8 * 1024;

}  // namespace

// Not the end: what follows would be passed over as if it did not exist.
Error BatchWalker::past_the_end() const {
  return error(ErrorCode::CORRUPT_MESSAGE,
               fmt::format("{}: the batch at position {} is longer than what is left of the file",
                           file_->path(), next_));
}

io::Task<Result<bool>> BatchWalker::next() {
  constexpr size_t kHeader = protocol::batch_format::kHeaderSize;
  if (next_ == end_) co_return false;
  if (next_ + kHeader > end_) co_return past_the_end();
  const bool inside =
      next_ >= window_position_ && next_ + kHeader <= window_position_ + window_size_;
  if (!inside) {
    const size_t size = std::min<uint64_t>(kWindow, end_ - next_);
    window_.resize(kWindow);
    auto reading = file_->read(std::span(window_).first(size), next_);
    auto got = co_await std::move(reading);
    if (got.has_error()) co_return got.error();
    window_position_ = next_;
    window_size_ = *got;
    if (*got < kHeader) {
      co_return error(ErrorCode::CORRUPT_MESSAGE, file_->path() + " is shorter than it was");
    }
  }
  auto header =
      protocol::parse_header(std::span(window_).subspan(next_ - window_position_, kHeader));
  if (header.has_error()) co_return header.error();
  if (next_ + header->size() > end_) co_return past_the_end();
  header_ = *header;
  position_ = next_;
  next_ += header_.size();
  co_return true;
}

io::Task<Result<std::vector<std::byte>>> BatchWalker::read_batch() {
  std::vector<std::byte> bytes(header_.size());
  auto reading = file_->read(bytes, position_);
  auto got = co_await std::move(reading);
  if (got.has_error()) co_return got.error();
  if (*got != bytes.size()) {
    co_return error(ErrorCode::CORRUPT_MESSAGE, file_->path() + " is shorter than it was");
  }
  co_return bytes;
}

}  // namespace ackord::log
