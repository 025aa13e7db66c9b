// Transactional batches outside a transaction that the coordinator knows: none may be stored, or it
// would hold back the last stable offset for ever.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.verification", "Batches are verified with the coordinator (KIP-890)");

namespace {

TxnProducer new_producer(Kit& kit, TxnVersion version = TxnVersion::kOne) {
  TxnProducer producer(kit, version);
  producer.init();
  return producer;
}

// Version 11 tells clients to abort; those before have no code for it.
ErrorCode not_in_transaction(int16_t version) {
  return version >= 11 ? ErrorCode::TRANSACTION_ABORTABLE : ErrorCode::INVALID_TXN_STATE;
}

// A batch that no transaction is open for is refused. A Kafka asks its coordinator about batches of
// several clients at once, and answers all of them as the first one's version has it: then this one
// comes again.
void expect_refused(Kit& kit, TxnProducer& producer, const Topic& topic, int32_t partition = 0) {
  kit.until("the batch is refused by its own version's code", [&] {
    const Value code = producer.try_produce(
        topic, {"late"}, {.partition = partition, .version = kit.version()})["errorCode"];
    code.is_one_of({ErrorCode::INVALID_TXN_STATE, ErrorCode::TRANSACTION_ABORTABLE});
    return code.error() == not_in_transaction(kit.version());
  });
}

void expect_empty_log(Kit& kit, const Topic& topic, int32_t partition = 0) {
  expect_equal(end_offset(kit, topic, partition), 0, "the log's end");
}

}  // namespace

CASE(no_transaction, "KIP-890; docs/SEMANTICS.md C.4", .api = "Produce", .first = 3, .last = 11) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  expect_refused(kit, producer, topic);
  expect_empty_log(kit, topic);
  expect_equal(producer.state(), "Empty", "state");
}

CASE(another_partition, "KIP-890; docs/SEMANTICS.md C.4", .api = "Produce", .first = 3,
     .last = 11) {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = new_producer(kit);
  producer.produce(topic, {"x"}, 0);
  expect_refused(kit, producer, topic, 1);
  expect_empty_log(kit, topic, 1);
}

CASE(after_the_end, "KIP-890", .api = "Produce", .first = 3, .last = 11) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  for (const bool committed : {kCommit, kAbort}) {
    producer.produce(topic, {"x"});
    committed ? producer.commit() : producer.abort();
    expect_refused(kit, producer, topic);
  }
  expect_equal(end_offset(kit, topic), 4, "the log's end");
}

CASE(then_added, "KIP-890", .api = "Produce", .first = 3, .last = 11) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  expect_refused(kit, producer, topic);
  producer.add(topic);
  producer.try_produce(topic, {"x"}, {.version = kit.version()})["errorCode"].is_none();
  producer.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"x"}, "values");
}

CASE(first_sequence_of_an_added_partition, "KIP-890; docs/SEMANTICS.md C.9", .api = "Produce",
     .first = 3, .last = 11) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  producer.add(topic);
  const Value answer =
      producer.try_produce(topic, {"x"}, {.sequence = 5, .version = kit.version()});
  answer["errorCode"].is_none();
}

CASE(verified_partitions, "KIP-890; docs/SEMANTICS.md C.4", .api = "AddPartitionsToTxn", .first = 4,
     .last = 5) {
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = new_producer(kit);
  const auto code = [&](int partition) {
    return producer.try_add({{topic, partition}}, kit.version(),
                            true)[0]["resultsByPartition"][0]["partitionErrorCode"];
  };
  code(0).is(ErrorCode::TRANSACTION_ABORTABLE);
  expect_equal(producer.state(), "Empty", "state");
  producer.add(topic, 0);
  code(0).is_none();
  code(1).is(ErrorCode::TRANSACTION_ABORTABLE);
  producer.describe()["topics"][0]["partitions"].is(list(0));
  producer.commit();
  code(0).is(ErrorCode::TRANSACTION_ABORTABLE);
}

CASE(verified_for_an_unknown_id, "KIP-890", .api = "AddPartitionsToTxn", .first = 4, .last = 5) {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  wait_for_coordinator(kit, CoordinatorKind::kTransaction, producer.id());
  producer.set_identity({77, 0});
  producer.try_add(topic, kit.version(), true).is(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
}

CASE(no_transactional_id, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const ProducerIdentity producer = idempotent_producer(kit);
  const auto batch = build_batch({.records = records_of({"x"}),
                                  .producer_id = producer.id,
                                  .producer_epoch = producer.epoch,
                                  .base_sequence = 0,
                                  .transactional = true});
  try_produce(kit, topic, batch, {.version = kit.version()})["errorCode"].is(
      ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
  expect_empty_log(kit, topic);
}

CASE(unknown_transactional_id, "KIP-890", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  wait_for_coordinator(kit, CoordinatorKind::kTransaction, producer.id());
  producer.set_identity(idempotent_producer(kit));
  producer.try_produce(topic, {"x"}, {.version = kit.version()})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  expect_empty_log(kit, topic);
}

CASE(another_ones_producer_id, "KIP-890", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  TxnProducer mine = new_producer(kit, TxnVersion::kTwo);
  TxnProducer other = new_producer(kit, TxnVersion::kTwo);
  mine.set_identity(other.identity());
  mine.try_produce(topic, {"x"}, {.version = kit.version()})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  expect_empty_log(kit, topic);
}

CASE(epoch_to_come, "KIP-890", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit, TxnVersion::kTwo);
  producer.with_epoch(7).try_produce(topic, {"x"}, {.version = kit.version()})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_EPOCH);
  expect_empty_log(kit, topic);
  producer.produce(topic, {"x"});
}

CASE(plain_batch_in_a_transaction, "KIP-98; docs/SEMANTICS.md C.9", .api = "Produce", .first = 3,
     .last = 13) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"x"});
  producer
      .try_produce(topic, {"plain"},
                   {.version = kit.version(), .transactional = false})["errorCode"]
      .is(ErrorCode::INVALID_TXN_STATE);
  expect_equal(end_offset(kit, topic), 1, "the log's end");
}

CASE(plain_batch_with_a_transactional_id, "KIP-98: it takes part in no transaction",
     .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = new_producer(kit);
  producer
      .try_produce(topic, {"plain"},
                   {.version = kit.version(), .transactional = false})["errorCode"]
      .is_none();
  expect_equal(producer.state(), "Empty", "state");
  wait_for_stable(kit, topic, 1);
}

CASE(control_batch_of_a_client, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"x"});
  // A commit marker as the broker would write it.
  const auto marker = build_batch(
      {.records = {{.value = std::string("\0\0\0\0\0\0", 6), .key = std::string("\0\0\0\1", 4)}},
       .producer_id = producer.producer_id(),
       .producer_epoch = producer.epoch(),
       .transactional = true,
       .control = true});
  try_produce(kit, topic, marker,
              {.version = kit.version(), .transactional_id = producer.id()})["errorCode"]
      .is(ErrorCode::INVALID_RECORD);
  expect_equal(end_offset(kit, topic, 0, 1), 0, "the last stable offset");
}

CASE(late_batch_of_the_same_epoch, "KIP-890") {
  // Version 1: an epoch has many transactions. What came late was never verified for this one.
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer = new_producer(kit);
  producer.produce(topic, {"a"}, 0);
  producer.abort();
  producer.produce(topic, {"b"}, 1);
  producer.try_produce(topic, {"late"}, {.partition = 0, .sequence = 1})["errorCode"].is(
      ErrorCode::TRANSACTION_ABORTABLE);
  producer.commit();
  wait_for_stable(kit, topic, 2, 0);
}

}  // namespace ackord::conform
