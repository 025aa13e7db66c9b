// How share groups are described and listed: ShareGroupDescribe, ListGroups, and what the requests
// for other kinds of groups say of them.
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/groups.h"
#include "tools/conform/kit/share_member.h"
#include "tools/conform/kit/share_offsets.h"

namespace ackord::conform {

AREA("share.describe", "Describing and listing share groups (KIP-932)");

namespace {

constexpr int64_t kNotAsked = INT32_MIN;

struct Joined {
  Topic topic;
  ShareMember member;
};
Joined joined(Kit& kit, int32_t partitions = 1) {
  Joined out{create_topic(kit, partitions), ShareMember(kit, kit.name("g"))};
  out.member.join({out.topic});
  return out;
}

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  return texts;
}

}  // namespace

CASE(stable_group, "KIP-932") {
  auto [topic, member] = joined(kit, 2);
  const Value group = describe_share_group(kit, member.group());
  group["errorCode"].is_none();
  group["errorMessage"].is_null();
  group["groupId"].is(member.group().c_str());
  group["groupState"].is("Stable");
  group["groupEpoch"].is(member.member_epoch());
  group["assignmentEpoch"].is(member.member_epoch());
  group["assignorName"].is("simple");
  group["authorizedOperations"].is(kNotAsked);
  group["members"].has_size(1);
}

CASE(member_of_it, "KIP-932") {
  auto [topic, member] = joined(kit, 2);
  const Value described = describe_share_group(kit, member.group())["members"][0];
  described["memberId"].is(member.id().c_str());
  described["rackId"].is_null();
  described["memberEpoch"].is(member.member_epoch());
  described["clientId"].is("ackord-conform");
  expect(described["clientHost"].text().starts_with("/"), "a client host as Kafka writes it");
  described["subscribedTopicNames"].is(list(topic.name));
  const Value assigned = described["assignment"]["topicPartitions"];
  assigned.has_size(1);
  assigned[0]["topicId"].is(topic.id.c_str());
  assigned[0]["topicName"].is(topic.name.c_str());
  assigned[0]["partitions"].is(list(0, 1));
}

CASE(before_the_assignment, "KIP-932") {
  const Topic topic = create_topic(kit);
  ShareMember member(kit, kit.name("g"));
  member.start_joining({topic});
  const Value group = describe_share_group(kit, member.group());
  group["errorCode"].is_none();
  group["groupState"].is("Stable");
  group["members"].has_size(1);
  group["members"][0]["memberId"].is(member.id().c_str());
}

CASE(subscription_of_a_member, "KIP-932") {
  auto [topic, member] = joined(kit);
  const std::string ghost = kit.name("ghost");
  ShareMember other(kit, member.group());
  other.heartbeat({.names = {{ghost, topic.name}}, .epoch = 0, .rack = "r1"})["errorCode"]
      .is_none();
  const Value members = describe_share_group(kit, member.group())["members"];
  members.has_size(2);
  const Value described = members.with("memberId", other.id().c_str());
  described["rackId"].is("r1");
  expect_equal(sorted(described["subscribedTopicNames"].texts()), sorted({ghost, topic.name}),
               "the subscription");
  members.with("memberId", member.id().c_str())["subscribedTopicNames"].is(list(topic.name));
}

CASE(members_share_partitions, "KIP-932") {
  auto [topic, member] = joined(kit);
  ShareMember other(kit, member.group());
  other.join({topic});
  kit.until("both are described with the partition", [&] {
    member.heartbeat();
    const Value members = describe_share_group(kit, member.group())["members"];
    return members.size() == 2 && std::ranges::all_of(members.items(), [](const Value& one) {
             return one["assignment"]["topicPartitions"].size() == 1;
           });
  });
}

CASE(empty_group, "KIP-932") {
  auto [topic, member] = joined(kit);
  const int64_t before = describe_share_group(kit, member.group())["groupEpoch"].number();
  member.leave();
  const Value group = describe_share_group(kit, member.group());
  group["errorCode"].is_none();
  group["groupState"].is("Empty");
  group["members"].has_size(0);
  expect(group["groupEpoch"].number() > before, "the epoch has moved");
}

CASE(deleted_topic_is_assigned_no_more, "KIP-932") {
  const Topic kept = create_topic(kit);
  const Topic gone = create_topic(kit);
  ShareMember member(kit, kit.name("g"));
  member.join({kept, gone});
  delete_topic(kit, gone);
  kit.until("only the other topic is described", [&] {
    member.heartbeat()["errorCode"].is_none();
    const Value assigned =
        describe_share_group(kit, member.group())["members"][0]["assignment"]["topicPartitions"];
    return assigned.size() == 1 && assigned[0]["topicName"].text() == kept.name;
  });
}

CASE(unknown_group, "KIP-932") {
  const std::string name = kit.name("g");
  const Value group = describe_share_group(kit, name, true);
  group["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  group["errorMessage"].is_not_empty();
  group["groupId"].is(name.c_str());
  group["groupState"].is("");
  group["members"].has_size(0);
  group["authorizedOperations"].is(kNotAsked);
}

CASE(empty_group_id, "KIP-932") {
  const Value groups = kit.ask("ShareGroupDescribe", 1, {{"groupIds", list("")}})["groups"];
  groups.has_size(1);
  groups[0]["errorCode"].is(ErrorCode::INVALID_GROUP_ID);
}

CASE(no_groups, "KIP-932") {
  kit.ask("ShareGroupDescribe", 1, {{"groupIds", list()}})["groups"].has_size(0);
}

CASE(several_groups, "KIP-932") {
  auto [topic, member] = joined(kit);
  const std::string unknown = kit.name("g");
  const Value groups =
      kit.ask("ShareGroupDescribe", 1, {{"groupIds", list(unknown, member.group())}})["groups"];
  groups.has_size(2);
  groups.with("groupId", unknown.c_str())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  groups.with("groupId", member.group().c_str())["errorCode"].is_none();
}

// Without an authorizer everything is allowed that a group knows: read, delete, describe, and the
// describing and altering of its configs.
CASE(authorized_operations, "KIP-430, KIP-1043") {
  auto [topic, member] = joined(kit);
  describe_share_group(kit, member.group(), true)["authorizedOperations"].is(3400);
}

CASE(other_kinds_are_not_found, "KIP-1043") {
  auto [topic, member] = joined(kit);
  describe_consumer(kit, member.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  describe_consumer(kit, member.group())["members"].has_size(0);
}

// To clients of before version 6 a group of another kind is a dead one.
CASE(as_a_classic_group, "KIP-1043", .api = "DescribeGroups", .first = 0, .last = 6) {
  auto [topic, member] = joined(kit);
  const Value group = describe_classic(kit, member.group(), kit.version());
  group["groupState"].is("Dead");
  group["protocolType"].is("");
  group["members"].has_size(0);
  if (kit.version() < 6) {
    group["errorCode"].is_none();
  } else {
    group["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
    group["errorMessage"].is_not_empty();
  }
}

CASE(is_listed, "KIP-848, KIP-932", .api = "ListGroups", .first = 0, .last = 5) {
  auto [topic, member] = joined(kit);
  const auto group = listed(kit, member.group(), {.version = kit.version()});
  expect(group.has_value(), "the group is listed");
  (*group)["protocolType"].is("share");
  if (kit.version() >= 4) (*group)["groupState"].is("Stable");
  if (kit.version() >= 5) (*group)["groupType"].is("share");
}

CASE(listed_by_type, "KIP-848") {
  auto [topic, member] = joined(kit);
  const auto is_listed = [&](const std::vector<std::string>& types) {
    return listed(kit, member.group(), {.states = {}, .types = types}).has_value();
  };
  for (const char* type : {"share", "Share", "SHARE"}) expect(is_listed({type}), type);
  expect(is_listed({"consumer", "share"}), "listed with consumer and share");
  for (const char* type : {"classic", "consumer", "streams", "other"})
    expect(!is_listed({type}), std::string("not listed with ") + type);
}

CASE(listed_by_state, "KIP-518", .api = "ListGroups", .first = 4, .last = 5) {
  auto [topic, member] = joined(kit);
  const auto is_listed = [&](const std::vector<std::string>& states) {
    return listed(kit, member.group(), {.states = states, .types = {}, .version = kit.version()})
        .has_value();
  };
  for (const char* state : {"Stable", "stable", "STABLE"}) expect(is_listed({state}), state);
  for (const char* state : {"Empty", "Dead", "other"})
    expect(!is_listed({state}), std::string("not listed with ") + state);
  member.leave();
  expect(is_listed({"Empty"}), "listed when it is empty");
  expect(!is_listed({"Stable"}), "not listed as stable when it is empty");
}

CASE(listed_by_state_and_type, "KIP-848") {
  auto [topic, member] = joined(kit);
  expect(listed(kit, member.group(), {.states = {"Stable"}, .types = {"share"}}).has_value(),
         "both fit");
  expect(!listed(kit, member.group(), {.states = {"Empty"}, .types = {"share"}}).has_value(),
         "only the type fits");
  expect(!listed(kit, member.group(), {.states = {"Stable"}, .types = {"classic"}}).has_value(),
         "only the state fits");
}

CASE(group_of_an_alter_is_listed, "KIP-932") {
  const std::string group = kit.name("g");
  alter_offset(kit, group, create_topic(kit), 0);
  const auto found = listed(kit, group);
  expect(found.has_value(), "the group is listed");
  (*found)["groupState"].is("Empty");
  (*found)["groupType"].is("share");
}

}  // namespace ackord::conform
