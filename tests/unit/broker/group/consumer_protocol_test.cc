#include "broker/group/consumer_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ackord::group {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

TEST(ConsumerProtocol, SubscriptionOfEachVersion) {
  const std::string topics = bytes({0, 0, 0, 1, 0, 1, 't'}) + bytes({-1, -1, -1, -1});
  const std::string owned = bytes({0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4});
  const auto oldest = read_subscription(bytes({0, 0}) + topics);
  ASSERT_TRUE(oldest);
  EXPECT_EQ(oldest->version, 0);
  EXPECT_THAT(oldest->topics, ElementsAre("t"));
  EXPECT_EQ(oldest->rack, std::nullopt);
  const std::string rack = bytes({0, 0, 0, 7, 0, 1, 'r'});
  // Version 9 is read as the newest that is known.
  for (const int version : {3, 9}) {
    const auto newest = read_subscription(bytes({0, version}) + topics + owned + rack);
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->version, 3);
    EXPECT_THAT(newest->owned, ElementsAre(Pair("t", ElementsAre(0, 4))));
    EXPECT_EQ(newest->rack, "r");
  }
}

TEST(ConsumerProtocol, WhatIsNoSubscription) {
  EXPECT_EQ(read_subscription(""), std::nullopt);
  EXPECT_EQ(read_subscription("x"), std::nullopt);
  EXPECT_EQ(read_subscription("metadata"), std::nullopt);
  EXPECT_EQ(read_subscription(bytes({-1, -1, 0, 0, 0, 0})), std::nullopt);
}

TEST(ConsumerProtocol, AssignmentThereAndBack) {
  const std::string written = write_assignment(1, {{"t", {0, 2}}});
  EXPECT_EQ(written, bytes({0, 1, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2}) +
                         bytes({-1, -1, -1, -1}));
  const auto read = read_assignment(written);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->partitions, ElementsAre(Pair("t", ElementsAre(0, 2))));
  EXPECT_FALSE(read->has_user_data);
  const std::string with_data = written.substr(0, written.size() - 4) + bytes({0, 0, 0, 1, 'u'});
  EXPECT_TRUE(read_assignment(with_data)->has_user_data);
}

}  // namespace
}  // namespace ackord::group
