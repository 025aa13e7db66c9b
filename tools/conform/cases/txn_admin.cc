// What administrators see of transactions, and how they end one that hangs.
#include "tools/conform/case.h"
#include "tools/conform/kit/offsets.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.admin", "Transactions for administrators (KIP-664, KIP-994)");

namespace {

struct Filters {
  std::vector<std::string> states;
  std::vector<int64_t> producer_ids;
  int64_t duration_ms = -1;            // version 1 on
  std::optional<std::string> pattern;  // version 2 on
  int16_t version = 0;
};

Value list_transactions(Kit& kit, const Filters& filters) {
  Object request{{"stateFilters", list_of(filters.states,
                                          [](const std::string& state) -> json::value {
                                            return json::string(state);
                                          })},
                 {"producerIdFilters",
                  list_of(filters.producer_ids, [](int64_t id) -> json::value { return id; })}};
  if (filters.version >= 1) request["durationFilter"] = filters.duration_ms;
  if (filters.version >= 2) {
    request["transactionalIdPattern"] = nullptr;
    if (filters.pattern) request["transactionalIdPattern"] = json::string(*filters.pattern);
  }
  return kit.ask("ListTransactions", filters.version, request);
}

bool is_listed(Kit& kit, const TxnProducer& producer, const Filters& filters) {
  const Value answer = list_transactions(kit, filters);
  answer["errorCode"].is_none();
  return answer["transactionStates"].has_item("transactionalId", producer.id().c_str());
}

Value active_producers(Kit& kit, const Topic& topic, int32_t partition = 0) {
  const Object asked{{"name", topic.name}, {"partitionIndexes", list(partition)}};
  const Value answer =
      kit.ask("DescribeProducers", 0, {{"topics", list(asked)}})["topics"][0]["partitions"][0];
  answer["errorCode"].is_none();
  return answer["activeProducers"];
}

struct Marker {
  ProducerIdentity producer;
  bool committed = kAbort;
  std::vector<int32_t> partitions = {0};
  int32_t coordinator_epoch = 0;
  int8_t transaction_version = 0;  // version 2 on
  int16_t version = 1;
};

Object marker_of(const Topic& topic, const Marker& marker) {
  const Object named{{"name", topic.name},
                     {"partitionIndexes",
                      list_of(marker.partitions, [](int32_t at) -> json::value { return at; })}};
  Object out{{"producerId", marker.producer.id},
             {"producerEpoch", marker.producer.epoch},
             {"transactionResult", marker.committed},
             {"topics", list(named)},
             {"coordinatorEpoch", marker.coordinator_epoch}};
  if (marker.version >= 2) out["transactionVersion"] = marker.transaction_version;
  return out;
}

// The partitions' part of the answer.
Value write_marker(Kit& kit, const Topic& topic, const Marker& marker) {
  const Value answer =
      kit.ask("WriteTxnMarkers", marker.version, {{"markers", list(marker_of(topic, marker))}});
  answer["markers"][0]["producerId"].is(marker.producer.id);
  return answer["markers"][0]["topics"].with("name", topic.name.c_str())["partitions"];
}

}  // namespace

CASE(described_states, "KIP-664; docs/SEMANTICS.md C.1") {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer(kit);
  producer.init({.timeout_ms = 54321});
  const auto described = [&] {
    Value state = producer.describe();
    state["errorCode"].is_none();
    state["transactionalId"].is(producer.id().c_str());
    state["transactionTimeoutMs"].is(54321);
    state["producerId"].is(producer.producer_id());
    state["producerEpoch"].is(producer.epoch());
    return state;
  };
  const Value empty = described();
  empty["transactionState"].is("Empty");
  empty["transactionStartTimeMs"].is(-1);
  empty["topics"].has_size(0);
  producer.produce(topic, {"a"}, 1);
  const Value ongoing = described();
  ongoing["transactionState"].is("Ongoing");
  ongoing["transactionStartTimeMs"].is_between(now_ms() - 60000, now_ms() + 1000);
  ongoing["topics"].has_size(1);
  ongoing["topics"][0].is(Object{{"topic", topic.name}, {"partitions", list(1)}});
  producer.commit();
  const Value committed = described();
  committed["transactionState"].is("CompleteCommit");
  committed["transactionStartTimeMs"].is(ongoing["transactionStartTimeMs"].json());
  committed["topics"].has_size(0);
  producer.produce(topic, {"a"}, 1);
  producer.abort();
  described()["transactionState"].is("CompleteAbort");
}

CASE(described_with_offsets, "KIP-664") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  producer.commit_offset(offsets_group(kit), topic, {.offset = 1});
  std::set<std::string> topics;
  for (const Value& entry : producer.describe()["topics"].items())
    topics.insert(entry["topic"].text());
  expect_equal(topics, std::set<std::string>{topic.name, "__consumer_offsets"}, "topics");
}

CASE(described_unknown, "KIP-664") {
  TxnProducer known(kit);
  known.init();
  const std::string unknown = kit.name("tx");
  const Value states =
      kit.ask("DescribeTransactions", 0,
              {{"transactionalIds", list(unknown, known.id())}})["transactionStates"];
  states.has_size(2);
  states.with("transactionalId", known.id().c_str())["errorCode"].is_none();
  const Value none = states.with("transactionalId", unknown.c_str());
  none["errorCode"].is(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  none["transactionState"].is("");
  none["topics"].has_size(0);
}

CASE(described_nothing, "KIP-664") {
  kit.ask("DescribeTransactions", 0, {{"transactionalIds", list()}})["transactionStates"].has_size(
      0);
}

CASE(described_empty_id, "KIP-664") {
  kit.ask("DescribeTransactions", 0,
          {{"transactionalIds", list("")}})["transactionStates"][0]["errorCode"]
      .is(ErrorCode::INVALID_REQUEST);
}

CASE(listed, "KIP-664", .api = "ListTransactions", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  producer.init();
  const auto state = [&] {
    const Value answer = list_transactions(kit, {.version = kit.version()});
    answer["errorCode"].is_none();
    answer["unknownStateFilters"].has_size(0);
    const Value entry = answer["transactionStates"].with("transactionalId", producer.id().c_str());
    entry["producerId"].is(producer.producer_id());
    return entry["transactionState"].text();
  };
  expect_equal(state(), "Empty", "state");
  producer.produce(topic, {"a"});
  expect_equal(state(), "Ongoing", "state");
  producer.commit();
  expect_equal(state(), "CompleteCommit", "state");
}

CASE(listed_by_state, "KIP-664", .api = "ListTransactions", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit);
  const TxnProducer ongoing = begin_transaction(kit, topic, {"a"});
  TxnProducer committed = begin_transaction(kit, topic, {"a"});
  committed.commit();
  const auto found = [&](const std::vector<std::string>& states) {
    const Filters filters{.states = states, .version = kit.version()};
    return std::pair(is_listed(kit, ongoing, filters), is_listed(kit, committed, filters));
  };
  expect_equal(found({"Ongoing"}), std::pair(true, false), "listed as Ongoing");
  expect_equal(found({"CompleteCommit"}), std::pair(false, true), "listed as CompleteCommit");
  expect_equal(found({"Ongoing", "CompleteCommit"}), std::pair(true, true), "listed as either");
  expect_equal(found({"Empty"}), std::pair(false, false), "listed as Empty");
}

CASE(listed_by_unknown_states, "KIP-664", .api = "ListTransactions", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit);
  const TxnProducer ongoing = begin_transaction(kit, topic, {"a"});
  const Value mixed =
      list_transactions(kit, {.states = {"Ongoing", "Running"}, .version = kit.version()});
  mixed["errorCode"].is_none();
  mixed["unknownStateFilters"].is(list("Running"));
  expect(mixed["transactionStates"].has_item("transactionalId", ongoing.id().c_str()),
         "the known state still filters");
  const Value unknown =
      list_transactions(kit, {.states = {"ongoing", "X"}, .version = kit.version()});
  unknown["unknownStateFilters"].has_size(2);
  unknown["transactionStates"].has_size(0);
}

CASE(listed_by_producer_id, "KIP-664", .api = "ListTransactions", .first = 0, .last = 2) {
  TxnProducer first(kit);
  TxnProducer second(kit);
  first.init();
  second.init();
  const auto by_id = [&](const std::vector<int64_t>& ids) {
    return list_transactions(kit,
                             {.producer_ids = ids, .version = kit.version()})["transactionStates"];
  };
  const Value one = by_id({second.producer_id()});
  one.has_size(1);
  one[0].is(Object{{"transactionalId", second.id()},
                   {"producerId", second.producer_id()},
                   {"transactionState", "Empty"}});
  by_id({first.producer_id(), second.producer_id()}).has_size(2);
  by_id({INT64_MAX - 3}).has_size(0);
}

CASE(listed_by_both_filters, "KIP-664", .api = "ListTransactions", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit);
  const TxnProducer producer = begin_transaction(kit, topic, {"a"});
  const auto count = [&](const char* state) {
    return list_transactions(kit, {.states = {state},
                                   .producer_ids = {producer.producer_id()},
                                   .version = kit.version()})["transactionStates"]
        .size();
  };
  expect_equal(count("Ongoing"), 1U, "listed as Ongoing");
  expect_equal(count("Empty"), 0U, "listed as Empty");
}

CASE(listed_by_duration, "KIP-994", .api = "ListTransactions", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  TxnProducer idle(kit);
  idle.init();
  kit.pass(Millis(60));
  const auto found = [&](const TxnProducer& one, int64_t duration) {
    return is_listed(kit, one, {.duration_ms = duration, .version = kit.version()});
  };
  expect(found(producer, -1), "no filter");
  expect(found(producer, 50), "open for longer than 50 ms");
  expect(!found(producer, 600000), "not open for 10 minutes");
  expect(found(idle, -1), "no filter");
  producer.commit();
}

CASE(listed_by_pattern, "KIP-1152", .api = "ListTransactions", .first = 2, .last = 2) {
  const std::string base = kit.name("tx");
  TxnProducer one(kit, TxnVersion::kTwo, base + ".a1");
  TxnProducer two(kit, TxnVersion::kTwo, base + ".b2");
  one.init();
  two.init();
  const auto found = [&](const std::string& pattern) {
    const Filters filters{.pattern = pattern, .version = 2};
    return std::pair(is_listed(kit, one, filters), is_listed(kit, two, filters));
  };
  expect_equal(found(base + ".*"), std::pair(true, true), "listed by prefix");
  expect_equal(found(base + "\\.[a-z]\\d"), std::pair(true, true), "listed by classes");
  expect_equal(found(base + ".a."), std::pair(true, false), "listed by one");
  expect_equal(found(base + "\\.(a1|b2)"), std::pair(true, true), "listed by either");
  // The whole id must match.
  expect_equal(found(base), std::pair(false, false), "listed by a part");
  expect_equal(found("a1"), std::pair(false, false), "listed by an end");
  expect_equal(found(base + ".A1"), std::pair(false, false), "listed by another case");
  expect_equal(found(""), std::pair(true, true), "listed by an empty pattern");
}

CASE(listed_by_a_bad_pattern, "KIP-1152", .api = "ListTransactions", .first = 2, .last = 2) {
  const Value answer = list_transactions(kit, {.pattern = "a(", .version = 2});
  answer["errorCode"].is(ErrorCode::INVALID_REGULAR_EXPRESSION);
  answer["transactionStates"].has_size(0);
}

CASE(producers_of_a_transaction, "KIP-664; docs/SEMANTICS.md C.9") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"});
  producer.produce(topic, {"c"});
  const Value open = active_producers(kit, topic);
  open.has_size(1);
  open[0]["producerId"].is(producer.producer_id());
  open[0]["producerEpoch"].is(0);
  open[0]["lastSequence"].is(2);
  open[0]["lastTimestamp"].is_between(now_ms() - 60000, now_ms() + 1000);
  open[0]["coordinatorEpoch"].is(-1);
  open[0]["currentTxnStartOffset"].is(3);
  producer.commit();
  wait_for_stable(kit, topic, 7);
  const Value ended = active_producers(kit, topic);
  ended.has_size(1);
  ended[0]["producerEpoch"].is(1);
  ended[0]["coordinatorEpoch"].is_between(0, INT32_MAX);
  ended[0]["currentTxnStartOffset"].is(-1);
  ended[0]["lastSequence"].is(-1);
}

CASE(producers_after_version_1, "KIP-664") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"}, TxnVersion::kOne);
  producer.commit();
  wait_for_stable(kit, topic, 3);
  const Value ended = active_producers(kit, topic)[0];
  ended["producerEpoch"].is(0);
  ended["lastSequence"].is(1);
  ended["currentTxnStartOffset"].is(-1);
}

CASE(marker_ends_one_partition, "KIP-664; docs/SEMANTICS.md C.7", .api = "WriteTxnMarkers",
     .first = 1, .last = 2) {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  producer.produce(topic, {"b"}, 1);
  const Value found = active_producers(kit, topic)[0];
  const Value partitions =
      write_marker(kit, topic,
                   {.producer = {found["producerId"].number(),
                                 static_cast<int16_t>(found["producerEpoch"].number())},
                    .version = kit.version()});
  partitions.has_size(1);
  partitions[0]["partitionIndex"].is(0);
  partitions[0]["errorCode"].is_none();
  wait_for_stable(kit, topic, 2, 0);
  expect_equal(end_offset(kit, topic, 1, 1), 0, "stable offset of the other partition");
  const Value part = fetch_one(kit, {.topic = topic}, {.isolation = 1});
  part["abortedTransactions"].has_size(1);
  active_producers(kit, topic)[0]["currentTxnStartOffset"].is(-1);
  // The coordinator knows nothing of it.
  expect_equal(producer.state(), "Ongoing", "state");
  producer.abort();
  wait_for_stable(kit, topic, 2, 1);
}

CASE(marker_that_commits, "KIP-98", .api = "WriteTxnMarkers", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  write_marker(kit, topic,
               {.producer = producer.identity(),
                .committed = kCommit,
                .version = kit.version()})[0]["errorCode"]
      .is_none();
  wait_for_stable(kit, topic, 2);
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"a"}, "values");
}

CASE(marker_of_an_old_epoch, "docs/SEMANTICS.md C.9", .api = "WriteTxnMarkers", .first = 1,
     .last = 2) {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  producer.init();
  producer.init();
  producer.produce(topic, {"a"});
  write_marker(kit, topic,
               {.producer = {producer.producer_id(), 0}, .version = kit.version()})[0]["errorCode"]
      .is(ErrorCode::INVALID_PRODUCER_EPOCH);
  expect_equal(end_offset(kit, topic, 0, 1), 0, "the last stable offset");
  expect_equal(end_offset(kit, topic), 1, "the log's end");
}

CASE(marker_of_a_later_epoch, "docs/SEMANTICS.md C.9", .api = "WriteTxnMarkers", .first = 1,
     .last = 2) {
  // It fences the producer on this partition.
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  write_marker(kit, topic,
               {.producer = {producer.producer_id(), 3}, .version = kit.version()})[0]["errorCode"]
      .is_none();
  wait_for_stable(kit, topic, 2);
  producer.try_produce(topic, {"b"})["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
}

CASE(marker_of_version_2, "KIP-1228; docs/SEMANTICS.md C.9", .api = "WriteTxnMarkers", .first = 2,
     .last = 2) {
  // The epoch must be a later one, unless it is a retry.
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  const auto write = [&](int epoch) {
    return write_marker(kit, topic,
                        {.producer = {producer.producer_id(), static_cast<int16_t>(epoch)},
                         .transaction_version = 2,
                         .version = 2})[0]["errorCode"];
  };
  write(0).is(ErrorCode::INVALID_PRODUCER_EPOCH);
  expect_equal(end_offset(kit, topic, 0, 1), 0, "the last stable offset");
  write(1).is_none();
  wait_for_stable(kit, topic, 2);
  write(1).is_none();
  write(0).is(ErrorCode::INVALID_PRODUCER_EPOCH);
}

CASE(marker_of_an_old_coordinator, "docs/SEMANTICS.md C.9", .api = "WriteTxnMarkers", .first = 1,
     .last = 2) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  const auto write = [&](int coordinator_epoch) {
    return write_marker(kit, topic,
                        {.producer = producer.identity(),
                         .coordinator_epoch = coordinator_epoch,
                         .version = kit.version()})[0]["errorCode"];
  };
  write(5).is_none();
  write(4).is(ErrorCode::TRANSACTION_COORDINATOR_FENCED);
  write(5).is_none();
}

CASE(marker_without_a_transaction, "KIP-98", .api = "WriteTxnMarkers", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit);
  write_marker(kit, topic,
               {.producer = {INT64_MAX - 11, 4}, .version = kit.version()})[0]["errorCode"]
      .is_none();
  kit.until("the marker is in the log", [&] { return end_offset(kit, topic, 0, 1) == 1; });
  fetch_one(kit, {.topic = topic}, {.isolation = 1})["abortedTransactions"].has_size(0);
}

CASE(markers_for_many, "KIP-98", .api = "WriteTxnMarkers", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit, 2);
  const TxnProducer first = begin_transaction(kit, topic, {"a"});
  TxnProducer second = begin_transaction(kit, topic, {"b"});
  second.produce(topic, {"c"}, 1);
  const int16_t version = kit.version();
  const Value markers = kit.ask(
      "WriteTxnMarkers", version,
      {{"markers", list(marker_of(topic, {.producer = first.identity(), .version = version}),
                        marker_of(topic, {.producer = second.identity(),
                                          .committed = kCommit,
                                          .partitions = {0, 1},
                                          .version = version}))}})["markers"];
  markers.has_size(2);
  for (const Value& marker : markers.items())
    for (const Value& partition : marker["topics"][0]["partitions"].items())
      partition["errorCode"].is_none();
  markers.with("producerId", second.producer_id())["topics"][0]["partitions"].has_size(2);
  wait_for_stable(kit, topic, 4, 0);
  wait_for_stable(kit, topic, 2, 1);
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"b"}, "values");
}

CASE(marker_for_an_unknown_partition, "KIP-98", .api = "WriteTxnMarkers", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit);
  const TxnProducer producer = begin_transaction(kit, topic, {"a"});
  const Marker marker{
      .producer = producer.identity(), .partitions = {0, 8}, .version = kit.version()};
  const Value partitions = write_marker(kit, topic, marker);
  partitions.has_size(2);
  partitions.with("partitionIndex", 0)["errorCode"].is_none();
  partitions.with("partitionIndex", 8)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  write_marker(kit, ghost_topic(kit),
               {.producer = producer.identity(), .version = kit.version()})[0]["errorCode"]
      .is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

}  // namespace ackord::conform
