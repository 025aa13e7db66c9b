// Transactions that are not ended in time. Kafka looks every 10 s
// (transaction.abort.timed.out.transaction.cleanup.interval.ms), so each case waits for that.
#include "tools/conform/case.h"
#include "tools/conform/kit/offsets.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.timeouts", "Transactions that run out of time (KIP-98, KIP-588)");

namespace {

constexpr Millis kSweepLimit{45000};

void wait_until_aborted(Kit& kit, const TxnProducer& producer) {
  kit.until(
      "the transaction of " + producer.id() + " is aborted",
      [&] { return producer.state() == "CompleteAbort"; }, kSweepLimit);
}

// A producer whose transaction of one record has run out of time.
struct TimedOut {
  Topic topic;
  TxnProducer producer;
};
TimedOut timed_out(Kit& kit, TxnVersion version = TxnVersion::kTwo) {
  const Topic topic = create_topic(kit);
  const TxnProducer producer =
      begin_transaction(kit, topic, {"late"}, version, {.timeout_ms = 500});
  wait_until_aborted(kit, producer);
  wait_for_stable(kit, topic, 2);
  return {topic, producer};
}

}  // namespace

CASE(aborted, "KIP-98; docs/SEMANTICS.md C.6", .limit_s = 60) {
  auto [topic, producer] = timed_out(kit);
  const Value state = producer.describe();
  state["producerId"].is(producer.producer_id());
  state["producerEpoch"].is(producer.epoch() + 1);
  state["topics"].has_size(0);
  const Value part = fetch_one(kit, {.topic = topic}, {.isolation = 1});
  part["abortedTransactions"].has_size(1);
  part["abortedTransactions"][0].is(
      Object{{"producerId", producer.producer_id()}, {"firstOffset", 0}});
  const std::vector<BatchRead> batches = read_all(kit, topic);
  expect_equal(batches.back().header.producer_epoch, producer.epoch() + 1, "the marker's epoch");
}

CASE(not_before_its_time, "KIP-98", .limit_s = 60) {
  const Topic topic = create_topic(kit);
  TxnProducer patient =
      begin_transaction(kit, topic, {"kept"}, TxnVersion::kTwo, {.timeout_ms = 900000});
  const TxnProducer hasty =
      begin_transaction(kit, topic, {"late"}, TxnVersion::kTwo, {.timeout_ms = 500});
  // It has begun nothing, so that no time runs.
  TxnProducer idle(kit);
  idle.init({.timeout_ms = 1});
  wait_until_aborted(kit, hasty);
  expect_equal(patient.state(), "Ongoing", "state");
  patient.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"kept"}, "values");
  expect_equal(idle.state(), "Empty", "state of the idle one");
  idle.describe()["producerEpoch"].is(0);
}

CASE(time_runs_from_the_first_partition, "docs/SEMANTICS.md C.4", .limit_s = 60) {
  // Neither from InitProducerId, nor anew with every partition that is added.
  const Topic topic = create_topic(kit, 2);
  TxnProducer producer(kit);
  producer.init({.timeout_ms = 2000});
  kit.pass(Millis(2500));
  producer.produce(topic, {"a"});
  const int64_t start = producer.describe()["transactionStartTimeMs"].number();
  expect_between(start, now_ms() - 2400, now_ms() + 1000, "start of the transaction");
  const Stopwatch stopwatch;
  kit.until(
      "the transaction is aborted although partitions are added",
      [&] {
        producer.try_produce(topic, {"b"}, {.partition = 1, .sequence = 0});
        return producer.state() == "CompleteAbort";
      },
      kSweepLimit);
  expect_between(stopwatch.elapsed().count(), 1800L, 40000L, "milliseconds until the abort");
}

CASE(produce_afterwards, "KIP-588; docs/SEMANTICS.md C.6", .limit_s = 60) {
  auto [topic, producer] = timed_out(kit);
  const Topic other = create_topic(kit);
  for (const int16_t version : {3, 9, 11, 12, 13}) {
    producer.try_produce(topic, {"x"}, {.version = version})["errorCode"].is(
        ErrorCode::INVALID_PRODUCER_EPOCH);
    producer.try_produce(other, {"x"}, {.version = version})["errorCode"].is(
        ErrorCode::INVALID_PRODUCER_EPOCH);
  }
}

CASE(requests_afterwards, "KIP-588; docs/SEMANTICS.md C.6", .limit_s = 60) {
  auto [topic, producer] = timed_out(kit, TxnVersion::kOne);
  const std::string group = offsets_group(kit);
  for (const int16_t version : {0, 1, 2, 3})
    producer.try_add(topic, version)
        .is(version >= 2 ? ErrorCode::PRODUCER_FENCED : ErrorCode::INVALID_PRODUCER_EPOCH);
  for (const int16_t version : {0, 1, 2, 3, 4}) {
    const ErrorCode fenced =
        version >= 2 ? ErrorCode::PRODUCER_FENCED : ErrorCode::INVALID_PRODUCER_EPOCH;
    producer.try_add_group(group, version)["errorCode"].is(fenced);
    for (const bool committed : {kCommit, kAbort})
      producer.try_end(committed, version)["errorCode"].is(fenced);
  }
  for (const int16_t version : {0, 2, 3, 5})
    producer.try_commit_offset(group, topic, {.offset = 1, .version = version})["errorCode"].is(
        ErrorCode::INVALID_PRODUCER_EPOCH);
}

CASE(end_5_afterwards, "KIP-890; docs/SEMANTICS.md C.5", .limit_s = 60) {
  // The abort looks like one that the producer has asked for itself.
  auto [topic, producer] = timed_out(kit);
  producer.try_end(kCommit)["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
  const Value abort = producer.try_end(kAbort);
  abort["errorCode"].is_none();
  abort["producerId"].is(producer.producer_id());
  abort["producerEpoch"].is(producer.epoch() + 1);
  TxnProducer next = producer.with_epoch(producer.epoch() + 1);
  next.produce(topic, {"next"});
  next.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"next"}, "values");
}

CASE(init_afterwards, "KIP-360; KIP-588", .limit_s = 60) {
  // The abort has raised the epoch and nobody else has it, so that this looks like a retry.
  auto [topic, producer] = timed_out(kit);
  for (const int16_t version : {3, 4, 5}) {
    const Value answer = producer.try_init({.version = version, .current = producer.identity()});
    answer["errorCode"].is_none();
    answer["producerId"].is(producer.producer_id());
    answer["producerEpoch"].is(producer.epoch() + 1);
  }
  TxnProducer next = producer.with_epoch(producer.epoch() + 1);
  next.produce(topic, {"next"});
  next.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"next"}, "values");
}

CASE(start_afterwards, "KIP-98", .limit_s = 60) {
  auto [topic, producer] = timed_out(kit);
  const ProducerIdentity old = producer.identity();
  producer.init();
  expect_equal(producer.identity(), ProducerIdentity{old.id, static_cast<int16_t>(old.epoch + 2)},
               "identity");
  producer.produce(topic, {"next"});
  producer.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"next"}, "values");
}

CASE(staged_offsets_are_dropped, "KIP-447", .limit_s = 60) {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  commit(kit, group, topic, 40);
  TxnProducer producer(kit);
  producer.init({.timeout_ms = 500});
  producer.commit_offset(group, topic, {.offset = 50});
  committed(kit, group, topic, 0, {.require_stable = true})["errorCode"].is(
      ErrorCode::UNSTABLE_OFFSET_COMMIT);
  wait_until_aborted(kit, producer);
  kit.until("the offset is stable", [&] {
    return committed(kit, group, topic, 0, {.require_stable = true})["errorCode"].error() ==
           ErrorCode::NONE;
  });
  expect_equal(committed_offset(kit, group, topic), 40, "committed offset");
}

}  // namespace ackord::conform
