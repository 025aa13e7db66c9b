#include "broker/group/topic_hash.h"

#include <gtest/gtest.h>

#include "tests/unit/broker/group/shard_driver.h"

namespace ackord::group {
namespace {

// The numbers are those of Kafka 4.4 for the same topics.
TEST(TopicHash, IsKafkas) {
  EXPECT_EQ(metadata_hash({test::topic(1, 2)}), 5608232604600005233);
  EXPECT_EQ(metadata_hash({test::topic(2, 1), test::topic(1, 2)}), 6150545973981635015);
}

TEST(TopicHash, KnowsRacks) {
  EXPECT_EQ(metadata_hash({test::topic(2, 1)}, "rack-1"), -8290477604243856397);
}

TEST(TopicHash, OfNothingIsZero) { EXPECT_EQ(metadata_hash({}), 0); }

}  // namespace
}  // namespace ackord::group
