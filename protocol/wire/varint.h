// Variable-length integers as Kafka writes them: seven bits a byte, lowest first; the top bit says
// that more follow. Signed ones are zigzag-encoded first. Source: KIP-482 and the record batch
// format v2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ackord::protocol {

constexpr size_t kMaxVarintSize = 5;    // of 32 bits
constexpr size_t kMaxVarlongSize = 10;  // of 64 bits

constexpr uint32_t zigzag32(int32_t value) {
  return (static_cast<uint32_t>(value) << 1) ^ static_cast<uint32_t>(value >> 31);
}
constexpr uint64_t zigzag64(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int32_t unzigzag32(uint32_t value) {
  return static_cast<int32_t>((value >> 1) ^ (~(value & 1) + 1));
}
constexpr int64_t unzigzag64(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Bytes that an unsigned varint takes.
constexpr size_t varint_size(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

// Writes to `out`, which has room for kMaxVarlongSize bytes; returns the size.
constexpr size_t put_varint(std::byte* out, uint64_t value) {
  size_t size = 0;
  while (value >= 0x80) {
    out[size++] = static_cast<std::byte>(value | 0x80);
    value >>= 7;
  }
  out[size++] = static_cast<std::byte>(value);
  return size;
}

}  // namespace ackord::protocol
