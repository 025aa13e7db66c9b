// Produce in every version that brokers still have: what its answers hold, and from when on.
#include "tools/conform/case.h"
#include "tools/conform/kit/produce_checks.h"

namespace ackord::conform {

AREA("produce.versions", "Produce, version by version");

static Bytes batch_of(const std::vector<std::string>& values) {
  return build_batch({.records = records_of(values)});
}

// The whole answer to one batch.
static Value ask_produce(Kit& kit, const Topic& topic, const Bytes& batch) {
  const int16_t version = kit.version();
  return kit.ask("Produce", version, produce_request(topic, bytes(batch), {.version = version}));
}

CASE(answer, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const int16_t version = kit.version();
  const Value answer = ask_produce(kit, topic, batch_of({"a", "b"}));
  answer["throttleTimeMs"].is(0);
  answer["responses"].has_size(1);
  const Value of_topic = answer["responses"][0];
  if (version >= 13)
    of_topic["topicId"].is(json::value(topic.id));
  else
    of_topic["name"].is(json::value(topic.name));
  of_topic["partitionResponses"].has_size(1);
  const Value partition = of_topic["partitionResponses"][0];
  partition["index"].is(0);
  partition["errorCode"].is_none();
  partition["baseOffset"].is(0);
  partition["logAppendTimeMs"].is(-1);
  if (version >= 5) partition["logStartOffset"].is(0);
  if (version >= 8) {
    partition["recordErrors"].has_size(0);
    partition["errorMessage"].is_null();
  }
  ask_produce(kit, topic, batch_of({"c"}))["responses"][0]["partitionResponses"][0]["baseOffset"]
      .is(2);
}

// Fields that say where the leader is are there only when it is not here.
CASE(no_leader_fields_from_the_leader, "KIP-951", .api = "Produce", .first = 10, .last = 13) {
  const Topic topic = create_topic(kit);
  const Value good = ask_produce(kit, topic, batch_of({"x"}));
  const Value bad = ask_produce(kit, ghost_topic(kit), batch_of({"x"}));
  for (const Value& answer : {good, bad}) {
    expect(!answer.has("nodeEndpoints") || answer["nodeEndpoints"].size() == 0,
           "no node endpoints");
    const Value partition = answer["responses"][0]["partitionResponses"][0];
    if (partition.has("currentLeader")) partition["currentLeader"]["leaderId"].is(-1);
  }
}

CASE(log_start_offset, "KIP-107", .api = "Produce", .first = 5, .last = 13) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  delete_records(kit, topic, 2);
  const Value partition = try_produce(kit, topic, batch_of({"x"}), {.version = kit.version()});
  partition["baseOffset"].is(3);
  partition["logStartOffset"].is(2);
}

CASE(log_append_time, "KIP-32", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit, 1, {{"message.timestamp.type", "LogAppendTime"}});
  const int64_t before = now_ms();
  const Value partition = try_produce(kit, topic, batch_of({"x"}), {.version = kit.version()});
  partition["errorCode"].is_none();
  partition["logAppendTimeMs"].is_between(before - 1000, now_ms() + 1000);
}

CASE(record_errors, "KIP-467", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const auto batch = build_batch(
      {.records = {{.value = "good"}, {.value = "late", .timestamp = now_ms() + 7200000}}});
  const Value partition =
      refused(kit, topic, batch, ErrorCode::INVALID_TIMESTAMP, {.version = kit.version()});
  if (kit.version() >= 8) has_record_errors(partition, {1});
}

// An error of a batch as a whole names no records.
CASE(error_without_records, "KIP-467", .api = "Produce", .first = 8, .last = 13) {
  const Topic topic = create_topic(kit, 1, {{"max.message.bytes", "1000"}});
  const Value partition = refused(kit, topic, batch_of({std::string(2000, 'x')}),
                                  ErrorCode::MESSAGE_TOO_LARGE, {.version = kit.version()});
  partition["recordErrors"].has_size(0);
}

CASE(several_topics, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const std::vector<Topic> topics{create_topic(kit, 3), create_topic(kit, 2)};
  const int16_t version = kit.version();
  const json::value records = bytes(batch_of({"x"}));
  Object request{{"transactionalId", nullptr}, {"acks", -1}, {"timeoutMs", 10000}};
  request["topicData"] = list_of(topics, [&](const Topic& topic) {
    Object data =
        produce_request(topic, records, {.version = version})["topicData"].at(0).as_object();
    data["partitionData"] = list(Object{{"index", 1}, {"records", records}},
                                 Object{{"index", 0}, {"records", records}});
    return data;
  });
  const Value answer = kit.ask("Produce", version, request);
  answer["responses"].has_size(2);
  for (const Topic& topic : topics) {
    const Value of_topic = version >= 13
                               ? answer["responses"].with("topicId", json::value(topic.id))
                               : answer["responses"].with("name", json::value(topic.name));
    of_topic["partitionResponses"].has_size(2);
    for (const int index : {0, 1})
      of_topic["partitionResponses"].with("index", index)["errorCode"].is_none();
    expect_equal(end_offset(kit, topic, 1), 1, "the end of partition 1");
  }
}

// It is in the log when it is answered; readers may see it a little later.
CASE(acks_1, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const ProduceOptions options{.version = kit.version(), .acks = 1};
  expect_equal(produce(kit, topic, numbered(2), options), 0, "the base offset");
  expect_equal(produce(kit, topic, numbered(1), options), 2, "the base offset");
  kit.until("the records can be read", [&] { return end_offset(kit, topic) == 3; });
  expect_equal(values_of(read_all(kit, topic)), std::vector<std::string>{"v0", "v1", "v0"},
               "the values");
}

CASE(every_acks_is_checked, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  const Topic topic = create_topic(kit);
  for (const int16_t acks : {2, -2, 32767}) {
    refused(kit, topic, batch_of({"x"}), ErrorCode::INVALID_REQUIRED_ACKS,
            {.version = kit.version(), .acks = acks});
  }
}

CASE(no_topics, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Value answer = kit.ask(
      "Produce", kit.version(),
      {{"transactionalId", nullptr}, {"acks", -1}, {"timeoutMs", 1000}, {"topicData", list()}});
  answer["responses"].has_size(0);
}

// With one replica there is nobody to wait for.
CASE(timeout_0, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  Object request = produce_request(topic, bytes(batch_of({"x"})), {.version = kit.version()});
  request["timeoutMs"] = 0;
  kit.ask("Produce", kit.version(), request)["responses"][0]["partitionResponses"][0]["errorCode"]
      .is_none();
}

CASE(idempotent_producer, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const Value producer =
      kit.ask("InitProducerId", 0, {{"transactionalId", nullptr}, {"transactionTimeoutMs", 60000}});
  producer["errorCode"].is_none();
  BatchSpec spec{.records = records_of({"a", "b"}),
                 .producer_id = producer["producerId"].number(),
                 .producer_epoch = 0,
                 .base_sequence = 0};
  const ProduceOptions options{.version = kit.version()};
  expect_equal(produce(kit, topic, build_batch(spec), options), 0, "the base offset");
  expect_equal(produce(kit, topic, build_batch(spec), options), 0, "the one of the repetition");
  spec.base_sequence = 5;
  try_produce(kit, topic, build_batch(spec), options)["errorCode"].is(
      ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_equal(end_offset(kit, topic), 2, "the log's end");
}

}  // namespace ackord::conform
