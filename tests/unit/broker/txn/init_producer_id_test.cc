// InitProducerId in every state; records as Kafka 4.4 writes them.
#include "shard_test_base.h"

namespace ackord::txn {
namespace {

using Reply = InitProducerId::Reply;
using InitProducerIdTest = ShardTest;

Reply refused(ErrorCode code) { return {code, {}, false, std::nullopt}; }
Reply granted(int64_t producer_id, int16_t epoch) {
  return {ErrorCode::NONE, stamp(producer_id, epoch), false, {}};
}
Reply needs_id() { return {ErrorCode::NONE, {}, true, {}}; }

TEST_F(InitProducerIdTest, AnUnknownIdNeedsAProducerIdAndStartsAtEpoch0) {
  EXPECT_EQ(run(init()), needs_id());
  EXPECT_TRUE(written.empty());
  EXPECT_EQ(run(init({}, 40)), granted(40, 0));
  Transaction expected;
  expected.producer = stamp(40, 0);
  expected.previous_producer_id = ProducerId(40);
  expected.timeout_ms = 60'000;
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));
}

TEST_F(InitProducerIdTest, AnUnknownIdTakesAnyExpectedProducer) {
  EXPECT_EQ(run(init(stamp(3, 9), 40)), granted(40, 0));
}

TEST_F(InitProducerIdTest, BelowTransactionVersion1TheValueIsVersion0) {
  transaction_version = 0;
  run(init({}, 40));
  EXPECT_EQ(written.at(0).version, 0);
}

TEST_F(InitProducerIdTest, TimeoutsOutsideTheBoundsAreRefused) {
  for (const int32_t timeout : {0, -1, 900'001}) {
    InitProducerId op = init({}, 40);
    op.timeout_ms = timeout;
    EXPECT_EQ(run(op), refused(ErrorCode::INVALID_TRANSACTION_TIMEOUT)) << timeout;
  }
  InitProducerId op = init({}, 40);
  op.timeout_ms = 900'000;
  EXPECT_EQ(run(op), granted(40, 0));
}

TEST_F(InitProducerIdTest, TwoPhaseCommitMustBeEnabledAndNeverTimesOut) {
  InitProducerId op = init({}, 40);
  op.enable_2pc = true;
  op.timeout_ms = 0;
  EXPECT_EQ(run(op), refused(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
  settings.two_phase_commit = true;
  restart();
  EXPECT_EQ(run(op), granted(40, 0));
  EXPECT_EQ(state().timeout_ms, kTwoPhaseCommitTimeoutMs);
  run(add(stamp(40, 0), {tp("a", 0)}));
  pass(int64_t{1} << 40);
  EXPECT_TRUE(run(coordinator::Tick{}).empty());
}

TEST_F(InitProducerIdTest, EachSettledStateGivesTheNextEpoch) {
  for (const TxnState from :
       {TxnState::kEmpty, TxnState::kCompleteCommit, TxnState::kCompleteAbort}) {
    given(in(from, stamp(40, 5)));
    EXPECT_EQ(run(init()), granted(40, 6)) << name_of(from);
    Transaction expected = in(TxnState::kEmpty, stamp(40, 6));
    expected.last_update_ms = kWall;
    EXPECT_EQ(written, one(expected)) << name_of(from);
  }
}

TEST_F(InitProducerIdTest, TheTimeoutIsTakenOver) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  InitProducerId op = init();
  op.timeout_ms = 1234;
  run(op);
  EXPECT_EQ(state().timeout_ms, 1234);
}

TEST_F(InitProducerIdTest, PrepareStatesAreBusy) {
  for (const TxnState from : {TxnState::kPrepareCommit, TxnState::kPrepareAbort}) {
    given(in(from, stamp(40, 5), {tp("a", 0)}));
    EXPECT_EQ(run(init()), refused(ErrorCode::CONCURRENT_TRANSACTIONS)) << name_of(from);
    EXPECT_EQ(run(init(stamp(41, 5))), refused(ErrorCode::PRODUCER_FENCED)) << name_of(from);
    EXPECT_TRUE(written.empty());
  }
}

TEST_F(InitProducerIdTest, TheCurrentEpochIsBumpedAndItsRepeatIsAnsweredAgain) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  EXPECT_EQ(run(init(stamp(40, 5))), granted(40, 6));
  EXPECT_EQ(run(init(stamp(40, 5))), granted(40, 6));
  EXPECT_EQ(run(init(stamp(40, 5))), granted(40, 6));
  EXPECT_EQ(run(init(stamp(40, 4))), refused(ErrorCode::PRODUCER_FENCED));
  EXPECT_EQ(run(init(stamp(40, 14))), refused(ErrorCode::PRODUCER_FENCED));
  EXPECT_EQ(run(init(stamp(41, 6))), refused(ErrorCode::PRODUCER_FENCED));
  EXPECT_EQ(run(init(stamp(40, 6))), granted(40, 7));
}

TEST_F(InitProducerIdTest, ASuccessorWithoutExpectationEndsTheRepeats) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  run(init(stamp(40, 5)));
  EXPECT_EQ(run(init()), granted(40, 7));
  EXPECT_EQ(run(init(stamp(40, 6))), refused(ErrorCode::PRODUCER_FENCED));
}

TEST_F(InitProducerIdTest, ARepeatIsNotKnownAfterARestart) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  run(init(stamp(40, 5)));
  restart();
  EXPECT_EQ(run(init(stamp(40, 5))), refused(ErrorCode::PRODUCER_FENCED));
}

TEST_F(InitProducerIdTest, ExhaustedEpochsBringANewProducerId) {
  given(in(TxnState::kCompleteCommit, stamp(40, 32766)));
  EXPECT_EQ(run(init()), needs_id());
  EXPECT_TRUE(written.empty());
  EXPECT_EQ(run(init({}, 41)), granted(41, 0));
  Transaction expected = in(TxnState::kEmpty, stamp(41, 0));
  expected.previous_producer_id = ProducerId(40);
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));
  EXPECT_EQ(run(init(stamp(40, 32766))), refused(ErrorCode::PRODUCER_FENCED));
}

TEST_F(InitProducerIdTest, TheRotationIsAnsweredAgainToItsOwnProducer) {
  given(in(TxnState::kEmpty, stamp(40, 32766)));
  EXPECT_EQ(run(init(stamp(40, 32765), 41)), refused(ErrorCode::PRODUCER_FENCED));
  EXPECT_EQ(run(init(stamp(40, 32766), 41)), granted(41, 0));
  EXPECT_EQ(run(init(stamp(40, 32766), 42)), granted(41, 0));
}

TEST_F(InitProducerIdTest, OverAnOpenTransactionItIsAbortedUnderTheNextEpoch) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  Reply busy = refused(ErrorCode::CONCURRENT_TRANSACTIONS);
  busy.prepared = prepared(stamp(40, 6), false, {tp("a", 0)}, 2);
  EXPECT_EQ(run(init()), busy);
  Transaction expected = in(TxnState::kPrepareAbort, stamp(40, 6), {tp("a", 0)});
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));

  EXPECT_EQ(run(init()), refused(ErrorCode::CONCURRENT_TRANSACTIONS));
  EXPECT_TRUE(run(complete(stamp(40, 6))));
  EXPECT_EQ(run(init()), granted(40, 7));
}

TEST_F(InitProducerIdTest, TheProducerItselfGetsTheEpochOfTheAbort) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  EXPECT_TRUE(run(init(stamp(40, 5))).prepared.has_value());
  run(complete(stamp(40, 6)));
  EXPECT_EQ(run(init(stamp(40, 5))), granted(40, 6));
  EXPECT_EQ(run(init(stamp(40, 6))), granted(40, 7));
}

TEST_F(InitProducerIdTest, AbortWithExhaustedEpochs) {
  given(in(TxnState::kOngoing, stamp(40, 32766), {tp("a", 0)}));
  EXPECT_EQ(run(init()), needs_id());
  EXPECT_TRUE(written.empty());
  const Reply reply = run(init({}, 41));
  EXPECT_EQ(reply.prepared, prepared(stamp(40, 32767), false, {tp("a", 0)}, 2));
  Transaction expected = in(TxnState::kPrepareAbort, stamp(40, 32767), {tp("a", 0)});
  expected.next_producer_id = ProducerId(41);
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));
  run(complete(stamp(40, 32767)));
  EXPECT_EQ(run(init()), granted(41, 1));
}

TEST_F(InitProducerIdTest, AbortUnderTransactionVersion1) {
  transaction_version = 1;
  Transaction before = in(TxnState::kOngoing, stamp(40, 32766), {tp("a", 0)});
  before.client_transaction_version = 0;
  given(before);
  EXPECT_EQ(run(init()).prepared, prepared(stamp(40, 32767), false, {tp("a", 0)}, 0));
  Transaction expected = before;
  expected.state = TxnState::kPrepareAbort;
  expected.producer.epoch = 32767;
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));
  run(complete(stamp(40, 32767)));
  EXPECT_EQ(run(init({}, 41)), granted(41, 0));
}

}  // namespace
}  // namespace ackord::txn
