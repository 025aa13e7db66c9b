// Producer ids and epochs, with and without a transactional id.
#include "tools/conform/case.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("init_producer_id", "InitProducerId (KIP-98, KIP-360)");

namespace {

constexpr ProducerIdentity kNone;

ProducerIdentity next_epoch(const ProducerIdentity& identity, int bumps = 1) {
  return {identity.id, static_cast<int16_t>(identity.epoch + bumps)};
}

ProducerIdentity identity_of(const Value& answer) {
  answer["errorCode"].is_none();
  return {answer["producerId"].number(), static_cast<int16_t>(answer["producerEpoch"].number())};
}

void expect_refused(const Value& answer, ErrorCode code) {
  answer["errorCode"].is(code);
  answer["producerId"].is(-1);
  answer["producerEpoch"].is(-1);
}

ProducerIdentity init(Kit& kit, const std::optional<std::string>& id, const InitOptions& options) {
  if (id) wait_for_coordinator(kit, CoordinatorKind::kTransaction, *id);
  return identity_of(ask_until_free(
      kit, [&] { return kit.ask("InitProducerId", options.version, init_request(id, options)); }));
}

// Versions below 4 do not know PRODUCER_FENCED.
ErrorCode fenced_in(int16_t version) {
  return version >= 4 ? ErrorCode::PRODUCER_FENCED : ErrorCode::INVALID_PRODUCER_EPOCH;
}

}  // namespace

CASE(without_transactional_id, "KIP-98; docs/SEMANTICS.md C.3", .api = "InitProducerId", .first = 0,
     .last = 5) {
  std::set<int64_t> ids;
  for (int i = 0; i < 5; ++i) {
    const ProducerIdentity fresh = init(kit, std::nullopt, {.version = kit.version()});
    expect(fresh.id >= 0, "the producer id is not negative");
    expect_equal(fresh.epoch, 0, "epoch");
    ids.insert(fresh.id);
  }
  expect_equal(ids.size(), 5U, "different producer ids");
}

CASE(without_transactional_id_any_timeout, "KIP-98: the timeout is a transaction's") {
  for (const int timeout : {0, -1, INT32_MAX}) init(kit, std::nullopt, {.timeout_ms = timeout});
}

CASE(without_transactional_id_but_identity, "KIP-360", .api = "InitProducerId", .first = 3,
     .last = 5) {
  const ProducerIdentity had = init(kit, std::nullopt, {});
  const ProducerIdentity fresh =
      init(kit, std::nullopt, {.version = kit.version(), .current = had});
  expect(fresh.id != had.id, "the producer id is a fresh one");
  expect_equal(fresh.epoch, 0, "epoch");
}

CASE(new_transactional_id, "KIP-98; docs/SEMANTICS.md C.3", .api = "InitProducerId", .first = 0,
     .last = 5) {
  TxnProducer producer(kit);
  producer.init({.version = kit.version(), .timeout_ms = 12345});
  expect(producer.producer_id() >= 0, "the producer id is not negative");
  expect_equal(producer.epoch(), 0, "epoch");
  const Value state = producer.describe();
  state["transactionState"].is("Empty");
  state["transactionTimeoutMs"].is(12345);
  state["producerId"].is(producer.producer_id());
  state["producerEpoch"].is(0);
}

CASE(again_raises_the_epoch, "KIP-98; docs/SEMANTICS.md C.3", .api = "InitProducerId", .first = 0,
     .last = 5) {
  TxnProducer producer(kit);
  producer.init({.version = kit.version()});
  const ProducerIdentity first = producer.identity();
  for (int bumps = 1; bumps <= 3; ++bumps) {
    producer.init({.version = kit.version(), .timeout_ms = 50000 + bumps});
    expect_equal(producer.identity(), next_epoch(first, bumps), "identity");
  }
  producer.describe()["transactionTimeoutMs"].is(50003);
}

CASE(transactional_ids_have_their_own, "KIP-98") {
  std::set<int64_t> ids;
  for (int i = 0; i < 8; ++i) {
    TxnProducer producer(kit);
    producer.init();
    ids.insert(producer.producer_id());
    ids.insert(idempotent_producer(kit).id);
  }
  expect_equal(ids.size(), 16U, "different producer ids");
}

CASE(bad_timeouts, "KIP-98; transaction.max.timeout.ms", .api = "InitProducerId", .first = 0,
     .last = 5) {
  TxnProducer producer(kit);
  wait_for_coordinator(kit, CoordinatorKind::kTransaction, producer.id());
  for (const int timeout : {0, -1, INT32_MIN, 900001, INT32_MAX})
    expect_refused(producer.try_init({.version = kit.version(), .timeout_ms = timeout}),
                   ErrorCode::INVALID_TRANSACTION_TIMEOUT);
  producer.describe()["errorCode"].is(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
}

CASE(timeouts_at_their_bounds, "KIP-98; transaction.max.timeout.ms") {
  for (const int timeout : {1, 900000}) {
    TxnProducer producer(kit);
    producer.init({.timeout_ms = timeout});
    producer.describe()["transactionTimeoutMs"].is(timeout);
  }
}

CASE(bad_timeout_changes_nothing, "KIP-98") {
  TxnProducer producer(kit);
  producer.init();
  const ProducerIdentity first = producer.identity();
  expect_refused(producer.try_init({.timeout_ms = 900001}), ErrorCode::INVALID_TRANSACTION_TIMEOUT);
  producer.init();
  expect_equal(producer.identity(), next_epoch(first), "identity");
}

CASE(empty_transactional_id, "KIP-98; docs/SEMANTICS.md C.3", .api = "InitProducerId", .first = 0,
     .last = 5) {
  expect_refused(
      kit.ask("InitProducerId", kit.version(), init_request("", {.version = kit.version()})),
      ErrorCode::INVALID_REQUEST);
}

CASE(half_an_identity, "KIP-360; docs/SEMANTICS.md C.3", .api = "InitProducerId", .first = 3,
     .last = 5) {
  TxnProducer producer(kit);
  producer.init();
  for (const ProducerIdentity half : {ProducerIdentity{-1, 0}, {producer.producer_id(), -1}}) {
    const InitOptions options{.version = kit.version(), .current = half};
    expect_refused(producer.try_init(options), ErrorCode::INVALID_REQUEST);
    expect_refused(kit.ask("InitProducerId", kit.version(), init_request(std::nullopt, options)),
                   ErrorCode::INVALID_REQUEST);
  }
}

CASE(own_identity_raises_the_epoch, "KIP-360", .api = "InitProducerId", .first = 3, .last = 5) {
  TxnProducer producer(kit);
  producer.init();
  const ProducerIdentity first = producer.identity();
  // The second is a retry of the first: its answer was lost.
  for (int i = 0; i < 2; ++i)
    expect_equal(init(kit, producer.id(), {.version = kit.version(), .current = first}),
                 next_epoch(first), "identity");
  expect_equal(init(kit, producer.id(), {.version = kit.version(), .current = next_epoch(first)}),
               next_epoch(first, 2), "identity");
  // No retry any more.
  expect_refused(producer.try_init({.version = kit.version(), .current = first}),
                 fenced_in(kit.version()));
}

CASE(identity_after_a_plain_start, "KIP-360", .api = "InitProducerId", .first = 3, .last = 5) {
  // A new start without an identity is no bump of the old one, so this is no retry of it.
  TxnProducer producer(kit);
  producer.init();
  const ProducerIdentity first = producer.identity();
  producer.init();
  expect_refused(producer.try_init({.version = kit.version(), .current = first}),
                 fenced_in(kit.version()));
  expect_equal(init(kit, producer.id(), {.version = kit.version(), .current = next_epoch(first)}),
               next_epoch(first, 2), "identity");
}

CASE(identities_of_others, "KIP-360", .api = "InitProducerId", .first = 3, .last = 5) {
  TxnProducer producer(kit);
  producer.init();
  producer.init();
  for (const ProducerIdentity other :
       {ProducerIdentity{producer.producer_id() + 1000, producer.epoch()},
        {producer.producer_id(), 9},
        {producer.producer_id(), INT16_MAX},
        {producer.producer_id() + 1000, 0}})
    expect_refused(producer.try_init({.version = kit.version(), .current = other}),
                   fenced_in(kit.version()));
  producer.describe()["producerEpoch"].is(1);
}

CASE(identity_of_an_expired_id, "KIP-360", .api = "InitProducerId", .first = 3, .last = 5) {
  // What a producer says whose transactional id the coordinator has forgotten.
  const std::string id = kit.name("tx");
  const ProducerIdentity had = idempotent_producer(kit);
  const ProducerIdentity fresh = init(kit, id, {.version = kit.version(), .current = {had.id, 7}});
  expect(fresh.id != had.id, "the producer id is a fresh one");
  expect_equal(fresh.epoch, 0, "epoch");
}

CASE(aborts_an_open_transaction, "KIP-98; docs/SEMANTICS.md C.3", .api = "InitProducerId",
     .first = 0, .last = 5) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"1"});
  const ProducerIdentity first = producer.identity();
  expect_refused(producer.try_init({.version = kit.version()}), ErrorCode::CONCURRENT_TRANSACTIONS);
  producer.init({.version = kit.version()});
  // The abort takes an epoch, and so does the new start.
  expect_equal(producer.identity(), next_epoch(first, 2), "identity");
  wait_for_stable(kit, topic, 2);
  const Value part = fetch_one(kit, {.topic = topic}, {.isolation = 1});
  part["abortedTransactions"].has_size(1);
  part["abortedTransactions"][0].is(Object{{"producerId", first.id}, {"firstOffset", 0}});
}

CASE(own_identity_aborts_an_open_transaction, "KIP-360", .api = "InitProducerId", .first = 3,
     .last = 5) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"1"});
  const ProducerIdentity first = producer.identity();
  const InitOptions options{.version = kit.version(), .current = first};
  expect_refused(producer.try_init(options), ErrorCode::CONCURRENT_TRANSACTIONS);
  producer.wait_until_complete();
  identity_of(producer.try_init(options));
}

CASE(exhausted_epochs, "KIP-98; docs/SEMANTICS.md C.3", .limit_s = 120) {
  TxnProducer producer(kit);
  producer.init();
  producer.init_until(kLastEpoch);
  const ProducerIdentity last = producer.identity();
  producer.init({.current = last});
  expect(producer.producer_id() != last.id, "the producer id is a fresh one");
  expect_equal(producer.epoch(), 0, "epoch");
  // A retry: the answer was lost.
  const ProducerIdentity fresh = producer.identity();
  expect_equal(init(kit, producer.id(), {.current = last}), fresh, "identity of the retry");
  producer.init();
  expect_equal(producer.identity(), next_epoch(fresh), "identity");
}

CASE(exhausted_by_an_abort, "KIP-98; docs/SEMANTICS.md C.3", .limit_s = 120) {
  const Topic topic = create_topic(kit);
  TxnProducer producer(kit);
  producer.init();
  producer.init_until(kLastEpoch);
  const ProducerIdentity last = producer.identity();
  producer.produce(topic, {"1"});
  expect_refused(producer.try_init(), ErrorCode::CONCURRENT_TRANSACTIONS);
  producer.init();
  expect(producer.producer_id() != last.id, "the producer id is a fresh one");
  // The abort may have taken an epoch of the fresh id already.
  expect_between<int>(producer.epoch(), 0, 1, "epoch");
  wait_for_stable(kit, topic, 2);
  const Value aborted = fetch_one(kit, {.topic = topic}, {.isolation = 1})["abortedTransactions"];
  aborted.has_size(1);
  aborted[0]["producerId"].is(last.id);
  producer.produce(topic, {"2"});
  producer.commit();
}

CASE(state_of_a_new_start, "KIP-98; docs/SEMANTICS.md C.3") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"1"});
  producer.commit();
  expect_equal(producer.state(), "CompleteCommit", "state");
  producer.init();
  const Value state = producer.describe();
  state["transactionState"].is("Empty");
  state["topics"].has_size(0);
  state["transactionStartTimeMs"].is(-1);
}

}  // namespace ackord::conform
