#include "protocol/wire/output_chain.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace ackord::protocol {

uint64_t piece_size(const OutputChain::Piece& piece) {
  if (const auto* range = std::get_if<FileRange>(&piece)) return range->size;
  return piece_bytes(piece).size();
}

std::span<const std::byte> piece_bytes(const OutputChain::Piece& piece) {
  if (const auto* owned = std::get_if<OutputChain::Owned>(&piece)) return *owned;
  if (const auto* shared = std::get_if<SharedBuffer>(&piece)) return **shared;
  if (const auto* borrowed = std::get_if<OutputChain::Borrowed>(&piece)) return *borrowed;
  return {};
}

uint64_t OutputChain::size() const {
  uint64_t size = 0;
  for (const Piece& piece : pieces) size += piece_size(piece);
  return size;
}

void OutputChain::append(OutputChain other) {
  pieces.insert(pieces.end(), std::make_move_iterator(other.pieces.begin()),
                std::make_move_iterator(other.pieces.end()));
}

std::vector<std::byte> OutputChain::copy() const {
  std::vector<std::byte> out(size());
  size_t at = 0;
  for (const Piece& piece : pieces) {
    const std::span<std::byte> target(out.data() + at, piece_size(piece));
    if (const auto* range = std::get_if<FileRange>(&piece)) {
      if (!range->source->read_at(range->position, target)) return {};
    } else if (!target.empty()) {
      std::memcpy(target.data(), piece_bytes(piece).data(), target.size());
    }
    at += target.size();
  }
  return out;
}

}  // namespace ackord::protocol
