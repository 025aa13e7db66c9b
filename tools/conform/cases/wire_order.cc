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

CASE(correlation_ids_are_opaque, "Kafka protocol guide, Network") {
  Connection& connection = kit.connect();
  std::vector<Sent> sent;
  for (const int32_t id : {7, 7, INT32_MAX, INT32_MIN, -1, 0})
    sent.push_back(connection.send("ApiVersions", 0, {}, {.correlation_id = id}));
  for (const Sent& one : sent) connection.receive(one);
}

}  // namespace ackord::conform
