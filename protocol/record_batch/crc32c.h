// CRC-32C (Castagnoli), as Kafka uses it for batches and snapshots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ackord::protocol {

uint32_t crc32c(std::span<const std::byte> bytes);
// The checksum of what `before` is the checksum of, followed by `bytes`.
uint32_t crc32c_extend(uint32_t before, std::span<const std::byte> bytes);

}  // namespace ackord::protocol
