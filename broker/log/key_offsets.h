// KeyOffsets: for a compaction, the latest offset of each record key. Bounded memory: a slot holds
// the key's 128-bit keyed hash (SipHash-2-4) and the offset, not the key. With a secret that nobody
// outside knows, no client can make two keys collide, and by chance ten million keys do so once in
// 10^24 compactions. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/types/ids.h"

namespace ackord::log {

using HashSecret = std::array<uint64_t, 2>;
using KeyHash = std::array<uint64_t, 2>;

// SipHash-2-4 with a result of 128 bits.
KeyHash hash_key(const HashSecret& secret, std::span<const std::byte> key);

class KeyOffsets {
 public:
  // What one key takes.
  static constexpr size_t kSlotSize = 24;

  // Holds `max_keys` keys at most; memory grows with their number.
  KeyOffsets(const HashSecret& secret, size_t max_keys);

  // The key's latest offset is `offset`, which grows from call to call for the same key. False when
  // the key is new and there is no more room: nothing has changed.
  bool put(std::span<const std::byte> key, Offset offset);
  // -1 for a key that is not known.
  Offset find(std::span<const std::byte> key) const;
  size_t size() const { return used_; }

 private:
  struct Slot {
    KeyHash hash{};
    Offset offset = -1;  // -1: free
  };
  static_assert(sizeof(Slot) == kSlotSize);

  size_t place_of(const KeyHash& hash) const;
  void grow();

  HashSecret secret_;
  size_t max_keys_;
  size_t used_ = 0;
  std::vector<Slot> slots_;  // a power of two
};

}  // namespace ackord::log
