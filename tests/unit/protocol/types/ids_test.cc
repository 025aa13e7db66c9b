#include "protocol/types/ids.h"

#include <gtest/gtest.h>

namespace ackord {
namespace {

TEST(Uuid, TextIsUrlSafeBase64) {
  Uuid id;
  EXPECT_EQ(id.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
  id.bytes.fill(0xff);
  EXPECT_EQ(id.to_string(), "_____________________w");
  // A topic id that a stock Kafka made.
  Uuid parsed;
  ASSERT_TRUE(Uuid::parse("dKICU9hz0cSnHZFo9HghRw", parsed));
  EXPECT_EQ(parsed.bytes[0], 0x74);
  EXPECT_EQ(parsed.bytes[15], 0x47);
  EXPECT_EQ(parsed.to_string(), "dKICU9hz0cSnHZFo9HghRw");
}

TEST(Uuid, WhatIsNoneLeavesTheIdAsItIs) {
  Uuid id;
  id.bytes[3] = 7;
  const Uuid before = id;
  for (const char* text : {"", "AAAA", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA",
                           "AAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAA+/"}) {
    EXPECT_FALSE(Uuid::parse(text, id)) << text;
    EXPECT_EQ(id, before);
  }
}

}  // namespace
}  // namespace ackord
