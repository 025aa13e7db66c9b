// ConsumerGroupHeartbeat: joining, epochs, fields that are missing or wrong, leaving.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("groups.consumer.heartbeat", "Members of consumer groups (KIP-848)");

namespace {

// A member that has joined nothing yet, in a group of its own.
ConsumerMember new_member(Kit& kit) { return ConsumerMember(kit, new_group(kit)); }

void expect_invalid(const Value& answer) {
  answer["errorCode"].is(ErrorCode::INVALID_REQUEST);
  answer["errorMessage"].is_not_empty();
}

// Moves the member's epoch by a second topic; the epoch that it had before.
int32_t move_epoch(ConsumerMember& member, const Topic& topic, const Topic& second) {
  const int32_t before = member.epoch();
  member.heartbeat({.names = {{topic.name, second.name}}})["errorCode"].is_none();
  member.until_assigned(united({partitions_of(topic), partitions_of(second)}));
  expect(member.epoch() > before, "the epoch has moved");
  return before;
}

}  // namespace

CASE(join, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit);
  ConsumerMember member = new_member(kit);
  const Value answer = member.join({.names = {{topic.name}}, .version = kit.version()});
  answer["errorMessage"].is_null();
  answer["memberId"].is(member.id().c_str());
  answer["memberEpoch"].is_between(1, 2);
  answer["heartbeatIntervalMs"].is(5000);
  expect(!answer["assignment"].null(), "a join's answer has an assignment");
  member.until_assigned(partitions_of(topic));
}

CASE(member_id_by_the_broker, "KIP-848") {
  const Topic topic = create_topic(kit);
  const Value answer = kit.ask("ConsumerGroupHeartbeat", 0,
                               {{"groupId", new_group(kit)},
                                {"memberId", ""},
                                {"memberEpoch", 0},
                                {"rebalanceTimeoutMs", 30000},
                                {"subscribedTopicNames", list(topic.name)},
                                {"topicPartitions", list()}});
  answer["errorCode"].is_none();
  answer["memberId"].is_not_empty();
}

CASE(member_id_by_the_client, "KIP-1082") {
  const Topic topic = create_topic(kit);
  const Value answer = kit.ask("ConsumerGroupHeartbeat", 1,
                               {{"groupId", new_group(kit)},
                                {"memberId", ""},
                                {"memberEpoch", 0},
                                {"rebalanceTimeoutMs", 30000},
                                {"subscribedTopicNames", list(topic.name)},
                                {"topicPartitions", list()}});
  expect_invalid(answer);
}

CASE(member_ids_of_any_form, "KIP-1082") {
  const Topic topic = create_topic(kit);
  for (const std::string& id :
       {std::string(36, 'x'), std::string(37, 'x'), std::string("a+b/c=")}) {
    ConsumerMember member(kit, new_group(kit), {}, id);
    const Value answer = member.join({topic});
    answer["memberId"].is(id.c_str());
  }
}

CASE(rejoin, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  const int32_t epoch = member.epoch();
  // The answer to a join was lost, or the client has started again.
  const Value answer = member.join({.names = {{topic.name}}, .version = kit.version()});
  answer["memberEpoch"].is(epoch);
  expect_equal(read_partitions(answer["assignment"]["topicPartitions"]), partitions_of(topic),
               "assignment");
}

CASE(unchanged_assignment_is_null, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0,
     .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  member.beat();
  const Value answer = member.heartbeat({.version = kit.version()});
  answer["errorCode"].is_none();
  answer["memberEpoch"].is(member.epoch());
  answer["assignment"].is_null();
}

CASE(full_heartbeat_is_told_the_assignment, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  member.beat();
  // One that names all of its fields, as a client does after a timeout.
  const Value answer = member.heartbeat(
      {.names = {{topic.name}}, .owned = partitions_of(topic), .rebalance_ms = 30000});
  answer["errorCode"].is_none();
  expect(!answer["assignment"].null(), "the assignment is there");
  expect_equal(read_partitions(answer["assignment"]["topicPartitions"]), partitions_of(topic),
               "assignment");
}

CASE(higher_epoch, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  member.heartbeat({.epoch = member.epoch() + 1, .version = kit.version()})["errorCode"].is(
      ErrorCode::FENCED_MEMBER_EPOCH);
  member.beat();
}

CASE(previous_epoch, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const Topic second = create_topic(kit);
  const int32_t before = move_epoch(member, topic, second);
  // The answer was lost: what it owns is a part of what it was given.
  const int32_t now = member.epoch();
  const Partitions all = member.assigned();
  const Value answer = member.heartbeat({.epoch = before, .owned = partitions_of(topic)});
  answer["errorCode"].is_none();
  answer["memberEpoch"].is(now);
  // With all of its fields, as a client does after a timeout, it is told the assignment again.
  const Value full = member.heartbeat({.epoch = before,
                                       .names = {{topic.name, second.name}},
                                       .owned = partitions_of(topic),
                                       .rebalance_ms = 30000});
  full["errorCode"].is_none();
  expect_equal(read_partitions(full["assignment"]["topicPartitions"]), all, "assignment");
}

CASE(previous_epoch_with_other_partitions, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const Topic second = create_topic(kit);
  const int32_t before = move_epoch(member, topic, second);
  Topic more = topic;
  more.partitions = 2;
  member.heartbeat({.epoch = before, .owned = partitions_of(more)})["errorCode"].is(
      ErrorCode::FENCED_MEMBER_EPOCH);
}

CASE(previous_epoch_without_partitions, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const Topic second = create_topic(kit);
  const int32_t before = move_epoch(member, topic, second);
  member.heartbeat({.epoch = before})["errorCode"].is(ErrorCode::FENCED_MEMBER_EPOCH);
}

CASE(epoch_before_the_previous, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const Topic second = create_topic(kit);
  const int32_t before = move_epoch(member, topic, second);
  member.heartbeat({.epoch = before - 1, .owned = Partitions{}})["errorCode"].is(
      ErrorCode::FENCED_MEMBER_EPOCH);
}

CASE(unknown_member, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  ConsumerMember other(kit, member.group());
  other.heartbeat({.epoch = 3, .version = kit.version()})["errorCode"].is(
      ErrorCode::UNKNOWN_MEMBER_ID);
  other.try_leave()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(unknown_group, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  ConsumerMember member = new_member(kit);
  const Value answer = member.heartbeat({.epoch = 3, .version = kit.version()});
  answer["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  member.try_leave()["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  describe_consumer(kit, member.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(leave, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  auto [topic, member] = consumer_joined(kit);
  ConsumerMember again = member;
  const Value answer = member.heartbeat({.epoch = -1, .version = kit.version()});
  answer["errorCode"].is_none();
  answer["memberEpoch"].is(-1);
  answer["memberId"].is(member.id().c_str());
  again.heartbeat()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  expect_equal(consumer_state(kit, member.group()), "Empty", "state");
}

CASE(joins_again_after_leaving, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const int32_t epoch = member.epoch();
  member.leave();
  member.join({topic});
  expect(member.epoch() > epoch, "the epochs go on");
  member.until_assigned(partitions_of(topic));
}

CASE(closed_connection_removes_nobody, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  member.connection().close();
  const Value group = describe_consumer(kit, member.group());
  group["groupState"].is("Stable");
  group["members"].has_size(1);
}

CASE(join_that_owns_partitions, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit);
  expect_invalid(new_member(kit).try_join(
      {.names = {{topic.name}}, .owned = partitions_of(topic), .version = kit.version()}));
}

CASE(join_with_null_partitions, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit);
  expect_invalid(new_member(kit).heartbeat(
      {.epoch = 0, .names = {{topic.name}}, .rebalance_ms = 30000, .version = kit.version()}));
}

CASE(join_without_rebalance_timeout, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0,
     .last = 1) {
  const Topic topic = create_topic(kit);
  expect_invalid(new_member(kit).try_join(
      {.names = {{topic.name}}, .rebalance_ms = -1, .version = kit.version()}));
}

CASE(join_without_subscription, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  expect_invalid(new_member(kit).try_join({.version = kit.version()}));
}

CASE(join_with_an_empty_subscription, "KIP-848") {
  ConsumerMember member = new_member(kit);
  const Value answer = member.join({.names = std::vector<std::string>{}});
  expect_equal(read_partitions(answer["assignment"]["topicPartitions"]), Partitions{},
               "assignment");
  wait_for_consumer_state(kit, member.group(), "Stable");
}

CASE(empty_group_id, "KIP-848") {
  new_group(kit);
  const Topic topic = create_topic(kit);
  expect_invalid(ConsumerMember(kit, "").try_join({.names = {{topic.name}}}));
}

CASE(epochs_below_minus_two, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  expect_invalid(member.heartbeat({.epoch = -3}));
  expect_invalid(member.heartbeat({.epoch = INT32_MIN}));
}

CASE(minus_two_without_an_instance, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  expect_invalid(member.heartbeat({.epoch = -2}));
}

CASE(empty_instance_and_rack, "KIP-848") {
  const Topic topic = create_topic(kit);
  expect_invalid(ConsumerMember(kit, new_group(kit), "").try_join({.names = {{topic.name}}}));
  expect_invalid(new_member(kit).try_join({.names = {{topic.name}}, .rack = ""}));
}

CASE(unknown_assignor, "KIP-848", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit);
  ConsumerMember member = new_member(kit);
  const Value answer =
      member.try_join({.names = {{topic.name}}, .assignor = "nobody's", .version = kit.version()});
  answer["errorCode"].is(ErrorCode::UNSUPPORTED_ASSIGNOR);
  answer["errorMessage"].is_not_empty();
  describe_consumer(kit, member.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(unknown_topic, "KIP-848") {
  const Topic later = ghost_topic(kit);
  ConsumerMember member = new_member(kit);
  member.join({later});
  expect_equal(member.assigned(), Partitions{}, "assigned");
  // It comes into being, and is assigned without a word by the client.
  const Topic topic = create_topic(kit, 2, {}, later.name);
  member.until_assigned(partitions_of(topic));
}

CASE(topic_is_deleted, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  delete_topic(kit, topic);
  member.until_assigned({});
}

CASE(topic_grows, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  kit.ask("CreatePartitions", 3,
          {{"topics", list(Object{{"name", topic.name}, {"count", 3}, {"assignments", nullptr}})},
           {"timeoutMs", 10000}})["results"][0]["errorCode"]
      .is_none();
  Topic grown = topic;
  grown.partitions = 3;
  member.until_assigned(partitions_of(grown));
}

CASE(subscription_changes, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const Topic other = create_topic(kit, 2);
  member.heartbeat({.names = {{other.name}}})["errorCode"].is_none();
  member.until_assigned(partitions_of(other));
  member.heartbeat({.names = std::vector<std::string>{}})["errorCode"].is_none();
  member.until_assigned({});
}

CASE(rejoin_with_another_subscription, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const Topic other = create_topic(kit);
  member.join({other});
  member.until_assigned(partitions_of(other));
}

CASE(same_topic_twice, "KIP-848") {
  const Topic topic = create_topic(kit);
  ConsumerMember member = new_member(kit);
  member.join({topic, topic});
  member.until_assigned(partitions_of(topic));
}

CASE(group_of_another_kind, "KIP-848") {
  const Topic topic = create_topic(kit);
  ShareMember share(kit, new_group(kit));
  share.start_joining({topic});
  ConsumerMember member(kit, share.group());
  member.try_join({.names = {{topic.name}}})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(classic_group_of_another_type, "KIP-848") {
  const Topic topic = create_topic(kit);
  ClassicMember classic(kit, new_group(kit), {.protocol_type = "connect"});
  form_group(kit, {&classic});
  ConsumerMember member(kit, classic.group());
  member.try_join({.names = {{topic.name}}})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  classic.heartbeat().is_none();
}

CASE(partitions_that_it_was_not_given, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  Topic more = topic;
  more.partitions = 9;
  // With the current epoch it may say what it likes: what it may have does not change by it.
  member.heartbeat({.owned = partitions_of(more)})["errorCode"].is_none();
  member.until_assigned(partitions_of(topic));
}

CASE(topic_is_made_anew, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  delete_topic(kit, topic);
  const Topic again = create_topic(kit, 2, {}, topic.name);
  member.until_assigned(partitions_of(again));
}

CASE(session_ends, "KIP-848", .limit_s = 120) {
  const Topic topic = create_topic(kit, 3);
  const std::string group = new_group(kit);
  ConsumerMember lively(kit, group), silent(kit, group), away(kit, group, "away");
  const std::vector<ConsumerMember*> all = {&lively, &silent, &away};
  for (ConsumerMember* member : all) member->join({topic});
  settle(kit, all, partitions_of(topic));
  away.leave(-2);
  // The shortest session there is: 45 s. A static member that is away has no longer.
  const Stopwatch stopwatch;
  const auto alone = [&] {
    kit.pass(Millis{500});
    lively.beat();
    return lively.assigned() == partitions_of(topic);
  };
  kit.until("the partitions of the others come to the one that heartbeats", alone, Millis{90000});
  expect_between(stopwatch.elapsed().count(), 43000L, 85000L, "milliseconds of the session");
  silent.heartbeat()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  describe_consumer(kit, group)["members"].has_size(1);
}

}  // namespace ackord::conform
