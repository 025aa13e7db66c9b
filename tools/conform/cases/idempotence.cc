// What a partition knows of its producers: sequence numbers, duplicates, epochs.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("idempotence", "Idempotent producers (KIP-98, KIP-360)");

namespace {

struct Numbered {
  int32_t sequence = 0;
  int count = 1;
  int32_t partition = 0;
  int16_t version = 11;
  Connection* connection = nullptr;
  Codec codec = Codec::kNone;
};

std::vector<std::byte> batch_of(const ProducerIdentity& producer, const Numbered& batch) {
  return build_batch({.records = records_of(numbered(batch.count)),
                      .codec = batch.codec,
                      .producer_id = producer.id,
                      .producer_epoch = producer.epoch,
                      .base_sequence = batch.sequence});
}

Value send(Kit& kit, const Topic& topic, const ProducerIdentity& producer, const Numbered& batch) {
  return try_produce(
      kit, topic, batch_of(producer, batch),
      {.partition = batch.partition, .version = batch.version, .connection = batch.connection});
}

void expect_stored(const Value& answer, int64_t offset) {
  answer["errorCode"].is_none();
  answer["baseOffset"].is(offset);
}

void expect_refused(const Value& answer, ErrorCode code) {
  answer["errorCode"].is(code);
  answer["baseOffset"].is(-1);
}

// Six batches of two records each: sequences 0-1, 2-3 … 10-11, at the same offsets.
struct Six {
  Topic topic;
  ProducerIdentity producer;
};
Six six_batches(Kit& kit) {
  Six six{create_topic(kit), idempotent_producer(kit)};
  for (int i = 0; i < 12; i += 2)
    expect_stored(send(kit, six.topic, six.producer, {.sequence = i, .count = 2}), i);
  return six;
}

Value describe_producers(Kit& kit, const Topic& topic, const std::vector<int>& partitions = {0}) {
  const Object asked{
      {"name", topic.name},
      {"partitionIndexes", list_of(partitions, [](int at) -> json::value { return at; })}};
  return kit.ask("DescribeProducers", 0, {{"topics", list(asked)}})["topics"][0]["partitions"];
}

}  // namespace

CASE(last_five_are_duplicates, "KIP-98; docs/SEMANTICS.md C.9") {
  const auto [topic, producer] = six_batches(kit);
  for (const int first : {10, 8, 6, 4, 2})
    expect_stored(send(kit, topic, producer, {.sequence = first, .count = 2}), first);
  expect_equal(end_offset(kit, topic), 12, "the log's end");
}

CASE(sixth_last_is_out_of_order, "KIP-98; docs/SEMANTICS.md C.9") {
  const auto [topic, producer] = six_batches(kit);
  expect_refused(send(kit, topic, producer, {.sequence = 0, .count = 2}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_equal(end_offset(kit, topic), 12, "the log's end");
}

CASE(duplicate, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  produce(kit, topic, numbered(3));
  for (int i = 0; i < 2; ++i) {
    expect_stored(send(kit, topic, producer, {.count = 4, .version = kit.version()}), 3);
  }
  expect_stored(send(kit, topic, producer, {.sequence = 4, .version = kit.version()}), 7);
  expect_equal(end_offset(kit, topic), 8, "the log's end");
}

CASE(gap, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  const int16_t version = kit.version();
  expect_stored(send(kit, topic, producer, {.count = 2, .version = version}), 0);
  expect_refused(send(kit, topic, producer, {.sequence = 3, .version = version}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_stored(send(kit, topic, producer, {.sequence = 2, .version = version}), 2);
}

CASE(another_range_is_no_duplicate, "KIP-98; docs/SEMANTICS.md C.9") {
  const auto [topic, producer] = six_batches(kit);
  for (const Numbered& other : {Numbered{.sequence = 10, .count = 1},
                                {.sequence = 10, .count = 3},
                                {.sequence = 9, .count = 2},
                                {.sequence = 8, .count = 4},
                                {.sequence = 11, .count = 1},
                                {.sequence = 11, .count = 2}})
    expect_refused(send(kit, topic, producer, other), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_equal(end_offset(kit, topic), 12, "the log's end");
}

CASE(duplicate_on_another_connection, "KIP-98") {
  const auto [topic, producer] = six_batches(kit);
  expect_stored(
      send(kit, topic, producer, {.sequence = 10, .count = 2, .connection = &kit.connect()}), 10);
}

CASE(duplicate_is_told_by_its_numbers, "KIP-98; docs/SEMANTICS.md C.9") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  expect_stored(send(kit, topic, producer, {.count = 3}), 0);
  expect_stored(send(kit, topic, producer, {.count = 3, .codec = Codec::kGzip}), 0);
  expect_equal(end_offset(kit, topic), 3, "the log's end");
}

CASE(duplicate_after_recompression, "KIP-98; the topic's compression.type") {
  const Topic topic = create_topic(kit, 1, {{"compression.type", "zstd"}});
  const ProducerIdentity producer = idempotent_producer(kit);
  for (int i = 0; i < 2; ++i)
    expect_stored(send(kit, topic, producer, {.count = 5, .codec = Codec::kGzip}), 0);
  const std::vector<BatchRead> batches = read_all(kit, topic);
  expect_equal(batches.size(), 1U, "batches");
  expect(batches[0].codec() == Codec::kZstd, "the batch is compressed anew");
  expect_equal(batches[0].header.base_sequence, 0, "base sequence");
}

CASE(duplicate_keeps_its_append_time, "KIP-98; message.timestamp.type") {
  const Topic topic = create_topic(kit, 1, {{"message.timestamp.type", "LogAppendTime"}});
  const ProducerIdentity producer = idempotent_producer(kit);
  const Value first = send(kit, topic, producer, {});
  first["logAppendTimeMs"].is_between(now_ms() - 30000, now_ms() + 1000);
  kit.pass(Millis(30));
  const Value again = send(kit, topic, producer, {});
  expect_stored(again, 0);
  again["logAppendTimeMs"].is(first["logAppendTimeMs"].json());
}

CASE(duplicate_of_deleted_records, "KIP-98; DeleteRecords") {
  const auto [topic, producer] = six_batches(kit);
  delete_records(kit, topic, 12);
  const Value answer = send(kit, topic, producer, {.sequence = 10, .count = 2});
  expect_stored(answer, 10);
  answer["logStartOffset"].is(12);
  expect_stored(send(kit, topic, producer, {.sequence = 12}), 12);
}

CASE(same_batch_from_many_connections, "KIP-98") {
  const Topic topic = create_topic(kit);
  const auto batch = bytes(batch_of(idempotent_producer(kit), {.count = 2}));
  std::vector<std::pair<Connection*, Sent>> sent;
  for (int i = 0; i < 6; ++i) {
    Connection& connection = kit.connect();
    sent.emplace_back(&connection, connection.send("Produce", 11, produce_request(topic, batch)));
  }
  for (const auto& [connection, one] : sent)
    expect_stored(connection->receive(one)["responses"][0]["partitionResponses"][0], 0);
  expect_equal(end_offset(kit, topic), 2, "the log's end");
}

CASE(pipelined_with_one_lost, "KIP-98: several requests in flight") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  Connection& connection = kit.connect();
  std::vector<Sent> sent;
  // 1 is lost on its way at first: 2 is refused, then both are sent again.
  for (const int sequence : {0, 2, 1, 2})
    sent.push_back(connection.send(
        "Produce", 11, produce_request(topic, bytes(batch_of(producer, {.sequence = sequence})))));
  std::vector<ErrorCode> codes;
  for (const Sent& one : sent)
    codes.push_back(
        connection.receive(one)["responses"][0]["partitionResponses"][0]["errorCode"].error());
  expect_equal(codes,
               std::vector{ErrorCode::NONE, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
                           ErrorCode::NONE, ErrorCode::NONE},
               "error codes");
}

CASE(producers_are_independent, "KIP-98") {
  const auto [topic, first] = six_batches(kit);
  const ProducerIdentity second = idempotent_producer(kit);
  expect_stored(send(kit, topic, second, {}), 12);
  expect_stored(send(kit, topic, first, {.sequence = 12}), 13);
  expect_stored(send(kit, topic, second, {}), 12);
  expect_stored(send(kit, topic, second, {.sequence = 1}), 14);
}

CASE(partitions_are_independent, "KIP-98") {
  const Topic topic = create_topic(kit, 2);
  const ProducerIdentity producer = idempotent_producer(kit);
  for (const int partition : {0, 1, 0, 1})
    expect_stored(send(kit, topic, producer, {.partition = partition}), 0);
  expect_refused(send(kit, topic, producer, {.sequence = 2, .partition = 1}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
}

CASE(refused_batch_uses_no_number, "KIP-98") {
  const Topic topic = create_topic(kit, 1, {{"max.message.bytes", "500"}});
  const ProducerIdentity producer = idempotent_producer(kit);
  const auto broken = build_batch({.records = records_of({"x"}),
                                   .producer_id = producer.id,
                                   .producer_epoch = producer.epoch,
                                   .base_sequence = 0,
                                   .bad_crc = true});
  try_produce(kit, topic, broken)["errorCode"].is(ErrorCode::CORRUPT_MESSAGE);
  expect_refused(send(kit, topic, producer, {.count = 200}), ErrorCode::MESSAGE_TOO_LARGE);
  expect_stored(send(kit, topic, producer, {}), 0);
  expect_stored(send(kit, topic, producer, {.sequence = 1}), 1);
}

CASE(numbers_with_acks_1, "KIP-98: the broker does not ask for acks=all") {
  const Topic topic = create_topic(kit);
  const auto batch = batch_of(idempotent_producer(kit), {});
  for (int i = 0; i < 2; ++i) expect_equal(produce(kit, topic, batch, {.acks = 1}), 0, "offset");
}

CASE(numbers_with_acks_0, "KIP-98: the broker does not ask for acks=all") {
  const Topic topic = create_topic(kit);
  const auto batch = bytes(batch_of(idempotent_producer(kit), {}));
  Connection& connection = kit.connect();
  for (int i = 0; i < 2; ++i)
    connection.send("Produce", 11, produce_request(topic, batch, {.acks = 0}));
  // Their turn comes before this one's.
  const Value third = connection.ask("Produce", 11, produce_request(topic, batch));
  expect_stored(third["responses"][0]["partitionResponses"][0], 0);
  expect_equal(end_offset(kit, topic), 1, "the log's end");
}

CASE(sequences_wrap_between_batches, "KIP-98; docs/SEMANTICS.md C.9") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  expect_stored(send(kit, topic, producer, {.sequence = INT32_MAX - 1, .count = 2}), 0);
  expect_refused(send(kit, topic, producer, {.sequence = 1}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_stored(send(kit, topic, producer, {.sequence = 0}), 2);
  expect_stored(send(kit, topic, producer, {.sequence = INT32_MAX - 1, .count = 2}), 0);
  expect_stored(send(kit, topic, producer, {.sequence = 1}), 3);
}

CASE(sequences_wrap_within_a_batch, "KIP-98; docs/SEMANTICS.md C.9") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  for (int i = 0; i < 2; ++i)
    expect_stored(send(kit, topic, producer, {.sequence = INT32_MAX - 1, .count = 4}), 0);
  expect_refused(send(kit, topic, producer, {.sequence = 1}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_stored(send(kit, topic, producer, {.sequence = 2}), 4);
}

CASE(unknown_producer_starts_anywhere, "KIP-360") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  expect_stored(send(kit, topic, producer, {.sequence = 42, .count = 3}), 0);
  expect_stored(send(kit, topic, producer, {.sequence = 45}), 3);
  expect_refused(send(kit, topic, producer, {.sequence = 0}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
}

CASE(producer_id_of_no_broker, "KIP-360") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity never_given{INT64_MAX - 7, 12};
  expect_stored(send(kit, topic, never_given, {.sequence = 3}), 0);
  expect_stored(send(kit, topic, never_given, {.sequence = 3}), 0);
}

CASE(known_after_its_records_are_deleted, "KIP-360") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  expect_stored(send(kit, topic, producer, {.count = 7}), 0);
  delete_records(kit, topic, -1);
  expect_refused(send(kit, topic, producer, {.sequence = 9}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_stored(send(kit, topic, producer, {.sequence = 7}), 7);
}

CASE(unknown_in_a_topic_of_the_same_name, "KIP-360; KIP-516") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  expect_stored(send(kit, topic, producer, {.count = 2}), 0);
  delete_topic(kit, topic);
  const Topic again = create_topic(kit, 1, {}, topic.name);
  expect_stored(send(kit, again, producer, {.sequence = 9}), 0);
}

CASE(new_epoch_starts_at_zero, "KIP-360") {
  const Topic topic = create_topic(kit);
  ProducerIdentity producer = idempotent_producer(kit);
  expect_stored(send(kit, topic, producer, {.count = 3}), 0);
  ++producer.epoch;
  expect_refused(send(kit, topic, producer, {.sequence = 5}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  // Not even the number that the old epoch would go on with.
  expect_refused(send(kit, topic, producer, {.sequence = 3}),
                 ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_stored(send(kit, topic, producer, {.count = 3}), 3);
  expect_stored(send(kit, topic, producer, {.count = 3}), 3);
  expect_stored(send(kit, topic, producer, {.sequence = 3}), 6);
}

CASE(epochs_may_be_skipped, "KIP-360") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  for (const int epoch : {0, 7, 32766, 32767})
    send(kit, topic, {producer.id, static_cast<int16_t>(epoch)}, {})["errorCode"].is_none();
  expect_equal(end_offset(kit, topic), 4, "the log's end");
}

CASE(old_epoch, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  const int16_t version = kit.version();
  expect_stored(send(kit, topic, producer, {.version = version}), 0);
  expect_stored(send(kit, topic, {producer.id, 1}, {.version = version}), 1);
  // Not its next batch, and not one that was stored before.
  for (const int sequence : {1, 0})
    expect_refused(send(kit, topic, producer, {.sequence = sequence, .version = version}),
                   ErrorCode::INVALID_PRODUCER_EPOCH);
}

CASE(negative_numbers, "KIP-98") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  expect_refused(send(kit, topic, producer, {.sequence = -1}), ErrorCode::INVALID_RECORD);
  expect_refused(send(kit, topic, producer, {.sequence = INT32_MIN}), ErrorCode::INVALID_RECORD);
  expect_equal(end_offset(kit, topic), 0, "the log's end");
}

CASE(numbers_stay_in_the_log, "KIP-98") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer{idempotent_producer(kit).id, 3};
  send(kit, topic, producer, {.sequence = 11, .count = 2});
  send(kit, topic, producer, {.sequence = 13});
  produce(kit, topic, numbered(1));
  std::vector<std::tuple<int64_t, int, int>> found;
  for (const BatchRead& batch : read_all(kit, topic))
    found.emplace_back(batch.header.producer_id.value, batch.header.producer_epoch,
                       batch.header.base_sequence);
  expect_equal(found,
               std::vector<std::tuple<int64_t, int, int>>{
                   {producer.id, 3, 11}, {producer.id, 3, 13}, {-1, -1, -1}},
               "producer id, epoch, base sequence of each batch");
}

CASE(many_producers, "KIP-98") {
  const Topic topic = create_topic(kit);
  std::vector<ProducerIdentity> producers;
  for (int i = 0; i < 60; ++i) {
    producers.push_back(idempotent_producer(kit));
    expect_stored(send(kit, topic, producers[i], {.sequence = i}), i);
  }
  for (int i = 0; i < 60; ++i) expect_stored(send(kit, topic, producers[i], {.sequence = i}), i);
  for (int i = 0; i < 60; ++i)
    expect_stored(send(kit, topic, producers[i], {.sequence = i + 1}), 60 + i);
}

CASE(described_many_producers, "KIP-664") {
  const Topic topic = create_topic(kit);
  const int64_t base = idempotent_producer(kit).id;
  std::map<int64_t, int64_t> sequences;
  for (int i = 0; i < 40; ++i) {
    // Ids that no broker has given serve as well.
    const ProducerIdentity producer{base + 1000000 + i, 0};
    send(kit, topic, producer, {.sequence = INT32_MAX - i, .count = i + 2})["errorCode"].is_none();
    sequences[producer.id] = 0;  // the last one, past the wrap
  }
  std::map<int64_t, int64_t> described;
  for (const Value& one : describe_producers(kit, topic)[0]["activeProducers"].items())
    described[one["producerId"].number()] = one["lastSequence"].number();
  expect_equal(described, sequences, "last sequence by producer id");
}

CASE(one_request_over_partitions, "KIP-98: the partitions of a request are judged each by itself") {
  const Topic topic = create_topic(kit, 3);
  const ProducerIdentity producer = idempotent_producer(kit);
  expect_stored(send(kit, topic, producer, {.partition = 1}), 0);
  const auto part = [&](int partition, int sequence) {
    return Object{{"index", partition},
                  {"records", bytes(batch_of(producer, {.sequence = sequence}))}};
  };
  const Value answer = kit.ask(
      "Produce", 11,
      {{"acks", -1},
       {"timeoutMs", 10000},
       {"topicData", list(Object{{"name", topic.name},
                                 {"partitionData", list(part(0, 0), part(1, 5), part(2, 0))}})}});
  const Value parts = answer["responses"][0]["partitionResponses"];
  expect_stored(parts.with("index", 0), 0);
  expect_refused(parts.with("index", 1), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_stored(parts.with("index", 2), 0);
}

CASE(described_producer, "KIP-664") {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  const int64_t time = now_ms() - 5000;
  BatchSpec batch{
      .records = {{.value = "a", .timestamp = time + 90}, {.value = "b", .timestamp = time}},
      .producer_id = producer.id,
      .producer_epoch = 2,
      .base_sequence = 40};
  produce(kit, topic, build_batch(batch));
  const Value partition = describe_producers(kit, topic)[0];
  partition["errorCode"].is_none();
  partition["errorMessage"].is_null();
  partition["activeProducers"].has_size(1);
  partition["activeProducers"][0].is(Object{{"producerId", producer.id},
                                            {"producerEpoch", 2},
                                            {"lastSequence", 41},
                                            {"lastTimestamp", time + 90},
                                            {"coordinatorEpoch", -1},
                                            {"currentTxnStartOffset", -1}});
}

CASE(described_producers_by_partition, "KIP-664") {
  const Topic topic = create_topic(kit, 3);
  const ProducerIdentity producer = idempotent_producer(kit);
  send(kit, topic, producer, {.count = 2, .partition = 2});
  produce(kit, topic, numbered(1));
  const Value partitions = describe_producers(kit, topic, {0, 2, 9});
  partitions.has_size(3);
  partitions.with("partitionIndex", 0)["activeProducers"].has_size(0);
  const Value active = partitions.with("partitionIndex", 2)["activeProducers"];
  active.has_size(1);
  active[0]["lastSequence"].is(1);
  const Value unknown = partitions.with("partitionIndex", 9);
  unknown["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  unknown["activeProducers"].has_size(0);
}

CASE(described_producers_of_unknown_topics, "KIP-664") {
  const Value partition = describe_producers(kit, ghost_topic(kit))[0];
  partition["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  partition["activeProducers"].has_size(0);
}

}  // namespace ackord::conform
