// Transactions as before KIP-890: partitions are added by requests of their own, the epoch stays.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.v1", "Transaction version 1 (KIP-98)");

namespace {

TxnProducer new_producer(Kit& kit) {
  TxnProducer producer(kit, TxnVersion::kOne);
  producer.init();
  return producer;
}

void expect_empty(const TxnProducer& producer) {
  const Value state = producer.describe();
  state["transactionState"].is("Empty");
  state["topics"].has_size(0);
}

ErrorCode partition_error(const Value& topics, const Topic& topic, int32_t partition) {
  return topics.with("name", topic.name.c_str())["resultsByPartition"]
      .with("partitionIndex", partition)["partitionErrorCode"]
      .error();
}

}  // namespace

CASE(added_by_request, "KIP-98", .api = "AddPartitionsToTxn", .first = 0, .last = 5) {
  const Topic topic = create_topic(kit, 3);
  const Topic other = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  const Value results = producer.try_add({{topic, 0}, {topic, 2}, {other, 0}}, kit.version());
  results.has_size(2);
  for (const auto& [name, partition] : {std::pair{topic, 0}, {topic, 2}, {other, 0}})
    expect_equal(partition_error(results, name, partition), ErrorCode::NONE, "error code");
  const Value state = producer.describe();
  state["transactionState"].is("Ongoing");
  state["transactionStartTimeMs"].is_between(now_ms() - 60000, now_ms() + 1000);
  std::map<std::string, std::set<int64_t>> found;
  for (const Value& entry : state["topics"].items())
    for (const int64_t partition : entry["partitions"].numbers())
      found[entry["topic"].text()].insert(partition);
  expect_equal(found,
               std::map<std::string, std::set<int64_t>>{{topic.name, {0, 2}}, {other.name, {0}}},
               "partitions");
}

CASE(added_again, "KIP-98", .api = "AddPartitionsToTxn", .first = 0, .last = 5) {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = new_producer(kit);
  const int16_t version = kit.version();
  producer.add(topic, 0);
  const Value start = producer.describe()["transactionStartTimeMs"];
  kit.pass(Millis(20));
  producer.try_add({{topic, 0}}, version)[0]["resultsByPartition"][0]["partitionErrorCode"]
      .is_none();
  producer.try_add({{topic, 1}}, version)[0]["resultsByPartition"][0]["partitionErrorCode"]
      .is_none();
  producer.describe()["transactionStartTimeMs"].is(start.json());
  producer.describe()["topics"][0]["partitions"].has_size(2);
}

CASE(all_are_added_or_none, "KIP-98", .api = "AddPartitionsToTxn", .first = 0, .last = 5) {
  const Topic topic = create_topic(kit);
  const Topic ghost = ghost_topic(kit);
  TxnProducer producer = new_producer(kit);
  const Value results = producer.try_add({{topic, 0}, {topic, 7}, {ghost, 0}}, kit.version());
  expect_equal(partition_error(results, topic, 0), ErrorCode::OPERATION_NOT_ATTEMPTED, "known");
  expect_equal(partition_error(results, topic, 7), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
               "unknown partition");
  expect_equal(partition_error(results, ghost, 0), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
               "unknown topic");
  expect_empty(producer);
}

CASE(nothing_to_add, "KIP-98", .api = "AddPartitionsToTxn", .first = 0, .last = 3) {
  TxnProducer producer = new_producer(kit);
  producer.try_add(std::vector<TxnPart>{}, kit.version()).has_size(0);
}

CASE(internal_topics_are_closed, "KIP-98", .api = "AddPartitionsToTxn", .first = 0, .last = 3) {
  TxnProducer producer = new_producer(kit);
  wait_for_coordinator(kit, CoordinatorKind::kGroup, kit.name("g"));
  for (const char* name : {"__consumer_offsets", "__transaction_state"})
    producer.try_add(Topic{name, {}, 1}, kit.version()).is(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
  expect_empty(producer);
}

CASE(empty_transactional_id, "KIP-98", .api = "AddPartitionsToTxn", .first = 0, .last = 3) {
  const Topic topic = create_topic(kit);
  const Object request{
      {"v3AndBelowTransactionalId", ""},
      {"v3AndBelowProducerId", 1},
      {"v3AndBelowProducerEpoch", 0},
      {"v3AndBelowTopics", list(Object{{"name", topic.name}, {"partitions", list(0)}})}};
  const Value answer = kit.ask("AddPartitionsToTxn", kit.version(), request);
  answer["resultsByTopicV3AndBelow"][0]["resultsByPartition"][0]["partitionErrorCode"].is(
      ErrorCode::INVALID_REQUEST);
}

CASE(several_transactions_in_one_request, "KIP-890", .api = "AddPartitionsToTxn", .first = 4,
     .last = 5) {
  const Topic topic = create_topic(kit);
  const TxnProducer first = new_producer(kit);
  const TxnProducer second = new_producer(kit);
  const auto part = [&](const TxnProducer& producer, int epoch) {
    return Object{{"transactionalId", producer.id()},
                  {"producerId", producer.producer_id()},
                  {"producerEpoch", epoch},
                  {"verifyOnly", false},
                  {"topics", list(Object{{"name", topic.name}, {"partitions", list(0)}})}};
  };
  const Value answer = kit.ask("AddPartitionsToTxn", kit.version(),
                               {{"transactions", list(part(first, 0), part(second, 3))}});
  answer["errorCode"].is_none();
  const auto code_of = [&](const TxnProducer& producer) {
    return partition_error(answer["resultsByTransaction"].with(
                               "transactionalId", producer.id().c_str())["topicResults"],
                           topic, 0);
  };
  expect_equal(code_of(first), ErrorCode::NONE, "the first");
  expect_equal(code_of(second), ErrorCode::PRODUCER_FENCED, "the second");
  expect_equal(first.state(), "Ongoing", "state of the first");
  expect_empty(second);
}

CASE(produce, "KIP-98", .api = "Produce", .first = 3, .last = 11) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  producer.add(topic);
  for (int i = 0; i < 3; ++i) {
    const Value answer =
        producer.try_produce(topic, {"v"}, {.sequence = i, .version = kit.version()});
    answer["errorCode"].is_none();
    answer["baseOffset"].is(i);
  }
  producer.commit();
  wait_for_stable(kit, topic, 4);
  expect_equal(committed_values(kit, topic).size(), 3U, "committed values");
}

CASE(commit, "KIP-98", .api = "EndTxn", .first = 0, .last = 4) {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"}, TxnVersion::kOne);
  producer.produce(topic, {"c"}, 1);
  const Value answer = producer.try_end(kCommit, kit.version());
  answer["errorCode"].is_none();
  producer.wait_until_complete();
  expect_equal(producer.state(), "CompleteCommit", "state");
  producer.describe()["producerEpoch"].is(producer.epoch());
  wait_for_stable(kit, topic, 3, 0);
  wait_for_stable(kit, topic, 2, 1);
  expect_equal(committed_values(kit, topic, 0), std::vector<std::string>{"a", "b"},
               "committed values");
  expect_equal(committed_values(kit, topic, 1), std::vector<std::string>{"c"}, "committed values");
  fetch_one(kit, {.topic = topic}, {.isolation = 1})["abortedTransactions"].has_size(0);
}

CASE(abort, "KIP-98", .api = "EndTxn", .first = 0, .last = 4) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"}, TxnVersion::kOne);
  producer.try_end(kAbort, kit.version())["errorCode"].is_none();
  producer.wait_until_complete();
  expect_equal(producer.state(), "CompleteAbort", "state");
  producer.describe()["producerEpoch"].is(producer.epoch());
  wait_for_stable(kit, topic, 3);
  const Value part = fetch_one(kit, {.topic = topic}, {.isolation = 1});
  part["abortedTransactions"].has_size(1);
  part["abortedTransactions"][0].is(
      Object{{"producerId", producer.producer_id()}, {"firstOffset", 0}});
}

CASE(end_again, "KIP-98; docs/SEMANTICS.md C.5", .api = "EndTxn", .first = 0, .last = 4) {
  for (const bool committed : {kCommit, kAbort}) {
    const Topic topic = create_topic(kit);
    TxnProducer producer = begin_transaction(kit, topic, {"a"}, TxnVersion::kOne);
    const auto end = [&](bool how) {
      return ask_until_free(kit, [&] { return producer.try_end(how, kit.version()); });
    };
    end(committed)["errorCode"].is_none();
    end(committed)["errorCode"].is_none();
    end(!committed)["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
    producer.wait_until_complete();
    end(committed)["errorCode"].is_none();
    end(!committed)["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
    wait_for_stable(kit, topic, 2);
  }
}

CASE(end_of_nothing, "KIP-98; docs/SEMANTICS.md C.5", .api = "EndTxn", .first = 0, .last = 4) {
  TxnProducer producer = new_producer(kit);
  for (const bool committed : {kCommit, kAbort})
    producer.try_end(committed, kit.version())["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
  expect_empty(producer);
}

CASE(end_without_transactional_id, "KIP-98", .api = "EndTxn", .first = 0, .last = 5) {
  const Value answer = kit.ask(
      "EndTxn", kit.version(),
      {{"transactionalId", ""}, {"producerId", 5}, {"producerEpoch", 0}, {"committed", true}});
  answer["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(sequences_go_on, "KIP-98: the epoch stays") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  for (int i = 0; i < 4; ++i) {
    expect_equal(producer.produce(topic, {"x", "y"}), 3 * i, "base offset");
    i % 2 == 0 ? producer.commit() : producer.abort();
  }
  expect_equal(producer.epoch(), 0, "epoch");
  producer.add(topic);
  producer.try_produce(topic, {"x"}, {.sequence = 0})["errorCode"].is(
      ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  // The last batch of the transaction before is still known as what it was.
  const Value again = producer.try_produce(topic, {"x", "y"}, {.sequence = 6});
  again["errorCode"].is_none();
  again["baseOffset"].is(9);
}

CASE(added_but_not_written, "KIP-98: the marker comes all the same") {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = new_producer(kit);
  producer.add(topic, 0);
  producer.add(topic, 1);
  producer.produce(topic, {"a"}, 1);
  producer.abort();
  wait_for_stable(kit, topic, 1, 0);
  wait_for_stable(kit, topic, 2, 1);
  const std::vector<BatchRead> batches = read_all(kit, topic, 0);
  expect_equal(batches.size(), 1U, "batches");
  expect(batches[0].header.control(), "the batch is a marker");
  fetch_one(kit, {.topic = topic}, {.isolation = 1})["abortedTransactions"].has_size(0);
}

CASE(markers, "KIP-98; docs/SEMANTICS.md C.9") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  for (const bool committed : {kCommit, kAbort}) {
    producer.produce(topic, {"a"});
    committed ? producer.commit() : producer.abort();
  }
  std::vector<std::string> keys;
  for (const BatchRead& batch : read_all(kit, topic)) {
    if (!batch.header.control()) continue;
    expect(batch.header.transactional(), "a marker is transactional");
    expect(batch.crc_ok, "the checksum of the marker is right");
    expect_equal(batch.header.producer_id.value, producer.producer_id(), "producer id");
    expect_equal(batch.header.producer_epoch, producer.epoch(), "epoch");
    expect_equal(batch.header.base_sequence, -1, "base sequence");
    expect_equal(batch.records.size(), 1U, "records");
    keys.push_back(*batch.records[0].key);
    // int16 version 0, int32 epoch of the coordinator.
    expect_equal(batch.records[0].value->size(), 6U, "bytes of the value");
    expect_equal(batch.records[0].value->substr(0, 2), std::string(2, '\0'), "version");
  }
  // int16 version 0, int16 type: 1 commit, 0 abort.
  expect_equal(keys, std::vector{std::string("\0\0\0\1", 4), std::string("\0\0\0\0", 4)}, "keys");
}

CASE(interleaved, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer first = begin_transaction(kit, topic, {"a1"}, TxnVersion::kOne);
  TxnProducer second = begin_transaction(kit, topic, {"b1"}, TxnVersion::kOne);
  first.produce(topic, {"a2"});
  second.produce(topic, {"b2"});
  second.commit();
  wait_for_stable(kit, topic, 0);
  expect_equal(committed_values(kit, topic), std::vector<std::string>{}, "committed values");
  first.commit();
  wait_for_stable(kit, topic, 6);
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"a1", "b1", "a2", "b2"},
               "committed values");
}

CASE(next_at_once, "KIP-98: the next transaction while markers are written") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  for (int i = 0; i < 6; ++i) {
    producer.produce(topic, {"x"});
    producer.end_without_waiting(i % 2 == 0);
    producer.try_add(topic).is_one_of({ErrorCode::NONE, ErrorCode::CONCURRENT_TRANSACTIONS});
  }
  producer.add(topic);
  producer.commit();
  wait_for_stable(kit, topic, 13);
}

CASE(unknown_producers, "KIP-98; docs/SEMANTICS.md C.4") {
  const Topic topic = create_topic(kit);
  TxnProducer stranger(kit, TxnVersion::kOne);
  wait_for_coordinator(kit, CoordinatorKind::kTransaction, stranger.id());
  for (const ProducerIdentity claimed : {ProducerIdentity{1, 0}, {-1, -1}}) {
    stranger.set_identity(claimed);
    stranger.try_add(topic).is(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
    stranger.try_add_group(kit.name("g"))["errorCode"].is(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
    stranger.try_end(kCommit)["errorCode"].is(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  }
  stranger.describe()["errorCode"].is(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
}

}  // namespace ackord::conform
