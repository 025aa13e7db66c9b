// Share groups' offsets as admins see and set them: DescribeShareGroupOffsets with its lag
// (KIP-1226), AlterShareGroupOffsets, DeleteShareGroupOffsets.
#include "tools/conform/kit/share_offsets.h"

#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.offsets", "Offsets of share groups: describe, alter, delete (KIP-932, KIP-1226)");

namespace {

constexpr const char* kNoId = "AAAAAAAAAAAAAAAAAAAAAA";

// The group has no member any more, and its partition's leader has forgotten it.
void retire(ShareMember& member) {
  if (member.session_epoch() > 0) member.close_session();
  member.leave();
  member.disconnect();
}

// A group without members that has accepted this many of ten records.
Acquired retired_group(Kit& kit, int64_t accepted) {
  Acquired out = acquired_records(kit);
  out.member.acknowledge(out.topic, 0, accepted - 1).is_none();
  retire(out.member);
  kit.until("the start has moved", [&] {
    return describe_offset(kit, out.member.group(), out.topic)["startOffset"].number() == accepted;
  });
  return out;
}

// What a new member of the group is handed of the topic.
Ranges acquired_anew(Kit& kit, const std::string& group, const Topic& topic) {
  ShareMember member(kit, group);
  member.join({topic});
  return member.acquire(topic);
}

void refused(const Value& answer, ErrorCode error) {
  answer["errorCode"].is(error);
  answer["errorMessage"].is_not_empty();
  answer["responses"].has_size(0);
}

Value part_of(const Value& answer, const std::string& topic, int32_t partition) {
  return answer["responses"].with("topicName", topic.c_str())["partitions"].with("partitionIndex",
                                                                                 partition);
}

}  // namespace

// ---------------------------------------------------------------- DescribeShareGroupOffsets

CASE(no_groups, "KIP-932", .api = "DescribeShareGroupOffsets", .first = 0, .last = 1) {
  kit.ask("DescribeShareGroupOffsets", kit.version(), {{"groups", list()}})["groups"].has_size(0);
}

CASE(unknown_group, "docs/SEMANTICS.md A.13", .api = "DescribeShareGroupOffsets", .first = 0,
     .last = 1) {
  const Topic topic = create_topic(kit);
  const std::string group = kit.name("g");
  const Value all = describe_offsets(kit, group, {}, kit.version());
  all["errorCode"].is_none();
  all["topics"].has_size(0);
  const Value part = describe_offset(kit, group, topic, 0, kit.version());
  part["errorCode"].is_none();
  part["startOffset"].is(-1);
  if (kit.version() >= 1) part["lag"].is(-1);
}

CASE(joined_but_unused, "KIP-932", .api = "DescribeShareGroupOffsets", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit, 2);
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  const Value group = describe_offsets(kit, member.group(), {}, kit.version());
  group["errorCode"].is_none();
  group["errorMessage"].is_null();
  group["topics"].has_size(1);
  group["topics"][0]["topicName"].is(topic.name.c_str());
  group["topics"][0]["topicId"].is(topic.id.c_str());
  group["topics"][0]["partitions"].has_size(2);
  for (int32_t i = 0; i < 2; ++i) {
    const Value part = group["topics"][0]["partitions"].with("partitionIndex", i);
    part["errorCode"].is_none();
    part["startOffset"].is(-1);
    part["leaderEpoch"].is(0);
    if (kit.version() >= 1) part["lag"].is(-1);
  }
}

// What a leader has only in memory is not seen: the first acknowledgement stores it.
CASE(stored_by_the_first_acknowledgement, "KIP-932", .api = "DescribeShareGroupOffsets", .first = 0,
     .last = 1) {
  auto [topic, member] = acquired_records(kit);
  describe_offset(kit, member.group(), topic, 0, kit.version())["startOffset"].is(-1);
  member.acknowledge(topic, 2, 2).is_none();
  const Value part = describe_offset(kit, member.group(), topic, 0, kit.version());
  part["errorCode"].is_none();
  part["errorMessage"].is_null();
  part["startOffset"].is(0);
  part["leaderEpoch"].is(0);
  if (kit.version() >= 1) part["lag"].is(9);
}

CASE(lag, "KIP-1226") {
  auto [topic, member] = acquired_records(kit);
  const auto expect_lag = [&](int64_t lag) {
    describe_offset(kit, member.group(), topic)["lag"].is(lag);
  };
  member.acknowledge(topic, 6, 7, {kReject}).is_none();
  expect_lag(8);
  member.acknowledge(topic, 0, 4).is_none();
  expect_lag(3);
  member.acknowledge(topic, 5, 5, {kRelease}).is_none();
  expect_lag(3);
  produce(kit, topic, numbered(3));
  expect_lag(6);
  member.acknowledge(topic, 8, 9, {kGap}).is_none();
  expect_lag(4);
}

CASE(start_follows_what_is_finished, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 1).is_none();
  member.acknowledge(topic, 4, 9).is_none();
  kit.until("the start has moved", [&] {
    return describe_offset(kit, member.group(), topic)["startOffset"].number() == 2;
  });
  member.acknowledge(topic, 2, 3, {kReject}).is_none();
  kit.until("the start is the end",
            [&] { return describe_offset(kit, member.group(), topic)["lag"].number() == 0; });
}

CASE(named_partitions, "KIP-932") {
  const Topic topic = create_topic(kit, 2);
  alter_offset(kit, kit.name("g"), topic, 0);
  const std::string group = kit.name("g");
  alter_offset(kit, group, topic, 0, 1);
  const Value part =
      describe_offsets(kit, group, {{{.topic = topic.name, .partitions = {1, 0}}}})["topics"][0];
  part["topicId"].is(topic.id.c_str());
  part["partitions"].has_size(2);
  part["partitions"].with("partitionIndex", 0)["startOffset"].is(-1);
  part["partitions"].with("partitionIndex", 1)["startOffset"].is(0);
}

CASE(topic_that_is_not_there, "docs/SEMANTICS.md A.13") {
  auto [topic, member] = acquired_records(kit);
  const Value topics = describe_offsets(
      kit, member.group(), {{{.topic = kit.name("ghost"), .partitions = {0, 3}}}})["topics"];
  topics.has_size(1);
  topics[0]["topicId"].is(kNoId);
  topics[0]["partitions"].has_size(2);
  for (const Value& part : topics[0]["partitions"].items()) {
    part["errorCode"].is_none();
    part["startOffset"].is(-1);
    part["lag"].is(-1);
  }
}

CASE(topic_that_the_group_does_not_read, "docs/SEMANTICS.md A.13") {
  auto [topic, member] = acquired_records(kit);
  expect_offset(kit, member.group(), create_topic(kit), -1, -1);
}

// Kafka 4.4 never answers this; an error of the partition is of use.
CASE(partition_that_is_not_there, "docs/SEMANTICS.md A.13") {
  auto [topic, member] = acquired_records(kit);
  Connection& connection = kit.connect();
  const Sent sent = connection.send(
      "DescribeShareGroupOffsets", 1,
      {{"groups", list(Object{{"groupId", member.group()},
                              {"topics", list(Object{{"topicName", topic.name},
                                                     {"partitions", list(7)}})}})}});
  if (!connection.readable_within(Millis(1000))) return;
  const Value part = connection.receive(sent)["groups"][0]["topics"][0]["partitions"][0];
  part["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(no_topics, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const Value group = describe_offsets(kit, member.group(), std::vector<ShareOffsetPart>{});
  group["errorCode"].is_none();
  group["topics"].has_size(0);
}

// Kafka 4.4 answers UNKNOWN_SERVER_ERROR; nothing to tell is no error.
CASE(topic_without_partitions, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const Value group =
      describe_offsets(kit, member.group(), {{{.topic = topic.name, .partitions = {}}}});
  group["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::UNKNOWN_SERVER_ERROR});
}

CASE(several_groups, "KIP-932", .api = "DescribeShareGroupOffsets", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit);
  const std::string first = kit.name("g");
  const std::string second = kit.name("g");
  alter_offset(kit, first, topic, 0);
  alter_offset(kit, second, topic, 5);
  const Value groups =
      kit.ask("DescribeShareGroupOffsets", kit.version(),
              {{"groups", list(Object{{"groupId", first}, {"topics", nullptr}},
                               Object{{"groupId", kit.name("g")}, {"topics", nullptr}},
                               Object{{"groupId", second}, {"topics", nullptr}})}})["groups"];
  groups.has_size(3);
  const auto start = [&](const std::string& group) {
    const Value topics = groups.with("groupId", group.c_str())["topics"];
    return topics[0]["partitions"][0]["startOffset"];
  };
  start(first).is(0);
  start(second).is(5);
}

CASE(deleted_topic_is_forgotten, "docs/SEMANTICS.md A.13") {
  const Topic kept = create_topic(kit);
  const Topic gone = create_topic(kit);
  const std::string group = kit.name("g");
  alter_offset(kit, group, kept, 0);
  alter_offset(kit, group, gone, 0);
  delete_topic(kit, gone);
  // Kafka 4.4 does not answer while only one of its coordinators has seen the deletion.
  const Object request{{"groups", list(Object{{"groupId", group}, {"topics", nullptr}})}};
  kit.until("the group has forgotten the topic", [&] {
    Connection& connection = kit.connect();
    const Sent sent = connection.send("DescribeShareGroupOffsets", 1, request);
    if (!connection.readable_within(Millis(1000))) return false;
    const Value topics = connection.receive(sent)["groups"][0]["topics"];
    return topics.size() == 1 && topics[0]["topicName"].text() == kept.name;
  });
}

// ---------------------------------------------------------------- AlterShareGroupOffsets

CASE(alter, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  const Value answer = try_alter_offsets(kit, member.group(), {{.topic = topic.name, .offset = 2}});
  answer["errorCode"].is_none();
  answer["errorMessage"].is_null();
  answer["responses"].has_size(1);
  answer["responses"][0]["topicName"].is(topic.name.c_str());
  answer["responses"][0]["topicId"].is(topic.id.c_str());
  answer["responses"][0]["partitions"].has_size(1);
  part_of(answer, topic.name, 0)["errorCode"].is_none();
  part_of(answer, topic.name, 0)["errorMessage"].is_null();
  expect_offset(kit, member.group(), topic, 2, 8);
}

CASE(alter_then_consume, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  alter_offset(kit, member.group(), topic, 2);
  expect_equal(acquired_anew(kit, member.group(), topic), Ranges{{2, 9, 1}}, "acquired");
}

CASE(alter_forward_then_consume, "KIP-932") {
  auto [topic, member] = retired_group(kit, 2);
  alter_offset(kit, member.group(), topic, 8);
  expect_equal(acquired_anew(kit, member.group(), topic), Ranges{{8, 9, 1}}, "acquired");
}

CASE(alter_clears_delivery_counts, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 9, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired the second time");
  retire(member);
  alter_offset(kit, member.group(), topic, 0);
  expect_equal(acquired_anew(kit, member.group(), topic), Ranges{{0, 9, 1}}, "acquired after it");
}

CASE(alter_live_group, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  refused(try_alter_offsets(kit, member.group(), {{.topic = topic.name, .offset = 2}}),
          ErrorCode::NON_EMPTY_GROUP);
  refused(try_alter_offsets(kit, member.group(), {{.topic = kit.name("ghost")}}),
          ErrorCode::NON_EMPTY_GROUP);
  describe_offset(kit, member.group(), topic)["startOffset"].is(-1);
}

CASE(alter_creates_the_group, "KIP-932") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(10));
  const std::string group = kit.name("g");
  alter_offset(kit, group, topic, 4);
  expect_offset(kit, group, topic, 4, 6);
  describe_share_group(kit, group)["groupState"].is("Empty");
  // The group's reset policy, latest, does not matter any more.
  expect_equal(acquired_anew(kit, group, topic), Ranges{{4, 9, 1}}, "acquired");
}

CASE(alter_topic_that_is_not_subscribed, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  const Topic other = create_topic(kit);
  produce(kit, other, numbered(3));
  alter_offset(kit, member.group(), other, 1);
  expect_offset(kit, member.group(), other, 1, 2);
  describe_offsets(kit, member.group())["topics"].has_size(2);
}

CASE(alter_unknown_among_known, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  const std::string ghost = kit.name("ghost");
  const Value answer = try_alter_offsets(kit, member.group(),
                                         {{.topic = topic.name, .offset = 2},
                                          {.topic = topic.name, .offset = 2, .partition = 7},
                                          {.topic = ghost, .offset = 0}});
  answer["errorCode"].is_none();
  part_of(answer, topic.name, 0)["errorCode"].is_none();
  part_of(answer, topic.name, 7)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  part_of(answer, topic.name, 7)["errorMessage"].is_not_empty();
  part_of(answer, ghost, 0)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  answer["responses"].with("topicName", ghost.c_str())["topicId"].is(kNoId);
  expect_offset(kit, member.group(), topic, 2, 8);
}

CASE(alter_only_unknown_creates_no_group, "KIP-932") {
  const std::string group = kit.name("g");
  const std::string ghost = kit.name("ghost");
  const Value answer = try_alter_offsets(kit, group, {{.topic = ghost, .offset = 4}});
  answer["errorCode"].is_none();
  part_of(answer, ghost, 0)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  describe_share_group(kit, group)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(alter_to_minus_1_forgets, "docs/SEMANTICS.md A.6") {
  auto [topic, member] = retired_group(kit, 5);
  alter_offset(kit, member.group(), topic, -1);
  expect_offset(kit, member.group(), topic, -1, -1);
  expect_equal(acquired_anew(kit, member.group(), topic), Ranges{{0, 9, 1}},
               "acquired by the reset policy");
}

CASE(alter_beyond_the_end, "docs/SEMANTICS.md A.13") {
  auto [topic, member] = retired_group(kit, 5);
  alter_offset(kit, member.group(), topic, 2000);
  describe_offset(kit, member.group(), topic)["startOffset"].is(2000);
}

CASE(alter_empty_group_id, "KIP-932") {
  const Topic topic = create_topic(kit);
  wait_for_coordinator(kit, CoordinatorKind::kGroup, kit.name("g"));
  refused(kit.ask("AlterShareGroupOffsets", 0,
                  {{"groupId", ""},
                   {"topics", list(Object{{"topicName", topic.name},
                                          {"partitions", list(Object{{"partitionIndex", 0},
                                                                     {"startOffset", 0}})}})}}),
          ErrorCode::INVALID_GROUP_ID);
}

CASE(alter_nothing, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  const Value answer = try_alter_offsets(kit, member.group(), {});
  answer["errorCode"].is_none();
  answer["responses"].has_size(0);
}

// Kafka 4.4 answers UNKNOWN_SERVER_ERROR for the whole request.
CASE(alter_negative_partition, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  const Value answer =
      try_alter_offsets(kit, member.group(), {{.topic = topic.name, .offset = 2, .partition = -1}});
  if (answer["errorCode"].error() == ErrorCode::NONE)
    part_of(answer, topic.name, -1)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  else
    answer["errorCode"].is(ErrorCode::UNKNOWN_SERVER_ERROR);
  expect_offset(kit, member.group(), topic, 5, 5);
}

// A session that lives on without its member: what it holds is void, whatever the error is called.
CASE(alter_fences_what_is_in_flight, "docs/SEMANTICS.md A.6") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 4).is_none();
  member.leave();
  alter_offset(kit, member.group(), topic, 2);
  member.acknowledge(topic, 5, 9)
      .is_one_of({ErrorCode::NOT_LEADER_OR_FOLLOWER, ErrorCode::FENCED_STATE_EPOCH,
                  ErrorCode::INVALID_RECORD_STATE, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION});
  expect_offset(kit, member.group(), topic, 2, 8);
  Ranges acquired;
  kit.until("the records are handed out again", [&] {
    acquired = member.fetch(topic).acquired;
    return !acquired.empty();
  });
  expect_equal(acquired, Ranges{{2, 9, 1}}, "acquired");
}

// The session is closed, but its connection lives. Kafka 4.4 keeps the partition in memory then,
// and the new offset comes into force only when something is written with the old state epoch.
CASE(alter_under_a_leader_that_remembers, "docs/SEMANTICS.md A.6") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 4).is_none();
  member.close_session();
  member.leave();
  alter_offset(kit, member.group(), topic, 2);
  expect_offset(kit, member.group(), topic, 2, 8);
  const Ranges acquired = acquired_anew(kit, member.group(), topic);
  expect(acquired == Ranges{{2, 9, 1}} || acquired == Ranges{{5, 9, 2}},
         "acquired from 2 anew, or from 5 again: " + show(acquired));
}

// ---------------------------------------------------------------- DeleteShareGroupOffsets

CASE(remove, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  const Topic other = create_topic(kit);
  alter_offset(kit, member.group(), other, 0);
  const Value answer = try_delete_offsets(kit, member.group(), {topic.name});
  answer["errorCode"].is_none();
  answer["errorMessage"].is_null();
  answer["responses"].has_size(1);
  answer["responses"][0]["topicName"].is(topic.name.c_str());
  answer["responses"][0]["topicId"].is(topic.id.c_str());
  answer["responses"][0]["errorCode"].is_none();
  answer["responses"][0]["errorMessage"].is_null();
  const Value topics = describe_offsets(kit, member.group())["topics"];
  topics.has_size(1);
  topics[0]["topicName"].is(other.name.c_str());
  expect_offset(kit, member.group(), topic, -1, -1);
}

CASE(remove_then_consume, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  try_delete_offsets(kit, member.group(), {topic.name})["responses"][0]["errorCode"].is_none();
  expect_equal(acquired_anew(kit, member.group(), topic), Ranges{{0, 9, 1}}, "acquired");
}

CASE(remove_of_all_partitions, "KIP-932") {
  const Topic topic = create_topic(kit, 3);
  const std::string group = kit.name("g");
  for (int32_t i = 0; i < 3; ++i) alter_offset(kit, group, topic, 0, i);
  try_delete_offsets(kit, group, {topic.name})["responses"][0]["errorCode"].is_none();
  for (int32_t i = 0; i < 3; ++i) expect_offset(kit, group, topic, -1, -1, i);
  describe_share_group(kit, group)["groupState"].is("Empty");
}

CASE(remove_what_is_not_there, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  const Topic unused = create_topic(kit);
  const std::string ghost = kit.name("ghost");
  const Value answer = try_delete_offsets(kit, member.group(), {unused.name, topic.name, ghost});
  answer["errorCode"].is_none();
  answer["responses"].has_size(3);
  answer["responses"].with("topicName", topic.name.c_str())["errorCode"].is_none();
  for (const std::string& name : {unused.name, ghost}) {
    const Value one = answer["responses"].with("topicName", name.c_str());
    one["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    one["errorMessage"].is_not_empty();
    one["topicId"].is(kNoId);
  }
}

CASE(remove_twice, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  try_delete_offsets(kit, member.group(), {topic.name})["responses"][0]["errorCode"].is_none();
  try_delete_offsets(kit, member.group(), {topic.name})["responses"][0]["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(remove_from_a_live_group, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 4).is_none();
  refused(try_delete_offsets(kit, member.group(), {topic.name}), ErrorCode::NON_EMPTY_GROUP);
  refused(try_delete_offsets(kit, member.group(), {kit.name("ghost")}), ErrorCode::NON_EMPTY_GROUP);
  describe_offset(kit, member.group(), topic)["lag"].is(5);
}

CASE(remove_from_an_unknown_group, "KIP-932") {
  const Topic topic = create_topic(kit);
  refused(try_delete_offsets(kit, kit.name("g"), {topic.name}), ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(remove_empty_group_id, "KIP-932") {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, kit.name("g"));
  refused(kit.ask("DeleteShareGroupOffsets", 0,
                  {{"groupId", ""}, {"topics", list(Object{{"topicName", "x"}})}}),
          ErrorCode::INVALID_GROUP_ID);
}

CASE(remove_nothing, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  const Value answer = try_delete_offsets(kit, member.group(), {});
  answer["errorCode"].is_none();
  answer["responses"].has_size(0);
  expect_offset(kit, member.group(), topic, 5, 5);
}

CASE(alter_after_remove, "KIP-932") {
  auto [topic, member] = retired_group(kit, 5);
  try_delete_offsets(kit, member.group(), {topic.name})["responses"][0]["errorCode"].is_none();
  alter_offset(kit, member.group(), topic, 3);
  expect_offset(kit, member.group(), topic, 3, 7);
}

}  // namespace ackord::conform
