// OutputChain: what a Writer has produced, as the pieces that a connection sends one after the
// other.
//
// Ownership: an owned piece and a shared one live as long as the chain. A borrowed piece refers to
// the bytes of a Records::view, which must outlive the chain: a proxy that passes a frame on keeps
// that frame until the chain is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "protocol/types/records.h"

namespace ackord::protocol {

struct OutputChain {
  using Owned = std::vector<std::byte>;
  using Borrowed = std::span<const std::byte>;
  using Piece = std::variant<Owned, SharedBuffer, FileRange, Borrowed>;

  std::vector<Piece> pieces;

  uint64_t size() const;
  // Moves the pieces of `other` to the end.
  void append(OutputChain other);
  // Everything in one buffer; empty when a file range cannot be read.
  std::vector<std::byte> copy() const;
};

uint64_t piece_size(const OutputChain::Piece& piece);
// The bytes of a piece in memory; empty for a file range.
std::span<const std::byte> piece_bytes(const OutputChain::Piece& piece);

}  // namespace ackord::protocol
