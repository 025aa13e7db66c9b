// Transactions as since KIP-890: Produce adds the partitions, EndTxn answers the next epoch.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.v2", "Transaction version 2 (KIP-890)");

namespace {

TxnProducer new_producer(Kit& kit) {
  TxnProducer producer(kit);
  producer.init();
  return producer;
}

Value end(Kit& kit, TxnProducer& producer, bool committed) {
  return ask_until_free(kit, [&] { return producer.try_end(committed); });
}

void expect_next(const Value& answer, const ProducerIdentity& of, int bumps = 1) {
  answer["errorCode"].is_none();
  answer["producerId"].is(of.id);
  answer["producerEpoch"].is(of.epoch + bumps);
}

void expect_refused(const Value& answer, ErrorCode code) {
  answer["errorCode"].is(code);
  answer["producerId"].is(-1);
  answer["producerEpoch"].is(-1);
}

}  // namespace

CASE(feature_level, "KIP-584; docs/SEMANTICS.md E") {
  // What clients look at before they use Produce 12, TxnOffsetCommit 5 and EndTxn 5.
  expect(kit.broker().feature("transaction.version") >= 2, "transaction.version is finalized at 2");
}

CASE(added_by_produce, "KIP-890; docs/SEMANTICS.md C.4", .api = "Produce", .first = 12,
     .last = 13) {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = new_producer(kit);
  const Value answer =
      producer.try_produce(topic, {"a"}, {.partition = 1, .version = kit.version()});
  answer["errorCode"].is_none();
  answer["baseOffset"].is(0);
  const Value state = producer.describe();
  state["transactionState"].is("Ongoing");
  state["transactionStartTimeMs"].is_between(now_ms() - 60000, now_ms() + 1000);
  state["topics"].has_size(1);
  state["topics"][0]["topic"].is(topic.name.c_str());
  state["topics"][0]["partitions"].is(list(1));
  producer.try_produce(topic, {"b"}, {.version = kit.version()})["errorCode"].is_none();
  producer.describe()["topics"][0]["partitions"].has_size(2);
}

CASE(one_request_adds_many, "KIP-890") {
  const Topic topic = create_topic(kit, 4);
  TxnProducer producer = new_producer(kit);
  const auto part = [&](int partition) {
    return Object{{"index", partition},
                  {"records", bytes(build_batch({.records = records_of({"v"}),
                                                 .producer_id = producer.producer_id(),
                                                 .producer_epoch = producer.epoch(),
                                                 .base_sequence = 0,
                                                 .transactional = true}))}};
  };
  const Value answer = kit.ask(
      "Produce", 12,
      {{"transactionalId", producer.id()},
       {"acks", -1},
       {"timeoutMs", 10000},
       {"topicData", list(Object{{"name", topic.name},
                                 {"partitionData", list(part(0), part(1), part(2), part(9))}})}});
  const Value parts = answer["responses"][0]["partitionResponses"];
  for (const int partition : {0, 1, 2}) parts.with("index", partition)["errorCode"].is_none();
  parts.with("index", 9)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  producer.describe()["topics"][0]["partitions"].has_size(3);
  producer.commit();
  wait_for_stable(kit, topic, 2, 2);
}

CASE(unknown_topic_is_not_added, "KIP-890") {
  TxnProducer producer = new_producer(kit);
  producer.try_produce(ghost_topic(kit), {"a"})["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  producer.try_produce(ghost_topic(kit), {"a"}, {.version = 13})["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_ID);
  expect_equal(producer.state(), "Empty", "state");
}

CASE(commit_and_abort_bump, "KIP-890; docs/SEMANTICS.md C.5") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  for (int i = 0; i < 4; ++i) {
    const ProducerIdentity before = producer.identity();
    expect_equal(producer.produce(topic, {"a"}), 2 * i, "base offset");
    const Value answer = producer.try_end(i % 2 == 0);
    expect_next(answer, before);
    producer.wait_until_complete();
    expect_equal(producer.state(), i % 2 == 0 ? "CompleteCommit" : "CompleteAbort", "state");
    producer.describe()["producerEpoch"].is(before.epoch + 1);
    producer.set_identity({before.id, static_cast<int16_t>(before.epoch + 1)});
  }
  expect_equal(committed_values(kit, topic), std::vector<std::string>(2, "a"), "committed values");
}

CASE(markers_have_the_next_epoch, "KIP-890; docs/SEMANTICS.md C.5") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  for (const bool committed : {kCommit, kAbort}) {
    producer.produce(topic, {"a"});
    committed ? producer.commit() : producer.abort();
  }
  std::vector<std::tuple<bool, int, int>> found;
  for (const BatchRead& batch : read_all(kit, topic))
    found.emplace_back(batch.header.control(), batch.header.producer_epoch,
                       batch.header.base_sequence);
  expect_equal(found,
               std::vector<std::tuple<bool, int, int>>{
                   {false, 0, 0}, {true, 1, -1}, {false, 1, 0}, {true, 2, -1}},
               "control, epoch, base sequence of each batch");
}

CASE(end_retried, "KIP-890; docs/SEMANTICS.md C.5") {
  for (const bool committed : {kCommit, kAbort}) {
    const Topic topic = create_topic(kit);
    TxnProducer producer = begin_transaction(kit, topic, {"a"});
    // The answer was lost; at once, and after the markers.
    expect_next(end(kit, producer, committed), producer.identity());
    expect_next(end(kit, producer, committed), producer.identity());
    producer.wait_until_complete();
    expect_next(end(kit, producer, committed), producer.identity());
    producer.describe()["producerEpoch"].is(producer.epoch() + 1);
    wait_for_stable(kit, topic, 2);
  }
}

CASE(end_the_other_way, "KIP-890; docs/SEMANTICS.md C.5") {
  for (const bool committed : {kCommit, kAbort}) {
    const Topic topic = create_topic(kit);
    TxnProducer producer = begin_transaction(kit, topic, {"a"});
    expect_next(end(kit, producer, committed), producer.identity());
    expect_refused(end(kit, producer, !committed), ErrorCode::INVALID_TXN_STATE);
    producer.wait_until_complete();
    expect_refused(end(kit, producer, !committed), ErrorCode::INVALID_TXN_STATE);
  }
}

CASE(end_twice_at_once, "KIP-890: a producer never fences itself") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  const Object request{{"transactionalId", producer.id()},
                       {"producerId", producer.producer_id()},
                       {"producerEpoch", producer.epoch()},
                       {"committed", true}};
  std::vector<std::pair<Connection*, Sent>> sent;
  for (int i = 0; i < 4; ++i) {
    Connection& connection = kit.connect();
    sent.emplace_back(&connection, connection.send("EndTxn", 5, request));
  }
  int done = 0;
  for (const auto& [connection, one] : sent) {
    const Value answer = connection->receive(one);
    answer["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::CONCURRENT_TRANSACTIONS});
    done += answer["errorCode"].error() == ErrorCode::NONE ? 1 : 0;
  }
  expect(done > 0, "one of them is answered without an error");
}

CASE(retry_after_the_next_began, "KIP-890; docs/SEMANTICS.md C.5") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  TxnProducer late = producer;
  producer.commit();
  producer.produce(topic, {"b"});
  for (const bool committed : {kCommit, kAbort})
    expect_refused(late.try_end(committed), ErrorCode::PRODUCER_FENCED);
  producer.commit();
  wait_for_stable(kit, topic, 4);
}

CASE(empty_abort_bumps, "KIP-890; docs/SEMANTICS.md C.5") {
  TxnProducer producer = new_producer(kit);
  const ProducerIdentity first = producer.identity();
  expect_next(end(kit, producer, kAbort), first);
  producer.wait_until_complete();
  expect_next(end(kit, producer, kAbort), first);  // a retry
  producer.set_identity({first.id, static_cast<int16_t>(first.epoch + 1)});
  expect_next(end(kit, producer, kAbort), first, 2);
  producer.wait_until_complete();
  expect_equal(producer.state(), "CompleteAbort", "state");
}

CASE(empty_abort_after_a_commit, "KIP-890; docs/SEMANTICS.md C.5") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  const ProducerIdentity first = producer.identity();
  producer.commit();
  expect_next(end(kit, producer, kAbort), first, 2);
  producer.wait_until_complete();
  producer.set_identity({first.id, static_cast<int16_t>(first.epoch + 2)});
  producer.produce(topic, {"b"});
  producer.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"a", "b"}, "values");
}

CASE(empty_commit, "KIP-890; docs/SEMANTICS.md C.5") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  expect_refused(producer.try_end(kCommit), ErrorCode::INVALID_TXN_STATE);
  producer.produce(topic, {"a"});
  producer.abort();
  expect_refused(producer.try_end(kCommit), ErrorCode::INVALID_TXN_STATE);
  producer.produce(topic, {"a"});
  producer.commit();
  expect_refused(producer.try_end(kCommit), ErrorCode::INVALID_TXN_STATE);
}

CASE(end_with_other_epochs, "KIP-890; docs/SEMANTICS.md C.5") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  producer.init();
  const auto expect_fenced = [&](std::initializer_list<int> epochs) {
    for (const int epoch : epochs)
      for (const bool committed : {kCommit, kAbort})
        expect_refused(producer.with_epoch(epoch).try_end(committed), ErrorCode::PRODUCER_FENCED);
  };
  expect_fenced({0, 2, 3, 32767});
  producer.produce(topic, {"a"});
  expect_fenced({0, 2, 3, 32767});
  producer.commit();
  expect_fenced({0, 3, 4, 32767});
  producer.describe()["producerEpoch"].is(2);
}

CASE(end_with_other_ids, "KIP-890; docs/SEMANTICS.md C.5") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  TxnProducer other = producer;
  other.set_identity({producer.producer_id() + 1000, producer.epoch()});
  expect_refused(other.try_end(kCommit), ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  TxnProducer unknown(kit);
  unknown.set_identity(producer.identity());
  expect_refused(unknown.try_end(kCommit), ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  expect_equal(producer.state(), "Ongoing", "state");
}

CASE(sequences_begin_anew, "KIP-890: the epoch is a new one") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"});
  producer.commit();
  producer.try_produce(topic, {"c"}, {.sequence = 2})["errorCode"].is(
      ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_equal(producer.produce(topic, {"c"}), 3, "base offset");
}

CASE(first_sequence_is_zero, "KIP-890; docs/SEMANTICS.md C.9") {
  // Else an older batch could come first and be kept.
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  producer.try_produce(topic, {"c"}, {.sequence = 5})["errorCode"].is(
      ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect_equal(end_offset(kit, topic), 0, "the log's end");
  expect_equal(producer.produce(topic, {"a"}), 0, "base offset");
}

CASE(produce_retried, "KIP-890") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"});
  producer.produce(topic, {"c"});
  const Value again = producer.try_produce(topic, {"a", "b"}, {.sequence = 0});
  again["errorCode"].is_none();
  again["baseOffset"].is(0);
  producer.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"a", "b", "c"}, "values");
}

CASE(produce_late, "KIP-890: a batch of an ended transaction never joins the next",
     .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  TxnProducer late = producer;
  producer.abort();
  const auto send_late = [&](int sequence) {
    late.try_produce(topic, {"late"}, {.sequence = sequence, .version = kit.version()})["errorCode"]
        .is(ErrorCode::INVALID_PRODUCER_EPOCH);
  };
  send_late(1);
  send_late(0);
  producer.produce(topic, {"b"});
  send_late(1);
  send_late(0);
  producer.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"b"}, "values");
}

CASE(next_at_once, "KIP-890: Produce waits for the markers of the transaction before") {
  const Topic topic = create_topic(kit, 3);
  TxnProducer producer = new_producer(kit);
  for (int i = 0; i < 8; ++i) {
    for (const int partition : {0, 1, 2}) producer.produce(topic, {"x"}, partition);
    producer.end_without_waiting(i % 2 == 0);
  }
  producer.wait_until_complete();
  expect_equal(producer.epoch(), 8, "epoch");
  for (const int partition : {0, 1, 2}) {
    wait_for_stable(kit, topic, 16, partition);
    expect_equal(committed_values(kit, topic, partition).size(), 4U, "committed values");
  }
}

CASE(added_by_request_as_well, "KIP-890: AddPartitionsToTxn still serves") {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = new_producer(kit);
  producer.add(topic, 0);
  producer.produce(topic, {"a"}, 0);
  producer.produce(topic, {"b"}, 1);
  producer.commit();
  expect_equal(producer.epoch(), 1, "epoch");
  wait_for_stable(kit, topic, 2, 0);
  wait_for_stable(kit, topic, 2, 1);
}

CASE(ended_by_an_old_client, "KIP-890: no bump below EndTxn 5", .api = "EndTxn", .first = 0,
     .last = 4) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  producer.try_end(kCommit, kit.version())["errorCode"].is_none();
  producer.wait_until_complete();
  producer.describe()["producerEpoch"].is(0);
  const Value next =
      ask_until_free(kit, [&] { return producer.try_produce(topic, {"b"}, {.sequence = 1}); });
  next["errorCode"].is_none();
  producer.commit();
  expect_equal(producer.epoch(), 1, "epoch");
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"a", "b"}, "values");
}

CASE(exhausted_epochs, "KIP-890; docs/SEMANTICS.md C.5", .limit_s = 120) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  producer.init_until(kLastEpoch);
  TxnProducer old = producer;
  producer.produce(topic, {"a"});
  producer.commit();
  expect(producer.producer_id() != old.producer_id(), "the producer id is a fresh one");
  expect_equal(producer.epoch(), 0, "epoch");
  // The answer was lost.
  const Value retried = end(kit, old, kCommit);
  expect_next(retried, producer.identity(), 0);
  producer.produce(topic, {"b"});
  producer.commit();
  expect_equal(producer.epoch(), 1, "epoch");
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"a", "b"}, "values");
}

}  // namespace ackord::conform
