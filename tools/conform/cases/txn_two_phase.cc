// Two-phase commit: transactions that an outside coordinator ends, in its own time. Version 6 of
// InitProducerId is unstable in Kafka 4.4, which advertises it with
// unstable.api.versions.enable=true; the area needs transaction.two.phase.commit.enable=true too.
#include "tools/conform/case.h"
#include "tools/conform/kit/offsets.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.two_phase", "Two-phase commit (KIP-939)");

namespace {

constexpr int16_t kVersion = 6;
constexpr InitOptions kTwoPhase{.version = kVersion, .enable_2pc = true};

// Whether the broker takes producers under two-phase commit. Skip when it has no version 6.
bool takes_two_phase(Kit& kit) {
  kit.needs("InitProducerId", kVersion);
  TxnProducer producer(kit);
  wait_for_coordinator(kit, CoordinatorKind::kTransaction, producer.id());
  const Value answer = ask_until_free(kit, [&] { return producer.try_init(kTwoPhase); });
  return answer["errorCode"].error() != ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
}

void needs_two_phase(Kit& kit) {
  if (!takes_two_phase(kit)) throw Skip("transaction.two.phase.commit.enable is not true");
}

// A producer under two-phase commit with an open transaction of one record.
struct Prepared {
  Topic topic;
  TxnProducer producer;
};
Prepared prepare(Kit& kit, TxnVersion version = TxnVersion::kTwo) {
  needs_two_phase(kit);
  const Topic topic = create_topic(kit);
  return {topic, begin_transaction(kit, topic, {"prepared"}, version, kTwoPhase)};
}

void expect_no_ongoing(const Value& answer) {
  answer["ongoingTxnProducerId"].is(-1);
  answer["ongoingTxnProducerEpoch"].is(-1);
}

}  // namespace

CASE(version_6_without_two_phase, "KIP-939") {
  needs_two_phase(kit);
  TxnProducer producer(kit);
  producer.init();
  const Value answer = producer.try_init({.version = kVersion, .timeout_ms = 12345});
  answer["errorCode"].is_none();
  answer["producerEpoch"].is(1);
  expect_no_ongoing(answer);
  producer.describe()["transactionTimeoutMs"].is(12345);
  producer.try_init({.version = kVersion, .timeout_ms = 0})["errorCode"].is(
      ErrorCode::INVALID_TRANSACTION_TIMEOUT);
  producer.try_init({.version = kVersion, .current = {producer.producer_id(), 9}})["errorCode"].is(
      ErrorCode::PRODUCER_FENCED);
}

CASE(timeout_is_not_looked_at, "KIP-939; docs/SEMANTICS.md C.3") {
  needs_two_phase(kit);
  for (const int timeout : {1, 0, -1, 900001, INT32_MAX}) {
    TxnProducer producer(kit);
    producer.init({.version = kVersion, .timeout_ms = timeout, .enable_2pc = true});
    expect_equal(producer.epoch(), 0, "epoch");
    producer.describe()["transactionTimeoutMs"].is(INT32_MAX);
  }
}

CASE(never_times_out, "KIP-939; docs/SEMANTICS.md C.6", .limit_s = 60) {
  needs_two_phase(kit);
  const Topic topic = create_topic(kit);
  const InitOptions two_phase{.version = kVersion, .timeout_ms = 200, .enable_2pc = true};
  TxnProducer producer = begin_transaction(kit, topic, {"prepared"}, TxnVersion::kTwo, two_phase);
  const TxnProducer hasty =
      begin_transaction(kit, topic, {"late"}, TxnVersion::kTwo, {.timeout_ms = 300});
  kit.until(
      "the other transaction has run out of time", [&] { return hasty.state() == "CompleteAbort"; },
      Millis(45000));
  expect_equal(producer.state(), "Ongoing", "state");
  producer.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"prepared"}, "values");
}

CASE(ended_by_another_process, "KIP-939") {
  // Whoever knows transactional id, producer id and epoch decides.
  for (const TxnVersion version : {TxnVersion::kOne, TxnVersion::kTwo}) {
    for (const bool committed : {kCommit, kAbort}) {
      auto [topic, producer] = prepare(kit, version);
      const Value answer = producer.try_end(committed, {}, &kit.connect());
      answer["errorCode"].is_none();
      producer.wait_until_complete();
      wait_for_stable(kit, topic, 2);
      const auto values = committed_values(kit, topic);
      expect_equal(values.size(), committed ? 1U : 0U, "committed values");
    }
  }
}

CASE(offsets_too, "KIP-939") {
  auto [topic, producer] = prepare(kit);
  const std::string group = offsets_group(kit);
  producer.commit_offset(group, topic, {.offset = 5});
  producer.commit();
  kit.until("the offset is there", [&] { return committed_offset(kit, group, topic) == 5; });
}

CASE(new_start_aborts, "KIP-939: without KeepPreparedTxn") {
  auto [topic, producer] = prepare(kit);
  const TxnProducer old = producer;
  const Value first = producer.try_init(kTwoPhase);
  first["errorCode"].is(ErrorCode::CONCURRENT_TRANSACTIONS);
  expect_no_ongoing(first);
  producer.init(kTwoPhase);
  expect_equal(producer.epoch(), old.epoch() + 2, "epoch");
  wait_for_stable(kit, topic, 2);
  expect_equal(committed_values(kit, topic), std::vector<std::string>{}, "values");
}

CASE(back_to_timeouts, "KIP-939") {
  needs_two_phase(kit);
  TxnProducer producer(kit);
  producer.init(kTwoPhase);
  producer.init({.timeout_ms = 40000});
  producer.describe()["transactionTimeoutMs"].is(40000);
  producer.init(kTwoPhase);
  producer.describe()["transactionTimeoutMs"].is(INT32_MAX);
}

CASE(listed_and_described, "KIP-939; KIP-664") {
  auto [topic, producer] = prepare(kit);
  const Value state = producer.describe();
  state["transactionState"].is("Ongoing");
  state["transactionTimeoutMs"].is(INT32_MAX);
  state["transactionStartTimeMs"].is_between(now_ms() - 60000, now_ms() + 1000);
}

// Kafka 4.4 refuses KeepPreparedTxn. What it is for: the open transaction stays, its identity is
// answered beside the new one, and only that identity may end it.
CASE(kept, "KIP-939: KeepPreparedTxn") {
  auto [topic, producer] = prepare(kit);
  const TxnProducer before = producer;
  InitOptions keep = kTwoPhase;
  keep.keep_prepared = true;
  const Value answer = producer.try_init(keep);
  answer["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::UNSUPPORTED_VERSION});
  expect_equal(producer.state(), "Ongoing", "state");
  if (answer["errorCode"].error() == ErrorCode::UNSUPPORTED_VERSION) {
    answer["producerId"].is(-1);
    expect_no_ongoing(answer);
    producer.commit();
  } else {
    answer["ongoingTxnProducerId"].is(before.producer_id());
    answer["ongoingTxnProducerEpoch"].is(before.epoch());
    const ProducerIdentity next{answer["producerId"].number(),
                                static_cast<int16_t>(answer["producerEpoch"].number())};
    expect(next != before.identity(), "the identity is a new one");
    // The producer is fenced, and the open transaction takes nothing more.
    producer.try_produce(topic, {"late"})["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
    TxnProducer deciding = before;
    deciding.try_end(kCommit)["errorCode"].is_none();
    deciding.wait_until_complete();
  }
  wait_for_stable(kit, topic, 2);
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"prepared"}, "values");
}

CASE(nothing_to_keep, "KIP-939: KeepPreparedTxn") {
  needs_two_phase(kit);
  TxnProducer producer(kit);
  producer.init(kTwoPhase);
  InitOptions keep = kTwoPhase;
  keep.keep_prepared = true;
  const Value answer = producer.try_init(keep);
  answer["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::UNSUPPORTED_VERSION});
  expect_no_ongoing(answer);
  if (answer["errorCode"].error() == ErrorCode::NONE)
    answer["producerId"].is(producer.producer_id());
}

CASE(kept_without_two_phase, "KIP-939: KeepPreparedTxn") {
  needs_two_phase(kit);
  TxnProducer producer(kit);
  producer.init();
  const Value answer = producer.try_init({.version = kVersion, .keep_prepared = true});
  answer["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::UNSUPPORTED_VERSION});
  expect_no_ongoing(answer);
}

CASE(idempotent_producer, "KIP-939") {
  needs_two_phase(kit);
  const Value answer = ask_until_free(kit, [&] {
    return kit.ask("InitProducerId", kVersion, init_request(std::nullopt, {.version = kVersion}));
  });
  answer["errorCode"].is_none();
  answer["producerEpoch"].is(0);
  expect_no_ongoing(answer);
}

CASE(refused_when_off, "KIP-939; docs/SEMANTICS.md C.3") {
  if (takes_two_phase(kit)) throw Skip("transaction.two.phase.commit.enable is true");
  TxnProducer producer(kit);
  const Value answer = producer.try_init(kTwoPhase);
  answer["errorCode"].is(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
  answer["producerId"].is(-1);
  answer["producerEpoch"].is(-1);
  expect_no_ongoing(answer);
  producer.describe()["errorCode"].is(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  producer.init({.version = kVersion});
}

}  // namespace ackord::conform
