// Which members get which partitions: the simple assignor of KIP-932, and what changes the
// assignment.
#include <algorithm>
#include <array>

#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.assignment", "Assignment of share groups (KIP-932)");

namespace {

using Assigned = std::set<std::pair<std::string, int64_t>>;
using Members = std::vector<ShareMember>;

// A group of this many members that all subscribe to these topics.
Members members_of(Kit& kit, size_t count, const std::vector<Topic>& topics) {
  Members members;
  const std::string group = kit.name("g");
  for (size_t i = 0; i < count; ++i) {
    members.emplace_back(kit, group);
    members.back().start_joining(topics);
  }
  return members;
}

std::vector<Assigned> assigned_to(const Members& members) {
  std::vector<Assigned> out;
  for (const ShareMember& member : members) out.push_back(member.assigned());
  return out;
}

// All members heartbeat until the assignment of all is good.
template <class Good>
void until_assigned(Kit& kit, Members& members, std::string_view what, Good good) {
  kit.until(what, [&] {
    for (ShareMember& member : members) member.heartbeat()["errorCode"].is_none();
    return good(assigned_to(members));
  });
}

// How many partitions each has, the fewest first.
std::vector<size_t> sizes_of(const std::vector<Assigned>& assigned) {
  std::vector<size_t> sizes;
  for (const Assigned& one : assigned) sizes.push_back(one.size());
  std::ranges::sort(sizes);
  return sizes;
}

// How many members each partition has, the fewest first.
std::vector<size_t> sharers_of(const std::vector<Assigned>& assigned) {
  std::map<std::pair<std::string, int64_t>, size_t> counts;
  for (const Assigned& one : assigned)
    for (const auto& partition : one) ++counts[partition];
  std::vector<size_t> sharers;
  for (const auto& [partition, count] : counts) sharers.push_back(count);
  std::ranges::sort(sharers);
  return sharers;
}

// A group of `members` on a topic of `partitions` comes to these sizes and sharers.
void expect_spread(Kit& kit, size_t members, int32_t partitions, const std::vector<size_t>& sizes,
                   const std::vector<size_t>& sharers) {
  const Topic topic = create_topic(kit, partitions);
  Members group = members_of(kit, members, {topic});
  const auto good = [&](const std::vector<Assigned>& assigned) {
    return sizes_of(assigned) == sizes && sharers_of(assigned) == sharers;
  };
  if (!kit.within(kUntilLimit, [&] {
        for (ShareMember& member : group) member.heartbeat()["errorCode"].is_none();
        return good(assigned_to(group));
      })) {
    expect_equal(sizes_of(assigned_to(group)), sizes, "partitions of the members");
    expect_equal(sharers_of(assigned_to(group)), sharers, "members of the partitions");
  }
}

}  // namespace

CASE(one_member_has_all, "KIP-932") {
  ShareMember member(kit, kit.name("g"));
  member.join({create_topic(kit, 3), create_topic(kit, 2)});
}

CASE(two_members_two_partitions, "KIP-932, simple assignor") {
  expect_spread(kit, 2, 2, {1, 1}, {1, 1});
}

CASE(two_members_four_partitions, "KIP-932, simple assignor") {
  expect_spread(kit, 2, 4, {2, 2}, {1, 1, 1, 1});
}

CASE(two_members_three_partitions, "KIP-932, simple assignor") {
  expect_spread(kit, 2, 3, {1, 2}, {1, 1, 1});
}

CASE(three_members_share_one_partition, "KIP-932, simple assignor") {
  expect_spread(kit, 3, 1, {1, 1, 1}, {3});
}

CASE(four_members_two_partitions, "KIP-932, simple assignor") {
  expect_spread(kit, 4, 2, {1, 1, 1, 1}, {2, 2});
}

CASE(three_members_two_partitions, "KIP-932, simple assignor") {
  expect_spread(kit, 3, 2, {1, 1, 2}, {2, 2});
}

CASE(five_members_three_partitions, "KIP-932, simple assignor") {
  expect_spread(kit, 5, 3, {1, 1, 1, 1, 2}, {2, 2, 2});
}

CASE(member_leaves, "KIP-932") {
  const Topic topic = create_topic(kit, 4);
  Members members = members_of(kit, 2, {topic});
  until_assigned(kit, members, "both have two", [](const auto& assigned) {
    return sizes_of(assigned) == std::vector<size_t>{2, 2};
  });
  members.back().leave();
  members.pop_back();
  until_assigned(kit, members, "the other member has all",
                 [](const auto& assigned) { return assigned[0].size() == 4; });
}

CASE(new_member_takes_only_what_it_needs, "KIP-932, simple assignor: sticky") {
  const Topic topic = create_topic(kit, 4);
  Members members = members_of(kit, 2, {topic});
  until_assigned(kit, members, "both have two", [](const auto& assigned) {
    return sizes_of(assigned) == std::vector<size_t>{2, 2} &&
           sharers_of(assigned) == std::vector<size_t>{1, 1, 1, 1};
  });
  const std::vector<Assigned> before = assigned_to(members);
  members.emplace_back(kit, members[0].group());
  members.back().start_joining({topic});
  until_assigned(kit, members, "two of three have one", [](const auto& assigned) {
    return sizes_of(assigned) == std::vector<size_t>{1, 1, 2};
  });
  for (size_t i = 0; i < before.size(); ++i)
    for (const auto& partition : members[i].assigned())
      expect(before[i].contains(partition), "an old member is given nothing new");
}

CASE(different_subscriptions, "KIP-932, simple assignor") {
  const Topic both = create_topic(kit, 2);
  const Topic one = create_topic(kit, 2);
  Members members = members_of(kit, 2, {both});
  members[1].heartbeat({.names = {{both.name, one.name}}})["errorCode"].is_none();
  until_assigned(kit, members, "each partition has a member",
                 [](const auto& assigned) { return sharers_of(assigned).size() == 4; });
  for (const auto& [topic, partition] : members[0].assigned())
    expect_equal(topic, both.id, "topic of the first member");
}

CASE(new_partitions, "KIP-932") {
  const Topic topic = create_topic(kit, 1);
  Members members = members_of(kit, 1, {topic});
  members[0].join({topic});
  grow_topic(kit, topic, 3);
  until_assigned(kit, members, "the new partitions are assigned",
                 [](const auto& assigned) { return assigned[0].size() == 3; });
}

CASE(deleted_topic, "KIP-932") {
  const Topic stays = create_topic(kit);
  const Topic goes = create_topic(kit);
  Members members = members_of(kit, 1, {stays, goes});
  members[0].join({stays, goes});
  delete_topic(kit, goes);
  until_assigned(kit, members, "the deleted topic is assigned no more",
                 [&](const auto& assigned) { return assigned[0] == Assigned{{stays.id, 0}}; });
}

CASE(topic_created_again, "KIP-932: by topic id") {
  const Topic old = create_topic(kit);
  Members members = members_of(kit, 1, {old});
  members[0].join({old});
  delete_topic(kit, old);
  const Topic again = create_topic(kit, 1, {}, old.name);
  expect(again.id != old.id, "another id");
  until_assigned(kit, members, "the new topic is assigned",
                 [&](const auto& assigned) { return assigned[0] == Assigned{{again.id, 0}}; });
}

CASE(same_partitions_in_two_groups, "KIP-932") {
  const Topic topic = create_topic(kit, 2);
  ShareMember one(kit, kit.name("g"));
  ShareMember other(kit, kit.name("g"));
  one.join({topic});
  other.join({topic});
}

}  // namespace ackord::conform
