// What two brokers were found to answer differently to a Produce. Each is what Kafka answers.
#include "tools/conform/case.h"
#include "tools/conform/kit/records.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("differences.produce", "Produce: found by sending the same random requests to two brokers");

namespace {

constexpr size_t kHeaderSize = 61;

std::vector<std::byte> one_record() { return build_batch({.records = records_of({"x"})}); }

// A Produce of these batches, all to partition 0; the answer's topics.
Value produce_all(Kit& kit, const Topic& topic, const std::vector<std::vector<std::byte>>& batches,
                  int16_t version) {
  Object request = produce_request(topic, nullptr, {.version = version});
  request["topicData"].as_array()[0].as_object()["partitionData"] = list_of(
      batches, [](const auto& batch) { return Object{{"index", 0}, {"records", bytes(batch)}}; });
  return kit.ask("Produce", version, request)["responses"];
}

// A transactional batch of a producer that has just been initialised.
std::vector<std::byte> transactional(const TxnProducer& producer, Codec codec = Codec::kNone) {
  return build_batch({.records = records_of({"x"}),
                      .codec = codec,
                      .producer_id = producer.producer_id(),
                      .producer_epoch = producer.epoch(),
                      .base_sequence = 0,
                      .transactional = true});
}

}  // namespace

CASE(acks_are_judged_last, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  const int16_t version = kit.version();
  const Value unknown =
      try_produce(kit, ghost_topic(kit), one_record(), {.version = version, .acks = 2});
  unknown["errorCode"].is(version >= 13 ? ErrorCode::UNKNOWN_TOPIC_ID
                                        : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  const Topic topic = create_topic(kit);
  try_produce(kit, topic, {}, {.version = version, .acks = 2})["errorCode"].is(
      ErrorCode::INVALID_RECORD);
}

CASE(without_an_epoch, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const int64_t id = idempotent_producer(kit).id;
  const ProduceOptions options{.version = kit.version()};
  const auto batch = [&](int16_t epoch) {
    return build_batch({.records = records_of({"x"}),
                        .producer_id = id,
                        .producer_epoch = epoch,
                        .base_sequence = 0});
  };
  // -1 is an epoch like any other, the lowest.
  expect_equal(produce(kit, topic, batch(-1), options), 0, "base offset");
  expect_equal(produce(kit, topic, batch(0), options), 1, "base offset");
  try_produce(kit, topic, batch(-1), options)["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
}

CASE(with_the_append_time_bit, "docs/PROTOCOL.md", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, build_batch({.records = records_of({"x"}), .attributes = 8}),
          {.version = kit.version()});
  expect_equal(end_offset(kit, topic), 1, "the log's end");
}

CASE(names_a_partition_twice, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  const Topic topic = create_topic(kit);
  const Value topics = produce_all(kit, topic,
                                   {build_batch({.records = records_of({"first"})}),
                                    build_batch({.records = records_of({"second"})})},
                                   kit.version());
  topics.has_size(1);
  topics[0]["partitionResponses"].has_size(1);
  topics[0]["partitionResponses"][0]["errorCode"].is_none();
  expect_equal(values_of(read_all(kit, topic)), std::vector<std::string>{"second"}, "values");
}

CASE(to_no_partition, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  produce_all(kit, create_topic(kit), {}, kit.version()).has_size(0);
}

CASE(cut_records, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const auto whole = one_record();
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{14}, size_t{20}, kHeaderSize, whole.size() - 1}) {
    const Value answer =
        try_produce(kit, topic, {whole.begin(), whole.begin() + static_cast<long>(size)},
                    {.version = kit.version()});
    answer["errorCode"].is(ErrorCode::INVALID_RECORD);
    answer["baseOffset"].is(-1);
    if (kit.version() >= 5) answer["logStartOffset"].is(-1);
  }
}

CASE(duplicate_has_its_time, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const int64_t time = now_ms() - 1000;
  const auto batch = build_batch({.records = {{.value = "x", .timestamp = time}},
                                  .producer_id = idempotent_producer(kit).id,
                                  .producer_epoch = 0,
                                  .base_sequence = 0});
  const ProduceOptions options{.version = kit.version()};
  try_produce(kit, topic, batch, options)["logAppendTimeMs"].is(-1);
  const Value again = try_produce(kit, topic, batch, options);
  again["errorCode"].is_none();
  again["baseOffset"].is(0);
  again["logAppendTimeMs"].is(time);
}

CASE(message_of_a_sequence_error, "KIP-467", .api = "Produce", .first = 8, .last = 13) {
  const Topic topic = create_topic(kit);
  const int64_t id = idempotent_producer(kit).id;
  const auto batch = build_batch(
      {.records = records_of({"x"}), .producer_id = id, .producer_epoch = 0, .base_sequence = 0});
  produce(kit, topic, batch, {.version = kit.version()});
  const Value answer = try_produce(kit, topic,
                                   build_batch({.records = records_of({"y"}),
                                                .producer_id = id,
                                                .producer_epoch = 0,
                                                .base_sequence = 5}),
                                   {.version = kit.version()});
  answer["errorCode"].is(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  answer["errorMessage"].is_null();
}

CASE(base_offset, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  for (const Codec codec : {Codec::kNone, Codec::kGzip}) {
    const auto batch =
        build_batch({.records = records_of({"x"}), .codec = codec, .base_offset = 2});
    const Value answer = try_produce(kit, topic, batch, {.version = kit.version()});
    answer["errorCode"].is(ErrorCode::INVALID_RECORD);
  }
  expect_equal(end_offset(kit, topic), 0, "the log's end");
}

CASE(twice_without_answer, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  Object request = produce_request(topic, bytes(one_record()), {.acks = 0});
  json::array& parts = request["topicData"].as_array()[0].as_object()["partitionData"].as_array();
  parts.push_back(json::value(parts[0]));
  Connection& connection = kit.connect();
  connection.send("Produce", 11, request);
  connection.receive(connection.send("Metadata", 12, {}));
  kit.until("a record is in the log", [&] { return end_offset(kit, topic) > 0; });
  produce(kit, topic, {"last"});
  expect_equal(end_offset(kit, topic), 2, "the log's end");
}

CASE(to_two_topics_of_the_future, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  // A magic that no broker knows: no part of the request is looked at.
  const Topic topic = create_topic(kit);
  const auto batch = build_batch({.records = records_of({"x"}), .magic = 3});
  for (const Topic& to : {topic, ghost_topic(kit)}) {
    try_produce(kit, to, batch, {.version = kit.version()})["errorCode"].is(
        ErrorCode::CORRUPT_MESSAGE);
  }
}

CASE(transactional_without_an_id, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const auto batch = build_batch({.records = records_of({"x"}),
                                  .producer_id = 1,
                                  .producer_epoch = 0,
                                  .base_sequence = 0,
                                  .transactional = true});
  try_produce(kit, ghost_topic(kit), batch, {.version = kit.version()})["errorCode"].is(
      ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
}

CASE(message_of_a_transaction_error, "KIP-467", .api = "Produce", .first = 8, .last = 10) {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  producer.init();
  const auto batch = transactional(producer);
  const Value answer =
      try_produce(kit, topic, batch, {.version = kit.version(), .transactional_id = producer.id()});
  answer["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
  answer["errorMessage"].is_not_empty();
}

CASE(codec_before_transaction, "KIP-110", .api = "Produce", .first = 3, .last = 6) {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  producer.init();
  const auto batch = transactional(producer, Codec::kZstd);
  try_produce(kit, topic, batch,
              {.version = kit.version(), .transactional_id = producer.id()})["errorCode"]
      .is(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
}

}  // namespace ackord::conform
