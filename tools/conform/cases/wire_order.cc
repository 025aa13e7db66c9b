// Answers come in the order of the requests; an acks=0 Produce has no answer.
#include "tools/conform/case.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("wire.order", "Order of answers on one connection");

CASE(parked_fetch_holds_the_others, "Kafka protocol guide, Network") {
  const Topic topic = create_topic(kit);
  Connection& connection = kit.connect();
  const Stopwatch stopwatch;
  const Sent parked =
      connection.send("Fetch", 12, fetch_request({{.topic = topic}}, {.max_wait_ms = 800}));
  const Sent metadata = connection.send("Metadata", 12, {});
  const Sent versions = connection.send("ApiVersions", 0, {});
  connection.receive(parked);
  expect_between(stopwatch.elapsed().count(), 700L, 5000L, "milliseconds until the parked Fetch");
  connection.receive(metadata);
  connection.receive(versions);
}

CASE(many_requests_at_once, "Kafka protocol guide, Network") {
  Connection& connection = kit.connect();
  std::vector<Sent> sent;
  for (int i = 0; i < 20; ++i) {
    sent.push_back(connection.send("ApiVersions", 0, {}));
    sent.push_back(connection.send("Metadata", 5, {{"topics", list()}}));
  }
  for (const Sent& one : sent) connection.receive(one);
}

CASE(acks_0_has_no_answer, "KIP-98 and before: acks=0", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const auto batch = bytes(build_batch({.records = records_of({"x"})}));
  Connection& connection = kit.connect();
  connection.send("Produce", kit.version(),
                  produce_request(topic, batch, {.version = kit.version(), .acks = 0}));
  connection.receive(connection.send("Metadata", 12, {}));
  kit.until("the record is in the log", [&] { return end_offset(kit, topic) == 1; });
}

CASE(acks_0_error_closes, "KIP-98 and before: acks=0") {
  Connection& connection = kit.connect();
  const auto batch = bytes(build_batch({.records = records_of({"x"})}));
  connection.send("Produce", 9,
                  produce_request(ghost_topic(kit), batch, {.version = 9, .acks = 0}));
  connection.send("Metadata", 12, {});
  connection.expect_closed();
}

CASE(acks_other_than_known, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  const Value answer =
      try_produce(kit, topic, build_batch({.records = records_of({"x"})}), {.acks = 2});
  answer["errorCode"].is(ErrorCode::INVALID_REQUIRED_ACKS);
  answer["baseOffset"].is(-1);
  expect_equal(end_offset(kit, topic), 0, "the log's end");
}

CASE(acks_1_answers, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  const Value answer =
      try_produce(kit, topic, build_batch({.records = records_of({"x"})}), {.acks = 1});
  answer["errorCode"].is_none();
  answer["baseOffset"].is(0);
}

CASE(another_connection_does_not_wait, "Kafka protocol guide, Network") {
  const Topic topic = create_topic(kit);
  Connection& parked = kit.connect();
  const Sent fetch =
      parked.send("Fetch", 12, fetch_request({{.topic = topic}}, {.max_wait_ms = 10000}));
  const Stopwatch stopwatch;
  kit.connect().ask("Metadata", 12, {});
  expect_between(stopwatch.elapsed().count(), 0L, 7000L, "milliseconds until the other answer");
  produce(kit, topic, std::vector<std::string>{"x"});
  parked.receive(fetch)["responses"].has_size(1);
}

// What a client sends after its Produce sees the records.
CASE(effects_keep_the_order, "Kafka protocol guide, Network") {
  const Topic topic = create_topic(kit);
  Connection& connection = kit.connect();
  const auto batch = bytes(build_batch({.records = records_of({"x"})}));
  std::vector<Sent> sent;
  for (int i = 0; i < 3; ++i)
    sent.push_back(connection.send("Produce", 9, produce_request(topic, batch, {.version = 9})));
  const Sent fetch = connection.send("Fetch", 12, fetch_request({{.topic = topic}}));
  for (size_t i = 0; i < sent.size(); ++i) {
    const Value answer = connection.receive(sent[i]);
    answer["responses"][0]["partitionResponses"][0]["baseOffset"].is(static_cast<int64_t>(i));
  }
  const Value read = connection.receive(fetch)["responses"][0]["partitions"][0];
  expect_equal(offsets_of(batches_of(read)), std::vector<int64_t>{0, 1, 2}, "the offsets");
}

CASE(errors_keep_the_order, "Kafka protocol guide, Network") {
  Connection& connection = kit.connect();
  const auto batch = bytes(build_batch({.records = records_of({"x"})}));
  const Sent produce =
      connection.send("Produce", 9, produce_request(ghost_topic(kit), batch, {.version = 9}));
  const Sent metadata = connection.send("Metadata", 12, {});
  connection.receive(produce)["responses"][0]["partitionResponses"][0]["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  connection.receive(metadata);
}

// Requests before the one that closes are still answered, in order; those after it never are.
CASE(answers_before_the_close, "Kafka protocol guide, Network") {
  Connection& connection = kit.connect();
  const Sent first = connection.send("Metadata", 12, {});
  const Sent second = connection.send("ApiVersions", 0, {});
  connection.receive(first);
  connection.receive(second);
  connection.send_frame(encode_header(999, 0, {}));
  connection.expect_closed();
}

CASE(correlation_ids_are_opaque, "Kafka protocol guide, Network") {
  Connection& connection = kit.connect();
  std::vector<Sent> sent;
  for (const int32_t id : {7, 7, INT32_MAX, INT32_MIN, -1, 0})
    sent.push_back(connection.send("ApiVersions", 0, {}, {.correlation_id = id}));
  for (const Sent& one : sent) connection.receive(one);
}

}  // namespace ackord::conform
