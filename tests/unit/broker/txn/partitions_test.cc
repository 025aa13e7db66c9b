// What joins a transaction: AddPartitions, Enlist, Verify; and what dooms it.
#include "shard_test_base.h"

namespace ackord::txn {
namespace {

using PartitionsTest = ShardTest;
using Added = AddPartitions::Reply;

TEST_F(PartitionsTest, IdentityIsCheckedBeforeTheState) {
  EXPECT_EQ(run(add(stamp(40, 5), {tp("a", 0)})), Added{ErrorCode::INVALID_PRODUCER_ID_MAPPING});
  for (const TxnState from :
       {TxnState::kEmpty, TxnState::kOngoing, TxnState::kPrepareCommit, TxnState::kPrepareAbort,
        TxnState::kCompleteCommit, TxnState::kCompleteAbort}) {
    given(in(from, stamp(40, 5)));
    EXPECT_EQ(run(add(stamp(41, 5), {tp("a", 0)})), Added{ErrorCode::INVALID_PRODUCER_ID_MAPPING});
    EXPECT_EQ(run(add(stamp(40, 4), {tp("a", 0)})), Added{ErrorCode::PRODUCER_FENCED});
    EXPECT_EQ(run(add(stamp(40, 6), {tp("a", 0)})), Added{ErrorCode::PRODUCER_FENCED});
    EXPECT_TRUE(written.empty());
  }
}

TEST_F(PartitionsTest, PrepareStatesAreBusy) {
  for (const TxnState from : {TxnState::kPrepareCommit, TxnState::kPrepareAbort}) {
    given(in(from, stamp(40, 5), {tp("a", 0)}));
    EXPECT_EQ(run(add(stamp(40, 5), {tp("a", 0)})), Added{ErrorCode::CONCURRENT_TRANSACTIONS});
    EXPECT_EQ(run(enlist(stamp(40, 5), {tp("a", 0)})).error, ErrorCode::CONCURRENT_TRANSACTIONS);
  }
}

// The client knows its new id from the answer to EndTxn, before the markers are written.
TEST_F(PartitionsTest, TheIdThatFollowsExhaustedEpochsWaitsForTheMarkers) {
  given(in(TxnState::kOngoing, stamp(40, 32766), {tp("a", 0)}));
  run(end(stamp(40, 32766), true, kV2, 41));
  EXPECT_EQ(run(add(stamp(41, 0), {tp("a", 0)})), Added{ErrorCode::CONCURRENT_TRANSACTIONS});
  EXPECT_EQ(run(add(stamp(41, 1), {tp("a", 0)})), Added{ErrorCode::INVALID_PRODUCER_ID_MAPPING});
  run(complete(stamp(40, 32767)));
  EXPECT_EQ(run(add(stamp(41, 0), {tp("a", 0)})), Added{});
}

TEST_F(PartitionsTest, TheFirstAddBeginsTheTransaction) {
  for (const TxnState from :
       {TxnState::kEmpty, TxnState::kCompleteCommit, TxnState::kCompleteAbort}) {
    Transaction before = in(from, stamp(40, 5));
    before.client_transaction_version = 0;
    given(before);
    EXPECT_EQ(run(add(stamp(40, 5), {tp("a", 1), tp("b", 0)})), Added{});
    Transaction expected = in(TxnState::kOngoing, stamp(40, 5), {tp("a", 1), tp("b", 0)});
    expected.start_ms = kWall;
    expected.last_update_ms = kWall;
    EXPECT_EQ(written, one(expected)) << name_of(from);
  }
}

TEST_F(PartitionsTest, LaterAddsUniteAndKeepTheStart) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 1)}));
  EXPECT_EQ(run(add(stamp(40, 5), {tp("a", 0), tp("a", 1)}, kV0)), Added{});
  Transaction expected = in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0), tp("a", 1)});
  expected.client_transaction_version = 0;
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));
  EXPECT_EQ(run(add(stamp(40, 5), {tp("a", 0)})), Added{});
  EXPECT_TRUE(written.empty());
}

TEST_F(PartitionsTest, AddingNothingBeginsToo) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  EXPECT_EQ(run(add(stamp(40, 5), {})), Added{});
  EXPECT_EQ(state().state, TxnState::kOngoing);
}

TEST_F(PartitionsTest, StartsGrowStrictlyWhateverTheClockDoes) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  TimeMs last = -1;
  for (int i = 0; i < 5; ++i) {
    if (i == 2) now.wall_ms -= 3'600'000;
    if (i == 3) restart();
    run(add(stamp(40, 5), {tp("a", 0)}, kV0));
    EXPECT_GT(state().start_ms, last);
    last = state().start_ms;
    run(end(stamp(40, 5), true, kV0));
    run(complete(stamp(40, 5)));
  }
  EXPECT_EQ(last, kWall + 4);
}

TEST_F(PartitionsTest, ARepeatedInitDoesNotForgetTheStart) {
  given(in(TxnState::kEmpty, stamp(40, 4)));
  run(init(stamp(40, 4)));
  run(add(stamp(40, 5), {tp("a", 0)}, kV0));
  const TimeMs first = state().start_ms;
  run(end(stamp(40, 5), true, kV0));
  run(complete(stamp(40, 5)));
  EXPECT_EQ(run(init(stamp(40, 4))).producer, stamp(40, 5));
  EXPECT_EQ(run(Describe{id}).start_time_ms, -1);
  run(add(stamp(40, 5), {tp("a", 0)}, kV0));
  EXPECT_GT(state().start_ms, first);
}

TEST_F(PartitionsTest, EnlistBeginsUnitesAndTellsTheStart) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  EnlistReply reply = run(enlist(stamp(40, 5), {tp("__share_group_state", 3)}));
  EXPECT_EQ(reply.error, ErrorCode::NONE);
  EXPECT_EQ(reply.start_time_ms, kWall);
  Transaction expected = in(TxnState::kOngoing, stamp(40, 5), {tp("__share_group_state", 3)});
  expected.start_ms = kWall;
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));

  pass(10);
  reply = run(enlist(stamp(40, 5), {tp("__share_group_state", 3)}, kWall));
  EXPECT_EQ(reply.start_time_ms, kWall);
  EXPECT_TRUE(written.empty());
  reply = run(enlist(stamp(40, 5), {tp("__share_group_state", 4)}, kWall));
  EXPECT_EQ(reply.start_time_ms, kWall);
  EXPECT_EQ(written.size(), 1u);
}

TEST_F(PartitionsTest, EnlistWithAnotherStartIsRefused) {
  given(in(TxnState::kOngoing, stamp(40, 5)));
  EXPECT_EQ(run(enlist(stamp(40, 5), {tp("s", 0)}, kWall - 11)).error,
            ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(run(enlist(stamp(40, 5), {tp("s", 0)}, kWall - 10)).error, ErrorCode::NONE);
  EXPECT_EQ(run(enlist(stamp(40, 4), {tp("s", 0)}, kWall - 10)).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(run(enlist(stamp(41, 5), {tp("s", 0)}, kWall - 10)).error,
            ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  for (const TxnState from :
       {TxnState::kEmpty, TxnState::kCompleteCommit, TxnState::kCompleteAbort}) {
    given(in(from, stamp(40, 5)));
    EXPECT_EQ(run(enlist(stamp(40, 5), {tp("s", 0)}, kWall - 10)).error,
              ErrorCode::INVALID_TXN_STATE);
    EXPECT_TRUE(written.empty());
  }
}

TEST_F(PartitionsTest, VerifyWritesNothing) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  Verify op{{id, stamp(40, 5)}, {tp("a", 1), tp("a", 0)}};
  EXPECT_EQ(run(op), (Verify::Reply{{tp("a", 1), ErrorCode::TRANSACTION_ABORTABLE},
                                    {tp("a", 0), ErrorCode::NONE}}));
  op.who.producer = stamp(40, 4);
  EXPECT_EQ(run(op).at(1).second, ErrorCode::PRODUCER_FENCED);
  op.who.producer = stamp(41, 5);
  EXPECT_EQ(run(op).at(1).second, ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  given(in(TxnState::kPrepareCommit, stamp(40, 5), {tp("a", 0)}));
  op.who.producer = stamp(40, 5);
  EXPECT_EQ(run(op).at(1).second, ErrorCode::CONCURRENT_TRANSACTIONS);
  EXPECT_TRUE(written.empty());
}

TEST_F(PartitionsTest, DoomedStaysDoomedOverMorePartitionsAndARestartUntilItIsAborted) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  EXPECT_EQ(run(doom(stamp(40, 5))).error, ErrorCode::NONE);
  Transaction expected = in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)});
  expected.abort_only = true;
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));
  EXPECT_EQ(run(doom(stamp(40, 5))).error, ErrorCode::NONE);
  EXPECT_TRUE(written.empty());

  EXPECT_EQ(run(add(stamp(40, 5), {tp("a", 1)})), Added{});
  EXPECT_EQ(run(enlist(stamp(40, 5), {tp("s", 1)})).error, ErrorCode::NONE);
  restart();
  EXPECT_TRUE(state().abort_only);
  for (const auto version : {kV0, kV2}) {
    EXPECT_EQ(run(end(stamp(40, 5), true, version)).error, ErrorCode::TRANSACTION_ABORTABLE);
    EXPECT_TRUE(written.empty());
  }
  EXPECT_EQ(run(end(stamp(40, 5), false)).error, ErrorCode::NONE);
  EXPECT_FALSE(state().abort_only);
  run(complete(stamp(40, 6)));
  run(add(stamp(40, 6), {tp("a", 0)}));
  EXPECT_EQ(run(end(stamp(40, 6), true)).error, ErrorCode::NONE);
}

TEST_F(PartitionsTest, DoomOpensATransactionIfNeedBe) {
  transaction_version = 0;
  Transaction before = in(TxnState::kCompleteCommit, stamp(40, 5));
  before.client_transaction_version = 0;
  given(before);
  EXPECT_EQ(run(doom(stamp(40, 5), kWall - 10)).error, ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(run(doom(stamp(40, 5))).error, ErrorCode::NONE);
  Transaction expected = before;
  expected.state = TxnState::kOngoing;
  expected.abort_only = true;
  expected.start_ms = kWall;
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected, 1));  // version 1 whatever transaction.version
  EXPECT_EQ(run(end(stamp(40, 5), true, kV0)).error, ErrorCode::TRANSACTION_ABORTABLE);
  pass(60'000);
  EXPECT_EQ(run(coordinator::Tick{}).size(), 1u);
}

TEST_F(PartitionsTest, WhoeverIsNotTheProducerDoomsNothing) {
  EXPECT_EQ(run(doom(stamp(40, 5))).error, ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  EXPECT_EQ(run(doom(stamp(41, 5))).error, ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  EXPECT_EQ(run(doom(stamp(40, 4))).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(run(doom(stamp(40, 5), kWall - 9)).error, ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(run(doom(stamp(40, 5), kWall - 10)).error, ErrorCode::NONE);
  for (const TxnState from : {TxnState::kPrepareCommit, TxnState::kPrepareAbort}) {
    given(in(from, stamp(40, 5), {tp("a", 0)}));
    EXPECT_EQ(run(doom(stamp(40, 5))).error, ErrorCode::CONCURRENT_TRANSACTIONS);
  }
  Transaction two_phase = in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)});
  two_phase.timeout_ms = kTwoPhaseCommitTimeoutMs;
  given(two_phase);
  EXPECT_EQ(run(doom(stamp(40, 5))).error, ErrorCode::INVALID_TXN_STATE);
  EXPECT_TRUE(written.empty());
}

TEST_F(PartitionsTest, OpenTransactionsAreFoundByProducerId) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("s", 1)}));
  EXPECT_TRUE(shard.lists_open(ProducerId(40), tp("s", 1)));
  EXPECT_FALSE(shard.lists_open(ProducerId(40), tp("s", 2)));
  EXPECT_FALSE(shard.lists_open(ProducerId(41), tp("s", 1)));
  given(in(TxnState::kPrepareAbort, stamp(40, 6), {tp("s", 1)}));
  EXPECT_TRUE(shard.lists_open(ProducerId(40), tp("s", 1)));
  run(complete(stamp(40, 6)));
  EXPECT_FALSE(shard.lists_open(ProducerId(40), tp("s", 1)));
}

}  // namespace
}  // namespace ackord::txn
