#include "broker/log/key_offsets.h"

#include <gtest/gtest.h>

#include <string>

namespace ackord::log {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// The vectors of the reference implementation: secret 00 01 … 0f, messages of 0, 1 and 15 bytes.
TEST(KeyHashTest, IsSipHash24WithAResultOf128Bits) {
  const HashSecret secret{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::vector<std::byte> message;
  EXPECT_EQ(hash_key(secret, message), (KeyHash{0xe6a825ba047f81a3, 0x930255c71472f66d}));
  for (int i = 0; i < 15; ++i) message.push_back(static_cast<std::byte>(i));
  EXPECT_EQ(hash_key(secret, std::span(message).first(1)),
            (KeyHash{0x44af996bd8c187da, 0x45fc229b11597634}));
  EXPECT_EQ(hash_key(secret, message), (KeyHash{0x11a8b03399e99354, 0xd9c3cf970fec087e}));
}

TEST(KeyOffsetsTest, KnowsTheLatestOffsetOfManyKeys) {
  KeyOffsets keys({1, 2}, 100'000);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50'000; ++i) {
      ASSERT_TRUE(keys.put(bytes_of("key" + std::to_string(i)), round * 50'000 + i));
    }
  }
  EXPECT_EQ(keys.size(), 50'000u);
  for (int i = 0; i < 50'000; ++i) {
    ASSERT_EQ(keys.find(bytes_of("key" + std::to_string(i))), 50'000 + i);
  }
  EXPECT_EQ(keys.find(bytes_of("other")), -1);
  EXPECT_EQ(keys.find({}), -1);
}

TEST(KeyOffsetsTest, RefusesNewKeysWhenItIsFull) {
  KeyOffsets keys({1, 2}, 2);
  EXPECT_TRUE(keys.put(bytes_of("a"), 0));
  EXPECT_TRUE(keys.put({}, 1));
  EXPECT_FALSE(keys.put(bytes_of("c"), 2));
  EXPECT_TRUE(keys.put(bytes_of("a"), 3));
  EXPECT_EQ(keys.find(bytes_of("c")), -1);
  EXPECT_EQ(keys.find(bytes_of("a")), 3);
}

}  // namespace
}  // namespace ackord::log
