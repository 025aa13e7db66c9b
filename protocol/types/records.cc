#include "protocol/types/records.h"

#include <cstring>
#include <utility>

namespace ackord {

Records Records::view(std::span<const std::byte> bytes) {
  Records records;
  records.size_ = bytes.size();
  records.pieces_.push_back(Piece{bytes, nullptr, {}});
  return records;
}

void Records::append(SharedBuffer buffer) {
  size_ += buffer->size();
  pieces_.push_back(Piece{{}, std::move(buffer), {}});
}

void Records::append(FileRange range) {
  size_ += range.size;
  pieces_.push_back(Piece{{}, nullptr, std::move(range)});
}

std::span<const std::byte> Records::bytes() const {
  if (pieces_.size() != 1 || pieces_.front().range.source) return {};
  const Piece& piece = pieces_.front();
  return piece.buffer ? std::span<const std::byte>(*piece.buffer) : piece.view;
}

std::vector<std::byte> Records::copy() const {
  std::vector<std::byte> out(size_);
  size_t at = 0;
  for (const Piece& piece : pieces_) {
    const std::span<std::byte> target(out.data() + at, piece.size());
    if (piece.range.source) {
      if (!piece.range.source->read_at(piece.range.position, target)) return {};
    } else {
      const std::span<const std::byte> from = piece.buffer ? std::span<const std::byte>(*piece.buffer) : piece.view;
      if (!from.empty()) std::memcpy(target.data(), from.data(), from.size());
    }
    at += target.size();
  }
  return out;
}

}  // namespace ackord
