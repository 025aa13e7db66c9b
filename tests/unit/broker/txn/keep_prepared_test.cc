// KeepPreparedTxn (KIP-939): a transaction under two-phase commit that outlives its producer.
#include "shard_test_base.h"

namespace ackord::txn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KeepPreparedTest : public ShardTest {
 protected:
  void SetUp() override {
    settings.two_phase_commit = true;
    restart();
    given(open(stamp(40, 5)));
  }
  // An open transaction under two-phase commit.
  static Transaction open(log::ProducerStamp producer) {
    Transaction t = in(TxnState::kOngoing, producer, {tp("a", 0)});
    t.timeout_ms = kTwoPhaseCommitTimeoutMs;
    return t;
  }
  InitProducerId two_phase(bool keep, std::optional<log::ProducerStamp> expected = {},
                           std::optional<int64_t> fresh = {}) const {
    InitProducerId op = init(expected, fresh);
    op.enable_2pc = true;
    op.keep_prepared = keep;
    return op;
  }
  static InitProducerId::Reply kept(log::ProducerStamp next, log::ProducerStamp ongoing) {
    return {ErrorCode::NONE, next, false, std::nullopt, ongoing};
  }
  ErrorCode try_end(log::ProducerStamp producer, bool commit) {
    return run(end(producer, commit)).error;
  }
};

TEST_F(KeepPreparedTest, TheTransactionStaysAndItsSuccessorIsLogged) {
  EXPECT_EQ(run(two_phase(true)), kept(stamp(40, 6), stamp(40, 5)));
  Transaction expected = open(stamp(40, 5));
  expected.next_producer_id = ProducerId(40);
  expected.next_producer_epoch = 6;
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));
  EXPECT_THAT(shard.kept(), ElementsAre(stamp(40, 5)));
  restart();
  EXPECT_EQ(state(), expected);
  EXPECT_THAT(shard.kept(), ElementsAre(stamp(40, 5)));
}

TEST_F(KeepPreparedTest, EachSuccessorFencesTheOneBefore) {
  run(two_phase(true));
  EXPECT_EQ(run(two_phase(true)), kept(stamp(40, 7), stamp(40, 5)));
  EXPECT_EQ(try_end(stamp(40, 6), true), ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(run(two_phase(true, stamp(40, 6))).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(run(two_phase(true, stamp(40, 7))), kept(stamp(40, 8), stamp(40, 5)));
}

TEST_F(KeepPreparedTest, WithoutEpochsTheSuccessorHasANewProducerId) {
  given(open(stamp(40, kExhaustedEpoch)));
  EXPECT_TRUE(run(two_phase(true)).needs_producer_id);
  EXPECT_THAT(written, IsEmpty());
  EXPECT_EQ(run(two_phase(true, {}, 41)), kept(stamp(41, 0), stamp(40, kExhaustedEpoch)));
  const EndTxn::Reply ended = run(end(stamp(40, kExhaustedEpoch), true));
  EXPECT_EQ(ended.next, stamp(41, 0));
  EXPECT_EQ(ended.prepared->marker.producer, stamp(40, 32767));
  EXPECT_TRUE(run(complete(stamp(40, 32767))));
  EXPECT_EQ(state().producer, stamp(41, 0));
}

TEST_F(KeepPreparedTest, OnlyUnderTwoPhaseCommit) {
  InitProducerId plain = init();
  plain.keep_prepared = true;
  EXPECT_EQ(run(plain).error, ErrorCode::INVALID_TXN_STATE);
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  EXPECT_EQ(run(two_phase(true)).error, ErrorCode::INVALID_TXN_STATE);
  EXPECT_THAT(written, IsEmpty());
}

TEST_F(KeepPreparedTest, NothingOpenIsAnOrdinaryStart) {
  for (const TxnState from :
       {TxnState::kEmpty, TxnState::kCompleteCommit, TxnState::kCompleteAbort}) {
    given(in(from, stamp(40, 5)));
    EXPECT_EQ(run(two_phase(true)), kept(stamp(40, 6), {})) << name_of(from);
    EXPECT_FALSE(state().kept());
  }
  given(in(TxnState::kPrepareCommit, stamp(40, 6), {tp("a", 0)}));
  EXPECT_EQ(run(two_phase(true)).error, ErrorCode::CONCURRENT_TRANSACTIONS);
}

TEST_F(KeepPreparedTest, NothingJoinsIt) {
  run(two_phase(true));
  const auto adding = [&](log::ProducerStamp who) { return run(add(who, {tp("a", 0)})).error; };
  EXPECT_EQ(adding(stamp(40, 5)), ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(adding(stamp(40, 6)), ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(adding(stamp(39, 6)), ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  EXPECT_EQ(run(enlist(stamp(40, 5), {tp("a", 0)})).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(run(Verify{{id, stamp(40, 5)}, {tp("a", 0)}}).at(0).second, ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(run(doom(stamp(40, 5))).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_THAT(written, IsEmpty());
}

TEST_F(KeepPreparedTest, EndedUnderItsOwnIdentity) {
  run(two_phase(true));
  run(two_phase(true));
  const EndTxn::Reply ended = run(end(stamp(40, 5), true));
  EXPECT_EQ(ended.error, ErrorCode::NONE);
  EXPECT_EQ(ended.next, stamp(40, 7));
  PreparedTransaction expected = prepared(stamp(40, 6), true, {tp("a", 0)}, 2);
  expected.kept = true;
  EXPECT_EQ(ended.prepared, expected);
  // Repeats, the other direction, the successor's next, and the fenced one between.
  EXPECT_EQ(try_end(stamp(40, 5), true), ErrorCode::CONCURRENT_TRANSACTIONS);
  EXPECT_EQ(try_end(stamp(40, 5), false), ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(run(add(stamp(40, 7), {tp("b", 0)})).error, ErrorCode::CONCURRENT_TRANSACTIONS);
  EXPECT_EQ(run(add(stamp(40, 6), {tp("b", 0)})).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_TRUE(run(complete(stamp(40, 6))));
  EXPECT_EQ(state().state, TxnState::kCompleteCommit);
  EXPECT_EQ(state().producer, stamp(40, 7));
  EXPECT_FALSE(state().kept());
  EXPECT_THAT(shard.kept(), IsEmpty());
  EXPECT_EQ(run(add(stamp(40, 7), {tp("b", 0)})).error, ErrorCode::NONE);
}

TEST_F(KeepPreparedTest, EndedByTheSuccessorWhichMovesOn) {
  run(two_phase(true));
  const EndTxn::Reply ended = run(end(stamp(40, 6), false));
  EXPECT_EQ(ended.next, stamp(40, 7));
  EXPECT_EQ(ended.prepared->marker.producer, stamp(40, 6));
  EXPECT_FALSE(ended.prepared->marker.commit);
  EXPECT_EQ(try_end(stamp(40, 6), false), ErrorCode::CONCURRENT_TRANSACTIONS);
  EXPECT_TRUE(run(complete(stamp(40, 6))));
  const EndTxn::Reply repeated = run(end(stamp(40, 6), false));
  EXPECT_EQ(repeated.error, ErrorCode::NONE);
  EXPECT_EQ(repeated.next, stamp(40, 7));
  EXPECT_FALSE(repeated.prepared.has_value());
}

TEST_F(KeepPreparedTest, EndedByOldClientsTheEpochStays) {
  for (const log::ProducerStamp who : {stamp(40, 5), stamp(40, 6)}) {
    given(open(stamp(40, 5)));
    run(two_phase(true));
    const EndTxn::Reply ended = run(end(who, true, kV0));
    EXPECT_EQ(ended.prepared->marker.producer, stamp(40, 5));
    EXPECT_EQ(run(end(who, true, kV0)).error, ErrorCode::CONCURRENT_TRANSACTIONS);
    EXPECT_TRUE(run(complete(stamp(40, 5))));
    EXPECT_EQ(state().producer, stamp(40, 6));
  }
}

TEST_F(KeepPreparedTest, AStartThatDoesNotKeepItAbortsIt) {
  run(two_phase(true));
  const InitProducerId::Reply reply = run(init());
  EXPECT_EQ(reply.error, ErrorCode::CONCURRENT_TRANSACTIONS);
  EXPECT_EQ(reply.prepared->marker.producer, stamp(40, 6));
  EXPECT_FALSE(reply.prepared->marker.commit);
  // The successor is fenced with it.
  EXPECT_EQ(run(add(stamp(40, 6), {tp("b", 0)})).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_TRUE(run(complete(stamp(40, 6))));
  EXPECT_EQ(run(init()).producer, stamp(40, 8));
}

TEST_F(KeepPreparedTest, WhoIsFencedCannotAbortIt) {
  run(two_phase(true));
  EXPECT_EQ(run(init(stamp(40, 5))).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_THAT(written, IsEmpty());
  run(end(stamp(40, 5), true));
  run(complete(stamp(40, 6)));
  EXPECT_EQ(run(init(stamp(40, 5))).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(run(init(stamp(40, 6))).producer, stamp(40, 7));
}

}  // namespace
}  // namespace ackord::txn
