// Static members of consumer groups: an instance that goes for a while keeps its place.
#include "tools/conform/case.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/offsets.h"

namespace ackord::conform {

AREA("groups.consumer.static", "Static members of consumer groups (KIP-848)");

namespace {

// A group with a static member "one" that has both partitions of a topic.
ConsumerJoined static_joined(Kit& kit) {
  ConsumerJoined out{create_topic(kit, 2), ConsumerMember(kit, new_group(kit), "one")};
  out.member.join({out.topic});
  out.member.until_assigned(partitions_of(out.topic));
  return out;
}

}  // namespace

CASE(join, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit);
  ConsumerMember member(kit, new_group(kit), "one");
  member.join({.names = {{topic.name}}, .version = kit.version()});
  describe_consumer(kit, member.group())["members"][0]["instanceId"].is("one");
}

CASE(instance_is_taken, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  auto [topic, member] = static_joined(kit);
  ConsumerMember other(kit, member.group(), "one");
  const Value answer = other.try_join({.names = {{topic.name}}, .version = kit.version()});
  answer["errorCode"].is(ErrorCode::UNRELEASED_INSTANCE_ID);
  answer["errorMessage"].is_not_empty();
  member.beat();
  describe_consumer(kit, member.group())["members"].has_size(1);
}

CASE(goes_and_comes_back, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  auto [topic, member] = static_joined(kit);
  const int32_t epoch = member.epoch();
  const Value left = member.heartbeat({.epoch = -2, .version = kit.version()});
  left["errorCode"].is_none();
  left["memberEpoch"].is(-2);
  // Its place is kept.
  const Value while_away = describe_consumer(kit, member.group());
  while_away["members"].has_size(1);
  while_away["members"][0]["memberEpoch"].is(-2);
  while_away["groupEpoch"].is(epoch);
  ConsumerMember again(kit, member.group(), "one");
  const Value answer = again.join({.names = {{topic.name}}, .version = kit.version()});
  // It is another member, with the assignment and the epoch of the old one.
  answer["memberEpoch"].is(epoch);
  expect_equal(again.assigned(), partitions_of(topic), "assignment");
  describe_consumer(kit, member.group())["members"].has_size(1);
  describe_consumer(kit, member.group())["members"][0]["memberId"].is(again.id().c_str());
}

CASE(comes_back_with_its_old_id, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  const int32_t epoch = member.epoch();
  member.leave(-2);
  member.join({topic});
  expect_equal(member.epoch(), epoch, "epoch");
  expect_equal(member.assigned(), partitions_of(topic), "assignment");
}

CASE(its_partitions_stay_free, "KIP-848") {
  auto [topic, a] = static_joined(kit);
  ConsumerMember b(kit, a.group());
  b.join({topic});
  settle(kit, {&a, &b}, partitions_of(topic));
  const Partitions of_a = a.assigned(), of_b = b.assigned();
  a.leave(-2);
  for (int i = 0; i < 3; ++i) {
    b.beat();
    expect_equal(b.assigned(), of_b, "what the other has while it is away");
  }
  ConsumerMember again(kit, a.group(), "one");
  again.join({topic});
  again.until_assigned(of_a);
}

CASE(the_old_one_is_fenced, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  ConsumerMember old = member;
  member.leave(-2);
  ConsumerMember again(kit, member.group(), "one");
  again.join({topic});
  old.heartbeat()["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
  old.try_leave()["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
  old.try_leave(-2)["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
  again.beat();
}

CASE(while_it_is_away, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  ConsumerMember old = member;
  member.leave(-2);
  // What it sent late, with the epoch that it had.
  old.heartbeat()["errorCode"].is(ErrorCode::FENCED_MEMBER_EPOCH);
}

CASE(leaves_for_good, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  member.leave(-1);
  expect_equal(consumer_state(kit, member.group()), "Empty", "state");
  // The instance is free.
  ConsumerMember other(kit, member.group(), "one");
  other.join({topic});
  other.until_assigned(partitions_of(topic));
}

CASE(leaves_for_good_while_away, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  member.leave(-2);
  member.leave(-1);
  expect_equal(consumer_state(kit, member.group()), "Empty", "state");
}

CASE(unknown_instance, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  ConsumerMember other(kit, member.group(), "two");
  other.heartbeat({.epoch = member.epoch()})["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  other.try_leave(-2)["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(instance_of_another_member, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  ConsumerMember other(kit, member.group(), "one");
  other.heartbeat({.epoch = member.epoch()})["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
}

CASE(comes_back_with_another_subscription, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  const Topic other = create_topic(kit);
  member.leave(-2);
  ConsumerMember again(kit, member.group(), "one");
  again.join({other});
  again.until_assigned(partitions_of(other));
  expect(again.epoch() > member.epoch(), "the epoch has moved");
}

CASE(removed_by_an_admin, "KIP-345, KIP-848", .api = "LeaveGroup", .first = 3, .last = 5) {
  auto [topic, member] = static_joined(kit);
  const Value answer =
      kit.ask("LeaveGroup", kit.version(),
              {{"groupId", member.group()},
               {"members", list(Object{{"memberId", ""}, {"groupInstanceId", "one"}})}});
  answer["errorCode"].is_none();
  answer["members"][0]["errorCode"].is_none();
  expect_equal(consumer_state(kit, member.group()), "Empty", "state");
  member.heartbeat()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(commits_after_it_came_back, "KIP-848") {
  auto [topic, member] = static_joined(kit);
  member.leave(-2);
  ConsumerMember again(kit, member.group(), "one");
  again.join({topic});
  try_commit(kit, again.group(), {.topic = topic, .offset = 7},
             {.member = again.id(), .epoch = again.epoch()})
      .is_none();
  try_commit(kit, again.group(), {.topic = topic, .offset = 8},
             {.member = member.id(), .epoch = again.epoch()})
      .is(ErrorCode::UNKNOWN_MEMBER_ID);
  expect_equal(committed_offset(kit, again.group(), topic), 7, "committed offset");
}

}  // namespace ackord::conform
