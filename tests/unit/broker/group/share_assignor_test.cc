#include "broker/group/share_assignor.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/broker/group/shard_driver.h"

namespace ackord::group {
namespace {

using test::parts;
using test::topic_id;

std::map<std::string, AssignorMember> members(int count, std::set<Uuid> topics) {
  std::map<std::string, AssignorMember> all;
  for (int i = 0; i < count; ++i) all["m" + std::to_string(i)].topics = topics;
  return all;
}

Assignment partitions(uint8_t topic, int32_t count) {
  Assignment all;
  for (int32_t i = 0; i < count; ++i) all.insert({topic_id(topic), i});
  return all;
}

std::map<TopicIdPartition, int> holders(const std::map<std::string, Assignment>& assignments) {
  std::map<TopicIdPartition, int> count;
  for (const auto& [id, held] : assignments) {
    for (const auto& partition : held) ++count[partition];
  }
  return count;
}

size_t kept(const std::map<std::string, AssignorMember>& before,
            const std::map<std::string, Assignment>& after) {
  size_t same = 0;
  for (const auto& [id, member] : before) {
    for (const auto& partition : member.previous) same += after.at(id).count(partition);
  }
  return same;
}

TEST(ShareAssignor, NothingToAssign) {
  const auto result = assign_share_partitions(members(2, {topic_id(1)}), {});
  EXPECT_EQ(result, (std::map<std::string, Assignment>{{"m0", {}}, {"m1", {}}}));
}

TEST(ShareAssignor, OneMemberHoldsAll) {
  const auto result = assign_share_partitions(members(1, {topic_id(1)}), partitions(1, 3));
  EXPECT_EQ(result.at("m0"), parts(1, {0, 1, 2}));
}

TEST(ShareAssignor, MoreMembersThanPartitionsShareThem) {
  // 4 members, 3 partitions: each partition twice, two members hold two.
  const auto result = assign_share_partitions(members(4, {topic_id(1)}), partitions(1, 3));
  std::multiset<size_t> sizes;
  for (const auto& [id, held] : result) sizes.insert(held.size());
  EXPECT_EQ(sizes, (std::multiset<size_t>{1, 1, 2, 2}));
  for (const auto& [partition, count] : holders(result)) EXPECT_EQ(count, 2);
}

TEST(ShareAssignor, UnsubscribedTopicsAreLeftOut) {
  Assignment all = partitions(1, 2);
  all.merge(partitions(2, 2));
  const auto result = assign_share_partitions(members(1, {topic_id(2)}), all);
  EXPECT_EQ(result.at("m0"), parts(2, {0, 1}));
}

TEST(ShareAssignor, NothingMovesWithoutNeed) {
  auto group = members(3, {topic_id(1)});
  group["m0"].previous = parts(1, {4});
  group["m1"].previous = parts(1, {0, 2});
  group["m2"].previous = parts(1, {1, 3});
  const auto result = assign_share_partitions(group, partitions(1, 5));
  for (const auto& [id, member] : group) EXPECT_EQ(result.at(id), member.previous);
}

TEST(ShareAssignor, ALeaverTakesNothingAway) {
  auto group = members(2, {topic_id(1)});
  group["m0"].previous = parts(1, {0, 1});
  group["m1"].previous = parts(1, {2, 3});
  // A third one had 4 and 5.
  const auto result = assign_share_partitions(group, partitions(1, 6));
  EXPECT_EQ(kept(group, result), 4u);
  EXPECT_EQ(result.at("m0").size(), 3u);
  EXPECT_EQ(result.at("m1").size(), 3u);
}

TEST(ShareAssignor, MixedSubscriptionsAreSpreadTopicByTopic) {
  std::map<std::string, AssignorMember> group;
  group["a"].topics = {topic_id(1)};
  group["b"].topics = {topic_id(1), topic_id(2)};
  Assignment all = partitions(1, 2);
  all.merge(partitions(2, 2));
  const auto result = assign_share_partitions(group, all);
  EXPECT_EQ(result.at("a").size(), 1u);
  Assignment of_b = parts(2, {0, 1});
  for (const auto& partition : result.at("b")) of_b.insert(partition);
  EXPECT_EQ(of_b, result.at("b"));
  EXPECT_EQ(result.at("b").size(), 3u);
  EXPECT_EQ(holders(result).size(), 4u);
}

// Joins, leaves and growth in any order: never unbalanced, nobody left out, and a second look
// changes nothing.
TEST(ShareAssignor, StaysBalancedThroughChanges) {
  std::mt19937 random(7);
  std::map<std::string, AssignorMember> group;
  int32_t count = 1;
  for (int round = 0; round < 400; ++round) {
    const uint32_t what = random() % 4;
    if (what == 0 && group.size() > 1) {
      group.erase(std::next(group.begin(), static_cast<long>(random() % group.size())));
    } else if (what == 1 && count < 20) {
      ++count;
    } else if (group.size() < 20) {
      group["m" + std::to_string(round)].topics = {topic_id(1)};
    }
    if (group.empty()) continue;
    const Assignment all = partitions(1, count);
    const auto result = assign_share_partitions(group, all);
    size_t least = SIZE_MAX, most = 0;
    for (const auto& [id, held] : result) {
      least = std::min(least, held.size());
      most = std::max(most, held.size());
    }
    EXPECT_LE(most - least, 1u) << round;
    const size_t sharing = (group.size() + all.size() - 1) / all.size();
    const auto count_of = holders(result);
    EXPECT_EQ(count_of.size(), all.size()) << round;
    for (const auto& [partition, holding] : count_of)
      EXPECT_LE(static_cast<size_t>(holding), sharing) << round;
    for (auto& [id, member] : group) member.previous = result.at(id);
    EXPECT_EQ(assign_share_partitions(group, all), result) << round;
  }
}

}  // namespace
}  // namespace ackord::group
