#include "codegen/schema/versions.h"

#include <gtest/gtest.h>

namespace ackord::codegen {
namespace {

TEST(Versions, Forms) {
  EXPECT_EQ(Versions::parse("3"), (Versions{3, 3}));
  EXPECT_EQ(Versions::parse("3-7"), (Versions{3, 7}));
  EXPECT_EQ(Versions::parse("3+"), (Versions{3, Versions::kLast}));
  EXPECT_EQ(Versions::parse("none"), Versions::none());
}

TEST(Versions, WhatIsNone) {
  for (const char* text : {"", "+", "-", "3-", "-3", "7-3", "3-7+", "a", "1.5", "99999", " 1"}) {
    EXPECT_FALSE(Versions::parse(text).has_value()) << text;
  }
}

TEST(Versions, CoverAndIntersect) {
  const Versions three_on{3, Versions::kLast};
  EXPECT_TRUE(three_on.covers(Versions{3, 9}));
  EXPECT_FALSE(three_on.covers(Versions{2, 9}));
  EXPECT_TRUE(Versions::none().covers(Versions::none()));
  EXPECT_EQ(three_on.intersect(Versions{0, 5}), (Versions{3, 5}));
  EXPECT_TRUE(three_on.intersect(Versions{0, 2}).empty());
}

TEST(Versions, Text) {
  for (const char* text : {"3", "3-7", "3+", "none"})
    EXPECT_EQ(Versions::parse(text)->to_string(), text);
}

}  // namespace
}  // namespace ackord::codegen
