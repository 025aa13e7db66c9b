// What readers see of transactions: the last stable offset, the list of aborted transactions.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.isolation", "Isolation of readers (KIP-98)");

namespace {

constexpr int8_t kReadCommitted = 1;

using Aborted = std::vector<std::pair<int64_t, int64_t>>;  // producer id, first offset

// Sorted by first offset: Kafka promises no order.
Aborted aborted_of(const Value& partition) {
  Aborted found;
  for (const Value& entry : partition["abortedTransactions"].items())
    found.emplace_back(entry["producerId"].number(), entry["firstOffset"].number());
  std::ranges::sort(found, {}, [](const auto& entry) { return entry.second; });
  return found;
}

Value read_committed(Kit& kit, const Topic& topic, int64_t offset, int16_t version = 12) {
  return fetch_one(kit, {.topic = topic, .offset = offset},
                   {.version = version, .isolation = kReadCommitted});
}

std::vector<int64_t> base_offsets(const Value& partition) {
  std::vector<int64_t> offsets;
  for (const BatchRead& batch : batches_of(partition)) offsets.push_back(batch.header.base_offset);
  return offsets;
}

// A data@0, B data@1, B abort@2, A data@3, A abort@4, plain@5.
struct TwoAborted {
  Topic topic;
  int64_t a = -1;
  int64_t b = -1;
};
TwoAborted two_aborted(Kit& kit) {
  const Topic topic = create_topic(kit);
  TxnProducer a = begin_transaction(kit, topic, {"a"});
  TxnProducer b = begin_transaction(kit, topic, {"b"});
  b.abort();
  a.produce(topic, {"a"});
  a.abort();
  produce(kit, topic, std::vector<std::string>{"plain"});
  wait_for_stable(kit, topic, 6);
  return {topic, a.producer_id(), b.producer_id()};
}

}  // namespace

CASE(open_transaction_holds_readers, "KIP-98; docs/SEMANTICS.md C.9", .api = "Fetch", .first = 4,
     .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(2));
  TxnProducer producer = begin_transaction(kit, topic, {"t"});
  produce(kit, topic, numbered(1, "after"));
  const int16_t version = kit.version();
  const Value held = read_committed(kit, topic, 0, version);
  held["errorCode"].is_none();
  held["highWatermark"].is(4);
  held["lastStableOffset"].is(2);
  held["abortedTransactions"].has_size(0);
  expect_equal(base_offsets(held), std::vector<int64_t>{0}, "base offsets");
  expect_equal(base_offsets(read_committed(kit, topic, 2, version)), std::vector<int64_t>{},
               "base offsets from the open transaction on");
  const Value all = fetch_one(kit, {.topic = topic}, {.version = version});
  all["lastStableOffset"].is(2);
  all["abortedTransactions"].is_null();
  expect_equal(base_offsets(all), std::vector<int64_t>{0, 2, 3}, "uncommitted base offsets");
  producer.commit();
  wait_for_stable(kit, topic, 5);
  expect_equal(base_offsets(read_committed(kit, topic, 0, version)),
               std::vector<int64_t>{0, 2, 3, 4}, "base offsets after the commit");
}

CASE(aborted_list, "KIP-98; docs/SEMANTICS.md C.9", .api = "Fetch", .first = 4, .last = 18) {
  const auto [topic, a, b] = two_aborted(kit);
  const auto from = [&](int64_t offset) {
    return aborted_of(read_committed(kit, topic, offset, kit.version()));
  };
  expect_equal(from(0), Aborted{{a, 0}, {b, 1}}, "aborted from 0 on");
  expect_equal(from(1), Aborted{{a, 0}, {b, 1}}, "aborted from 1 on");
  // Begun before the first offset that is read.
  expect_equal(from(3), Aborted{{a, 0}}, "aborted from 3 on");
  expect_equal(from(4), Aborted{{a, 0}}, "aborted from 4 on");
  expect_equal(from(5), Aborted{}, "aborted from 5 on");
  // Batches are not left out: that is the reader's work.
  expect_equal(base_offsets(read_committed(kit, topic, 0, kit.version())),
               std::vector<int64_t>{0, 1, 2, 3, 4, 5}, "base offsets");
}

CASE(aborted_list_of_a_small_fetch, "KIP-98") {
  // Only what reaches into the batches that are returned.
  const auto [topic, a, b] = two_aborted(kit);
  const Value part =
      fetch_one(kit, {.topic = topic, .offset = 0, .max_bytes = 1}, {.isolation = kReadCommitted});
  expect_equal(base_offsets(part), std::vector<int64_t>{0}, "base offsets");
  const Aborted found = aborted_of(part);
  expect(found == Aborted{{a, 0}} || found == Aborted{{a, 0}, {b, 1}},
         "the aborted list has the transaction of the batch");
}

CASE(uncommitted_readers_get_no_list, "KIP-98", .api = "Fetch", .first = 4, .last = 18) {
  const auto [topic, a, b] = two_aborted(kit);
  const Value part = fetch_one(kit, {.topic = topic}, {.version = kit.version()});
  part["abortedTransactions"].is_null();
  expect_equal(values_of(batches_of(part)), std::vector<std::string>{"a", "b", "a", "plain"},
               "values");
}

CASE(committed_is_not_listed, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  producer.init();
  Aborted expected;
  for (int i = 0; i < 6; ++i) {
    const int64_t offset = producer.produce(topic, {"v" + std::to_string(i)});
    if (i % 3 == 2) {
      producer.commit();
    } else {
      expected.emplace_back(producer.producer_id(), offset);
      producer.abort();
    }
  }
  wait_for_stable(kit, topic, 12);
  expect_equal(aborted_of(read_committed(kit, topic, 0)), expected, "aborted list");
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"v2", "v5"}, "values");
}

CASE(first_open_transaction_decides, "KIP-98; docs/SEMANTICS.md C.9") {
  const Topic topic = create_topic(kit);
  TxnProducer first = begin_transaction(kit, topic, {"1"});
  TxnProducer second = begin_transaction(kit, topic, {"2"});
  second.commit();
  expect_equal(end_offset(kit, topic, 0, kReadCommitted), 0, "the last stable offset");
  TxnProducer third = begin_transaction(kit, topic, {"3"});
  first.abort();
  wait_for_stable(kit, topic, 3);
  third.commit();
  wait_for_stable(kit, topic, 6);
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"2", "3"}, "values");
}

CASE(partitions_have_their_own, "KIP-98") {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  produce(kit, topic, numbered(3), {.partition = 1});
  expect_equal(end_offset(kit, topic, 0, kReadCommitted), 0, "stable offset of partition 0");
  expect_equal(end_offset(kit, topic, 1, kReadCommitted), 3, "stable offset of partition 1");
  producer.abort();
  wait_for_stable(kit, topic, 2, 0);
}

CASE(list_offsets, "KIP-98", .api = "ListOffsets", .first = 2, .last = 11) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(2));
  TxnProducer producer = begin_transaction(kit, topic, {"t"});
  const auto offset = [&](int64_t timestamp, int8_t isolation) {
    const Value answer =
        list_offset(kit, topic, timestamp, {.version = kit.version(), .isolation = isolation});
    answer["errorCode"].is_none();
    return answer["offset"].number();
  };
  expect_equal(offset(kLatest, 0), 3, "latest");
  expect_equal(offset(kLatest, kReadCommitted), 2, "latest, read_committed");
  expect_equal(offset(kEarliest, kReadCommitted), 0, "earliest, read_committed");
  producer.commit();
  wait_for_stable(kit, topic, 4);
  expect_equal(offset(kLatest, kReadCommitted), 4, "latest after the commit, read_committed");
}

CASE(timestamps_beyond_the_stable_offset, "KIP-98; ListOffsets by time") {
  const Topic topic = create_topic(kit);
  const int64_t time = now_ms();
  const auto at = [&](int64_t timestamp) {
    return build_batch({.records = {{.value = "x", .timestamp = timestamp}}});
  };
  produce(kit, topic, at(time - 5000));
  TxnProducer producer = begin_transaction(kit, topic, {"t"});
  produce(kit, topic, at(time + 60000));
  const ListOffsetsOptions committed{.isolation = kReadCommitted};
  list_offset(kit, topic, time - 5000, committed)["offset"].is(0);
  // Its records are not to be read yet, so there is none.
  list_offset(kit, topic, time - 4000, committed)["offset"].is(-1);
  list_offset(kit, topic, time - 4000)["offset"].is(1);
  producer.abort();
  wait_for_stable(kit, topic, 4);
  list_offset(kit, topic, time + 60000, committed)["offset"].is(2);
}

CASE(read_beyond_the_stable_offset, "KIP-98") {
  // Between the last stable offset and the end is no error: it is not there yet.
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b", "c"});
  for (const int64_t offset : {0, 2, 3}) {
    const Value part = read_committed(kit, topic, offset);
    part["errorCode"].is_none();
    expect_equal(base_offsets(part), std::vector<int64_t>{}, "base offsets");
  }
  read_committed(kit, topic, 4)["errorCode"].is(ErrorCode::OFFSET_OUT_OF_RANGE);
  producer.commit();
}

CASE(commit_wakes_a_parked_reader, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  Connection& connection = kit.connect();
  const Stopwatch stopwatch;
  const Sent parked = connection.send(
      "Fetch", 12,
      fetch_request({{.topic = topic}}, {.isolation = kReadCommitted, .max_wait_ms = 12000}));
  expect(!connection.readable_within(Millis(300)), "the Fetch waits for the transaction's end");
  producer.commit();
  const Value part = connection.receive(parked)["responses"][0]["partitions"][0];
  expect(stopwatch.elapsed() < Millis(10000), "the commit wakes it");
  expect_equal(base_offsets(part).front(), 0L, "base offset");
}

CASE(uncommitted_readers_do_not_wait, "KIP-98") {
  const Topic topic = create_topic(kit);
  Connection& connection = kit.connect();
  const Stopwatch stopwatch;
  const Sent parked =
      connection.send("Fetch", 12, fetch_request({{.topic = topic}}, {.max_wait_ms = 12000}));
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  const Value part = connection.receive(parked)["responses"][0]["partitions"][0];
  expect(stopwatch.elapsed() < Millis(10000), "the record wakes it");
  expect_equal(values_of(batches_of(part)), std::vector<std::string>{"a"}, "values");
  producer.abort();
}

CASE(deleted_records_take_their_aborts_along, "KIP-98; DeleteRecords") {
  const auto [topic, a, b] = two_aborted(kit);
  delete_records(kit, topic, 5);
  const Value part = read_committed(kit, topic, 5);
  part["logStartOffset"].is(5);
  expect_equal(aborted_of(part), Aborted{}, "aborted list");
  expect_equal(values_of(batches_of(part)), std::vector<std::string>{"plain"}, "values");
}

CASE(compressed_transactions, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  producer.init();
  for (const Codec codec : {Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    for (const bool committed : {kAbort, kCommit}) {
      const auto batch = build_batch({.records = records_of({committed ? "kept" : "gone"}),
                                      .codec = codec,
                                      .producer_id = producer.producer_id(),
                                      .producer_epoch = producer.epoch(),
                                      .base_sequence = 0,
                                      .transactional = true});
      produce(kit, topic, batch, {.version = 12, .transactional_id = producer.id()});
      committed ? producer.commit() : producer.abort();
    }
  }
  wait_for_stable(kit, topic, 16);
  expect_equal(committed_values(kit, topic), std::vector<std::string>(4, "kept"), "values");
}

CASE(many_transactions, "KIP-98") {
  // Aborted and committed by turns, three producers over one another.
  const Topic topic = create_topic(kit);
  std::vector<TxnProducer> producers;
  for (int i = 0; i < 3; ++i) {
    producers.emplace_back(kit);
    producers.back().init();
  }
  std::set<std::string> expected;
  for (int round = 0; round < 6; ++round) {
    for (size_t i = 0; i < producers.size(); ++i) {
      const std::string value = fmt::format("{}-{}", round, i);
      producers[i].produce(topic, {value});
      if ((round + i) % 2 == 0) expected.insert(value);
    }
    for (size_t i = producers.size(); i-- > 0;)
      (round + i) % 2 == 0 ? producers[i].commit() : producers[i].abort();
  }
  wait_for_stable(kit, topic, 36);
  const std::vector<std::string> found = committed_values(kit, topic);
  expect_equal(std::set(found.begin(), found.end()), expected, "values");
  expect_equal(found.size(), expected.size(), "number of values");
  expect_equal(aborted_of(read_committed(kit, topic, 0)).size(), 9U, "aborted transactions");
}

}  // namespace ackord::conform
