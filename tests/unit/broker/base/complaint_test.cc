#include "broker/base/complaint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "broker/base/logging.h"

namespace ackord::base {
namespace {

TEST(ComplaintTest, SaysOneLineASecondAndCountsTheOthers) {
  Complaint complaint;
  EXPECT_EQ(complaint.take_turn(5000), 0u);
  EXPECT_EQ(complaint.take_turn(5000), std::nullopt);
  EXPECT_EQ(complaint.take_turn(5999), std::nullopt);
  EXPECT_EQ(complaint.take_turn(6000), 2u);
  EXPECT_EQ(complaint.take_turn(7000), 0u);
}

TEST(LoggingTest, WhatAPeerSentMakesNoLinesOfItsOwn) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a?b?[31m?");
  EXPECT_EQ(fmt::format("{} {}", TopicName("t\r"), ErrorCode::NONE), "t? NONE");
}

}  // namespace
}  // namespace ackord::base
