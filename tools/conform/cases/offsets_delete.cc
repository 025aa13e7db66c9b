// OffsetDelete and DeleteGroups: what may be deleted while whom.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/offsets.h"

namespace ackord::conform {

AREA("offsets.delete", "Deleting offsets and groups");

namespace {

// The error code of one partition; the request itself must succeed.
Value delete_offset(Kit& kit, const std::string& group, const Topic& topic, int32_t partition = 0) {
  const Value answer = delete_offsets(kit, group, {{.topic = topic, .partition = partition}});
  answer["errorCode"].is_none();
  return answer["topics"][0]["partitions"][0]["errorCode"];
}

}  // namespace

CASE(one_offset, "KIP-496") {
  const Topic topic = create_topic(kit, 2);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 1, 0);
  commit(kit, group, topic, 2, 1);
  const Value answer = delete_offsets(kit, group, {{.topic = topic}});
  answer["errorCode"].is_none();
  answer["topics"].has_size(1);
  answer["topics"][0]["name"].is(topic.name.c_str());
  answer["topics"][0]["partitions"][0]["partitionIndex"].is(0);
  answer["topics"][0]["partitions"][0]["errorCode"].is_none();
  expect_equal(committed_offset(kit, group, topic, 0), -1, "the deleted offset");
  expect_equal(committed_offset(kit, group, topic, 1), 2, "the other offset");
}

CASE(offset_that_was_never_committed, "KIP-496") {
  const Topic topic = create_topic(kit, 2);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 1);
  delete_offset(kit, group, topic, 1).is_none();
  expect_equal(committed_offset(kit, group, topic), 1, "the other offset");
}

CASE(offset_of_an_unknown_topic, "KIP-496") {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 1);
  delete_offset(kit, group, ghost_topic(kit)).is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  delete_offset(kit, group, topic, 5).is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(offset_of_an_unknown_group, "KIP-496") {
  const Topic topic = create_topic(kit);
  const Value answer = delete_offsets(kit, new_group(kit), {{.topic = topic}});
  answer["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  answer["topics"].has_size(0);
}

CASE(unknown_topics_of_an_unknown_group, "KIP-496") {
  for (const std::vector<OffsetPart>& parts :
       {std::vector<OffsetPart>{}, std::vector<OffsetPart>{{.topic = ghost_topic(kit)}}}) {
    const Value answer = delete_offsets(kit, new_group(kit), parts);
    answer["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
    answer["topics"].has_size(0);
  }
}

CASE(no_offsets, "KIP-496") {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 1);
  const Value answer = delete_offsets(kit, group, {});
  answer["errorCode"].is_none();
  answer["topics"].has_size(0);
  expect_equal(committed_offset(kit, group, topic), 1, "the offset");
}

CASE(last_offset_of_a_simple_group, "KIP-496") {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 1);
  delete_offset(kit, group, topic).is_none();
  expect_equal(committed_offset(kit, group, topic), -1, "committed offset");
}

CASE(topics_that_a_consumer_group_reads, "KIP-496, KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const Topic other = create_topic(kit);
  const auto as_member = CommitOptions{.member = member.id(), .epoch = member.epoch()};
  try_commit(kit, member.group(), {.topic = topic, .offset = 1}, as_member).is_none();
  try_commit(kit, member.group(), {.topic = other, .offset = 2}, as_member).is_none();
  delete_offset(kit, member.group(), topic).is(ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC);
  delete_offset(kit, member.group(), other).is_none();
  expect_equal(committed_offset(kit, member.group(), topic), 1, "of the topic that is read");
  expect_equal(committed_offset(kit, member.group(), other), -1, "of the other topic");
  member.leave();
  delete_offset(kit, member.group(), topic).is_none();
}

CASE(group_of_another_protocol, "KIP-496") {
  const Topic topic = create_topic(kit);
  ClassicMember member(kit, new_group(kit), {.protocol_type = "connect"});
  form_group(kit, {&member});
  delete_offsets(kit, member.group(), {{.topic = topic}})["errorCode"].is(
      ErrorCode::NON_EMPTY_GROUP);
}

CASE(group, "KIP-229", .api = "DeleteGroups", .first = 0, .last = 3) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 1);
  const Value result = delete_group(kit, group, kit.version());
  result["groupId"].is(group.c_str());
  result["errorCode"].is_none();
  if (kit.version() >= 3) result["errorMessage"].is_null();
  expect_equal(committed_offset(kit, group, topic), -1, "committed offset");
  describe_classic(kit, group)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  expect(!listed(kit, group), "it is not listed");
  delete_group(kit, group, kit.version())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(unknown_group, "KIP-229", .api = "DeleteGroups", .first = 0, .last = 3) {
  const Value result = delete_group(kit, new_group(kit), kit.version());
  result["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(classic_group_with_members, "KIP-229", .api = "DeleteGroups", .first = 0, .last = 3) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  delete_group(kit, member.group(), kit.version())["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  member.heartbeat().is_none();
  member.leave();
  delete_group(kit, member.group(), kit.version())["errorCode"].is_none();
}

CASE(consumer_group_with_members, "KIP-229, KIP-848", .api = "DeleteGroups", .first = 0,
     .last = 3) {
  auto [topic, member] = consumer_joined(kit);
  try_commit(kit, member.group(), {.topic = topic, .offset = 4},
             {.member = member.id(), .epoch = member.epoch()})
      .is_none();
  delete_group(kit, member.group(), kit.version())["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  member.beat();
  member.leave();
  delete_group(kit, member.group(), kit.version())["errorCode"].is_none();
  describe_consumer(kit, member.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  expect_equal(committed_offset(kit, member.group(), topic), -1, "committed offset");
}

CASE(a_new_life_begins_anew, "KIP-229, KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  member.leave();
  delete_group(kit, member.group())["errorCode"].is_none();
  // Nothing of the old group is left: a classic one may take its name.
  ClassicMember classic(kit, member.group());
  form_group(kit, {&classic});
  expect_equal(classic.generation(), 1, "generation");
}

CASE(many_groups, "KIP-229", .api = "DeleteGroups", .first = 0, .last = 3) {
  const Topic topic = create_topic(kit);
  const std::string simple = new_group(kit), unknown = new_group(kit);
  commit(kit, simple, topic, 1);
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const Value results =
      kit.ask("DeleteGroups", kit.version(),
              {{"groupsNames", list(simple, unknown, member.group())}})["results"];
  results.has_size(3);
  const auto result_of = [&](const std::string& group) {
    return results.with("groupId", json::value(group))["errorCode"];
  };
  result_of(simple).is_none();
  result_of(unknown).is(ErrorCode::GROUP_ID_NOT_FOUND);
  result_of(member.group()).is(ErrorCode::NON_EMPTY_GROUP);
}

CASE(no_groups, "KIP-229", .api = "DeleteGroups", .first = 0, .last = 3) {
  kit.ask("DeleteGroups", kit.version(), {{"groupsNames", list()}})["results"].has_size(0);
}

CASE(empty_group_id, "KIP-229, KIP-496") {
  new_group(kit);
  const Topic topic = create_topic(kit);
  delete_offsets(kit, "", {{.topic = topic}})["errorCode"].is(ErrorCode::INVALID_GROUP_ID);
  // All cases share the group of this name: it may or may not be there.
  delete_group(kit, "")["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::GROUP_ID_NOT_FOUND});
}

}  // namespace ackord::conform
