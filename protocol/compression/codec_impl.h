// Private to this room: one pair of functions per codec, behind compress() and decompress().
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "protocol/types/result.h"

namespace ackord::protocol::codec {

using Input = std::span<const std::byte>;
using Output = std::vector<std::byte>;

// How much an output buffer grows at a time.
constexpr size_t kGrowth = 64 * 1024;

inline Error corrupt(const char* codec, const char* why) {
  return error(ErrorCode::CORRUPT_MESSAGE, std::string(codec) + " data: " + why);
}
inline Error too_large(size_t limit) {
  return error(ErrorCode::MESSAGE_TOO_LARGE,
               "records decompress to more than " + std::to_string(limit) + " bytes");
}
// Room after `used` bytes: doubles, at most one byte beyond the limit so that passing it shows.
// False when that byte is used.
inline bool grow(Output& out, size_t used, size_t limit) {
  if (used > limit) return false;
  if (used < out.size()) return true;
  const size_t wanted = std::max(out.size() * 2, used + kGrowth);
  out.resize(std::min(wanted, limit + 1));
  return true;
}

void gzip_compress(int level, Input in, Output& out);
Result<void> gzip_decompress(Input in, size_t limit, Output& out);
void snappy_compress(Input in, Output& out);
Result<void> snappy_decompress(Input in, size_t limit, Output& out);
void lz4_compress(int level, Input in, Output& out);
Result<void> lz4_decompress(Input in, size_t limit, Output& out);
void zstd_compress(int level, Input in, Output& out);
Result<void> zstd_decompress(Input in, size_t limit, Output& out);

}  // namespace ackord::protocol::codec
