#include "protocol/compression/compression.h"

#include <algorithm>
#include <array>

#include "protocol/compression/codec_impl.h"

namespace ackord::protocol {
namespace {

constexpr std::array<CodecInfo, 5> kCodecs{{
    {Codec::kNone, "none"},
    {Codec::kGzip, "gzip", 1, 9, -1},  // -1: zlib's own default
    {Codec::kSnappy, "snappy"},
    {Codec::kLz4, "lz4", 1, 17, 9},
    {Codec::kZstd, "zstd", -131072, 22, 3},
}};

int level_of(const CodecInfo& info, int level) {
  if (level == kDefaultLevel) return info.default_level;
  return std::clamp(level, info.min_level, info.max_level);
}

}  // namespace

std::span<const CodecInfo> codecs() { return kCodecs; }

const CodecInfo* find_codec(int number) {
  if (number < 0 || number >= static_cast<int>(kCodecs.size())) return nullptr;
  return &kCodecs[static_cast<size_t>(number)];
}

const CodecInfo* find_codec(std::string_view name) {
  for (const CodecInfo& info : kCodecs) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

void compress(Codec codec, int level, std::span<const std::byte> in, std::vector<std::byte>& out) {
  const int use = level_of(kCodecs[static_cast<size_t>(codec)], level);
  switch (codec) {
    case Codec::kNone: out.insert(out.end(), in.begin(), in.end()); break;
    case Codec::kGzip: codec::gzip_compress(use, in, out); break;
    case Codec::kSnappy: codec::snappy_compress(in, out); break;
    case Codec::kLz4: codec::lz4_compress(use, in, out); break;
    case Codec::kZstd: codec::zstd_compress(use, in, out); break;
  }
}

Result<void> decompress(Codec codec, std::span<const std::byte> in, size_t limit,
                        std::vector<std::byte>& out) {
  out.clear();
  switch (codec) {
    case Codec::kNone:
      if (in.size() > limit) return codec::too_large(limit);
      out.assign(in.begin(), in.end());
      return {};
    case Codec::kGzip: return codec::gzip_decompress(in, limit, out);
    case Codec::kSnappy: return codec::snappy_decompress(in, limit, out);
    case Codec::kLz4: return codec::lz4_decompress(in, limit, out);
    case Codec::kZstd: return codec::zstd_decompress(in, limit, out);
  }
  return error(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
}

}  // namespace ackord::protocol
