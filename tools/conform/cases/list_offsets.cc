// ListOffsets in every version: by timestamp, the special timestamps, isolation and leader epochs.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("list_offsets", "ListOffsets");

// Timestamps base+2, +4, +6, +8 in partition 0, the same compressed in partition 1.
struct Timed {
  Topic topic;
  int64_t base = 0;
};
static Timed timed_topic(Kit& kit) {
  const Timed made{create_topic(kit, 2), now_ms() - 10000};
  std::vector<RecordSpec> records;
  for (const int64_t plus : {2, 4, 6, 8})
    records.push_back({.value = "x", .timestamp = made.base + plus});
  produce(kit, made.topic, build_batch({.records = records}));
  produce(kit, made.topic, build_batch({.records = records, .codec = Codec::kGzip}),
          {.partition = 1});
  return made;
}

static void is_offset(const Value& partition, int64_t offset, int64_t timestamp) {
  partition["errorCode"].is_none();
  partition["offset"].is(offset);
  partition["timestamp"].is(timestamp);
}

CASE(answer, "Kafka protocol guide, ListOffsets", .api = "ListOffsets", .first = 1, .last = 11) {
  const Timed log = timed_topic(kit);
  const int16_t version = kit.version();
  Object request{{"replicaId", -1}};
  if (version >= 2) request["isolationLevel"] = 0;
  request["topics"] =
      list(Object{{"name", log.topic.name},
                  {"partitions", list(Object{{"partitionIndex", 1}, {"timestamp", kLatest}},
                                      Object{{"partitionIndex", 0}, {"timestamp", kEarliest}})}});
  const Value answer = kit.ask("ListOffsets", version, request);
  if (version >= 2) answer["throttleTimeMs"].is(0);
  answer["topics"].has_size(1);
  answer["topics"][0]["name"].is(json::value(log.topic.name));
  const Value partitions = answer["topics"][0]["partitions"];
  partitions.has_size(2);
  is_offset(partitions.with("partitionIndex", 1), 4, -1);
  is_offset(partitions.with("partitionIndex", 0), 0, -1);
  if (version >= 4)
    for (const Value& partition : partitions.items()) partition["leaderEpoch"].is(0);
}

// The first record at or after the time, inside of batches too.
CASE(by_timestamp, "KIP-79", .api = "ListOffsets", .first = 1, .last = 11) {
  const Timed log = timed_topic(kit);
  for (const int32_t partition : {0, 1}) {
    const ListOffsetsOptions options{.partition = partition, .version = kit.version()};
    const auto at = [&](int64_t plus) {
      return list_offset(kit, log.topic, log.base + plus, options);
    };
    is_offset(at(1), 0, log.base + 2);
    is_offset(at(2), 0, log.base + 2);
    is_offset(at(3), 1, log.base + 4);
    is_offset(at(8), 3, log.base + 8);
    is_offset(at(9), -1, -1);
    is_offset(list_offset(kit, log.topic, 0, options), 0, log.base + 2);
  }
}

CASE(by_timestamp_over_batches, "KIP-79") {
  const Topic topic = create_topic(kit);
  const int64_t base = now_ms() - 100000;
  for (int64_t i = 0; i < 20; ++i) {
    produce(kit, topic,
            build_batch({.records = {{.value = "x", .timestamp = base + i * 10},
                                     {.value = "y", .timestamp = base + i * 10 + 5}},
                         .codec = i % 2 == 0 ? Codec::kNone : Codec::kLz4}));
  }
  for (int64_t i = 0; i < 20; ++i) {
    is_offset(list_offset(kit, topic, base + i * 10), i * 2, base + i * 10);
    is_offset(list_offset(kit, topic, base + i * 10 + 3), i * 2 + 1, base + i * 10 + 5);
  }
}

// Not the nearest time: the first offset whose record is not older.
CASE(timestamps_out_of_order, "KIP-79") {
  const Topic topic = create_topic(kit);
  const int64_t base = now_ms() - 100000;
  for (const int64_t plus : {50, 10, 40, 70, 20})
    produce(kit, topic, build_batch({.records = {{.value = "x", .timestamp = base + plus}}}));
  is_offset(list_offset(kit, topic, base + 5), 0, base + 50);
  is_offset(list_offset(kit, topic, base + 45), 0, base + 50);
  is_offset(list_offset(kit, topic, base + 55), 3, base + 70);
  is_offset(list_offset(kit, topic, base + 71), -1, -1);
}

CASE(out_of_order_inside_a_batch, "KIP-79") {
  const Topic topic = create_topic(kit);
  const int64_t base = now_ms() - 100000;
  std::vector<RecordSpec> records;
  for (const int64_t plus : {30, 10, 50, 20})
    records.push_back({.value = "x", .timestamp = base + plus});
  produce(kit, topic, build_batch({.records = records, .codec = Codec::kZstd}));
  is_offset(list_offset(kit, topic, base + 10), 0, base + 30);
  is_offset(list_offset(kit, topic, base + 31), 2, base + 50);
}

CASE(latest_and_earliest, "KIP-79", .api = "ListOffsets", .first = 1, .last = 11) {
  const Topic topic = create_topic(kit);
  const ListOffsetsOptions options{.version = kit.version()};
  is_offset(list_offset(kit, topic, kLatest, options), 0, -1);
  is_offset(list_offset(kit, topic, kEarliest, options), 0, -1);
  produce(kit, topic, numbered(4));
  is_offset(list_offset(kit, topic, kLatest, options), 4, -1);
  is_offset(list_offset(kit, topic, kEarliest, options), 0, -1);
}

// One replica has what its leader has appended: nothing more is to be waited for with acks=1.
CASE(acks_1_counts, "KIP-79", .api = "ListOffsets", .first = 1, .last = 11) {
  const Topic topic = create_topic(kit);
  const int64_t base = now_ms() - 100000;
  for (int64_t i = 0; i < 20; ++i) {
    produce(kit, topic, build_batch({.records = {{.value = "x", .timestamp = base + i}}}),
            {.acks = 1});
    const ListOffsetsOptions options{.version = kit.version()};
    is_offset(list_offset(kit, topic, kLatest, options), i + 1, -1);
    is_offset(list_offset(kit, topic, base + i, options), i, base + i);
  }
}

CASE(after_deleted_records, "KIP-107", .api = "ListOffsets", .first = 1, .last = 11) {
  const Topic topic = create_topic(kit);
  const ListOffsetsOptions options{.version = kit.version()};
  produce(kit, topic, numbered(4));
  delete_records(kit, topic, 3);
  is_offset(list_offset(kit, topic, kEarliest, options), 3, -1);
  is_offset(list_offset(kit, topic, kLatest, options), 4, -1);
  if (kit.version() >= 8) is_offset(list_offset(kit, topic, kEarliestLocal, options), 3, -1);
}

CASE(deleted_records_are_not_found, "KIP-107") {
  const Timed log = timed_topic(kit);
  delete_records(kit, log.topic, 2);
  is_offset(list_offset(kit, log.topic, kEarliest), 2, -1);
  is_offset(list_offset(kit, log.topic, log.base + 5), 2, log.base + 6);
}

CASE(max_timestamp, "KIP-734", .api = "ListOffsets", .first = 7, .last = 11) {
  const Timed log = timed_topic(kit);
  for (const int32_t partition : {0, 1}) {
    is_offset(list_offset(kit, log.topic, kMaxTimestamp,
                          {.partition = partition, .version = kit.version()}),
              3, log.base + 8);
  }
}

CASE(max_timestamp_of_an_empty_log, "KIP-734", .api = "ListOffsets", .first = 7, .last = 11) {
  is_offset(list_offset(kit, create_topic(kit), kMaxTimestamp, {.version = kit.version()}), -1, -1);
}

// Of several, the earliest.
CASE(max_timestamp_tie, "KIP-734") {
  for (const Codec codec : {Codec::kNone, Codec::kGzip}) {
    const Topic topic = create_topic(kit);
    const int64_t base = now_ms() - 10000;
    std::vector<RecordSpec> records;
    for (const int64_t plus : {1, 5, 5, 3})
      records.push_back({.value = "x", .timestamp = base + plus});
    const auto batch = build_batch({.records = records, .codec = codec});
    produce(kit, topic, batch);
    is_offset(list_offset(kit, topic, kMaxTimestamp), 1, base + 5);
    produce(kit, topic, batch);
    is_offset(list_offset(kit, topic, kMaxTimestamp), 1, base + 5);
  }
}

CASE(max_timestamp_in_an_older_batch, "KIP-734") {
  const Topic topic = create_topic(kit);
  const int64_t base = now_ms() - 10000;
  for (const int64_t plus : {10, 90, 20})
    produce(kit, topic, build_batch({.records = {{.value = "x", .timestamp = base + plus}}}));
  is_offset(list_offset(kit, topic, kMaxTimestamp), 1, base + 90);
}

CASE(earliest_local, "KIP-405", .api = "ListOffsets", .first = 8, .last = 11) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  is_offset(list_offset(kit, topic, kEarliestLocal, {.version = kit.version()}), 0, -1);
}

// There is no tier: nothing is in it.
CASE(latest_tiered, "KIP-1005", .api = "ListOffsets", .first = 9, .last = 11) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  is_offset(list_offset(kit, topic, kLatestTiered, {.version = kit.version()}), -1, -1);
}

CASE(earliest_pending_upload, "KIP-1023", .api = "ListOffsets", .first = 11, .last = 11) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  is_offset(list_offset(kit, topic, kEarliestPendingUpload, {.version = kit.version()}), -1, -1);
}

// A special timestamp that a version does not have yet, or that none has.
CASE(special_too_new, "KIP-734, KIP-405", .api = "ListOffsets", .first = 1, .last = 11) {
  const Timed log = timed_topic(kit);
  const int16_t version = kit.version();
  std::vector<int64_t> unknown{-7, -100, INT64_MIN};
  if (version < 7) unknown.push_back(kMaxTimestamp);
  if (version < 8) unknown.push_back(kEarliestLocal);
  if (version < 9) unknown.push_back(kLatestTiered);
  if (version < 11) unknown.push_back(kEarliestPendingUpload);
  for (const int64_t timestamp : unknown) {
    const Value partition = list_offset(kit, log.topic, timestamp, {.version = version});
    partition["errorCode"].is(ErrorCode::UNSUPPORTED_VERSION);
    partition["offset"].is(-1);
    partition["timestamp"].is(-1);
  }
}

CASE(leader_epoch, "KIP-320", .api = "ListOffsets", .first = 4, .last = 11) {
  const Timed log = timed_topic(kit);
  const ListOffsetsOptions options{.version = kit.version()};
  for (const int64_t timestamp : {log.base + 3, kLatest, kEarliest})
    list_offset(kit, log.topic, timestamp, options)["leaderEpoch"].is(0);
  list_offset(kit, log.topic, log.base + 9, options)["leaderEpoch"].is(-1);
}

CASE(current_leader_epoch, "KIP-320", .api = "ListOffsets", .first = 4, .last = 11) {
  const Topic topic = create_topic(kit);
  const auto at = [&](int32_t epoch) {
    return list_offset(kit, topic, kLatest,
                       {.version = kit.version(), .current_leader_epoch = epoch});
  };
  const auto epoch = static_cast<int32_t>(
      describe_topic(kit, topic.name)["partitions"][0]["leaderEpoch"].number());
  at(epoch)["errorCode"].is_none();
  at(-1)["errorCode"].is_none();
  const Value newer = at(epoch + 5);
  newer["errorCode"].is(ErrorCode::UNKNOWN_LEADER_EPOCH);
  newer["offset"].is(-1);
}

CASE(same_partition_twice, "Kafka protocol guide, ListOffsets", .api = "ListOffsets", .first = 1,
     .last = 11) {
  const Topic topic = create_topic(kit, 2);
  const Object twice{{"partitionIndex", 0}, {"timestamp", kLatest}};
  const Object once{{"partitionIndex", 1}, {"timestamp", kLatest}};
  const Value answer = kit.ask(
      "ListOffsets", kit.version(),
      {{"replicaId", -1},
       {"topics", list(Object{{"name", topic.name}, {"partitions", list(twice, once, twice)}})}});
  int seen = 0;
  for (const Value& of_topic : answer["topics"].items()) {
    for (const Value& partition : of_topic["partitions"].items()) {
      const bool is_twice = partition["partitionIndex"].number() == 0;
      partition["errorCode"].is(is_twice ? ErrorCode::INVALID_REQUEST : ErrorCode::NONE);
      seen |= is_twice ? 1 : 2;
    }
  }
  expect_equal(seen, 3, "both partitions are answered");
}

CASE(unknown_topic, "Kafka protocol guide, ListOffsets", .api = "ListOffsets", .first = 1,
     .last = 11) {
  const Value partition = list_offset(kit, ghost_topic(kit), kLatest, {.version = kit.version()});
  partition["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  partition["offset"].is(-1);
  partition["timestamp"].is(-1);
}

CASE(unknown_partition, "Kafka protocol guide, ListOffsets", .api = "ListOffsets", .first = 1,
     .last = 11) {
  const Topic topic = create_topic(kit);
  for (const int32_t partition : {1, 100000, -1}) {
    const Value answer =
        list_offset(kit, topic, kLatest, {.partition = partition, .version = kit.version()});
    answer["partitionIndex"].is(partition);
    answer["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    answer["offset"].is(-1);
  }
}

CASE(no_topics, "Kafka protocol guide, ListOffsets", .api = "ListOffsets", .first = 1, .last = 11) {
  kit.ask("ListOffsets", kit.version(), {{"replicaId", -1}, {"topics", list()}})["topics"].has_size(
      0);
}

CASE(isolation, "KIP-98", .api = "ListOffsets", .first = 2, .last = 11) {
  const Topic topic = create_topic(kit);
  const int64_t base = now_ms() - 10000;
  produce(kit, topic, build_batch({.records = {{.value = "x", .timestamp = base}}}));
  TxnProducer producer = begin_transaction(kit, topic, {"y"});
  const auto at = [&](int64_t timestamp, int8_t isolation) {
    return list_offset(kit, topic, timestamp,
                       {.version = kit.version(), .isolation = isolation})["offset"];
  };
  at(kLatest, 0).is(2);
  at(kLatest, 1).is(1);
  at(kEarliest, 1).is(0);
  at(base, 1).is(0);
  at(base + 1, 0).is(1);
  at(base + 1, 1).is(-1);  // what is found is not stable yet
  producer.commit();
  wait_for_stable(kit, topic, 3);
  at(kLatest, 1).is(3);
  at(base + 1, 1).is(1);
}

CASE(max_timestamp_of_open_transaction, "KIP-734") {
  const Topic topic = create_topic(kit);
  const int64_t base = now_ms() - 10000;
  produce(kit, topic, build_batch({.records = {{.value = "x", .timestamp = base}}}));
  TxnProducer producer = begin_transaction(kit, topic, {"y"});
  list_offset(kit, topic, kMaxTimestamp)["offset"].is(1);
  const Value stable = list_offset(kit, topic, kMaxTimestamp, {.isolation = 1});
  stable["errorCode"].is_none();
  stable["offset"].is_between(-1, 0);
  producer.abort();
}

CASE(many_partitions, "Kafka protocol guide, ListOffsets") {
  const Topic topic = create_topic(kit, 20);
  for (int32_t i = 0; i < 20; i += 3) produce(kit, topic, numbered(i + 1), {.partition = i});
  json::array partitions;
  for (int32_t i = 0; i < 20; ++i)
    partitions.push_back(Object{{"partitionIndex", i}, {"timestamp", kLatest}});
  const Value answer =
      kit.ask("ListOffsets", 7,
              {{"replicaId", -1},
               {"topics", list(Object{{"name", topic.name}, {"partitions", partitions}})}});
  for (const Value& partition : answer["topics"][0]["partitions"].items()) {
    const int64_t index = partition["partitionIndex"].number();
    partition["offset"].is(index % 3 == 0 ? index + 1 : 0);
  }
}

CASE(any_reader, "Kafka protocol guide, ListOffsets", .api = "ListOffsets", .first = 1,
     .last = 11) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  for (const int32_t replica : {-1, -2}) {
    const Value answer = kit.ask(
        "ListOffsets", kit.version(),
        {{"replicaId", replica},
         {"topics", list(Object{{"name", topic.name},
                                {"partitions",
                                 list(Object{{"partitionIndex", 0}, {"timestamp", kLatest}})}})}});
    is_offset(answer["topics"][0]["partitions"][0], 3, -1);
  }
}

}  // namespace ackord::conform
