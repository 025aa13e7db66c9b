// OffsetCommit: who may commit what, and what is kept of it.
#include <map>

#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/offsets.h"

namespace ackord::conform {

AREA("offsets.commit", "Committing offsets");

namespace {

// A version from 9 on is the first that tells a member of a consumer group of its group or epoch.
constexpr int16_t kFirstForConsumers = 9;

// Versions without a leader epoch commit none.
int32_t epoch_for(int16_t version, int32_t epoch) { return version >= 6 ? epoch : -1; }

CommitOptions as_member(const ClassicMember& member, int16_t version) {
  return {.version = version, .member = member.id(), .epoch = member.generation()};
}
CommitOptions as_member(const ConsumerMember& member, int16_t version) {
  return {.version = version, .member = member.id(), .epoch = member.epoch()};
}

}  // namespace

CASE(simple, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit, 2);
  const std::string group = new_group(kit);
  const Value answer = kit.ask("OffsetCommit", kit.version(),
                               commit_request(group,
                                              {{.topic = topic,
                                                .partition = 1,
                                                .offset = 42,
                                                .leader_epoch = epoch_for(kit.version(), 0),
                                                .metadata = "note"}},
                                              {.version = kit.version()}));
  answer["topics"].has_size(1);
  const Value answered = answer["topics"][0];
  if (kit.version() >= 10)
    answered["topicId"].is(topic.id.c_str());
  else
    answered["name"].is(topic.name.c_str());
  answered["partitions"].has_size(1);
  answered["partitions"][0]["partitionIndex"].is(1);
  answered["partitions"][0]["errorCode"].is_none();
  const Value part = committed(kit, group, topic, 1);
  part["errorCode"].is_none();
  part["committedOffset"].is(42);
  part["committedLeaderEpoch"].is(epoch_for(kit.version(), 0));
  part["metadata"].is("note");
}

CASE(makes_a_group, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const std::string group = new_group(kit);
  try_commit(kit, group, {.topic = create_topic(kit), .offset = 1}, {.version = kit.version()})
      .is_none();
  // Of no protocol, and without members.
  const Value described = describe_classic(kit, group);
  described["errorCode"].is_none();
  described["groupState"].is("Empty");
  described["protocolType"].is("");
}

CASE(last_one_counts, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  for (const int offset : {10, 20, 5})
    try_commit(kit, group, {.topic = topic, .offset = offset}, {.version = kit.version()})
        .is_none();
  expect_equal(committed_offset(kit, group, topic), 5, "committed offset");
}

CASE(beyond_the_end, "docs/SEMANTICS.md D.3") {
  // The log is not asked.
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, INT64_MAX);
  expect_equal(committed_offset(kit, group, topic), INT64_MAX, "committed offset");
}

CASE(negative_offset, "docs/SEMANTICS.md D.3") {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, -1);
  expect_equal(committed_offset(kit, group, topic), -1, "committed offset");
}

CASE(null_metadata, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  try_commit(kit, group, {.topic = topic, .offset = 3, .metadata = std::nullopt},
             {.version = kit.version()})
      .is_none();
  committed(kit, group, topic)["metadata"].is("");
}

CASE(metadata_too_large, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  const auto with_metadata = [&](size_t size) {
    return try_commit(kit, group, {.topic = topic, .offset = 3, .metadata = std::string(size, 'x')},
                      {.version = kit.version()});
  };
  with_metadata(4096).is_none();
  with_metadata(4097).is(ErrorCode::OFFSET_METADATA_TOO_LARGE);
}

CASE(one_of_several_is_wrong, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2,
     .last = 10) {
  const Topic topic = create_topic(kit, 2);
  const std::string group = new_group(kit);
  const Value topics =
      kit.ask("OffsetCommit", kit.version(),
              commit_request(group,
                             {{.topic = topic, .partition = 0, .offset = 3},
                              {.topic = topic, .partition = 1, .metadata = std::string(5000, 'x')}},
                             {.version = kit.version()}))["topics"];
  std::map<int64_t, ErrorCode> errors;
  for (const Value& one : topics.items())
    for (const Value& part : one["partitions"].items())
      errors[part["partitionIndex"].number()] = part["errorCode"].error();
  expect_equal(errors,
               (std::map<int64_t, ErrorCode>{{0, ErrorCode::NONE},
                                             {1, ErrorCode::OFFSET_METADATA_TOO_LARGE}}),
               "errors by partition");
  expect_equal(committed_offset(kit, group, topic, 0), 3, "committed offset");
}

CASE(unknown_topic, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const std::string group = new_group(kit);
  const Value error =
      try_commit(kit, group, {.topic = ghost_topic(kit)}, {.version = kit.version()});
  error.is(kit.version() >= 10 ? ErrorCode::UNKNOWN_TOPIC_ID
                               : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(unknown_partition, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  try_commit(kit, group, {.topic = topic, .partition = 1}, {.version = kit.version()})
      .is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(empty_group_id, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  new_group(kit);
  const Topic topic = create_topic(kit);
  // The empty name is a group here, as it was for clients that named none.
  try_commit(kit, "", {.topic = topic, .offset = 1}, {.version = kit.version()}).is_none();
}

CASE(nothing_to_commit, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const std::string group = new_group(kit);
  kit.ask("OffsetCommit", kit.version(),
          commit_request(group, {}, {.version = kit.version()}))["topics"]
      .has_size(0);
}

CASE(generation_of_no_group, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2,
     .last = 10) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  const Value error = try_commit(kit, group, {.topic = topic},
                                 {.version = kit.version(), .member = "nobody", .epoch = 3});
  error.is(kit.version() >= kFirstForConsumers ? ErrorCode::GROUP_ID_NOT_FOUND
                                               : ErrorCode::ILLEGAL_GENERATION);
}

CASE(classic_member, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  try_commit(kit, member.group(), {.topic = topic, .offset = 8}, as_member(member, kit.version()))
      .is_none();
  expect_equal(committed_offset(kit, member.group(), topic), 8, "committed offset");
}

CASE(classic_fencing, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const auto as = [&](const std::string& id, int32_t generation) {
    return try_commit(kit, member.group(), {.topic = topic},
                      {.version = kit.version(), .member = id, .epoch = generation});
  };
  as(member.id(), member.generation() + 1).is(ErrorCode::ILLEGAL_GENERATION);
  as(member.id(), member.generation() - 1).is(ErrorCode::ILLEGAL_GENERATION);
  as("nobody", member.generation()).is(ErrorCode::UNKNOWN_MEMBER_ID);
  // Without a member, as an admin or a simple consumer: not while the group has members.
  as("", -1).is(ErrorCode::UNKNOWN_MEMBER_ID);
  as(member.id(), -1).is(ErrorCode::ILLEGAL_GENERATION);
  expect_equal(committed_offset(kit, member.group(), topic), -1, "committed offset");
}

CASE(simple_when_the_group_is_empty, "docs/SEMANTICS.md D.3") {
  const Topic topic = create_topic(kit);
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  member.leave();
  commit(kit, member.group(), topic, 4);
  expect_equal(committed_offset(kit, member.group(), topic), 4, "committed offset");
}

CASE(while_gathering, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  ClassicMember a(kit, new_group(kit)), b(kit, a.group());
  form_group(kit, {&a});
  b.start_joining();
  wait_for_classic_state(kit, a.group(), "PreparingRebalance");
  // The member commits what it has done before it rejoins.
  try_commit(kit, a.group(), {.topic = topic, .offset = 9}, as_member(a, kit.version())).is_none();
}

CASE(before_the_sync, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  ClassicMember member(kit, new_group(kit));
  member.join();
  try_commit(kit, member.group(), {.topic = topic}, as_member(member, kit.version()))
      .is(ErrorCode::REBALANCE_IN_PROGRESS);
}

CASE(consumer_member, "KIP-848", .api = "OffsetCommit", .first = 2, .last = 10) {
  auto [topic, member] = consumer_joined(kit);
  const Value error = try_commit(kit, member.group(), {.topic = topic, .offset = 6},
                                 as_member(member, kit.version()));
  error.is(kit.version() >= kFirstForConsumers ? ErrorCode::NONE : ErrorCode::UNSUPPORTED_VERSION);
}

CASE(consumer_fencing, "KIP-848", .api = "OffsetCommit", .first = 9, .last = 10) {
  auto [topic, member] = consumer_joined(kit);
  const auto as = [&](const std::string& id, int32_t epoch) {
    return try_commit(kit, member.group(), {.topic = topic},
                      {.version = kit.version(), .member = id, .epoch = epoch});
  };
  as(member.id(), member.epoch() + 1).is(ErrorCode::STALE_MEMBER_EPOCH);
  as("nobody", member.epoch()).is(ErrorCode::UNKNOWN_MEMBER_ID);
  as("", -1).is(ErrorCode::UNKNOWN_MEMBER_ID);
  expect_equal(committed_offset(kit, member.group(), topic), -1, "committed offset");
}

CASE(consumer_epoch_since_the_assignment, "KIP-1251", .api = "OffsetCommit", .first = 9,
     .last = 10) {
  auto [topic, member] = consumer_joined(kit);
  const CommitOptions before = as_member(member, kit.version());
  const Topic second = create_topic(kit);
  member.heartbeat({.names = {{topic.name, second.name}}})["errorCode"].is_none();
  member.until_assigned(united({partitions_of(topic), partitions_of(second)}));
  // It has had the first partition since the old epoch, and so its late commit is good; the second
  // it has only since the new one.
  try_commit(kit, member.group(), {.topic = topic, .offset = 11}, before).is_none();
  try_commit(kit, member.group(), {.topic = second, .offset = 11}, before)
      .is(ErrorCode::STALE_MEMBER_EPOCH);
  expect_equal(committed_offset(kit, member.group(), topic), 11, "committed offset");
}

CASE(consumer_epoch_of_a_partition_that_moved, "KIP-1251", .api = "OffsetCommit", .first = 9,
     .last = 10) {
  auto [topic, a] = consumer_joined(kit, 2);
  const CommitOptions before = as_member(a, kit.version());
  ConsumerMember b(kit, a.group());
  b.join({topic});
  settle(kit, {&a, &b}, partitions_of(topic));
  const auto moved = static_cast<int32_t>(b.assigned().begin()->second);
  const auto kept = static_cast<int32_t>(a.assigned().begin()->second);
  try_commit(kit, a.group(), {.topic = topic, .partition = moved}, before)
      .is(ErrorCode::STALE_MEMBER_EPOCH);
  try_commit(kit, a.group(), {.topic = topic, .partition = kept, .offset = 2}, before).is_none();
}

CASE(empty_consumer_group, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  member.leave();
  commit(kit, member.group(), topic, 12);
  expect_equal(committed_offset(kit, member.group(), topic), 12, "committed offset");
}

CASE(many_partitions, "docs/SEMANTICS.md D.3") {
  const Topic topic = create_topic(kit, 50);
  const std::string group = new_group(kit);
  std::vector<OffsetPart> parts;
  for (int32_t i = 0; i < topic.partitions; ++i)
    parts.push_back({.topic = topic, .partition = i, .offset = 100 + i});
  const Value answer = kit.ask("OffsetCommit", 9, commit_request(group, parts, {.version = 9}));
  for (const Value& one : answer["topics"].items())
    for (const Value& part : one["partitions"].items()) part["errorCode"].is_none();
  expect_equal(committed_offset(kit, group, topic, 0), 100, "committed offset");
  expect_equal(committed_offset(kit, group, topic, 49), 149, "committed offset");
}

CASE(survives_the_members, "docs/SEMANTICS.md D.3") {
  auto [topic, member] = consumer_joined(kit);
  try_commit(kit, member.group(), {.topic = topic, .offset = 6}, as_member(member, 9)).is_none();
  member.leave();
  ConsumerMember next(kit, member.group());
  next.join({topic});
  expect_equal(committed_offset(kit, member.group(), topic), 6, "committed offset");
}

CASE(topic_is_deleted, "docs/SEMANTICS.md D.3") {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 6);
  delete_topic(kit, topic);
  // Its offsets go with it, and so does the group that had nothing else.
  kit.until("the offset is gone", [&] { return committed_offset(kit, group, topic) == -1; });
}

CASE(topic_is_made_anew, "KIP-848, KIP-516") {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 6);
  delete_topic(kit, topic);
  const Topic again = create_topic(kit, 1, {}, topic.name);
  kit.until("no offset of the old topic is there",
            [&] { return committed_offset(kit, group, again) == -1; });
}

CASE(known_and_unknown_topics, "docs/SEMANTICS.md D.3", .api = "OffsetCommit", .first = 2,
     .last = 10) {
  const Topic topic = create_topic(kit), ghost = ghost_topic(kit);
  const std::string group = new_group(kit);
  const Value topics =
      kit.ask("OffsetCommit", kit.version(),
              commit_request(group, {{.topic = ghost, .offset = 1}, {.topic = topic, .offset = 2}},
                             {.version = kit.version()}))["topics"];
  topics.has_size(2);
  const auto error_of = [&](const Topic& one) {
    const Value found = kit.version() >= 10 ? topics.with("topicId", json::value(one.id))
                                            : topics.with("name", json::value(one.name));
    return found["partitions"][0]["errorCode"];
  };
  error_of(ghost).is(kit.version() >= 10 ? ErrorCode::UNKNOWN_TOPIC_ID
                                         : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  error_of(topic).is_none();
  expect_equal(committed_offset(kit, group, topic), 2, "committed offset");
}

CASE(id_of_a_deleted_topic, "KIP-848, KIP-516") {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  delete_topic(kit, topic);
  create_topic(kit, 1, {}, topic.name);
  try_commit(kit, group, {.topic = topic}, {.version = 10}).is(ErrorCode::UNKNOWN_TOPIC_ID);
}

}  // namespace ackord::conform
