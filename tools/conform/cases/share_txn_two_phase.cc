// Transactional share acknowledgements under two-phase commit: nothing but a decision ends them.
#include "tools/conform/case.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.txn.two_phase", "Transactional share acknowledgements under two-phase commit (KIP-939)",
     "AddShareAcksToTxn");

namespace {

constexpr InitOptions kTwoPhase{.version = 6, .enable_2pc = true};

// Everything is staged, under two-phase commit.
Staging prepared(Kit& kit, const InitOptions& init = kTwoPhase) {
  kit.needs("InitProducerId", 6);
  auto [topic, member] = acquired_records(kit);
  Staging on{topic, member, TxnProducer(kit)};
  wait_for_coordinator(kit, CoordinatorKind::kTransaction, on.producer.id());
  const Value first = ask_until_free(kit, [&] { return on.producer.try_init(init); });
  if (first["errorCode"].error() == ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    throw Skip("transaction.two.phase.commit.enable is not true");
  on.producer.init(init);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  return on;
}

// A successor that keeps the transaction.
TxnProducer keep(const Staging& on) {
  TxnProducer successor = on.producer;
  InitOptions init = kTwoPhase;
  init.keep_prepared = true;
  const Value answer = successor.try_init(init);
  answer["errorCode"].is_none();
  answer["ongoingTxnProducerId"].is(on.producer.producer_id());
  answer["ongoingTxnProducerEpoch"].is(on.producer.epoch());
  successor.set_identity(
      {answer["producerId"].number(), static_cast<int16_t>(answer["producerEpoch"].number())});
  return successor;
}

void expect_staged(Kit& kit, const Staging& on) {
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kStagedState, 1}},
               "in flight");
}

}  // namespace

CASE(ended_by_another_process, "docs/PROTOCOL.md 1.5") {
  for (const bool committed : {kCommit, kAbort}) {
    Staging on = prepared(kit);
    on.producer.try_end(committed, {}, &kit.connect())["errorCode"].is_none();
    on.producer.wait_until_complete();
    expect_lag(kit, on.member.group(), on.topic, committed ? 0 : 10);
  }
}

CASE(never_times_out, "docs/PROTOCOL.md 1.3, T16", .limit_s = 60) {
  InitOptions hasty = kTwoPhase;
  hasty.timeout_ms = 200;
  Staging on = prepared(kit, hasty);
  Staging other = staging(kit, TxnVersion::kTwo, {}, {.timeout_ms = 300});
  stage(kit, other.producer, other.member, {{.topic = other.topic, .first = 0, .last = 9}});
  kit.until(
      "the other transaction has run out of time",
      [&] { return other.producer.state() == "CompleteAbort"; }, Millis(45000));
  expect_staged(kit, on);
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(new_start_aborts, "docs/PROTOCOL.md 1.5") {
  Staging on = prepared(kit);
  TxnProducer successor = on.producer;
  successor.init(kTwoPhase);
  expect_equal(on.member.acquire(on.topic), Ranges{{0, 9, 2}}, "acquired again");
}

CASE(kept, "docs/PROTOCOL.md 1.3, T17 T19") {
  for (const bool committed : {kCommit, kAbort}) {
    Staging on = prepared(kit);
    const TxnProducer successor = keep(on);
    expect_staged(kit, on);
    on.producer.try_end(committed, {}, &kit.connect())["errorCode"].is_none();
    successor.wait_until_complete();
    expect_lag(kit, on.member.group(), on.topic, committed ? 0 : 10);
  }
}

CASE(kept_again_and_again, "docs/PROTOCOL.md 1.3, T17") {
  Staging on = prepared(kit);
  const TxnProducer first = keep(on);
  const TxnProducer second = keep(on);
  expect(first.identity() != second.identity(), "each successor has an identity of its own");
  TxnProducer fenced = first;
  fenced.try_end(kCommit)["errorCode"].is_one_of(
      {ErrorCode::PRODUCER_FENCED, ErrorCode::INVALID_PRODUCER_EPOCH});
  expect_staged(kit, on);
  TxnProducer last = second;
  last.try_end(kCommit)["errorCode"].is_none();
  last.wait_until_complete();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(kept_takes_nothing_more, "docs/PROTOCOL.md 1.3, T18") {
  Staging on = prepared(kit);
  const Topic output = create_topic(kit);
  produce(kit, on.topic, {"more"});
  on.member.acquire_count(on.topic, 1);
  const std::vector<ShareAck> more{{.topic = on.topic, .first = 10, .last = 10}};
  const TxnProducer successor = keep(on);
  const std::string& group = on.member.group();
  try_stage(kit, on.producer, on.member, more)["errorCode"].is(ErrorCode::PRODUCER_FENCED);
  try_enlist(kit, on.producer, group, {{.topic = on.topic}})["errorCode"].is(
      ErrorCode::PRODUCER_FENCED);
  try_stage(kit, successor, on.member, more)["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
  try_enlist(kit, successor, group, {{.topic = on.topic}})["errorCode"].is(
      ErrorCode::INVALID_TXN_STATE);
  TxnProducer late = on.producer;
  late.try_produce(output, {"late"})["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
  late.try_add(output).is(ErrorCode::PRODUCER_FENCED);
  expect_equal(flight_of(kit, group, on.topic),
               Flight{{0, 9, kStagedState, 1}, {10, 10, kAcquiredState, 1}}, "in flight");
  on.producer.try_end(kCommit)["errorCode"].is_none();
  successor.wait_until_complete();
  expect_lag(kit, group, on.topic, 1);
}

// The successor's own transaction comes after the kept one.
CASE(then_its_successor, "docs/PROTOCOL.md 1.3, T18") {
  Staging on = prepared(kit);
  TxnProducer successor = keep(on);
  on.producer.try_end(kAbort)["errorCode"].is_none();
  successor.wait_until_complete();
  expect_equal(on.member.acquire(on.topic), Ranges{{0, 9, 2}}, "acquired again");
  stage(kit, successor, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  successor.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(refusals_do_not_doom, "docs/PROTOCOL.md 1.3, T10") {
  Staging on = prepared(kit);
  try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .first = 10, .last = 10})
      .is(ErrorCode::INVALID_RECORD_STATE);
  try_stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 10, .last = 10}},
            {.member = kit.name("m")})["errorCode"]
      .is(ErrorCode::UNKNOWN_MEMBER_ID);
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

}  // namespace ackord::conform
