// The framing of snappy-java's SnappyOutputStream, which Kafka's Java client uses for snappy
// batches:
//   magic (8 bytes) | version int32 | lowest compatible version int32 | { size int32 | raw snappy
//   block }*
// Numbers are big-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ackord::protocol::xerial {

constexpr std::array<uint8_t, 8> kMagic{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0x00};
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderSize = kMagic.size() + 4 + 4;
constexpr size_t kSizeSize = 4;
// Uncompressed bytes per block that snappy-java writes.
constexpr size_t kBlockSize = 32 * 1024;

}  // namespace ackord::protocol::xerial
