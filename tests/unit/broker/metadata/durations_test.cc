#include "broker/metadata/durations.h"

#include <gtest/gtest.h>

namespace ackord::metadata {
namespace {

TEST(Durations, WhatJavaTakes) {
  EXPECT_EQ(parse_duration_ms("PT1S"), 1000);
  EXPECT_EQ(parse_duration_ms("P1D"), 86'400'000);
  EXPECT_EQ(parse_duration_ms("P2DT3H4M5.678S"),
            2 * 86'400'000 + 3 * 3'600'000 + 4 * 60'000 + 5'678);
  EXPECT_EQ(parse_duration_ms("pt0.5s"), 500);
  EXPECT_EQ(parse_duration_ms("PT0S"), 0);
}

TEST(Durations, WhatItDoesNot) {
  for (const char* text : {"", "P", "PT", "P1DT", "1D", "P1H", "PT1D", "P-1D", "PT1S1M", "PT1.5M",
                           "PT1", "P1X", "P1D ", "PT99999999999999999999S", "P1D1D"}) {
    EXPECT_EQ(parse_duration_ms(text), std::nullopt) << text;
  }
}

TEST(Durations, ByDuration) {
  EXPECT_EQ(by_duration_ms("by_duration:PT1H"), 3'600'000);
  EXPECT_EQ(by_duration_ms("latest"), std::nullopt);
  EXPECT_EQ(by_duration_ms("by_duration:"), std::nullopt);
}

}  // namespace
}  // namespace ackord::metadata
