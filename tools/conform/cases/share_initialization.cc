// Where a share group begins to read: share.auto.offset.reset, new partitions, a log that has lost
// its start (KIP-932).
#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.initialization", "Where share groups begin (KIP-932)");

namespace {

constexpr int64_t kHourMs = 3600 * 1000;

// A member of a new group with this reset policy, that has the topic.
ShareMember member_with_reset(Kit& kit, const Topic& topic, const std::string& reset) {
  const std::string group = kit.name("g");
  if (!reset.empty())
    set_configs(kit, ConfigResource::kGroup, group, {{"share.auto.offset.reset", reset}});
  ShareMember member(kit, group);
  member.join({topic});
  return member;
}

// Records that are this many hours old, one batch each.
void produce_aged(Kit& kit, const Topic& topic, const std::vector<int>& hours) {
  for (const int age : hours)
    produce(kit, topic,
            build_batch({.records = {{.value = "x", .timestamp = now_ms() - age * kHourMs}}}));
}

}  // namespace

CASE(latest_is_the_default, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(5));
  ShareMember member = member_with_reset(kit, topic, "");
  expect_equal(member.fetch(topic).acquired, Ranges{}, "acquired of what was there before");
  produce(kit, topic, numbered(2));
  expect_equal(member.acquire(topic), Ranges{{5, 6, 1}}, "acquired of what came later");
}

CASE(latest, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(5));
  ShareMember member = member_with_reset(kit, topic, "latest");
  expect_equal(member.fetch(topic).acquired, Ranges{}, "acquired of what was there before");
  produce(kit, topic, numbered(2));
  expect_equal(member.acquire(topic), Ranges{{5, 6, 1}}, "acquired of what came later");
}

CASE(earliest, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(5));
  ShareMember member = member_with_reset(kit, topic, "earliest");
  expect_equal(member.acquire(topic), Ranges{{0, 4, 1}}, "acquired");
}

CASE(earliest_of_a_log_that_lost_its_start, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 3; ++i) produce(kit, topic, numbered(2));
  delete_records(kit, topic, 4);
  ShareMember member = member_with_reset(kit, topic, "earliest");
  expect_equal(member.acquire(topic), Ranges{{4, 5, 1}}, "acquired");
}

CASE(earliest_of_an_empty_topic, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  ShareMember member = member_with_reset(kit, topic, "earliest");
  expect_equal(member.fetch(topic, {.max_wait_ms = 100}).acquired, Ranges{}, "acquired");
  produce(kit, topic, numbered(1));
  expect_equal(member.acquire(topic), Ranges{{0, 0, 1}}, "acquired");
}

CASE(by_duration, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  produce_aged(kit, topic, {5, 4, 2, 0});
  ShareMember member = member_with_reset(kit, topic, "by_duration:PT3H");
  expect_equal(offsets_of(member.acquire_count(topic, 2)), std::vector<int64_t>{2, 3}, "acquired");
}

CASE(by_duration_of_days, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  produce_aged(kit, topic, {80, 30, 20});
  ShareMember member = member_with_reset(kit, topic, "by_duration:P2DT1H30M");
  expect_equal(offsets_of(member.acquire_count(topic, 2)), std::vector<int64_t>{1, 2}, "acquired");
}

CASE(by_duration_longer_than_the_log, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  produce_aged(kit, topic, {5, 4});
  ShareMember member = member_with_reset(kit, topic, "by_duration:P7D");
  expect_equal(offsets_of(member.acquire_count(topic, 2)), std::vector<int64_t>{0, 1}, "acquired");
}

CASE(by_duration_of_which_there_is_nothing, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  produce_aged(kit, topic, {5, 4});
  ShareMember member = member_with_reset(kit, topic, "by_duration:PT1H");
  expect_equal(member.fetch(topic).acquired, Ranges{}, "acquired of what is older");
  produce(kit, topic, numbered(1));
  expect_equal(member.acquire(topic), Ranges{{2, 2, 1}}, "acquired of what came later");
}

CASE(policy_counts_at_the_first_fetch_only, "KIP-932, share.auto.offset.reset") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  ShareMember member = member_with_reset(kit, topic, "latest");
  expect_equal(member.fetch(topic, {.max_wait_ms = 100}).acquired, Ranges{}, "acquired");
  set_configs(kit, ConfigResource::kGroup, member.group(),
              {{"share.auto.offset.reset", "earliest"}});
  produce(kit, topic, numbered(1));
  expect_equal(member.acquire(topic), Ranges{{3, 3, 1}}, "acquired");
}

CASE(new_partitions_begin_at_0, "KIP-932: nothing of a new partition is missed") {
  Topic topic = create_topic(kit);
  ShareMember member = member_with_reset(kit, topic, "latest");
  expect_equal(member.fetch(topic, {.max_wait_ms = 100}).acquired, Ranges{}, "acquired");
  topic = grow_topic(kit, topic, 2);
  produce(kit, topic, numbered(3), {.partition = 1});
  member.until_assigned("the new partition is assigned",
                        [](const auto& assigned) { return assigned.size() == 2; });
  expect_equal(member.acquire(topic, {}, 1), Ranges{{0, 2, 1}}, "acquired of the new partition");
}

CASE(groups_begin_apart, "KIP-932") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  ShareMember one = member_with_reset(kit, topic, "earliest");
  ShareMember other = member_with_reset(kit, topic, "earliest");
  expect_equal(one.acquire(topic), Ranges{{0, 2, 1}}, "acquired by the one");
  one.acknowledge(topic, 0, 2).is_none();
  expect_equal(other.acquire(topic), Ranges{{0, 2, 1}}, "acquired by the other");
}

CASE(topic_created_again, "KIP-932: state is kept by topic id") {
  const Topic old = create_topic(kit);
  produce(kit, old, numbered(3));
  ShareMember member = member_with_reset(kit, old, "earliest");
  expect_equal(member.acquire(old), Ranges{{0, 2, 1}}, "acquired");
  member.acknowledge(old, 0, 2).is_none();
  delete_topic(kit, old);
  const Topic again = create_topic(kit, 1, {}, old.name);
  produce(kit, again, numbered(2));
  member.until_assigned("the new topic is assigned",
                        [&](const auto& assigned) { return assigned.contains({again.id, 0}); });
  expect_equal(member.acquire(again, {.forgotten = {{old}}}), Ranges{{0, 1, 1}},
               "acquired of the new topic");
}

CASE(group_outlives_its_members, "KIP-932: the start is the group's") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  ShareMember first = member_with_reset(kit, topic, "earliest");
  expect_equal(first.acquire(topic), Ranges{{0, 2, 1}}, "acquired");
  first.acknowledge(topic, 0, 0).is_none();
  first.close_session();
  first.leave();
  produce(kit, topic, numbered(1));
  ShareMember second(kit, first.group());
  second.join({topic});
  expect_equal(offsets_of(second.acquire_count(topic, 3)), std::vector<int64_t>{1, 2, 3},
               "acquired by a member that came later");
}

}  // namespace ackord::conform
