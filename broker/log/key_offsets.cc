#include "broker/log/key_offsets.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ackord::log {
namespace {

constexpr size_t kFirstSlots = 1024;

struct SipState {
  uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void absorb(uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  uint64_t squeeze() {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

// Little-endian, as SipHash is defined.
uint64_t load_word(const std::byte* at, size_t size) {
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i) word |= static_cast<uint64_t>(at[i]) << (8 * i);
  return word;
}

}  // namespace

KeyHash hash_key(const HashSecret& secret, std::span<const std::byte> key) {
  SipState state{secret[0] ^ 0x736f6d6570736575, secret[1] ^ 0x646f72616e646f6d ^ 0xee,
                 secret[0] ^ 0x6c7967656e657261, secret[1] ^ 0x7465646279746573};
  size_t at = 0;
  for (; at + 8 <= key.size(); at += 8) state.absorb(load_word(key.data() + at, 8));
  const uint64_t tail = load_word(key.data() + at, key.size() - at);
  state.absorb(tail | static_cast<uint64_t>(key.size()) << 56);
  state.v2 ^= 0xee;
  KeyHash hash;
  hash[0] = state.squeeze();
  state.v1 ^= 0xdd;
  hash[1] = state.squeeze();
  return hash;
}

KeyOffsets::KeyOffsets(const HashSecret& secret, size_t max_keys)
    : secret_(secret), max_keys_(max_keys), slots_(kFirstSlots) {}

// The slot of the key, or the free one where it would go.
size_t KeyOffsets::place_of(const KeyHash& hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash[0] & mask;
  while (slots_[at].offset >= 0 && slots_[at].hash != hash) at = (at + 1) & mask;
  return at;
}

void KeyOffsets::grow() {
  std::vector<Slot> before(slots_.size() * 2);
  before.swap(slots_);
  for (const Slot& slot : before) {
    if (slot.offset >= 0) slots_[place_of(slot.hash)] = slot;
  }
}

bool KeyOffsets::put(std::span<const std::byte> key, Offset offset) {
  const KeyHash hash = hash_key(secret_, key);
  size_t at = place_of(hash);
  if (slots_[at].offset >= 0) {
    slots_[at].offset = offset;
    return true;
  }
  if (used_ >= max_keys_) return false;
  // Three quarters full at most, so that searches stay short.
  if ((used_ + 1) * 4 > slots_.size() * 3) {
    grow();
    at = place_of(hash);
  }
  slots_[at] = {hash, offset};
  ++used_;
  return true;
}

Offset KeyOffsets::find(std::span<const std::byte> key) const {
  return slots_[place_of(hash_key(secret_, key))].offset;
}

}  // namespace ackord::log
