#include "protocol/record_batch/crc32c.h"

#if __has_include(<isa-l/crc.h>)
#include <isa-l/crc.h>
#else
#include <crc.h>
#endif

#include <algorithm>

namespace ackord::protocol {

uint32_t crc32c(std::span<const std::byte> bytes) { return crc32c_extend(0, bytes); }

uint32_t crc32c_extend(uint32_t before, std::span<const std::byte> bytes) {
  // The library neither inverts at the start nor at the end, and counts in int.
  uint32_t crc = ~before;
  while (!bytes.empty()) {
    const size_t size = std::min<size_t>(bytes.size(), size_t{1} << 30);
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(size), crc);
    bytes = bytes.subspan(size);
  }
  return ~crc;
}

}  // namespace ackord::protocol
