#include "protocol/types/records.h"

#include <algorithm>
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

Records Records::slice(uint64_t from, uint64_t size) const {
  Records out;
  for (const Piece& piece : pieces_) {
    const uint64_t available = piece.size();
    if (from >= available) {
      from -= available;
      continue;
    }
    const uint64_t take = std::min(size, available - from);
    if (take == 0) break;
    Piece part = piece;
    if (part.range.source) {
      part.range.position += from;
      part.range.size = take;
    } else if (part.buffer && take != available) {
      const auto begin = part.buffer->begin() + static_cast<ptrdiff_t>(from);
      part.buffer = std::make_shared<const std::vector<std::byte>>(
          begin, begin + static_cast<ptrdiff_t>(take));
    } else if (!part.buffer) {
      part.view = part.view.subspan(from, take);
    }
    out.size_ += take;
    out.pieces_.push_back(std::move(part));
    size -= take;
    from = 0;
  }
  return out;
}

std::vector<std::byte> Records::copy() const {
  std::vector<std::byte> out(size_);
  size_t at = 0;
  for (const Piece& piece : pieces_) {
    const std::span<std::byte> target(out.data() + at, piece.size());
    if (piece.range.source) {
      if (!piece.range.source->read_at(piece.range.position, target)) return {};
    } else {
      const std::span<const std::byte> from =
          piece.buffer ? std::span<const std::byte>(*piece.buffer) : piece.view;
      if (!from.empty()) std::memcpy(target.data(), from.data(), from.size());
    }
    at += target.size();
  }
  return out;
}

}  // namespace ackord
