#include "broker/log/key_offsets.h"

#include <sodium.h>

namespace ackord::log {
namespace {

constexpr size_t kFirstSlots = 1024;

}  // namespace

KeyHash hash_key(const HashSecret& secret, std::span<const std::byte> key) {
  static_assert(sizeof(HashSecret) == crypto_shorthash_siphashx24_KEYBYTES);
  static_assert(sizeof(KeyHash) == crypto_shorthash_siphashx24_BYTES);
  KeyHash hash;
  crypto_shorthash_siphashx24(reinterpret_cast<unsigned char*>(hash.data()),
                              reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                              reinterpret_cast<const unsigned char*>(secret.data()));
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
