#include "broker/group/consumer_assignors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/broker/group/shard_driver.h"

namespace ackord::group {
namespace {

using test::parts;
using test::topic_id;
using ::testing::ElementsAre;
using ::testing::Pair;

Subscriber reads(std::set<Uuid> topics, Assignment previous = {}) {
  return {std::nullopt, std::move(topics), std::move(previous)};
}
Assignment both(const Assignment& a, const Assignment& b) {
  Assignment out = a;
  out.insert(b.begin(), b.end());
  return out;
}

TEST(UniformAssignor, SpreadsEvenly) {
  const auto given = assign_uniform(
      {{"a", reads({topic_id(1), topic_id(2)})}, {"b", reads({topic_id(1), topic_id(2)})}},
      {{topic_id(1), 2}, {topic_id(2), 3}});
  // The odd one goes to whom it is left over for.
  EXPECT_THAT(given, ElementsAre(Pair("a", parts(1, {0, 1})), Pair("b", parts(2, {0, 1, 2}))));
}

TEST(UniformAssignor, MembersKeepWhatTheyHave) {
  const auto given = assign_uniform({{"a", reads({topic_id(1)}, parts(1, {0, 1, 2}))},
                                     {"b", reads({topic_id(1)}, parts(1, {3, 4, 5}))},
                                     {"c", reads({topic_id(1)})}},
                                    {{topic_id(1), 6}});
  EXPECT_THAT(given, ElementsAre(Pair("a", parts(1, {0, 1})), Pair("b", parts(1, {3, 4})),
                                 Pair("c", parts(1, {2, 5}))));
}

TEST(UniformAssignor, WhoHasTheOddOneKeepsIt) {
  const auto given = assign_uniform(
      {{"a", reads({topic_id(1)}, parts(1, {0}))}, {"b", reads({topic_id(1)}, parts(1, {1, 2}))}},
      {{topic_id(1), 3}});
  EXPECT_THAT(given, ElementsAre(Pair("a", parts(1, {0})), Pair("b", parts(1, {1, 2}))));
}

TEST(UniformAssignor, GivesNothingOfTopicsThatHaveGone) {
  const auto given = assign_uniform(
      {{"a", reads({topic_id(1)}, both(parts(1, {0}), parts(9, {0, 1})))}}, {{topic_id(1), 2}});
  EXPECT_THAT(given, ElementsAre(Pair("a", parts(1, {0, 1}))));
}

TEST(UniformAssignor, SubscriptionsThatDifferAreServedAsEvenlyAsTheyAllow) {
  const auto given =
      assign_uniform({{"both", reads({topic_id(1), topic_id(2)})}, {"one", reads({topic_id(1)})}},
                     {{topic_id(1), 2}, {topic_id(2), 2}});
  EXPECT_THAT(given, ElementsAre(Pair("both", parts(2, {0, 1})), Pair("one", parts(1, {0, 1}))));
}

TEST(UniformAssignor, WithoutMembersOrTopics) {
  EXPECT_THAT(assign_uniform({}, {}), ::testing::IsEmpty());
  EXPECT_THAT(assign_uniform({{"a", reads({})}}, {}), ElementsAre(Pair("a", Assignment())));
}

TEST(RangeAssignor, GivesRangesInTheOrderOfMembers) {
  Subscriber fixed = reads({topic_id(1)});
  fixed.instance = "i";
  const auto given = assign_range(
      {{"a", reads({topic_id(1)})}, {"b", reads({topic_id(1)})}, {"z", fixed}}, {{topic_id(1), 7}});
  EXPECT_THAT(given, ElementsAre(Pair("a", parts(1, {3, 4})), Pair("b", parts(1, {5, 6})),
                                 Pair("z", parts(1, {0, 1, 2}))));
}

TEST(RangeAssignor, GoesByTopic) {
  const auto given =
      assign_range({{"both", reads({topic_id(1), topic_id(2)})}, {"one", reads({topic_id(1)})}},
                   {{topic_id(1), 2}, {topic_id(2), 2}});
  EXPECT_THAT(given, ElementsAre(Pair("both", both(parts(1, {0}), parts(2, {0, 1}))),
                                 Pair("one", parts(1, {1}))));
}

TEST(Assignors, AreFoundByName) {
  EXPECT_EQ(assignor_of("uniform"), &assign_uniform);
  EXPECT_EQ(assignor_of("range"), &assign_range);
  EXPECT_EQ(assignor_of("sticky"), nullptr);
}

// Random groups: each partition has one owner, who subscribes to it; equal subscriptions are even
// to one; what is even already does not move.
TEST(Assignors, HoldWhatTheyPromise) {
  std::mt19937 random(7);
  const auto pick = [&random](int most) {
    return std::uniform_int_distribution<int>(0, most)(random);
  };
  for (int round = 0; round < 300; ++round) {
    PartitionCounts counts;
    const int topics = 1 + pick(4);
    for (int t = 1; t <= topics; ++t) counts[topic_id(static_cast<uint8_t>(t))] = 1 + pick(8);
    const bool alike = pick(1) == 0;
    Subscribers members;
    for (int m = 0; m <= pick(6); ++m) {
      Subscriber& member = members["m" + std::to_string(m)];
      for (const auto& [topic, unused] : counts) {
        if (alike || pick(2) != 0) member.topics.insert(topic);
      }
    }
    for (const Assignor assign : {&assign_uniform, &assign_range}) {
      const Assignments given = assign(members, counts);
      Assignment all;
      size_t total = 0, least = SIZE_MAX, most = 0;
      for (const auto& [id, assignment] : given) {
        for (const TopicIdPartition& partition : assignment)
          EXPECT_TRUE(members.at(id).topics.contains(partition.topic_id));
        all.insert(assignment.begin(), assignment.end());
        total += assignment.size();
        least = std::min(least, assignment.size());
        most = std::max(most, assignment.size());
      }
      EXPECT_EQ(all.size(), total) << "a partition has two owners";
      std::set<Uuid> read;
      for (const auto& [id, member] : members)
        read.insert(member.topics.begin(), member.topics.end());
      size_t wanted = 0;
      for (const Uuid& topic : read) wanted += static_cast<size_t>(counts.at(topic));
      EXPECT_EQ(total, wanted);
      if (assign != &assign_uniform) continue;
      if (alike) {
        EXPECT_LE(most - least, 1u);
      }
      Subscribers again = members;
      for (auto& [id, member] : again) member.previous = given.at(id);
      EXPECT_EQ(assign(again, counts), given);
    }
  }
}

}  // namespace
}  // namespace ackord::group
