#include <snappy.h>

#include <cstring>

#include "protocol/compression/codec_impl.h"
#include "protocol/compression/xerial_format.h"

namespace ackord::protocol::codec {
namespace {

void put32(Output& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}
uint32_t get32(Input in) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint32_t>(in[i]);
  return value;
}
const char* chars(Input in) { return reinterpret_cast<const char*>(in.data()); }

Result<void> append_block(Input in, size_t limit, Output& out) {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(chars(in), in.size(), &size)) {
    return corrupt("snappy", "bad block header");
  }
  if (size > limit - out.size()) return too_large(limit);
  // No valid block expands more than this; the length must not make us allocate for nothing.
  if (size > in.size() * 64 + 64) return corrupt("snappy", "impossible block size");
  const size_t before = out.size();
  out.resize(before + size);
  if (!snappy::RawUncompress(chars(in), in.size(), reinterpret_cast<char*>(out.data() + before))) {
    return corrupt("snappy", "bad block");
  }
  return {};
}

}  // namespace

void snappy_compress(Input in, Output& out) {
  for (const uint8_t byte : xerial::kMagic) out.push_back(static_cast<std::byte>(byte));
  put32(out, xerial::kVersion);
  put32(out, xerial::kVersion);
  for (size_t at = 0; at < in.size(); at += xerial::kBlockSize) {
    const Input block = in.subspan(at, std::min(xerial::kBlockSize, in.size() - at));
    const size_t size_at = out.size();
    out.resize(size_at + xerial::kSizeSize + snappy::MaxCompressedLength(block.size()));
    size_t written = 0;
    snappy::RawCompress(chars(block), block.size(),
                        reinterpret_cast<char*>(out.data() + size_at + xerial::kSizeSize),
                        &written);
    for (size_t i = 0; i < 4; ++i)
      out[size_at + i] = static_cast<std::byte>(written >> (24 - 8 * i));
    out.resize(size_at + xerial::kSizeSize + written);
  }
}

Result<void> snappy_decompress(Input in, size_t limit, Output& out) {
  const bool framed = in.size() >= xerial::kHeaderSize &&
                      std::memcmp(in.data(), xerial::kMagic.data(), xerial::kMagic.size()) == 0;
  if (!framed) return append_block(in, limit, out);
  in = in.subspan(xerial::kHeaderSize);
  while (!in.empty()) {
    if (in.size() < xerial::kSizeSize) return corrupt("snappy", "the data end within a block size");
    const uint32_t size = get32(in);
    in = in.subspan(xerial::kSizeSize);
    if (size > in.size()) return corrupt("snappy", "the data end within a block");
    auto done = append_block(in.first(size), limit, out);
    if (done.has_error()) return done;
    in = in.subspan(size);
  }
  return {};
}

}  // namespace ackord::protocol::codec
