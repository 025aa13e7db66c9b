// The codecs of record batches, in the framings Kafka's Java client reads and writes:
//   gzip  RFC 1952 members | snappy  the xerial block framing (raw blocks are read too)
//   lz4   LZ4 frames with independent 64 KiB blocks | zstd  RFC 8878 frames
// Decompression never gives more than a limit, so a small batch cannot take all memory.
// Errors: CORRUPT_MESSAGE for bytes that are not the codec's, MESSAGE_TOO_LARGE above the limit.
// Any thread; each thread keeps its own contexts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/types/result.h"

namespace ackord::protocol {

// The number in a batch's attributes.
enum class Codec : int8_t { kNone = 0, kGzip = 1, kSnappy = 2, kLz4 = 3, kZstd = 4 };

constexpr int kDefaultLevel = -1;

// What compression.<codec>.level accepts. A codec without levels has all zero.
struct CodecInfo {
  Codec codec;
  std::string_view name;
  int min_level = 0;
  int max_level = 0;
  int default_level = 0;
};

// All codecs, by number.
std::span<const CodecInfo> codecs();
// Null for an unknown number or name.
const CodecInfo* find_codec(int number);
const CodecInfo* find_codec(std::string_view name);

// Appends to `out`. A level out of range is brought into it; kDefaultLevel is the codec's default.
void compress(Codec codec, int level, std::span<const std::byte> in, std::vector<std::byte>& out);

// Replaces `out`, whose capacity is reused.
Result<void> decompress(Codec codec, std::span<const std::byte> in, size_t limit,
                        std::vector<std::byte>& out);

}  // namespace ackord::protocol
