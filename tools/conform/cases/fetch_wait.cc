// The long poll: a Fetch waits for its bytes, as long as it says and no longer.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("fetch.wait", "The long poll of Fetch");

// Generous: other cases use the broker at the same time.
constexpr int64_t kAtOnce = 3000;
constexpr int32_t kLong = 20000;

static int64_t time_of(Kit& kit, const std::vector<FetchPart>& parts, const FetchOptions& options) {
  kit.first();
  const Stopwatch stopwatch;
  fetch(kit, parts, options);
  return stopwatch.elapsed().count();
}

static void at_once(int64_t took) {
  expect_between(took, int64_t{0}, kAtOnce, "milliseconds until the answer");
}

CASE(empty_waits, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  const int64_t took =
      time_of(kit, {{.topic = topic}}, {.version = kit.version(), .max_wait_ms = 300});
  expect_between(took, int64_t{290}, int64_t{300 + kAtOnce}, "milliseconds until the answer");
}

CASE(produce_wakes, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  Connection& waiting = kit.connect();
  const int16_t version = kit.version();
  const Sent sent =
      waiting.send("Fetch", version,
                   fetch_request({{.topic = topic}}, {.version = version, .max_wait_ms = kLong}));
  expect(!waiting.readable_within(Millis(100)), "no answer before there is something");
  const Stopwatch stopwatch;
  produce(kit, topic, {"x"});
  const Value partition = waiting.receive(sent)["responses"][0]["partitions"][0];
  at_once(stopwatch.elapsed().count());
  expect_equal(values_of(batches_of(partition)), std::vector<std::string>{"x"}, "the values");
}

CASE(any_partition_wakes, "Kafka protocol guide, Fetch") {
  const Topic first = create_topic(kit, 2);
  const Topic second = create_topic(kit, 2);
  Connection& waiting = kit.connect();
  const Sent sent = waiting.send("Fetch", 12,
                                 fetch_request({{.topic = first},
                                                {.topic = first, .partition = 1},
                                                {.topic = second},
                                                {.topic = second, .partition = 1}},
                                               {.max_wait_ms = kLong}));
  expect(!waiting.readable_within(Millis(100)), "no answer before there is something");
  const Stopwatch stopwatch;
  produce(kit, second, {"x"}, {.partition = 1});
  const Value answer = waiting.receive(sent);
  at_once(stopwatch.elapsed().count());
  const Value topic = answer["responses"].with("topic", json::value(second.name));
  expect_equal(values_of(batches_of(topic["partitions"].with("partitionIndex", 1))),
               std::vector<std::string>{"x"}, "the values");
}

CASE(all_who_wait_are_woken, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  std::vector<std::pair<Connection*, Sent>> waiting;
  for (int i = 0; i < 10; ++i) {
    Connection& connection = kit.connect();
    waiting.emplace_back(
        &connection,
        connection.send("Fetch", 12, fetch_request({{.topic = topic}}, {.max_wait_ms = kLong})));
  }
  produce(kit, topic, {"x"});
  const Stopwatch stopwatch;
  for (const auto& [connection, sent] : waiting) {
    const Value partition = connection->receive(sent)["responses"][0]["partitions"][0];
    expect_equal(values_of(batches_of(partition)), std::vector<std::string>{"x"}, "the values");
  }
  at_once(stopwatch.elapsed().count());
}

CASE(min_bytes_0, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  at_once(time_of(kit, {{.topic = topic}}, {.max_wait_ms = kLong, .min_bytes = 0}));
}

CASE(max_wait_0, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  at_once(time_of(kit, {{.topic = topic}}, {.min_bytes = 1000}));
}

CASE(something_there, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit, 2);
  produce(kit, topic, {"x"}, {.partition = 1});
  at_once(
      time_of(kit, {{.topic = topic}, {.topic = topic, .partition = 1}}, {.max_wait_ms = kLong}));
}

CASE(no_partitions, "Kafka protocol guide, Fetch") {
  at_once(time_of(kit, {}, {.max_wait_ms = kLong}));
}

CASE(less_than_min_bytes_waits, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"x"});
  const Stopwatch stopwatch;
  const Value partition =
      fetch_one(kit, {.topic = topic}, {.max_wait_ms = 400, .min_bytes = 100000});
  expect_between(stopwatch.elapsed().count(), 390L, 400L + kAtOnce,
                 "milliseconds until the answer");
  expect_equal(values_of(batches_of(partition)), std::vector<std::string>{"x"}, "the values");
}

CASE(min_bytes_are_of_all_partitions, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit, 3);
  Connection& waiting = kit.connect();
  std::vector<FetchPart> parts;
  for (const int32_t i : {0, 1, 2}) parts.push_back({.topic = topic, .partition = i});
  const Sent sent =
      waiting.send("Fetch", 12, fetch_request(parts, {.max_wait_ms = kLong, .min_bytes = 2500}));
  const auto add = [&](int32_t partition) {
    produce(kit, topic, {std::string(1000, 'x')}, {.partition = partition});
  };
  add(0);
  add(1);
  expect(!waiting.readable_within(Millis(200)), "no answer before there are 2500 bytes");
  const Stopwatch stopwatch;
  add(2);
  const Value answer = waiting.receive(sent);
  at_once(stopwatch.elapsed().count());
  for (const Value& partition : answer["responses"][0]["partitions"].items())
    expect_equal(batches_of(partition).size(), size_t{1}, "batches of a partition");
}

// What a partition may return is counted, not what it has.
CASE(min_bytes_above_max_bytes, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 3; ++i) produce(kit, topic, {std::string(1000, 'x')});
  const int64_t took =
      time_of(kit, {{.topic = topic, .max_bytes = 2000}}, {.max_wait_ms = 400, .min_bytes = 3000});
  expect_between(took, int64_t{0}, int64_t{400 + kAtOnce}, "milliseconds until the answer");
}

CASE(error_partition_answers, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4,
     .last = 18) {
  const Topic topic = create_topic(kit, 2);
  const int16_t version = kit.version();
  const Stopwatch stopwatch;
  const Value answer = fetch(kit, {{.topic = topic}, {.topic = topic, .partition = 1, .offset = 7}},
                             {.version = version, .max_wait_ms = kLong});
  at_once(stopwatch.elapsed().count());
  const Value partitions = answer["responses"][0]["partitions"];
  partitions.with("partitionIndex", 0)["errorCode"].is_none();
  partitions.with("partitionIndex", 1)["errorCode"].is(ErrorCode::OFFSET_OUT_OF_RANGE);
}

// Kafka 4.4 reports it when the wait is over; earlier is fine.
CASE(unknown_partition_beside_an_empty_one, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  const Value answer =
      fetch(kit, {{.topic = topic}, {.topic = topic, .partition = 9}}, {.max_wait_ms = 500});
  const Value partitions = answer["responses"][0]["partitions"];
  partitions.with("partitionIndex", 0)["errorCode"].is_none();
  partitions.with("partitionIndex", 9)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(unknown_partition_alone, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  at_once(time_of(kit, {{.topic = topic, .partition = 9}}, {.max_wait_ms = kLong}));
}

CASE(idle_session_waits, "KIP-227") {
  const Topic topic = create_topic(kit);
  const int64_t session =
      fetch(kit, {{.topic = topic}}, {.session_epoch = 0})["sessionId"].number();
  const Stopwatch stopwatch;
  const Value answer =
      fetch(kit, {},
            {.max_wait_ms = 400, .session_id = static_cast<int32_t>(session), .session_epoch = 1});
  expect_between(stopwatch.elapsed().count(), 390L, 400L + kAtOnce,
                 "milliseconds until the answer");
  answer["errorCode"].is_none();
  answer["responses"].has_size(0);
}

CASE(session_is_woken, "KIP-227") {
  const Topic topic = create_topic(kit, 2);
  Connection& waiting = kit.connect();
  const int64_t session = fetch(kit, {{.topic = topic}, {.topic = topic, .partition = 1}},
                                {.session_epoch = 0, .connection = &waiting})["sessionId"]
                              .number();
  const Sent sent = waiting.send("Fetch", 12,
                                 fetch_request({}, {.max_wait_ms = kLong,
                                                    .session_id = static_cast<int32_t>(session),
                                                    .session_epoch = 1}));
  expect(!waiting.readable_within(Millis(100)), "no answer before there is something");
  produce(kit, topic, {"x"}, {.partition = 1});
  const Value partitions = waiting.receive(sent)["responses"][0]["partitions"];
  partitions.has_size(1);
  partitions[0]["partitionIndex"].is(1);
}

// Open transactions are nothing to a reader of committed records.
CASE(open_transaction_does_not_wake, "KIP-98") {
  const Topic topic = create_topic(kit);
  Connection& waiting = kit.connect();
  const Sent sent = waiting.send(
      "Fetch", 12, fetch_request({{.topic = topic}}, {.isolation = 1, .max_wait_ms = kLong}));
  TxnProducer producer = begin_transaction(kit, topic, {"x"});
  expect(!waiting.readable_within(Millis(300)), "no answer before the commit");
  const Stopwatch stopwatch;
  producer.commit();
  const Value partition = waiting.receive(sent)["responses"][0]["partitions"][0];
  at_once(stopwatch.elapsed().count());
  expect_equal(values_of(batches_of(partition)), std::vector<std::string>{"x"}, "the values");
}

CASE(open_transaction_wakes_the_uncommitted, "KIP-98") {
  const Topic topic = create_topic(kit);
  Connection& waiting = kit.connect();
  const Sent sent =
      waiting.send("Fetch", 12, fetch_request({{.topic = topic}}, {.max_wait_ms = kLong}));
  TxnProducer producer = begin_transaction(kit, topic, {"x"});
  const Value partition = waiting.receive(sent)["responses"][0]["partitions"][0];
  expect_equal(values_of(batches_of(partition)), std::vector<std::string>{"x"}, "the values");
  producer.abort();
}

// A client that goes away leaves nothing behind that would hurt others.
CASE(gone_while_waiting, "Kafka protocol guide, Network") {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 5; ++i) {
    Connection& waiting = kit.connect();
    waiting.send("Fetch", 12, fetch_request({{.topic = topic}}, {.max_wait_ms = kLong}));
    waiting.close();
  }
  produce(kit, topic, {"x"});
  expect_equal(values_of(read_all(kit, topic)), std::vector<std::string>{"x"}, "the values");
}

CASE(topic_deleted_while_waiting, "Kafka protocol guide, Fetch", .limit_s = 60) {
  const Topic topic = create_topic(kit);
  Connection& waiting = kit.connect();
  const Sent sent = waiting.send(
      "Fetch", 13, fetch_request({{.topic = topic}}, {.version = 13, .max_wait_ms = 8000}));
  expect(!waiting.readable_within(Millis(100)), "no answer before there is something");
  delete_topic(kit, topic);
  const Value partition = waiting.receive(sent)["responses"][0]["partitions"][0];
  partition["errorCode"].is_one_of({ErrorCode::UNKNOWN_TOPIC_ID, ErrorCode::NOT_LEADER_OR_FOLLOWER,
                                    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION});
}

}  // namespace ackord::conform
