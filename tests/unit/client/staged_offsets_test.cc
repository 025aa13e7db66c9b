#include "client/staged_offsets.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace ackord::client {
namespace {

const Uuid kTopic{{1}};
const Uuid kOther{{2}};

StagedOffsets staged(const std::vector<std::pair<Offset, Offset>>& ranges,
                     TopicIdPartition partition = {kTopic, 0}) {
  StagedOffsets offsets;
  for (const auto& [first, last] : ranges) offsets.add({{partition, {{first, last, {1}}}}});
  return offsets;
}

TEST(StagedOffsets, AddUp) {
  StagedOffsets sum;
  EXPECT_EQ(sum.size(), 0);
  sum.add(staged({{0, 4}, {10, 10}}));
  sum.add(staged({{5, 9}}));
  sum.add(staged({{0, 0}}, {kTopic, 1}));
  sum.add(staged({{0, 0}}, {kOther, 0}));
  EXPECT_EQ(sum.size(), 13);
  EXPECT_FALSE(sum.overlaps());
}

// What two executors have staged counts once, and is seen.
TEST(StagedOffsets, OneThatIsStagedTwiceOverlaps) {
  for (const auto& [first, last] :
       {std::pair<Offset, Offset>{4, 4}, {0, 20}, {10, 12}, {2, 2}, {12, 15}, {4, 10}}) {
    StagedOffsets sum = staged({{0, 4}, {10, 12}});
    sum.add(staged({{first, last}}));
    EXPECT_TRUE(sum.overlaps()) << first << "-" << last;
    StagedOffsets more = staged({{100, 100}});
    more.add(sum);
    EXPECT_TRUE(more.overlaps()) << "stays so in a sum";
    EXPECT_EQ(more.to_text().error().code, ErrorCode::TRANSACTION_ABORTABLE);
  }
}

TEST(StagedOffsets, AreWhatASetWouldHold) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    StagedOffsets offsets;
    std::set<Offset> set;
    bool twice = false;
    const int ranges = 1 + static_cast<int>(random() % 12);
    for (int i = 0; i < ranges; ++i) {
      const auto first = static_cast<Offset>(random() % 200);
      const auto last = first + static_cast<Offset>(random() % 5);
      offsets.add(staged({{first, last}}));
      for (Offset at = first; at <= last; ++at) twice = !set.insert(at).second || twice;
    }
    ASSERT_EQ(offsets.size(), static_cast<int64_t>(set.size())) << round;
    ASSERT_EQ(offsets.overlaps(), twice) << round;
    if (twice) continue;
    const Result<StagedOffsets> read = StagedOffsets::from_text(*offsets.to_text());
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(*read, offsets) << round;
  }
}

TEST(StagedOffsets, AsText) {
  StagedOffsets offsets = staged({{0, 4}, {10, 10}});
  offsets.add(staged({{7, 7}}, {kOther, 3}));
  EXPECT_EQ(*offsets.to_text(),
            kTopic.to_string() + ":0:0-4,10-10;" + kOther.to_string() + ":3:7-7");
  EXPECT_EQ(*StagedOffsets().to_text(), "");
  EXPECT_EQ(StagedOffsets::from_text("")->size(), 0);
}

TEST(StagedOffsets, ATextThatIsNone) {
  const std::string topic = kTopic.to_string();
  for (const std::string& text :
       {std::string("x"), std::string("12"), topic, topic + ":0", std::string("x:0:1-2"),
        topic + ":a:1-2", topic + ":-1:1-2", topic + ":0:1", topic + ":0:2-1", topic + ":0:1-2x",
        topic + ":0:1-2,2-3", topic + ":0:1-99999999999999999999", topic + ":0:-1-2",
        topic + ":0:1-2:3", topic + ":0:1-2;" + topic + ":0:2-2"}) {
    const Result<StagedOffsets> read = StagedOffsets::from_text(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::INVALID_REQUEST) << text;
  }
}

}  // namespace
}  // namespace ackord::client
