// ConsumerGroupDescribe: every field of it.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"

namespace ackord::conform {

AREA("groups.consumer.describe", "Describing consumer groups (KIP-848)");

namespace {

constexpr int64_t kNotAsked = INT32_MIN;
constexpr int8_t kConsumer = 1;

}  // namespace

CASE(stable, "KIP-848, KIP-1099", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit, 2);
  wait_for_consumer_state(kit, member.group(), "Stable");
  const Value group = describe_consumer(kit, member.group(), kit.version());
  group["errorCode"].is_none();
  group["errorMessage"].is_null();
  group["groupId"].is(member.group().c_str());
  group["groupState"].is("Stable");
  group["groupEpoch"].is(member.epoch());
  group["assignmentEpoch"].is(member.epoch());
  group["assignorName"].is("uniform");
  group["authorizedOperations"].is(kNotAsked);
  group["members"].has_size(1);
}

CASE(member, "KIP-848, KIP-1099", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit, 2);
  ConsumerMember member(kit, new_group(kit), "instance");
  member.join({.names = {{topic.name}}, .rack = "rack"});
  member.until_assigned(partitions_of(topic));
  member.beat();
  const Value one = describe_consumer(kit, member.group(), kit.version())["members"][0];
  one["memberId"].is(member.id().c_str());
  one["instanceId"].is("instance");
  one["rackId"].is("rack");
  one["memberEpoch"].is(member.epoch());
  one["clientId"].is("ackord-conform");
  expect(one["clientHost"].text().starts_with("/"), "the host is an address behind a slash");
  one["subscribedTopicNames"].is(list(topic.name));
  for (const char* field : {"assignment", "targetAssignment"}) {
    const Value topics = one[field]["topicPartitions"];
    expect_equal(read_partitions(topics), partitions_of(topic), field);
    topics[0]["topicName"].is(topic.name.c_str());
  }
  if (kit.version() >= 1) one["memberType"].is(kConsumer);
}

CASE(nullable_fields, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  const Value one = describe_consumer(kit, member.group(), kit.version())["members"][0];
  one["instanceId"].is_null();
  one["rackId"].is_null();
}

CASE(pattern, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  ConsumerMember member(kit, new_group(kit));
  const std::string pattern = kit.name("nothing") + ".*";
  member.join({.regex = pattern});
  const Value one = describe_consumer(kit, member.group(), kit.version())["members"][0];
  one["subscribedTopicRegex"].is(pattern.c_str());
  one["subscribedTopicNames"].has_size(0);
}

CASE(unknown, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  const std::string name = new_group(kit);
  const Value group = describe_consumer(kit, name, kit.version());
  group["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  group["errorMessage"].is_not_empty();
  group["groupId"].is(name.c_str());
  group["members"].has_size(0);
}

CASE(empty_group_id, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  new_group(kit);
  describe_consumer(kit, "", kit.version())["errorCode"].is(ErrorCode::INVALID_GROUP_ID);
}

CASE(classic_group, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  describe_consumer(kit, member.group(), kit.version())["errorCode"].is(
      ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(consumer_group_by_the_old_request, "KIP-848", .api = "DescribeGroups", .first = 0, .last = 6) {
  auto [topic, member] = consumer_joined(kit);
  // It is no classic group, and so there is none of this name.
  const Value group = describe_classic(kit, member.group(), kit.version());
  group["groupState"].is("Dead");
  group["members"].has_size(0);
  if (kit.version() >= 6) group["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(empty, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  const int32_t epoch = member.epoch();
  member.leave();
  const Value group = describe_consumer(kit, member.group(), kit.version());
  group["groupState"].is("Empty");
  group["members"].has_size(0);
  expect(group["groupEpoch"].number() > epoch, "the epoch has moved");
}

CASE(reconciling, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  auto [topic, a] = consumer_joined(kit, 2);
  ConsumerMember b(kit, a.group());
  b.join({topic});
  kit.until("the group is Reconciling", [&] {
    a.heartbeat({.owned = partitions_of(topic)})["errorCode"].is_none();
    return consumer_state(kit, a.group()) == "Reconciling";
  });
  const Value group = describe_consumer(kit, a.group(), kit.version());
  const Value of_a = group["members"].with("memberId", json::value(a.id()));
  const Value of_b = group["members"].with("memberId", json::value(b.id()));
  // The target is one each; the first has still both.
  expect_equal(read_partitions(of_a["targetAssignment"]["topicPartitions"]).size(), 1U,
               "target of the first");
  expect_equal(read_partitions(of_b["targetAssignment"]["topicPartitions"]).size(), 1U,
               "target of the second");
  expect_equal(read_partitions(of_b["assignment"]["topicPartitions"]), Partitions{},
               "assignment of the second");
}

CASE(many, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  const std::string unknown = new_group(kit);
  const Value groups = kit.ask("ConsumerGroupDescribe", kit.version(),
                               {{"groupIds", list(unknown, member.group())}})["groups"];
  groups.has_size(2);
  groups.with("groupId", json::value(member.group()))["errorCode"].is_none();
  groups.with("groupId", json::value(unknown))["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(none, "KIP-848", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  kit.ask("ConsumerGroupDescribe", kit.version(), {{"groupIds", list()}})["groups"].has_size(0);
}

CASE(authorized_operations, "KIP-430", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  const Value group = kit.ask(
      "ConsumerGroupDescribe", kit.version(),
      {{"groupIds", list(member.group())}, {"includeAuthorizedOperations", true}})["groups"][0];
  // READ (3), DELETE (6) and DESCRIBE (8), as bits.
  constexpr int64_t kExpected = 1 << 3 | 1 << 6 | 1 << 8;
  expect_equal(group["authorizedOperations"].number() & kExpected, kExpected,
               "read, delete and describe");
}

CASE(unknown_topic_is_subscribed, "KIP-848") {
  ConsumerMember member(kit, new_group(kit));
  const Topic topic = ghost_topic(kit);
  member.join({topic});
  wait_for_consumer_state(kit, member.group(), "Stable");
  const Value one = describe_consumer(kit, member.group())["members"][0];
  one["subscribedTopicNames"].is(list(topic.name));
  one["targetAssignment"]["topicPartitions"].has_size(0);
}

CASE(assigning, "docs/SEMANTICS.md D.2", .api = "ConsumerGroupDescribe", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit, 2);
  ConsumerMember a(kit, new_group(kit)), b(kit, a.group());
  set_configs(kit, ConfigResource::kGroup, a.group(),
              {{"consumer.assignment.interval.ms", "15000"}});
  a.join({topic});
  a.until_assigned(partitions_of(topic));
  b.join({topic});
  // The group has a new epoch, and the assignment of it is not made yet.
  const Value group = describe_consumer(kit, a.group(), kit.version());
  group["groupState"].is("Assigning");
  expect_equal(group["groupEpoch"].number(), group["assignmentEpoch"].number() + 1, "group epoch");
}

}  // namespace ackord::conform
