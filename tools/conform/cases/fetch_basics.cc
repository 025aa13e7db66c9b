// Fetch in every version that brokers still have: what its answers hold.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("fetch.basics", "Fetch, version by version");

static Value topic_part(const Value& answer, const Topic& topic, int16_t version) {
  return version >= 13 ? answer["responses"].with("topicId", json::value(topic.id))
                       : answer["responses"].with("topic", json::value(topic.name));
}

CASE(answer, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  const int16_t version = kit.version();
  const Value answer = fetch(kit, {{.topic = topic}}, {.version = version});
  answer["throttleTimeMs"].is(0);
  if (version >= 7) {
    answer["errorCode"].is_none();
    answer["sessionId"].is(0);
  }
  answer["responses"].has_size(1);
  const Value partitions = topic_part(answer, topic, version)["partitions"];
  partitions.has_size(1);
  const Value partition = partitions[0];
  partition["partitionIndex"].is(0);
  partition["errorCode"].is_none();
  partition["highWatermark"].is(3);
  partition["lastStableOffset"].is(3);
  if (version >= 5) partition["logStartOffset"].is(0);
  partition["abortedTransactions"].is_null();
  if (version >= 11) partition["preferredReadReplica"].is(-1);
  expect_equal(values_of(batches_of(partition)), numbered(3), "the values");
}

// Tagged fields that would say nothing are left out, or say nothing.
CASE(no_leader_fields, "KIP-951", .api = "Fetch", .first = 12, .last = 18) {
  const Topic topic = create_topic(kit);
  const Value answer = fetch(kit, {{.topic = topic}}, {.version = kit.version()});
  if (answer.has("nodeEndpoints")) answer["nodeEndpoints"].has_size(0);
  const Value partition = answer["responses"][0]["partitions"][0];
  for (const char* field : {"divergingEpoch", "snapshotId"})
    if (partition.has(field)) partition[field]["endOffset"].is(-1);
  if (partition.has("currentLeader")) partition["currentLeader"]["leaderId"].is(-1);
}

CASE(empty_partition, "Kafka protocol guide, Fetch") {
  const Value partition = fetch_one(kit, {.topic = create_topic(kit)});
  partition["errorCode"].is_none();
  partition["highWatermark"].is(0);
  partition["lastStableOffset"].is(0);
  expect_equal(batches_of(partition).size(), size_t{0}, "how many batches");
}

CASE(at_the_end, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  const Value partition = fetch_one(kit, {.topic = topic, .offset = 3}, {.version = kit.version()});
  partition["errorCode"].is_none();
  partition["highWatermark"].is(3);
  expect_equal(batches_of(partition).size(), size_t{0}, "how many batches");
}

// A batch is never cut at its front: the client skips what it did not ask for.
CASE(middle_of_a_batch, "KIP-98", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(2, "a"));
  produce(kit, topic, numbered(5, "b"));
  produce(kit, topic, numbered(2, "c"));
  for (const int64_t offset : {2, 4, 6}) {
    const auto batches =
        batches_of(fetch_one(kit, {.topic = topic, .offset = offset}, {.version = kit.version()}));
    expect_equal(offsets_of(batches), std::vector<int64_t>{2, 3, 4, 5, 6, 7, 8}, "the offsets");
    expect(batches[0].crc_ok, "the checksum is right");
  }
}

CASE(several_topics, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic first = create_topic(kit, 2);
  const Topic second = create_topic(kit, 2);
  produce(kit, first, {"f1"}, {.partition = 1});
  produce(kit, second, {"s0"});
  const Value answer = fetch(kit,
                             {{.topic = first},
                              {.topic = first, .partition = 1},
                              {.topic = second, .partition = 1},
                              {.topic = second}},
                             {.version = kit.version()});
  answer["responses"].has_size(2);
  const auto values = [&](const Topic& topic, int index) {
    const Value partitions = topic_part(answer, topic, kit.version())["partitions"];
    partitions.has_size(2);
    return values_of(batches_of(partitions.with("partitionIndex", index)));
  };
  expect_equal(values(first, 0), std::vector<std::string>{}, "first 0");
  expect_equal(values(first, 1), std::vector<std::string>{"f1"}, "first 1");
  expect_equal(values(second, 0), std::vector<std::string>{"s0"}, "second 0");
  expect_equal(values(second, 1), std::vector<std::string>{}, "second 1");
}

CASE(no_topics, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Value answer = fetch(kit, {}, {.version = kit.version()});
  answer["responses"].has_size(0);
  if (kit.version() >= 7) answer["errorCode"].is_none();
}

CASE(log_start_offset, "KIP-107", .api = "Fetch", .first = 5, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(5));
  delete_records(kit, topic, 3);
  const Value partition = fetch_one(kit, {.topic = topic, .offset = 3}, {.version = kit.version()});
  partition["logStartOffset"].is(3);
  partition["highWatermark"].is(5);
  partition["errorCode"].is_none();
}

CASE(every_codec, "KIP-110", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  for (const Codec codec : {Codec::kNone, Codec::kGzip, Codec::kSnappy, Codec::kLz4})
    produce(kit, topic, build_batch({.records = records_of(numbered(10)), .codec = codec}));
  const auto batches = batches_of(fetch_one(kit, {.topic = topic}, {.version = kit.version()}));
  expect_equal(batches.size(), size_t{4}, "how many batches");
  for (const BatchRead& batch : batches) {
    expect(batch.crc_ok, "the checksum is right");
    expect_equal(values_of({batch}), numbered(10), "the values");
  }
}

// KIP-110 refuses it before version 10 with UNSUPPORTED_COMPRESSION_TYPE; Kafka 4.4 no longer does.
CASE(zstd_topic, "KIP-110", .api = "Fetch", .first = 4, .last = 10) {
  const Topic topic = create_topic(kit, 1, {{"compression.type", "zstd"}});
  produce(kit, topic, {"x"});
  const Value partition = fetch_one(kit, {.topic = topic}, {.version = kit.version()});
  if (kit.version() < 10 &&
      partition["errorCode"].error() == ErrorCode::UNSUPPORTED_COMPRESSION_TYPE) {
    return;
  }
  partition["errorCode"].is_none();
  expect_equal(values_of(batches_of(partition)), std::vector<std::string>{"x"}, "the values");
}

CASE(control_batches_come_too, "KIP-98", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  producer.commit();
  wait_for_stable(kit, topic, 2);
  const Value partition = fetch_one(kit, {.topic = topic}, {.version = kit.version()});
  const auto batches = batches_of(partition);
  expect_equal(batches.size(), size_t{2}, "how many batches");
  expect(batches[0].header.transactional() && !batches[0].header.control(), "first the data");
  expect(batches[1].header.transactional() && batches[1].header.control(), "then the marker");
  expect_equal(batches[1].header.base_sequence, -1, "the marker's sequence");
  expect_equal(batches[1].header.producer_id.value, producer.producer_id(), "its producer id");
}

CASE(marker_content, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const bool committed : {kCommit, kAbort}) {
    TxnProducer producer = begin_transaction(kit, topic, {"a"});
    committed ? producer.commit() : producer.abort();
  }
  wait_for_stable(kit, topic, 4);
  const auto batches = read_all(kit, topic);
  expect_equal(batches.size(), size_t{4}, "how many batches");
  const auto key = [](char type) { return std::optional(std::string{0, 0, 0, type}); };
  expect_equal(batches[1].records[0].key, key(1), "the key of a commit");
  expect_equal(batches[3].records[0].key, key(0), "the key of an abort");
  for (const size_t i : {1, 3})
    expect_equal(batches[i].records[0].value->size(), size_t{6}, "the bytes of a marker's value");
}

CASE(rack_is_free, "KIP-392", .api = "Fetch", .first = 11, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"x"});
  Object request = fetch_request({{.topic = topic}}, {.version = kit.version()});
  request["rackId"] = "nowhere";
  const Value partition = kit.ask("Fetch", kit.version(), request)["responses"][0]["partitions"][0];
  partition["errorCode"].is_none();
  partition["preferredReadReplica"].is(-1);
  expect_equal(values_of(batches_of(partition)), std::vector<std::string>{"x"}, "the values");
}

// The id is what it is about: after a topic is made anew under its name, the old id is unknown.
CASE(id_of_a_deleted_topic, "KIP-516", .api = "Fetch", .first = 13, .last = 18) {
  const Topic before = create_topic(kit);
  produce(kit, before, {"old"});
  delete_topic(kit, before);
  const Topic after = create_topic(kit, 1, {}, before.name);
  const Value part = fetch_one(kit, {.topic = before}, {.version = kit.version()});
  part["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  fetch_one(kit, {.topic = after}, {.version = kit.version()})["errorCode"].is_none();
}

CASE(reads_again_and_again, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(10));
  const auto once = fetch_one(kit, {.topic = topic})["records"].bytes();
  for (int i = 0; i < 5; ++i) {
    expect(fetch_one(kit, {.topic = topic})["records"].bytes() == once,
           "the same bytes at each fetch");
  }
}

}  // namespace ackord::conform
