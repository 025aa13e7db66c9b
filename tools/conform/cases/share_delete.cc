// Deleting share groups, and one name that two kinds of groups want.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/share_member.h"
#include "tools/conform/kit/share_offsets.h"
#include "tools/conform/kit/share_state.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("share.delete", "Deleting share groups; a name for one kind of group only (KIP-932)");

namespace {

// Its member has accepted some of ten records, and has gone with its session and its connection.
Acquired retired_group(Kit& kit) {
  Acquired out = acquired_records(kit);
  out.member.acknowledge(out.topic, 0, 4).is_none();
  out.member.close_session();
  out.member.leave();
  out.member.disconnect();
  return out;
}

// A member of a share group, whose name others want.
struct Joined {
  Topic topic;
  ShareMember member;
};
Joined joined(Kit& kit) {
  Joined out{create_topic(kit), ShareMember(kit, kit.name("g"))};
  out.member.join({out.topic});
  return out;
}

Object offset_topic(const Topic& topic, int16_t version) {
  Object partition{{"partitionIndex", 0}, {"committedOffset", 1}, {"committedMetadata", ""}};
  Object out{{"partitions", list(partition)}};
  if (version >= 10)
    out["topicId"] = topic.id;
  else
    out["name"] = topic.name;
  return out;
}

// All that asks for a share group says that there is none.
void expect_no_share_group(Kit& kit, const std::string& group, const Topic& topic) {
  ShareMember member(kit, group);
  for (const int32_t epoch : {0, 5, -1})
    member.heartbeat({.names = {{topic.name}}, .epoch = epoch})["errorCode"].is(
        ErrorCode::GROUP_ID_NOT_FOUND);
  describe_share_group(kit, group)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  try_alter_offsets(kit, group, {{.topic = topic.name, .offset = 3}})["errorCode"].is(
      ErrorCode::GROUP_ID_NOT_FOUND);
  try_delete_offsets(kit, group, {topic.name})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  const Value offsets = describe_offsets(kit, group);
  offsets["errorCode"].is_none();
  offsets["topics"].has_size(0);
}

}  // namespace

CASE(live_group, "KIP-932", .api = "DeleteGroups", .first = 0, .last = 3) {
  auto [topic, member] = joined(kit);
  delete_group(kit, member.group(), kit.version())["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  member.heartbeat()["errorCode"].is_none();
}

CASE(empty_group, "KIP-932", .api = "DeleteGroups", .first = 0, .last = 3) {
  auto [topic, member] = retired_group(kit);
  delete_group(kit, member.group(), kit.version())["errorCode"].is_none();
  describe_share_group(kit, member.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  expect(!listed(kit, member.group()).has_value(), "it is listed no more");
  delete_group(kit, member.group(), kit.version())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(each_group_has_its_result, "KIP-932") {
  auto [topic, member] = joined(kit);
  const std::string unknown = kit.name("g");
  const std::string empty = kit.name("g");
  alter_offset(kit, empty, topic, 0);
  const Value results = kit.ask("DeleteGroups", 2,
                                {{"groupsNames", list(member.group(), unknown, empty)}})["results"];
  results.has_size(3);
  const auto error = [&](const std::string& group) {
    return results.with("groupId", group.c_str())["errorCode"];
  };
  error(member.group()).is(ErrorCode::NON_EMPTY_GROUP);
  error(unknown).is(ErrorCode::GROUP_ID_NOT_FOUND);
  error(empty).is_none();
}

CASE(offsets_go_with_it, "KIP-932") {
  auto [topic, member] = retired_group(kit);
  delete_group(kit, member.group())["errorCode"].is_none();
  describe_offsets(kit, member.group())["topics"].has_size(0);
  expect_offset(kit, member.group(), topic, -1, -1);
}

CASE(stored_state_goes_with_it, "docs/SEMANTICS.md A.6") {
  auto [topic, member] = retired_group(kit);
  SharePartitionState state(kit, topic, member.group());
  state.read(0)["errorCode"].is_none();
  delete_group(kit, member.group())["errorCode"].is_none();
  state.read(0)["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(recreated_starts_by_its_policy, "KIP-932") {
  auto [topic, member] = retired_group(kit);
  delete_group(kit, member.group())["errorCode"].is_none();
  // The configs of the group are still there.
  ShareMember again(kit, member.group());
  again.join({topic});
  expect_equal(again.acquire(topic), Ranges{{0, 9, 1}}, "acquired");
}

CASE(members_are_gone, "KIP-932") {
  auto [topic, member] = retired_group(kit);
  const int32_t epoch = 3;
  delete_group(kit, member.group())["errorCode"].is_none();
  ShareMember late(kit, member.group(), member.id());
  late.heartbeat({.epoch = epoch})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  late.heartbeat({.epoch = -1})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(after_alter, "KIP-932") {
  const std::string group = kit.name("g");
  alter_offset(kit, group, create_topic(kit), 0);
  delete_group(kit, group)["errorCode"].is_none();
  describe_share_group(kit, group)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(after_its_topic, "KIP-932") {
  auto [topic, member] = retired_group(kit);
  delete_topic(kit, topic);
  kit.until("the group is deleted", [&] {
    return delete_group(kit, member.group())["errorCode"].error() == ErrorCode::NONE;
  });
}

CASE(name_is_free_for_a_consumer_group, "KIP-932") {
  auto [topic, member] = retired_group(kit);
  delete_group(kit, member.group())["errorCode"].is_none();
  ConsumerMember consumer(kit, member.group());
  consumer.join({topic});
  (*listed(kit, member.group()))["groupType"].is("consumer");
}

CASE(name_is_free_for_a_classic_group, "KIP-932") {
  auto [topic, member] = retired_group(kit);
  delete_group(kit, member.group())["errorCode"].is_none();
  ClassicMember classic(kit, member.group());
  form_group(kit, {&classic});
  (*listed(kit, member.group()))["groupType"].is("classic");
}

// A record acknowledged to a group that is gone is acknowledged to nobody.
CASE(session_without_its_group, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 4).is_none();
  member.leave();
  delete_group(kit, member.group())["errorCode"].is_none();
  const Value late = member.acknowledge(topic, 5, 9);
  expect(late.error() != ErrorCode::NONE, "the acknowledgement is refused");
  describe_offsets(kit, member.group())["topics"].has_size(0);
}

// ---------------------------------------------------------------- the name of a share group

CASE(classic_join_on_it, "KIP-932", .api = "JoinGroup", .first = 0, .last = 9) {
  auto [topic, member] = joined(kit);
  ClassicMember classic(kit, member.group(), {.version = kit.version()});
  classic.try_join()["errorCode"].is(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  member.leave();
  classic.try_join()["errorCode"].is(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
}

CASE(classic_requests_on_it, "KIP-932") {
  auto [topic, member] = joined(kit);
  ClassicMember classic(kit, member.group());
  classic.set_id("x");
  classic.set_generation(1);
  classic.set_protocol("range");
  classic.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
  classic.try_sync()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  const Value left = classic.try_leave();
  left["errorCode"].is_none();
  left["members"][0]["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(consumer_heartbeat_on_it, "KIP-932", .api = "ConsumerGroupHeartbeat", .first = 0, .last = 1) {
  auto [topic, member] = joined(kit);
  ConsumerMember consumer(kit, member.group(), {}, "x");
  const ConsumerBeat beat{.names = {{topic.name}}, .version = kit.version()};
  consumer.try_join(beat)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  consumer.heartbeat({.epoch = 5, .version = kit.version()})["errorCode"].is(
      ErrorCode::GROUP_ID_NOT_FOUND);
  member.leave();
  consumer.try_join(beat)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  describe_share_group(kit, member.group())["groupState"].is("Empty");
}

CASE(offset_commit_on_it, "KIP-932", .api = "OffsetCommit", .first = 2, .last = 10) {
  auto [topic, member] = joined(kit);
  const Object request{{"groupId", member.group()},
                       {"generationIdOrMemberEpoch", -1},
                       {"memberId", ""},
                       {"topics", list(offset_topic(topic, kit.version()))}};
  const auto error = [&] {
    return kit.ask("OffsetCommit", kit.version(),
                   request)["topics"][0]["partitions"][0]["errorCode"];
  };
  error().is(ErrorCode::GROUP_ID_NOT_FOUND);
  member.leave();
  error().is(ErrorCode::GROUP_ID_NOT_FOUND);
}

// It has no committed offsets, as if it did not exist.
CASE(offset_fetch_on_it, "KIP-932", .api = "OffsetFetch", .first = 8, .last = 9) {
  auto [topic, member] = joined(kit);
  const Value group = kit.ask(
      "OffsetFetch", kit.version(),
      {{"groups",
        list(Object{{"groupId", member.group()},
                    {"topics", list(Object{{"name", topic.name},
                                           {"partitionIndexes", list(0)}})}})}})["groups"][0];
  group["errorCode"].is_none();
  const Value part = group["topics"][0]["partitions"][0];
  part["errorCode"].is_none();
  part["committedOffset"].is(-1);
}

CASE(offset_delete_on_it, "KIP-932") {
  auto [topic, member] = joined(kit);
  const Object request{
      {"groupId", member.group()},
      {"topics",
       list(Object{{"name", topic.name}, {"partitions", list(Object{{"partitionIndex", 0}})}})}};
  kit.ask("OffsetDelete", 0, request)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(transactional_offsets_on_it, "KIP-932", .api = "TxnOffsetCommit", .first = 3, .last = 5) {
  auto [topic, member] = joined(kit);
  TxnProducer producer(kit, kit.version() >= 5 ? TxnVersion::kTwo : TxnVersion::kOne);
  producer.init();
  if (kit.version() < 5) producer.add_group(member.group());
  const Value part =
      producer.try_commit_offset(member.group(), topic, {.offset = 1, .version = kit.version()});
  part["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  producer.abort();
}

// ---------------------------------------------------------------- the name of another group

CASE(share_requests_on_a_consumer_group, "KIP-932") {
  auto [topic, consumer] = consumer_joined(kit);
  expect_no_share_group(kit, consumer.group(), topic);
  consumer.leave();
  expect_no_share_group(kit, consumer.group(), topic);
}

CASE(share_requests_on_a_classic_group, "KIP-932") {
  const Topic topic = create_topic(kit);
  ClassicMember classic(kit, new_group(kit));
  form_group(kit, {&classic});
  expect_no_share_group(kit, classic.group(), topic);
  classic.leave();
  expect_no_share_group(kit, classic.group(), topic);
}

// A group that only commits offsets is a classic one.
CASE(share_requests_on_committed_offsets, "KIP-932") {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  const Value answer = kit.ask("OffsetCommit", 8,
                               {{"groupId", group},
                                {"generationIdOrMemberEpoch", -1},
                                {"memberId", ""},
                                {"topics", list(offset_topic(topic, 8))}});
  answer["topics"][0]["partitions"][0]["errorCode"].is_none();
  expect_no_share_group(kit, group, topic);
}

}  // namespace ackord::conform
