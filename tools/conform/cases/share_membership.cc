// Joining, living in and leaving a share group: ShareGroupHeartbeat (KIP-932). Who gets which
// partitions is in share_assignment.cc.
#include "tools/conform/case.h"
#include "tools/conform/kit/coordinators.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.membership", "Members of share groups (KIP-932)");

namespace {

// A topic, and a member that has it.
struct Joined {
  Topic topic;
  ShareMember member;
};
Joined joined(Kit& kit, const Configs& configs = {}) {
  const std::string group = kit.name("g");
  if (!configs.empty()) set_configs(kit, ConfigResource::kGroup, group, configs);
  Joined out{create_topic(kit), ShareMember(kit, group)};
  out.member.join({out.topic});
  return out;
}

// The answer to a join of a new group by a member with this id.
Value join_as(Kit& kit, const std::string& member_id) {
  const Topic topic = create_topic(kit);
  ShareMember member(kit, kit.name("g"), member_id);
  return member.heartbeat({.names = {{topic.name}}, .epoch = 0});
}

// The answer to this request, whose fields are sound but for those given.
Value ask_heartbeat(Kit& kit, const Object& fields) {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, kit.name("g"));
  return kit.ask("ShareGroupHeartbeat", 1,
                 merged({{"groupId", kit.name("g")},
                         {"memberId", kit.name("m")},
                         {"memberEpoch", 0},
                         {"subscribedTopicNames", list("any")}},
                        fields));
}

void expect_assignment(const Value& answer, const Topic& topic) {
  const Value partitions = answer["assignment"]["topicPartitions"];
  partitions.has_size(1);
  partitions[0]["topicId"].is(topic.id.c_str());
  partitions[0]["partitions"].is(list(0));
}

// Adds a second topic to the subscription and waits for the epoch that comes with it.
void move_epoch(Kit& kit, ShareMember& member, const Topic& first) {
  const int32_t before = member.member_epoch();
  const Topic second = create_topic(kit);
  member.heartbeat({.names = {{first.name, second.name}}})["errorCode"].is_none();
  member.until_assigned("the second topic is assigned",
                        [](const auto& assigned) { return assigned.size() == 2; });
  expect(member.member_epoch() > before, "the epoch has moved");
}

}  // namespace

CASE(join, "KIP-932") {
  const Topic topic = create_topic(kit);
  ShareMember member(kit, kit.name("g"));
  const Value answer = member.start_joining({topic});
  answer["errorMessage"].is_null();
  answer["throttleTimeMs"].is(0);
  answer["memberId"].is(member.id().c_str());
  answer["memberEpoch"].is_between(1, 2);
  answer["heartbeatIntervalMs"].is(5000);
  expect(!answer["assignment"].null(), "a join's answer has an assignment");
}

CASE(assigned_after_initialization, "KIP-932") {
  auto [topic, member] = joined(kit);
  expect_equal(member.assigned(), std::set<std::pair<std::string, int64_t>>{{topic.id, 0}},
               "assigned");
  expect(member.member_epoch() >= 2, "the epoch has moved with the assignment");
}

CASE(join_again_with_epoch_0, "KIP-932") {
  auto [topic, member] = joined(kit);
  const int32_t epoch = member.member_epoch();
  const Value answer = member.heartbeat({.names = {{topic.name}}, .epoch = 0});
  answer["errorCode"].is_none();
  answer["memberEpoch"].is(epoch);
  expect_assignment(answer, topic);
}

CASE(unchanged_is_null, "KIP-932") {
  auto [topic, member] = joined(kit);
  const int32_t epoch = member.member_epoch();
  const Value answer = member.heartbeat();
  answer["errorCode"].is_none();
  answer["memberEpoch"].is(epoch);
  answer["assignment"].is_null();
}

CASE(full_request_tells_the_assignment, "KIP-932") {
  auto [topic, member] = joined(kit);
  const int32_t epoch = member.member_epoch();
  const Value answer = member.heartbeat({.names = {{topic.name}}});
  answer["errorCode"].is_none();
  answer["memberEpoch"].is(epoch);
  expect_assignment(answer, topic);
}

CASE(higher_epoch, "KIP-932") {
  auto [topic, member] = joined(kit);
  const Value answer = member.heartbeat({.epoch = member.member_epoch() + 1});
  answer["errorCode"].is(ErrorCode::FENCED_MEMBER_EPOCH);
  answer["errorMessage"].is_not_empty();
  answer["assignment"].is_null();
  member.heartbeat()["errorCode"].is_none();
}

CASE(previous_epoch_is_a_lost_answer, "KIP-932") {
  auto [topic, member] = joined(kit);
  const Topic second = create_topic(kit);
  int32_t previous = member.member_epoch();
  member.heartbeat({.names = {{topic.name, second.name}}})["errorCode"].is_none();
  kit.until("the epoch has moved", [&, &member = member] {
    if (member.member_epoch() > previous) return true;
    previous = member.member_epoch();
    member.heartbeat()["errorCode"].is_none();
    return member.member_epoch() > previous;
  });
  const int32_t epoch = member.member_epoch();
  const Value answer = member.heartbeat({.epoch = previous});
  answer["errorCode"].is_none();
  answer["memberEpoch"].is_between(epoch, epoch + 2);
}

CASE(older_epoch, "KIP-932") {
  auto [topic, member] = joined(kit);
  move_epoch(kit, member, topic);
  move_epoch(kit, member, topic);
  member.heartbeat({.epoch = 1})["errorCode"].is(ErrorCode::FENCED_MEMBER_EPOCH);
}

CASE(unknown_member, "KIP-932") {
  auto [topic, member] = joined(kit);
  ShareMember other(kit, member.group());
  other.heartbeat({.epoch = 3})["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  other.heartbeat({.epoch = -1})["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(unknown_group, "KIP-932") {
  ShareMember member(kit, kit.name("never"));
  const Value answer = member.heartbeat({.epoch = 3});
  answer["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  answer["errorMessage"].is_not_empty();
  member.heartbeat({.epoch = -1})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(leave, "KIP-932") {
  auto [topic, member] = joined(kit);
  const int32_t epoch = member.member_epoch();
  const Value answer = member.heartbeat({.epoch = -1});
  answer["errorCode"].is_none();
  answer["memberId"].is(member.id().c_str());
  answer["memberEpoch"].is(-1);
  answer["assignment"].is_null();
  member.heartbeat({.epoch = epoch})["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  member.heartbeat({.epoch = -1})["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(join_after_leaving, "KIP-932") {
  auto [topic, member] = joined(kit);
  const int32_t epoch = member.member_epoch();
  member.leave();
  member.join({topic});
  expect(member.member_epoch() > epoch, "the group's epoch went on while it was empty");
}

CASE(join_without_names, "KIP-932") {
  ask_heartbeat(kit, {{"subscribedTopicNames", nullptr}})["errorCode"].is(
      ErrorCode::INVALID_REQUEST);
  ask_heartbeat(kit, {{"subscribedTopicNames", list()}})["errorCode"].is(
      ErrorCode::INVALID_REQUEST);
}

CASE(bad_epochs, "KIP-932") {
  for (const int epoch : {-2, -3, INT32_MIN})
    ask_heartbeat(kit, {{"memberEpoch", epoch}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(blank_group_id, "KIP-932") {
  for (const char* id : {"", " "})
    ask_heartbeat(kit, {{"groupId", id}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(blank_member_id, "KIP-932") {
  for (const char* id : {"", " "})
    ask_heartbeat(kit, {{"memberId", id}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(empty_rack, "KIP-932") {
  ask_heartbeat(kit, {{"rackId", ""}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(rack, "KIP-932") {
  const Topic topic = create_topic(kit);
  ShareMember member(kit, kit.name("g"));
  member.heartbeat({.names = {{topic.name}}, .rack = "rack-1"})["errorCode"].is_none();
}

CASE(member_id_of_36_characters, "KIP-932") {
  join_as(kit, std::string(36, 'x'))["errorCode"].is_none();
}

CASE(member_id_of_37_characters, "KIP-932") {
  join_as(kit, std::string(37, 'x'))["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(member_id_of_any_characters, "KIP-932") {
  for (const char* id : {"a+b/c=", "x", "\xc3\xa4 \xe2\x82\xac"})
    join_as(kit, id)["errorCode"].is_none();
}

CASE(one_member_id_in_two_groups, "KIP-932") {
  auto [topic, member] = joined(kit);
  ShareMember twin(kit, kit.name("g"), member.id());
  twin.join({topic});
  twin.leave();
  member.heartbeat()["errorCode"].is_none();
}

CASE(subscription_changes, "KIP-932") {
  auto [topic, member] = joined(kit);
  const Topic other = create_topic(kit);
  member.heartbeat({.names = {{other.name}}})["errorCode"].is_none();
  const std::set<std::pair<std::string, int64_t>> wanted{{other.id, 0}};
  member.until_assigned("only the other topic is assigned",
                        [&](const auto& assigned) { return assigned == wanted; });
}

CASE(subscription_to_nothing, "KIP-932") {
  auto [topic, member] = joined(kit);
  member.heartbeat({.names = {std::vector<std::string>{}}})["errorCode"].is_none();
  member.until_assigned("nothing is assigned",
                        [](const auto& assigned) { return assigned.empty(); });
}

CASE(subscribed_twice, "KIP-932") {
  auto [topic, member] = joined(kit);
  const Value answer = member.heartbeat({.names = {{topic.name, topic.name}}});
  answer["errorCode"].is_none();
  expect_assignment(answer, topic);
}

CASE(name_that_no_topic_may_have, "KIP-932") {
  auto [topic, member] = joined(kit);
  const Value answer = member.heartbeat({.names = {{topic.name, "bad name!"}}});
  answer["errorCode"].is_none();
  expect_assignment(answer, topic);
}

CASE(topic_that_does_not_exist_yet, "KIP-932") {
  const std::string name = kit.name("t");
  ShareMember member(kit, kit.name("g"));
  const Value answer = member.start_joining({{.name = name, .id = {}}});
  answer["assignment"]["topicPartitions"].has_size(0);
  const Topic topic = create_topic(kit, 2, {}, name);
  member.until_assigned("the topic's partitions are assigned",
                        [](const auto& assigned) { return assigned.size() == 2; });
}

CASE(another_member_moves_the_epoch, "KIP-932") {
  auto [topic, member] = joined(kit);
  const int32_t epoch = member.member_epoch();
  ShareMember other(kit, member.group());
  other.join({topic});
  kit.until("the first member's epoch has moved", [&] {
    member.heartbeat()["errorCode"].is_none();
    return member.member_epoch() > epoch;
  });
}

CASE(configured_heartbeat_interval, "KIP-932, share.heartbeat.interval.ms") {
  auto [topic, member] = joined(kit, {{"share.heartbeat.interval.ms", "7000"}});
  member.heartbeat()["heartbeatIntervalMs"].is(7000);
}

CASE(id_of_a_consumer_group, "KIP-932: one type a group id") {
  const Topic topic = create_topic(kit);
  const std::string group = kit.name("g");
  ShareMember member(kit, group);
  kit.ask("ConsumerGroupHeartbeat", 1,
          {{"groupId", group},
           {"memberId", kit.name("m")},
           {"memberEpoch", 0},
           {"rebalanceTimeoutMs", 30000},
           {"subscribedTopicNames", list(topic.name)},
           {"topicPartitions", list()}})["errorCode"]
      .is_none();
  member.heartbeat({.names = {{topic.name}}, .epoch = 0})["errorCode"].is(
      ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(consumer_heartbeat_for_a_share_group, "KIP-932: one type a group id") {
  auto [topic, member] = joined(kit);
  kit.ask("ConsumerGroupHeartbeat", 1,
          {{"groupId", member.group()},
           {"memberId", kit.name("m")},
           {"memberEpoch", 0},
           {"rebalanceTimeoutMs", 30000},
           {"subscribedTopicNames", list(topic.name)},
           {"topicPartitions", list()}})["errorCode"]
      .is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(classic_join_of_a_share_group, "KIP-932: one type a group id") {
  auto [topic, member] = joined(kit);
  kit.ask("JoinGroup", 5,
          {{"groupId", member.group()},
           {"sessionTimeoutMs", 30000},
           {"rebalanceTimeoutMs", 30000},
           {"memberId", ""},
           {"groupInstanceId", nullptr},
           {"protocolType", "consumer"},
           {"protocols", list(Object{{"name", "range"}, {"metadata", bytes("x")}})}})["errorCode"]
      .is(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
}

CASE(silent_member_is_removed, "KIP-932, share.session.timeout.ms (at least 45 s)", .limit_s = 90) {
  const Topic topic = create_topic(kit, 2);
  ShareMember silent(kit, kit.name("g"));
  silent.join({topic});
  ShareMember other(kit, silent.group());
  other.start_joining({topic});
  other.until_assigned("one partition is the other member's",
                       [](const auto& assigned) { return assigned.size() == 1; });
  const int32_t epoch = silent.member_epoch();
  silent.heartbeat({.epoch = epoch})["errorCode"].is_none();
  const Stopwatch stopwatch;
  kit.until(
      "the other member has both partitions",
      [&] {
        kit.pass(Millis(250));
        other.heartbeat()["errorCode"].is_none();
        return other.assigned().size() == 2;
      },
      Millis(70000));
  expect_between(stopwatch.elapsed().count(), 44000L, 60000L, "milliseconds until then");
  silent.heartbeat()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(members_that_are_too_many, "KIP-932, group.share.max.size (200)") {
  const Topic topic = create_topic(kit);
  const std::string group = ShareMember(kit, kit.name("g")).group();
  const auto join = [&](int number) {
    return kit.ask("ShareGroupHeartbeat", 1,
                   {{"groupId", group},
                    {"memberId", "m" + std::to_string(number)},
                    {"memberEpoch", 0},
                    {"subscribedTopicNames", list(topic.name)}});
  };
  for (int i = 0; i < 200; ++i) join(i)["errorCode"].is_none();
  join(200)["errorCode"].is(ErrorCode::GROUP_MAX_SIZE_REACHED);
  join(7)["errorCode"].is_none();
}

}  // namespace ackord::conform
