// OffsetFetch: one group and many, some topics and all, by name and by id, and members' epochs.
#include <map>

#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/offsets.h"

namespace ackord::conform {

AREA("offsets.fetch", "Fetching committed offsets");

namespace {

constexpr int16_t kFirstWithGroups = 8;
constexpr int16_t kFirstWithTopicIds = 10;

void expect_named(const Value& answered, const Topic& topic, int16_t version) {
  if (version >= kFirstWithTopicIds)
    answered["topicId"].is(topic.id.c_str());
  else
    answered["name"].is(topic.name.c_str());
}

void expect_no_offset(const Value& part) {
  part["errorCode"].is_none();
  part["committedOffset"].is(-1);
  part["metadata"].is("");
}

// A question for a part of one topic, in a group of a request.
Object asked(const std::string& group, const Topic& topic, int16_t version,
             const json::array& partitions = list(0)) {
  Object named{{"partitionIndexes", partitions}};
  if (version >= kFirstWithTopicIds)
    named["topicId"] = topic.id;
  else
    named["name"] = topic.name;
  return {{"groupId", group}, {"topics", list(named)}};
}

}  // namespace

CASE(one_partition, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 1, .last = 10) {
  const Topic topic = create_topic(kit, 2);
  const std::string group = new_group(kit);
  try_commit(kit, group,
             {.topic = topic, .partition = 1, .offset = 42, .leader_epoch = 0, .metadata = "note"})
      .is_none();
  const std::vector<OffsetPart> parts{{.topic = topic, .partition = 1}};
  const Value answer = fetch_offsets(kit, group, parts, {.version = kit.version()});
  if (kit.version() >= 2) answer["errorCode"].is_none();
  if (kit.version() >= kFirstWithGroups) answer["groupId"].is(group.c_str());
  answer["topics"].has_size(1);
  expect_named(answer["topics"][0], topic, kit.version());
  answer["topics"][0]["partitions"].has_size(1);
  const Value part = answer["topics"][0]["partitions"][0];
  part["partitionIndex"].is(1);
  part["errorCode"].is_none();
  part["committedOffset"].is(42);
  part["metadata"].is("note");
  if (kit.version() >= 5) part["committedLeaderEpoch"].is(0);
}

CASE(nothing_committed, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 1, .last = 10) {
  const Topic topic = create_topic(kit, 2);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 1);
  const Value part = committed(kit, group, topic, 1, {.version = kit.version()});
  expect_no_offset(part);
  if (kit.version() >= 5) part["committedLeaderEpoch"].is(-1);
}

CASE(unknown_group, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 1, .last = 10) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  expect_no_offset(committed(kit, group, topic, 0, {.version = kit.version()}));
}

CASE(makes_no_group, "docs/SEMANTICS.md D.3") {
  const std::string group = new_group(kit);
  committed(kit, group, create_topic(kit));
  describe_classic(kit, group)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(unknown_topic, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 1, .last = 10) {
  const Value part =
      committed(kit, new_group(kit), ghost_topic(kit), 0, {.version = kit.version()});
  // By name nobody asks whether it exists; an id must be resolved.
  part["errorCode"].is(kit.version() >= kFirstWithTopicIds ? ErrorCode::UNKNOWN_TOPIC_ID
                                                           : ErrorCode::NONE);
  part["committedOffset"].is(-1);
}

CASE(unknown_partition, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 1, .last = 10) {
  const Topic topic = create_topic(kit);
  expect_no_offset(committed(kit, new_group(kit), topic, 7, {.version = kit.version()}));
}

CASE(all_topics, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 2, .last = 10) {
  const Topic a = create_topic(kit, 3), b = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, a, 1, 0);
  commit(kit, group, a, 2, 2);
  commit(kit, group, b, 3);
  const Value answer = fetch_offsets(kit, group, {}, {.version = kit.version()});
  answer["errorCode"].is_none();
  const char* field = kit.version() >= kFirstWithTopicIds ? "topicId" : "name";
  std::map<std::pair<std::string, int64_t>, int64_t> offsets;
  for (const Value& topic : answer["topics"].items())
    for (const Value& part : topic["partitions"].items())
      offsets[{topic[field].text(), part["partitionIndex"].number()}] =
          part["committedOffset"].number();
  const auto name = [&](const Topic& topic) {
    return kit.version() >= kFirstWithTopicIds ? topic.id : topic.name;
  };
  const decltype(offsets) expected{{{name(a), 0}, 1}, {{name(a), 2}, 2}, {{name(b), 0}, 3}};
  expect_equal(offsets, expected, "committed offsets");
}

CASE(all_topics_of_an_unknown_group, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 2,
     .last = 10) {
  const Value answer = fetch_offsets(kit, new_group(kit), {}, {.version = kit.version()});
  answer["errorCode"].is_none();
  answer["topics"].has_size(0);
}

CASE(no_topics, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 1, .last = 10) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 1);
  // An empty list is none, null is all.
  fetch_offsets(kit, group, std::vector<OffsetPart>{}, {.version = kit.version()})["topics"]
      .has_size(0);
}

CASE(many_groups, "KIP-709", .api = "OffsetFetch", .first = 8, .last = 10) {
  const Topic topic = create_topic(kit, 2);
  const std::string a = new_group(kit), b = new_group(kit), none = new_group(kit);
  commit(kit, a, topic, 1);
  commit(kit, b, topic, 2, 1);
  Object all_of_b{{"groupId", b}, {"topics", nullptr}};
  const Value groups = kit.ask("OffsetFetch", kit.version(),
                               {{"groups", list(asked(a, topic, kit.version()), all_of_b,
                                                asked(none, topic, kit.version()))}})["groups"];
  groups.has_size(3);
  const auto offset_in = [&](const std::string& group) {
    const Value answer = groups.with("groupId", json::value(group));
    answer["errorCode"].is_none();
    answer["topics"][0]["partitions"].has_size(1);
    return answer["topics"][0]["partitions"][0];
  };
  offset_in(a)["committedOffset"].is(1);
  offset_in(b)["partitionIndex"].is(1);
  offset_in(b)["committedOffset"].is(2);
  expect_no_offset(offset_in(none));
}

CASE(no_groups, "KIP-709", .api = "OffsetFetch", .first = 8, .last = 10) {
  kit.ask("OffsetFetch", kit.version(), {{"groups", list()}})["groups"].has_size(0);
}

CASE(many_partitions_in_one_question, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 8,
     .last = 10) {
  const Topic topic = create_topic(kit, 3);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 5, 1);
  const Value partitions =
      kit.ask("OffsetFetch", kit.version(),
              {{"groups", list(asked(group, topic, kit.version(),
                                     list(0, 1, 2)))}})["groups"][0]["topics"][0]["partitions"];
  partitions.has_size(3);
  expect_no_offset(partitions.with("partitionIndex", 0));
  partitions.with("partitionIndex", 1)["committedOffset"].is(5);
  expect_no_offset(partitions.with("partitionIndex", 2));
}

CASE(stable_without_transactions, "KIP-447", .api = "OffsetFetch", .first = 7, .last = 10) {
  const Topic topic = create_topic(kit);
  const std::string group = new_group(kit);
  commit(kit, group, topic, 5);
  const Value part =
      committed(kit, group, topic, 0, {.version = kit.version(), .require_stable = true});
  part["errorCode"].is_none();
  part["committedOffset"].is(5);
}

CASE(as_a_consumer_member, "KIP-848", .api = "OffsetFetch", .first = 9, .last = 10) {
  auto [topic, member] = consumer_joined(kit);
  const auto error_as = [&](const std::string& id, int32_t epoch) {
    const std::vector<OffsetPart> parts{{.topic = topic}};
    return fetch_offsets(kit, member.group(), parts,
                         {.version = kit.version(), .member = id, .epoch = epoch})["errorCode"];
  };
  error_as(member.id(), member.epoch()).is_none();
  error_as(member.id(), member.epoch() + 1).is(ErrorCode::STALE_MEMBER_EPOCH);
  error_as(member.id(), member.epoch() - 1).is(ErrorCode::STALE_MEMBER_EPOCH);
  error_as("nobody", member.epoch()).is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(an_error_of_the_group_has_no_topics, "KIP-848", .api = "OffsetFetch", .first = 9, .last = 10) {
  auto [topic, member] = consumer_joined(kit);
  const std::vector<OffsetPart> parts{{.topic = topic}};
  const Value answer = fetch_offsets(kit, member.group(), parts,
                                     {.version = kit.version(), .member = "nobody", .epoch = 1});
  answer["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  answer["topics"].has_size(0);
}

CASE(of_a_consumer_group_without_a_member, "KIP-848", .api = "OffsetFetch", .first = 1,
     .last = 10) {
  auto [topic, member] = consumer_joined(kit);
  try_commit(kit, member.group(), {.topic = topic, .offset = 6},
             {.member = member.id(), .epoch = member.epoch()})
      .is_none();
  committed(kit, member.group(), topic, 0, {.version = kit.version()})["committedOffset"].is(6);
}

CASE(as_a_classic_member, "KIP-848", .api = "OffsetFetch", .first = 9, .last = 10) {
  const Topic topic = create_topic(kit);
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  // A classic group does not look at the member.
  const std::vector<OffsetPart> parts{{.topic = topic}};
  fetch_offsets(kit, member.group(), parts,
                {.version = kit.version(), .member = "nobody", .epoch = 9})["errorCode"]
      .is_none();
}

CASE(member_of_an_unknown_group, "KIP-848", .api = "OffsetFetch", .first = 9, .last = 10) {
  const Topic topic = create_topic(kit);
  // There is nothing that the member could be wrong about.
  expect_no_offset(committed(kit, new_group(kit), topic, 0,
                             {.version = kit.version(), .member = "nobody", .epoch = 9}));
}

CASE(empty_group_id, "docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 1, .last = 10) {
  new_group(kit);
  const Topic topic = create_topic(kit);
  const std::vector<OffsetPart> parts{{.topic = topic}};
  const Value answer = fetch_offsets(kit, "", parts, {.version = kit.version()});
  if (kit.version() >= 2) answer["errorCode"].is_none();
}

}  // namespace ackord::conform
