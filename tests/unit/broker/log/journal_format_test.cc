#include "broker/log/journal_format.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "broker/io/file_system.h"

namespace ackord::log {
namespace {

Uuid id(uint8_t last) {
  Uuid uuid;
  uuid.bytes[15] = last;
  return uuid;
}

void add(RoundBuilder& builder, uint8_t topic, int32_t partition, const std::string& text) {
  const auto room = builder.add(id(topic), partition, text.size());
  std::memcpy(room.data(), text.data(), text.size());
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(JournalFormat, ARoundComesBack) {
  RoundBuilder builder;
  add(builder, 1, 7, "first");
  add(builder, 2, 0, std::string(5000, 'x'));
  add(builder, 3, -1, "");
  const auto bytes = builder.finish(9, 4);
  EXPECT_EQ(bytes.size() % io::kBlock, 0u);
  EXPECT_EQ(bytes.size(), builder.padded_size());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % io::kBlock, 0u);
  const auto round = parse_round(bytes);
  ASSERT_TRUE(round);
  EXPECT_EQ(round->generation, 9u);
  EXPECT_EQ(round->round, 4u);
  EXPECT_EQ(round->padded_size, bytes.size());
  ASSERT_EQ(round->entries.size(), 3u);
  EXPECT_EQ(round->entries[0].topic_id, id(1));
  EXPECT_EQ(round->entries[0].partition, 7);
  EXPECT_EQ(text_of(round->entries[0].batches), "first");
  EXPECT_EQ(text_of(round->entries[1].batches), std::string(5000, 'x'));
  EXPECT_EQ(round->entries[2].partition, -1);
  EXPECT_TRUE(round->entries[2].batches.empty());
}

TEST(JournalFormat, TheBufferIsUsedAgain) {
  RoundBuilder builder;
  add(builder, 1, 0, std::string(3 * io::kBlock, 'x'));
  (void)builder.finish(1, 0);
  builder.clear();
  add(builder, 2, 1, "short");
  const auto bytes = builder.finish(1, 1);
  EXPECT_EQ(bytes.size(), io::kBlock);
  const auto round = parse_round(bytes);
  ASSERT_TRUE(round);
  ASSERT_EQ(round->entries.size(), 1u);
  EXPECT_EQ(text_of(round->entries[0].batches), "short");
  for (size_t i = kRoundHeader + kJournalEntryHeader + 5; i < bytes.size(); ++i)
    ASSERT_EQ(bytes[i], std::byte{0}) << i;
}

TEST(JournalFormat, NoDamagedByteIsTaken) {
  RoundBuilder builder;
  add(builder, 1, 0, "some bytes");
  add(builder, 2, 3, "and more");
  const auto built = builder.finish(1, 0);
  std::vector<std::byte> bytes(built.begin(), built.end());
  const size_t end = kRoundHeader + 2 * kJournalEntryHeader + 18;
  for (size_t i = 0; i < end; ++i) {
    bytes[i] ^= std::byte{0x10};
    EXPECT_FALSE(parse_round(bytes)) << "byte " << i;
    bytes[i] ^= std::byte{0x10};
  }
  ASSERT_TRUE(parse_round(bytes));
  for (size_t size = 0; size < end; ++size)
    EXPECT_FALSE(parse_round(std::span(bytes).first(size))) << size;
  EXPECT_FALSE(parse_round(std::vector<std::byte>(io::kBlock)));
}

}  // namespace
}  // namespace ackord::log
