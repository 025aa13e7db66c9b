// Dead-letter queues of share groups (KIP-1191): what becomes a letter, what a letter says, which
// topics may hold letters, and that a record is finished whatever becomes of its letter.
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/dead_letters.h"
#include "tools/conform/kit/share_offsets.h"

namespace ackord::conform {

AREA("share.dlq", "Dead-letter queues of share groups (KIP-1191)");

namespace {

// Rejects all of ten records and waits until they are finished.
void reject_all(Kit& kit, const Topic& topic, ShareMember& member) {
  member.acknowledge(topic, 0, 9, {kReject}).is_none();
  wait_for_start(kit, member.group(), topic, 10);
}

// A member of a group with this queue, which has acquired ten records.
Acquired acquired_for(Kit& kit, const std::string& queue, const Configs& configs = {}) {
  Acquired out{create_topic(kit), ShareMember(kit, dead_letter_group(kit, queue, configs))};
  produce(kit, out.topic, numbered(10));
  out.member.join({out.topic});
  out.member.acquire_count(out.topic, 10);
  return out;
}

std::vector<int64_t> offsets_in(const std::vector<RecordRead>& letters) {
  std::vector<int64_t> out;
  for (const RecordRead& letter : letters)
    out.push_back(std::stoll(headers_of(letter)["__dlq.errors.offset"]));
  std::ranges::sort(out);
  return out;
}

bool topic_exists(Kit& kit, const std::string& name) {
  return describe_topic(kit, name)["errorCode"].error() == ErrorCode::NONE;
}

}  // namespace

CASE(rejected_record, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  member.acknowledge(topic, 3, 3, {kReject}).is_none();
  const auto letters = wait_for_letters(kit, queue, 1);
  std::vector<std::string> names;
  for (const auto& [name, value] : letters[0].headers) names.push_back(name);
  expect_equal(names,
               std::vector<std::string>{"__dlq.errors.topic", "__dlq.errors.partition",
                                        "__dlq.errors.offset", "__dlq.errors.group",
                                        "__dlq.errors.delivery.count", "__dlq.errors.message"},
               "headers");
  auto headers = headers_of(letters[0]);
  expect_equal(headers["__dlq.errors.topic"], topic.name, "the topic");
  expect_equal(headers["__dlq.errors.partition"], std::string("0"), "the partition");
  expect_equal(headers["__dlq.errors.offset"], std::string("3"), "the offset");
  expect_equal(headers["__dlq.errors.group"], member.group(), "the group");
  expect_equal(headers["__dlq.errors.delivery.count"], std::string("1"), "the delivery count");
  expect(!headers["__dlq.errors.message"].empty(), "a message is there");
}

CASE(key_and_value_are_null, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  member.acknowledge(topic, 0, 0, {kReject}).is_none();
  const auto letters = wait_for_letters(kit, queue, 1);
  expect_equal(letters[0].key, std::optional<std::string>(), "the key");
  expect_equal(letters[0].value, std::optional<std::string>(), "the value");
}

CASE(copied_record, "KIP-1191") {
  const Topic queue = dead_letter_topic(kit);
  const Topic topic = create_topic(kit);
  ShareMember member(
      kit,
      dead_letter_group(kit, queue.name, {{"errors.deadletterqueue.copy.record.enable", "true"}}));
  produce(kit, topic,
          build_batch({.records = {{.value = "v0", .key = "k0", .headers = {{"h", "x"}}},
                                   {.value = "v1"},
                                   {.key = "k2"}},
                       .codec = Codec::kGzip}));
  member.join({topic});
  member.acquire_count(topic, 3);
  member.acknowledge(topic, 0, 2, {kReject}).is_none();
  const auto letters = wait_for_letters(kit, queue, 3);
  std::map<std::string, RecordRead> by_offset;
  for (const RecordRead& letter : letters)
    by_offset[headers_of(letter)["__dlq.errors.offset"]] = letter;
  using Text = std::optional<std::string>;
  expect_equal(by_offset["0"].key, Text("k0"), "the first key");
  expect_equal(by_offset["0"].value, Text("v0"), "the first value");
  expect(!headers_of(by_offset["0"]).contains("h"), "its own headers are not copied");
  expect_equal(by_offset["1"].key, Text(), "the second key");
  expect_equal(by_offset["1"].value, Text("v1"), "the second value");
  expect_equal(by_offset["2"].key, Text("k2"), "the third key");
  expect_equal(by_offset["2"].value, Text(), "the third value");
}

CASE(rejected_range, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  member.acknowledge(topic, 2, 7, {kReject}).is_none();
  expect_equal(offsets_in(wait_for_letters(kit, queue, 6)), std::vector<int64_t>{2, 3, 4, 5, 6, 7},
               "offsets");
}

CASE(only_what_is_rejected, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  member
      .acknowledge(
          topic, 0, 9,
          {kAccept, kReject, kGap, kRelease, kReject, kAccept, kGap, kReject, kAccept, kAccept})
      .is_none();
  expect_equal(offsets_in(wait_for_letters(kit, queue, 3)), std::vector<int64_t>{1, 4, 7},
               "offsets");
  expect_equal(member.acquire(topic), Ranges{{3, 3, 2}}, "acquired again");
  member.acknowledge(topic, 3, 3).is_none();
  wait_for_start(kit, member.group(), topic, 10);
  wait_for_letters(kit, queue, 3);
}

CASE(rejected_by_a_share_fetch, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  const ShareAck ack{.topic = topic, .first = 5, .last = 5, .types = {kReject}};
  expect_equal(member.fetch(topic, {.max_wait_ms = 0, .acks = {ack}}).acknowledge_error,
               ErrorCode::NONE, "the acknowledgement");
  expect_equal(offsets_in(wait_for_letters(kit, queue, 1)), std::vector<int64_t>{5}, "offsets");
}

CASE(delivery_limit, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit, {{"share.delivery.count.limit", "2"}});
  member.acknowledge(topic, 0, 8).is_none();
  member.acknowledge(topic, 9, 9, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{9, 9, 2}}, "acquired the last time");
  member.acknowledge(topic, 9, 9, {kRelease}).is_none();
  auto headers = headers_of(wait_for_letters(kit, queue, 1)[0]);
  expect_equal(headers["__dlq.errors.offset"], std::string("9"), "the offset");
  expect_equal(headers["__dlq.errors.delivery.count"], std::string("2"), "the delivery count");
  expect(!headers["__dlq.errors.message"].empty(), "a message is there");
  wait_for_start(kit, member.group(), topic, 10);
}

CASE(delivery_limit_at_the_end_of_a_session, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit, {{"share.delivery.count.limit", "2"}});
  member.acknowledge(topic, 0, 8).is_none();
  member.acknowledge(topic, 9, 9, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{9, 9, 2}}, "acquired the last time");
  member.close_session();
  expect_equal(offsets_in(wait_for_letters(kit, queue, 1)), std::vector<int64_t>{9}, "offsets");
}

CASE(finished_after_its_letter, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  reject_all(kit, topic, member);
  expect_equal(end_offset(kit, queue), 10, "dead letters");
  kit.until("nothing is left",
            [&] { return describe_offset(kit, member.group(), topic)["lag"].number() == 0; });
  produce(kit, topic, {"next"});
  expect_equal(member.acquire(topic), Ranges{{10, 10, 1}}, "acquired next");
}

CASE(partition_of_the_letter, "KIP-1191") {
  const Topic queue = dead_letter_topic(kit, 2);
  const Topic topic = create_topic(kit, 4);
  ShareMember member(kit, dead_letter_group(kit, queue.name));
  for (int32_t i = 0; i < 4; ++i) produce(kit, topic, {"x"}, {.partition = i});
  member.join({topic});
  for (int32_t i = 0; i < 4; ++i) {
    member.acquire_count(topic, 1, {}, i);
    const ShareAck ack{.topic = topic, .partition = i, .types = {kReject}};
    member.share_acknowledge({ack})["responses"][0]["partitions"][0]["errorCode"].is_none();
  }
  for (int32_t i = 0; i < 2; ++i) {
    std::vector<std::string> sources;
    for (const RecordRead& letter : wait_for_letters(kit, queue, 2, i))
      sources.push_back(headers_of(letter)["__dlq.errors.partition"]);
    std::ranges::sort(sources);
    expect_equal(sources, std::vector{std::to_string(i), std::to_string(i + 2)},
                 "source partitions in partition " + std::to_string(i));
  }
}

CASE(batch_of_the_letter, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  const int64_t before = now_ms();
  member.acknowledge(topic, 0, 0, {kReject}).is_none();
  const auto letters = wait_for_letters(kit, queue, 1);
  expect_between(letters[0].timestamp, before - 5000, now_ms() + 5000, "the timestamp");
  const BatchRead batch = read_all(kit, queue)[0];
  expect_equal(batch.header.producer_id.value, -1, "the producer id");
  expect_equal(static_cast<int>(batch.codec()), 0, "the codec");
}

// Letters of one range that do not fit into one batch of the queue.
CASE(more_than_a_batch, "KIP-1191") {
  const Topic queue = dead_letter_topic(kit, 1, {{"max.message.bytes", "1200"}});
  auto [topic, member] = acquired_for(kit, queue.name);
  reject_all(kit, topic, member);
  const auto letters = wait_for_letters(kit, queue, 10);
  expect_equal(offsets_in(letters), std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "offsets");
  expect(read_all(kit, queue).size() > 1, "more than one batch");
}

CASE(two_groups_one_queue, "KIP-1191") {
  const Topic queue = dead_letter_topic(kit);
  std::vector<std::string> groups;
  for (int i = 0; i < 2; ++i) {
    auto [topic, member] = acquired_for(kit, queue.name);
    member.acknowledge(topic, i, i, {kReject}).is_none();
    groups.push_back(member.group());
  }
  std::vector<std::string> found;
  for (const RecordRead& letter : wait_for_letters(kit, queue, 2))
    found.push_back(headers_of(letter)["__dlq.errors.group"]);
  std::ranges::sort(found);
  std::ranges::sort(groups);
  expect_equal(found, groups, "groups");
}

// ---------------------------------------------------------------- topics that may not hold letters

CASE(topic_that_is_not_enabled, "KIP-1191") {
  const Topic queue = create_topic(kit, 1, {}, dead_letter_name(kit));
  auto [topic, member] = acquired_for(kit, queue.name);
  reject_all(kit, topic, member);
  expect_equal(end_offset(kit, queue), 0, "dead letters");
}

CASE(topic_without_the_prefix, "KIP-1191") {
  dead_letter_name(kit);
  if (broker_config(kit, "errors.deadletterqueue.topic.name.prefix").empty())
    throw Skip("the broker wants no prefix");
  const Topic queue = create_topic(kit, 1, {{"errors.deadletterqueue.group.enable", "true"}});
  auto [topic, member] = acquired_for(kit, queue.name);
  reject_all(kit, topic, member);
  expect_equal(end_offset(kit, queue), 0, "dead letters");
}

CASE(name_of_an_internal_topic, "KIP-1191") {
  dead_letter_name(kit);
  const Value answer = alter_configs(kit, ConfigResource::kGroup, kit.name("g"),
                                     {{"errors.deadletterqueue.topic.name", "__consumer_offsets"}});
  answer["errorCode"].is(ErrorCode::INVALID_CONFIG);
  answer["errorMessage"].is_not_empty();
}

CASE(missing_topic_is_not_created, "KIP-1191", .limit_s = 60) {
  const std::string name = dead_letter_name(kit);
  if (broker_config(kit, "errors.deadletterqueue.auto.create.topics.enable") == "true")
    throw Skip("the broker creates topics for dead letters");
  auto [topic, member] = acquired_for(kit, name);
  reject_all(kit, topic, member);
  expect(!topic_exists(kit, name), "no topic for dead letters");
}

CASE(missing_topic_is_created, "KIP-1191") {
  Topic queue{dead_letter_name(kit), {}, 1};
  if (broker_config(kit, "errors.deadletterqueue.auto.create.topics.enable") != "true")
    throw Skip("errors.deadletterqueue.auto.create.topics.enable is not true");
  kit.forget_later(queue.name);
  auto [topic, member] = acquired_for(kit, queue.name);
  reject_all(kit, topic, member);
  kit.until("the topic is there", [&] { return topic_exists(kit, queue.name); });
  wait_for_letters(kit, queue, 10);
  auto configs = configs_of(kit, ConfigResource::kTopic, queue.name);
  expect_equal(configs["errors.deadletterqueue.group.enable"], std::optional<std::string>("true"),
               "errors.deadletterqueue.group.enable");
  expect_equal(configs["message.timestamp.type"], std::optional<std::string>("CreateTime"),
               "message.timestamp.type");
}

// ---------------------------------------------------------------- configs

CASE(off_by_default, "KIP-1191") {
  dead_letter_name(kit);
  const std::string group = earliest_group(kit);
  auto of_group = configs_of(kit, ConfigResource::kGroup, group);
  using Text = std::optional<std::string>;
  expect_equal(of_group["errors.deadletterqueue.topic.name"], Text(""), "the topic's name");
  expect_equal(of_group["errors.deadletterqueue.copy.record.enable"], Text("false"), "copying");
  auto of_topic = configs_of(kit, ConfigResource::kTopic, create_topic(kit).name);
  expect_equal(of_topic["errors.deadletterqueue.group.enable"], Text("false"), "enabled");
}

CASE(bad_values, "KIP-1191") {
  dead_letter_name(kit);
  alter_configs(kit, ConfigResource::kGroup, kit.name("g"),
                {{"errors.deadletterqueue.copy.record.enable", "perhaps"}})["errorCode"]
      .is(ErrorCode::INVALID_CONFIG);
  alter_configs(kit, ConfigResource::kTopic, create_topic(kit).name,
                {{"errors.deadletterqueue.group.enable", "perhaps"}})["errorCode"]
      .is(ErrorCode::INVALID_CONFIG);
}

CASE(switched_on_in_a_live_group, "KIP-1191") {
  const Topic queue = dead_letter_topic(kit);
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 0, {kReject}).is_none();
  set_configs(kit, ConfigResource::kGroup, member.group(),
              {{"errors.deadletterqueue.topic.name", queue.name}});
  int64_t next = 1;
  kit.until("a rejected record becomes a letter", [&] {
    member.acknowledge(topic, next, next, {kReject}).is_none();
    ++next;
    return next > 9 || kit.within(Millis(300), [&] { return end_offset(kit, queue) > 0; });
  });
  expect(end_offset(kit, queue) > 0, "a letter");
}

CASE(switched_off_in_a_live_group, "KIP-1191") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  member.acknowledge(topic, 0, 0, {kReject}).is_none();
  wait_for_letters(kit, queue, 1);
  set_configs(kit, ConfigResource::kGroup, member.group(),
              {{"errors.deadletterqueue.topic.name", ""}});
  member.acknowledge(topic, 1, 9, {kReject}).is_none();
  wait_for_start(kit, member.group(), topic, 10);
  wait_for_letters(kit, queue, 1);
}

}  // namespace ackord::conform
