#include "protocol/compression/compression.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <cstring>
#include <random>
#include <string>

#include "protocol/compression/xerial_format.h"

namespace ackord::protocol {
namespace {

std::vector<std::byte> sample(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  // Half noise, half repetition.
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i % 512 < 256 ? random() : i % 7);
  }
  return bytes;
}

TEST(Compression, RoundTripsAtEveryLevel) {
  for (const CodecInfo& codec : codecs()) {
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{100}, size_t{32768}, size_t{70000}, size_t{300000}}) {
      const auto in = sample(size, static_cast<unsigned>(size));
      for (const int level : {kDefaultLevel, codec.min_level, codec.max_level, 1000}) {
        if (level == 22 && size > 100000) continue;
        std::vector<std::byte> packed;
        compress(codec.codec, level, in, packed);
        std::vector<std::byte> out;
        auto done = decompress(codec.codec, packed, size, out);
        ASSERT_TRUE(done.has_value()) << codec.name << " " << size << " " << done.error().message;
        EXPECT_EQ(out, in) << codec.name;
      }
    }
  }
}

TEST(Compression, OutputIsBounded) {
  const std::vector<std::byte> zeros(10 << 20);
  for (const CodecInfo& codec : codecs()) {
    std::vector<std::byte> packed;
    compress(codec.codec, kDefaultLevel, zeros, packed);
    std::vector<std::byte> out;
    auto done = decompress(codec.codec, packed, zeros.size() - 1, out);
    ASSERT_TRUE(done.has_error()) << codec.name;
    EXPECT_EQ(done.error().code, ErrorCode::MESSAGE_TOO_LARGE);
    EXPECT_LE(out.capacity(), zeros.size() * 2);
  }
}

TEST(Compression, CutAndDamagedDataAreRefused) {
  const auto in = sample(5000, 3);
  for (const CodecInfo& codec : codecs()) {
    if (codec.codec == Codec::kNone) continue;
    std::vector<std::byte> packed;
    compress(codec.codec, kDefaultLevel, in, packed);
    std::vector<std::byte> out;
    for (size_t size = 0; size < packed.size(); size += 37) {
      auto done = decompress(codec.codec, std::span(packed).first(size), 10000, out);
      EXPECT_TRUE(done.has_error() || out.size() < in.size()) << codec.name << " " << size;
    }
    for (size_t i = 0; i < packed.size(); i += 11) {
      auto bad = packed;
      bad[i] ^= std::byte{0x55};
      (void)decompress(codec.codec, bad, 10000, out);  // any answer, no crash
    }
    EXPECT_TRUE(decompress(codec.codec, packed, 10000, out).has_value())
        << "the context is usable again";
    EXPECT_EQ(out, in);
  }
}

TEST(Compression, RawSnappyIsRead) {
  const auto in = sample(1000, 5);
  std::string packed;
  snappy::Compress(reinterpret_cast<const char*>(in.data()), in.size(), &packed);
  std::vector<std::byte> out;
  ASSERT_TRUE(decompress(Codec::kSnappy, std::as_bytes(std::span(packed)), 1000, out).has_value());
  EXPECT_EQ(out, in);
}

TEST(Compression, SnappyIsWrittenInJavaBlocks) {
  const auto in = sample(xerial::kBlockSize + 1, 6);
  std::vector<std::byte> packed;
  compress(Codec::kSnappy, kDefaultLevel, in, packed);
  ASSERT_GT(packed.size(), xerial::kHeaderSize);
  EXPECT_EQ(std::memcmp(packed.data(), xerial::kMagic.data(), xerial::kMagic.size()), 0);
  EXPECT_EQ(packed[11], std::byte{1});
  EXPECT_EQ(packed[15], std::byte{1});
}

TEST(Compression, CodecsByNameAndNumber) {
  EXPECT_EQ(find_codec("zstd")->codec, Codec::kZstd);
  EXPECT_EQ(find_codec(3)->name, "lz4");
  EXPECT_EQ(find_codec(5), nullptr);
  EXPECT_EQ(find_codec("producer"), nullptr);
}

}  // namespace
}  // namespace ackord::protocol
