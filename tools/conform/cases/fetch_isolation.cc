// read_committed: nothing of open transactions, and which of the rest was aborted.
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("fetch.isolation", "Isolation levels of Fetch");

using Aborted = std::vector<std::pair<int64_t, int64_t>>;

// Producer id and first offset of each, sorted by offset: Kafka gives no order.
static Aborted aborted_in(const Value& partition) {
  Aborted list;
  for (const Value& one : partition["abortedTransactions"].items())
    list.emplace_back(one["producerId"].number(), one["firstOffset"].number());
  std::ranges::sort(list, {}, &std::pair<int64_t, int64_t>::second);
  return list;
}

static Value read_committed(Kit& kit, const Topic& topic, int64_t offset = 0,
                            int32_t max_bytes = 10 << 20, int16_t version = 12) {
  const Value part = fetch_one(kit, {.topic = topic, .offset = offset, .max_bytes = max_bytes},
                               {.version = version, .isolation = 1});
  part["errorCode"].is_none();
  return part;
}

// a's data at 0, b's at 1, b's abort at 2, a's data at 3, a's abort at 4, plain data at 5.
struct Interleaved {
  Topic topic;
  int64_t a = 0;
  int64_t b = 0;
};
static Interleaved interleaved(Kit& kit) {
  const Topic topic = create_topic(kit);
  TxnProducer a = begin_transaction(kit, topic, {"a"});
  TxnProducer b = begin_transaction(kit, topic, {"b"});
  const Interleaved made{topic, a.producer_id(), b.producer_id()};
  b.abort();
  wait_for_stable(kit, topic, 0);
  kit.until("b's marker is written", [&] { return end_offset(kit, topic) == 3; });
  a.produce(topic, {"a"});
  a.abort();
  kit.until("a's marker is written", [&] { return end_offset(kit, topic) == 5; });
  produce(kit, topic, {"plain"});
  wait_for_stable(kit, topic, 6);
  return made;
}

CASE(aborted_list, "KIP-98", .api = "Fetch", .first = 4, .last = 18) {
  const Interleaved log = interleaved(kit);
  const Value part = read_committed(kit, log.topic, 0, 10 << 20, kit.version());
  expect_equal(aborted_in(part), Aborted{{log.a, 0}, {log.b, 1}}, "the aborted transactions");
  part["lastStableOffset"].is(6);
}

// A transaction that began before what is fetched, and whose data is in it.
CASE(from_the_middle, "KIP-98") {
  const Interleaved log = interleaved(kit);
  expect_equal(aborted_in(read_committed(kit, log.topic, 3)), Aborted{{log.a, 0}},
               "the aborted transactions");
}

CASE(after_all, "KIP-98") {
  const Interleaved log = interleaved(kit);
  expect_equal(aborted_in(read_committed(kit, log.topic, 5)), Aborted{}, "aborted transactions");
}

CASE(small_fetch, "KIP-98") {
  const Interleaved log = interleaved(kit);
  const Aborted found = aborted_in(read_committed(kit, log.topic, 0, 1));
  expect(std::ranges::count(found, std::pair(log.a, int64_t{0})) == 1, "a's transaction, once");
}

CASE(nothing_is_filtered, "KIP-98") {
  const Interleaved log = interleaved(kit);
  std::vector<std::pair<int64_t, bool>> found;
  for (const BatchRead& batch : batches_of(read_committed(kit, log.topic)))
    found.emplace_back(batch.header.base_offset, batch.header.control());
  expect_equal(found,
               std::vector<std::pair<int64_t, bool>>{
                   {0, false}, {1, false}, {2, true}, {3, false}, {4, true}, {5, false}},
               "offsets, and which are markers");
}

CASE(read_uncommitted, "KIP-98", .api = "Fetch", .first = 4, .last = 18) {
  const Interleaved log = interleaved(kit);
  const Value part = fetch_one(kit, {.topic = log.topic}, {.version = kit.version()});
  part["abortedTransactions"].is_null();
  expect_equal(values_of(batches_of(part)), std::vector<std::string>{"a", "b", "a", "plain"},
               "the values");
}

CASE(committed_is_not_listed, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"x"});
  producer.commit();
  wait_for_stable(kit, topic, 2);
  expect_equal(aborted_in(read_committed(kit, topic)), Aborted{}, "aborted transactions");
}

CASE(no_transactions, "KIP-98", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"x"});
  const Value part = read_committed(kit, topic, 0, 10 << 20, kit.version());
  part["lastStableOffset"].is(1);
  expect_equal(values_of(batches_of(part)), std::vector<std::string>{"x"}, "the values");
  if (!part["abortedTransactions"].null()) part["abortedTransactions"].has_size(0);
}

CASE(open_transaction_bounds, "KIP-98", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"before"});
  TxnProducer producer = begin_transaction(kit, topic, {"open"});
  produce(kit, topic, {"after"});
  const Value part = read_committed(kit, topic, 0, 10 << 20, kit.version());
  part["highWatermark"].is(3);
  part["lastStableOffset"].is(1);
  expect_equal(values_of(batches_of(part)), std::vector<std::string>{"before"}, "the values");
  const Value all = fetch_one(kit, {.topic = topic}, {.version = kit.version()});
  all["lastStableOffset"].is(1);
  expect_equal(values_of(batches_of(all)), std::vector<std::string>{"before", "open", "after"},
               "the values of a reader of everything");
  producer.commit();
  wait_for_stable(kit, topic, 4);
  expect_equal(values_of(batches_of(read_committed(kit, topic, 0, 10 << 20, kit.version()))),
               std::vector<std::string>{"before", "open", "after"}, "the values after the commit");
}

// Offsets above the last stable one exist: to ask for them is no error.
CASE(at_and_above_the_last_stable_offset, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"open"});
  produce(kit, topic, {"after"});
  for (const int64_t offset : {0, 1, 2}) {
    const Value part = read_committed(kit, topic, offset);
    expect_equal(batches_of(part).size(), size_t{0}, "how many batches");
  }
  fetch_one(kit, {.topic = topic, .offset = 3}, {.isolation = 1})["errorCode"].is(
      ErrorCode::OFFSET_OUT_OF_RANGE);
  producer.abort();
}

CASE(several_open_transactions, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer first = begin_transaction(kit, topic, {"1"});
  TxnProducer second = begin_transaction(kit, topic, {"2"});
  second.commit();
  kit.until("the marker is written", [&] { return end_offset(kit, topic) == 3; });
  read_committed(kit, topic)["lastStableOffset"].is(0);
  first.abort();
  wait_for_stable(kit, topic, 4);
  const Value part = read_committed(kit, topic);
  expect_equal(aborted_in(part), Aborted{{first.producer_id(), 0}}, "the aborted transactions");
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"2"}, "committed values");
}

// One producer, again and again: each aborted transaction is listed.
CASE(each_abort_of_a_producer, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"0"}, TxnVersion::kOne);
  producer.abort();
  for (const bool committed : {kCommit, kAbort}) {
    producer.produce(topic, {"x"});
    committed ? producer.commit() : producer.abort();
  }
  wait_for_stable(kit, topic, 6);
  const int64_t id = producer.producer_id();
  expect_equal(aborted_in(read_committed(kit, topic)), Aborted{{id, 0}, {id, 4}},
               "the aborted transactions");
  expect_equal(aborted_in(read_committed(kit, topic, 2)), Aborted{{id, 4}},
               "the aborted transactions from offset 2");
}

CASE(partitions_have_their_own, "KIP-98") {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = begin_transaction(kit, topic, {"0"});
  produce(kit, topic, {"plain"}, {.partition = 1});
  const Value part = fetch_one(kit, {.topic = topic, .partition = 1}, {.isolation = 1});
  part["lastStableOffset"].is(1);
  expect_equal(values_of(batches_of(part)), std::vector<std::string>{"plain"}, "the values");
  producer.abort();
}

CASE(unknown_isolation_level, "KIP-98") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"x"});
  Connection& connection = kit.connect();
  const Sent sent =
      connection.send("Fetch", 12, fetch_request({{.topic = topic}}, {.isolation = 7}));
  // Closed or refused: what must not happen is that it hangs or that others notice.
  expect(connection.readable_within(Millis(5000)), "an answer, or the end");
  connection.close();
  expect_equal(values_of(read_all(kit, topic)), std::vector<std::string>{"x"}, "the values");
}

}  // namespace ackord::conform
