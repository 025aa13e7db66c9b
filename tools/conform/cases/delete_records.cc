// DeleteRecords: the log's start moves, at once and for every reader.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("delete_records", "DeleteRecords (KIP-107)");

static Value try_delete(Kit& kit, const Topic& topic, int64_t offset, int32_t partition = 0,
                        int16_t version = 2) {
  return kit.ask("DeleteRecords", version,
                 {{"topics", list(Object{{"name", topic.name},
                                         {"partitions", list(Object{{"partitionIndex", partition},
                                                                    {"offset", offset}})}})},
                  {"timeoutMs", 10000}})["topics"][0]["partitions"][0];
}

static void deletes_to(const Value& partition, int64_t start) {
  partition["errorCode"].is_none();
  partition["lowWatermark"].is(start);
}

static void is_refused(const Value& partition, ErrorCode error) {
  partition["errorCode"].is(error);
  partition["lowWatermark"].is(-1);
}

static Topic topic_of_10(Kit& kit) {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 5; ++i) produce(kit, topic, numbered(2));
  return topic;
}

CASE(to_an_offset, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Topic topic = topic_of_10(kit);
  deletes_to(try_delete(kit, topic, 4, 0, kit.version()), 4);
  list_offset(kit, topic, kEarliest)["offset"].is(4);
  list_offset(kit, topic, kLatest)["offset"].is(10);
  fetch_one(kit, {.topic = topic, .offset = 3})["errorCode"].is(ErrorCode::OFFSET_OUT_OF_RANGE);
  const auto read = read_all(kit, topic, 0, 4);
  expect_equal(offsets_of(read), std::vector<int64_t>{4, 5, 6, 7, 8, 9}, "the offsets");
}

CASE(to_the_end, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Topic topic = topic_of_10(kit);
  deletes_to(try_delete(kit, topic, -1, 0, kit.version()), 10);
  list_offset(kit, topic, kEarliest)["offset"].is(10);
  const Value part = fetch_one(kit, {.topic = topic, .offset = 10});
  part["errorCode"].is_none();
  part["logStartOffset"].is(10);
  expect_equal(produce(kit, topic, {"x"}), 10, "the next base offset");
}

CASE(exactly_the_end, "KIP-107") { deletes_to(try_delete(kit, topic_of_10(kit), 10), 10); }

CASE(acks_1_counts, "KIP-107") {
  const Topic topic = create_topic(kit);
  for (int64_t i = 1; i <= 20; ++i) {
    produce(kit, topic, numbered(1), {.acks = 1});
    deletes_to(try_delete(kit, topic, i), i);
  }
}

// The batch stays; what lies before the start is not to be read, and not found.
CASE(inside_a_batch, "KIP-107") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(5));
  deletes_to(try_delete(kit, topic, 3), 3);
  list_offset(kit, topic, kEarliest)["offset"].is(3);
  fetch_one(kit, {.topic = topic, .offset = 2})["errorCode"].is(ErrorCode::OFFSET_OUT_OF_RANGE);
  const Value part = fetch_one(kit, {.topic = topic, .offset = 3});
  part["errorCode"].is_none();
  part["logStartOffset"].is(3);
  expect_equal(batches_of(part).back().header.last_offset(), 4, "the last offset");
}

CASE(never_backwards, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Topic topic = topic_of_10(kit);
  deletes_to(try_delete(kit, topic, 6, 0, kit.version()), 6);
  deletes_to(try_delete(kit, topic, 2, 0, kit.version()), 6);
  deletes_to(try_delete(kit, topic, 6, 0, kit.version()), 6);
  deletes_to(try_delete(kit, topic, 0, 0, kit.version()), 6);
}

CASE(above_the_end, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Topic topic = topic_of_10(kit);
  for (const int64_t offset : {int64_t{11}, INT64_MAX})
    is_refused(try_delete(kit, topic, offset, 0, kit.version()), ErrorCode::OFFSET_OUT_OF_RANGE);
  list_offset(kit, topic, kEarliest)["offset"].is(0);
}

CASE(negative_offset, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Topic topic = topic_of_10(kit);
  for (const int64_t offset : {int64_t{-2}, INT64_MIN})
    is_refused(try_delete(kit, topic, offset, 0, kit.version()), ErrorCode::OFFSET_OUT_OF_RANGE);
}

CASE(unknown_topic, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  is_refused(try_delete(kit, ghost_topic(kit), 0, 0, kit.version()),
             ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(unknown_partition, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit);
  for (const int32_t partition : {3, -1}) {
    is_refused(try_delete(kit, topic, 0, partition, kit.version()),
               ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
}

// The records of a compacted topic go when their keys are written again.
CASE(compacted_topic, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact"}});
  produce(kit, topic, build_batch({.records = {{.value = "v", .key = "k"}}}));
  is_refused(try_delete(kit, topic, 1, 0, kit.version()), ErrorCode::POLICY_VIOLATION);
  list_offset(kit, topic, kEarliest)["offset"].is(0);
}

CASE(compacted_and_deleted_topic, "KIP-107") {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact,delete"}});
  produce(kit, topic, build_batch({.records = {{.value = "v", .key = "k"}}}));
  deletes_to(try_delete(kit, topic, 1), 1);
}

CASE(several_partitions, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Topic first = create_topic(kit, 2);
  const Topic second = create_topic(kit);
  for (const int32_t i : {0, 1}) produce(kit, first, numbered(4), {.partition = i});
  produce(kit, second, numbered(4));
  const auto to = [](int32_t partition, int64_t offset) {
    return Object{{"partitionIndex", partition}, {"offset", offset}};
  };
  const Value answer = kit.ask(
      "DeleteRecords", kit.version(),
      {{"topics",
        list(Object{{"name", first.name}, {"partitions", list(to(0, 2), to(1, 99), to(5, 0))}},
             Object{{"name", second.name}, {"partitions", list(to(0, -1))}})},
       {"timeoutMs", 10000}});
  answer["throttleTimeMs"].is(0);
  answer["topics"].has_size(2);
  const Value of_first = answer["topics"].with("name", json::value(first.name))["partitions"];
  deletes_to(of_first.with("partitionIndex", 0), 2);
  is_refused(of_first.with("partitionIndex", 1), ErrorCode::OFFSET_OUT_OF_RANGE);
  is_refused(of_first.with("partitionIndex", 5), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  deletes_to(answer["topics"].with("name", json::value(second.name))["partitions"][0], 4);
}

CASE(empty_log, "KIP-107") {
  const Topic topic = create_topic(kit);
  deletes_to(try_delete(kit, topic, 0), 0);
  deletes_to(try_delete(kit, topic, -1), 0);
}

CASE(other_partitions_stay, "KIP-107") {
  const Topic topic = create_topic(kit, 2);
  for (const int32_t i : {0, 1}) produce(kit, topic, numbered(4), {.partition = i});
  deletes_to(try_delete(kit, topic, 4), 4);
  list_offset(kit, topic, kEarliest, {.partition = 1})["offset"].is(0);
}

// Even what an open transaction has written: its end is not disturbed.
CASE(in_an_open_transaction, "KIP-98") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(2));
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  deletes_to(try_delete(kit, topic, 1), 1);
  producer.commit();
  wait_for_stable(kit, topic, 4);
  expect_equal(values_of(read_all(kit, topic, 0, 2, 1)), std::vector<std::string>{"a"}, "values");
}

CASE(more_than_one_segment, "KIP-107") {
  const Topic topic = create_topic(kit, 1, {{"segment.bytes", "1048576"}});
  for (int i = 0; i < 5; ++i) produce(kit, topic, {std::string(500000, 'x')});
  deletes_to(try_delete(kit, topic, 3), 3);
  expect_equal(offsets_of(read_all(kit, topic, 0, 3)), std::vector<int64_t>{3, 4}, "the offsets");
  fetch_one(kit, {.topic = topic, .offset = 0})["errorCode"].is(ErrorCode::OFFSET_OUT_OF_RANGE);
}

CASE(no_topics, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  const Value answer =
      kit.ask("DeleteRecords", kit.version(), {{"topics", list()}, {"timeoutMs", 1000}});
  answer["throttleTimeMs"].is(0);
  answer["topics"].has_size(0);
}

// With one replica there is nobody to wait for.
CASE(timeout_0, "KIP-107") {
  const Topic topic = topic_of_10(kit);
  const Value answer = kit.ask(
      "DeleteRecords", 2,
      {{"topics", list(Object{{"name", topic.name},
                              {"partitions", list(Object{{"partitionIndex", 0}, {"offset", 4}})}})},
       {"timeoutMs", 0}});
  deletes_to(answer["topics"][0]["partitions"][0], 4);
}

CASE(internal_topic, "KIP-107", .api = "DeleteRecords", .first = 0, .last = 2) {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, kit.name("group"));
  const Topic internal{"__consumer_offsets", "", 1};
  is_refused(try_delete(kit, internal, 0, 0, kit.version()), ErrorCode::INVALID_TOPIC_EXCEPTION);
}

}  // namespace ackord::conform
