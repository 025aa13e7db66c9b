// EndTxn in every state, for both kinds of client; completion; timeouts; expired ids.
#include "shard_test_base.h"

namespace ackord::txn {
namespace {

using EndTxnTest = ShardTest;
using Reply = EndTxn::Reply;

Reply refused(ErrorCode code) { return {code, {}, false, {}}; }
Reply done(int64_t producer_id, int16_t epoch) {
  return {ErrorCode::NONE, stamp(producer_id, epoch), false, {}};
}
constexpr auto kFenced = ErrorCode::PRODUCER_FENCED;
constexpr auto kInvalid = ErrorCode::INVALID_TXN_STATE;
constexpr auto kBusy = ErrorCode::CONCURRENT_TRANSACTIONS;

TEST_F(EndTxnTest, UnknownIdAndWrongProducerId) {
  EXPECT_EQ(run(end(stamp(40, 5), true)), refused(ErrorCode::INVALID_PRODUCER_ID_MAPPING));
  EXPECT_EQ(run(end(stamp(40, 5), true, kV0)), refused(ErrorCode::INVALID_PRODUCER_ID_MAPPING));
  given(in(TxnState::kOngoing, stamp(40, 5)));
  EXPECT_EQ(run(end(stamp(41, 5), true)), refused(ErrorCode::INVALID_PRODUCER_ID_MAPPING));
  EXPECT_EQ(run(end(stamp(41, 5), true, kV0)), refused(ErrorCode::INVALID_PRODUCER_ID_MAPPING));
}

TEST_F(EndTxnTest, Version5MovesTheEpochWithTheDecision) {
  for (const bool commit : {true, false}) {
    given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0), tp("b", 1)}));
    Reply expected = done(40, 6);
    expected.prepared = prepared(stamp(40, 6), commit, {tp("a", 0), tp("b", 1)}, 2);
    EXPECT_EQ(run(end(stamp(40, 5), commit)), expected);
    Transaction prepare = in(commit ? TxnState::kPrepareCommit : TxnState::kPrepareAbort,
                             stamp(40, 6), {tp("a", 0), tp("b", 1)});
    prepare.last_update_ms = kWall;
    EXPECT_EQ(written, one(prepare));

    pass(3);
    EXPECT_FALSE(run(complete(stamp(40, 5))));
    EXPECT_TRUE(run(complete(stamp(40, 6))));
    Transaction completed = prepare;
    completed.state = commit ? TxnState::kCompleteCommit : TxnState::kCompleteAbort;
    completed.partitions.clear();
    completed.last_update_ms = kWall + 3;
    EXPECT_EQ(written, one(completed));
    EXPECT_FALSE(run(complete(stamp(40, 6))));
    now = {kWall, 1'000};
  }
}

struct Row {
  TxnState state;
  int16_t epoch;  // asked; the state's is 6
  bool commit;
  ErrorCode error;
  bool decides = false;  // an abort of nothing
};

TEST_F(EndTxnTest, Version5StateByState) {
  const std::vector<Row> rows = {
      {TxnState::kEmpty, 6, true, kInvalid},
      {TxnState::kEmpty, 6, false, ErrorCode::NONE, true},
      {TxnState::kEmpty, 5, true, kFenced},
      {TxnState::kEmpty, 5, false, kFenced},
      {TxnState::kOngoing, 5, true, kFenced},
      {TxnState::kOngoing, 7, true, kFenced},
      // Until it is complete everything comes too soon, the end of the next transaction, too.
      {TxnState::kPrepareCommit, 5, true, kBusy},
      {TxnState::kPrepareCommit, 5, false, kBusy},
      {TxnState::kPrepareCommit, 6, true, kBusy},
      {TxnState::kPrepareCommit, 6, false, kBusy},
      {TxnState::kPrepareAbort, 5, false, kBusy},
      {TxnState::kPrepareAbort, 5, true, kBusy},
      {TxnState::kPrepareAbort, 6, false, kBusy},
      {TxnState::kCompleteCommit, 5, true, ErrorCode::NONE},
      {TxnState::kCompleteCommit, 5, false, kInvalid},
      {TxnState::kCompleteCommit, 6, true, kInvalid},
      {TxnState::kCompleteCommit, 6, false, ErrorCode::NONE, true},
      {TxnState::kCompleteCommit, 4, true, kFenced},
      {TxnState::kCompleteCommit, 9, false, kFenced},
      {TxnState::kCompleteAbort, 5, false, ErrorCode::NONE},
      {TxnState::kCompleteAbort, 5, true, kInvalid},
      {TxnState::kCompleteAbort, 6, true, kInvalid},
      {TxnState::kCompleteAbort, 6, false, ErrorCode::NONE, true},
      {TxnState::kCompleteAbort, 4, false, kFenced},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(name_of(row.state)) + " " + std::to_string(row.epoch) +
                 (row.commit ? " commit" : " abort"));
    given(in(row.state, stamp(40, 6)));
    Reply expected = refused(row.error);
    if (row.error == ErrorCode::NONE) expected.next = stamp(40, row.decides ? 7 : 6);
    if (row.decides) expected.prepared = prepared(stamp(40, 7), false, {}, 2);
    EXPECT_EQ(run(end(stamp(40, row.epoch), row.commit)), expected);
    EXPECT_EQ(written.size(), row.decides ? 1u : 0u);
  }
}

TEST_F(EndTxnTest, Version4StateByState) {
  const std::vector<Row> rows = {
      {TxnState::kEmpty, 6, true, kInvalid},
      {TxnState::kEmpty, 6, false, kInvalid},
      {TxnState::kEmpty, 5, true, kFenced},
      {TxnState::kOngoing, 5, true, kFenced},
      {TxnState::kOngoing, 7, true, kFenced},
      {TxnState::kPrepareCommit, 6, true, kBusy},
      {TxnState::kPrepareCommit, 6, false, kInvalid},
      {TxnState::kPrepareAbort, 6, false, kBusy},
      {TxnState::kPrepareAbort, 6, true, kInvalid},
      {TxnState::kCompleteCommit, 6, true, ErrorCode::NONE},
      {TxnState::kCompleteCommit, 6, false, kInvalid},
      {TxnState::kCompleteAbort, 6, false, ErrorCode::NONE},
      {TxnState::kCompleteAbort, 6, true, kInvalid},
      {TxnState::kCompleteAbort, 5, true, kFenced},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(name_of(row.state)) + " " + std::to_string(row.epoch) +
                 (row.commit ? " commit" : " abort"));
    given(in(row.state, stamp(40, 6)));
    EXPECT_EQ(run(end(stamp(40, row.epoch), row.commit, kV0)), refused(row.error));
    EXPECT_TRUE(written.empty());
  }
}

TEST_F(EndTxnTest, Version4KeepsTheEpoch) {
  for (const int16_t level : {int16_t{0}, int16_t{1}, int16_t{2}}) {
    transaction_version = level;
    Transaction before = in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)});
    before.client_transaction_version = 0;
    given(before);
    Reply expected = refused(ErrorCode::NONE);
    expected.prepared = prepared(stamp(40, 5), true, {tp("a", 0)}, 0);
    EXPECT_EQ(run(end(stamp(40, 5), true, kV0)), expected);
    Transaction prepare = before;
    prepare.state = TxnState::kPrepareCommit;
    prepare.last_update_ms = kWall;
    EXPECT_EQ(written, one(prepare, level == 0 ? 0 : 1));
    EXPECT_TRUE(run(complete(stamp(40, 5))));
    EXPECT_EQ(state().state, TxnState::kCompleteCommit);
  }
}

TEST_F(EndTxnTest, AnAbortOfNothingHasAStartAndNoPartitions) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  run(end(stamp(40, 5), false));
  Transaction expected = in(TxnState::kPrepareAbort, stamp(40, 6));
  expected.start_ms = kWall;
  expected.last_update_ms = kWall;
  EXPECT_EQ(written, one(expected));
}

TEST_F(EndTxnTest, ExhaustedEpochsGoOnUnderTheNextProducerId) {
  for (const bool commit : {true, false}) {
    given(in(TxnState::kOngoing, stamp(40, 32766), {tp("a", 0)}));
    EXPECT_EQ(run(end(stamp(40, 32766), commit)), (Reply{ErrorCode::NONE, {}, true, {}}));
    EXPECT_TRUE(written.empty());
    Reply expected = done(41, 0);
    expected.prepared = prepared(stamp(40, 32767), commit, {tp("a", 0)}, 2);
    EXPECT_EQ(run(end(stamp(40, 32766), commit, kV2, 41)), expected);
    Transaction prepare = in(commit ? TxnState::kPrepareCommit : TxnState::kPrepareAbort,
                             stamp(40, 32767), {tp("a", 0)});
    prepare.next_producer_id = ProducerId(41);
    prepare.last_update_ms = kWall;
    EXPECT_EQ(written, one(prepare));
    EXPECT_EQ(run(end(stamp(40, 32766), commit)), refused(kBusy));

    EXPECT_TRUE(run(complete(stamp(40, 32767))));
    Transaction completed =
        in(commit ? TxnState::kCompleteCommit : TxnState::kCompleteAbort, stamp(41, 0));
    completed.previous_producer_id = ProducerId(40);
    completed.last_update_ms = kWall;
    EXPECT_EQ(written, one(completed));
    EXPECT_EQ(run(end(stamp(40, 32766), commit)), done(41, 0));
    EXPECT_EQ(run(end(stamp(40, 32766), !commit)), refused(kInvalid));
    EXPECT_EQ(run(init(stamp(40, 32766))).producer, stamp(41, 0));
  }
}

TEST_F(EndTxnTest, AFencedProducersRetryAfterTheCoordinatorsAbort) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  run(init());
  run(complete(stamp(40, 6)));
  EXPECT_EQ(run(end(stamp(40, 5), false)), done(40, 6));
  EXPECT_EQ(run(end(stamp(40, 5), true)), refused(kInvalid));
  EXPECT_EQ(run(end(stamp(40, 5), true, kV0)), refused(kFenced));
}

TEST_F(EndTxnTest, WhatIsPreparedIsFoundAfterARestart) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  const auto reply = run(end(stamp(40, 5), true));
  restart();
  EXPECT_THAT(shard.prepared(), ::testing::ElementsAre(*reply.prepared));
  run(complete(stamp(40, 6)));
  restart();
  EXPECT_TRUE(shard.prepared().empty());
}

TEST_F(EndTxnTest, MarkersCarryTheCoordinatorsEpoch) {
  settings.coordinator_epoch = 7;
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  restart();
  EXPECT_EQ(run(end(stamp(40, 5), true)).prepared->marker.coordinator_epoch, 7);
}

// ---- timeouts

TEST_F(EndTxnTest, ATransactionTimesOutAtItsMoment) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  run(add(stamp(40, 5), {tp("a", 0)}));
  EXPECT_EQ(shard.next_deadline(), 61'000);
  pass(1'000);
  run(add(stamp(40, 5), {tp("a", 1)}));  // more partitions do not prolong it
  EXPECT_EQ(shard.next_deadline(), 61'000);
  pass(58'999);
  EXPECT_TRUE(run(coordinator::Tick{}).empty());
  pass(1);
  auto due = run(coordinator::Tick{});
  ASSERT_EQ(due.size(), 1u);
  EXPECT_TRUE(written.empty());
  EXPECT_EQ(shard.next_deadline(), 62'000);  // tried again if the abort does not come

  AbortTimedOut op;
  op.who = due[0].who;
  op.start_ms = due[0].start_ms;
  const auto reply = run(op);
  EXPECT_EQ(reply.prepared, prepared(stamp(40, 6), false, {tp("a", 0), tp("a", 1)}, 2));
  Transaction expected = in(TxnState::kPrepareAbort, stamp(40, 6), {tp("a", 0), tp("a", 1)});
  expected.start_ms = kWall;
  expected.last_update_ms = kWall + 60'000;
  EXPECT_EQ(written, one(expected));
  EXPECT_EQ(run(op), AbortTimedOut::Reply{});
  EXPECT_EQ(shard.next_deadline(), 1'000 + settings.expiration_check_ms);
}

TEST_F(EndTxnTest, TimeoutsUnderTransactionVersion1FenceToo) {
  transaction_version = 1;
  Transaction before = in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)});
  before.client_transaction_version = 0;
  given(before);
  AbortTimedOut op;
  op.who = {id, stamp(40, 5)};
  op.start_ms = before.start_ms;
  EXPECT_EQ(run(op).prepared, prepared(stamp(40, 6), false, {tp("a", 0)}, 0));
}

TEST_F(EndTxnTest, ATimeoutWithExhaustedEpochsNeedsAProducerId) {
  given(in(TxnState::kOngoing, stamp(40, 32766), {tp("a", 0)}));
  AbortTimedOut op;
  op.who = {id, stamp(40, 32766)};
  op.start_ms = kWall - 10;
  EXPECT_TRUE(run(op).needs_producer_id);
  EXPECT_TRUE(written.empty());
  op.fresh = ProducerId(41);
  EXPECT_TRUE(run(op).prepared.has_value());
  EXPECT_EQ(state().next_producer_id, ProducerId(41));
}

TEST_F(EndTxnTest, AStaleTimeoutTouchesNothing) {
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  AbortTimedOut op;
  op.who = {id, stamp(40, 5)};
  op.start_ms = kWall - 11;
  EXPECT_EQ(run(op), AbortTimedOut::Reply{});
  op.start_ms = kWall - 10;
  op.who.producer = stamp(40, 4);
  EXPECT_EQ(run(op), AbortTimedOut::Reply{});
  EXPECT_TRUE(written.empty());
}

TEST_F(EndTxnTest, AfterALoadTheRestOfTheTimeoutIsLeft) {
  Transaction open = in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)});
  open.start_ms = kWall - 20'000;
  given(open);
  restart();
  EXPECT_EQ(shard.next_deadline(), 41'000);
  now.wall_ms = kWall - 3'600'000;  // the clock went back: once more the timeout at most
  restart();
  EXPECT_EQ(shard.next_deadline(), 61'000);
  now.wall_ms = kWall + 3'600'000;
  restart();
  EXPECT_EQ(shard.next_deadline(), 1'000);
}

TEST_F(EndTxnTest, EndedTransactionsHaveNoTimeout) {
  given(in(TxnState::kEmpty, stamp(40, 5)));
  run(add(stamp(40, 5), {tp("a", 0)}));
  run(end(stamp(40, 5), true));
  pass(60'000);
  EXPECT_TRUE(run(coordinator::Tick{}).empty());
}

// ---- expired ids

TEST_F(EndTxnTest, IdsExpireInSettledStatesOnly) {
  EXPECT_FALSE(shard.next_deadline().has_value());
  for (const TxnState from :
       {TxnState::kEmpty, TxnState::kCompleteCommit, TxnState::kCompleteAbort}) {
    given(in(from, stamp(40, 5)));
    now = {kWall - 5 + settings.id_expiration_ms - 1, *shard.next_deadline()};
    run(coordinator::Tick{});
    EXPECT_TRUE(written.empty());
    now = {kWall - 5 + settings.id_expiration_ms, *shard.next_deadline()};
    run(coordinator::Tick{});
    EXPECT_EQ(written, (std::vector<TransactionRecord>{{id, std::nullopt, 1}}));
    EXPECT_EQ(shard.find(id), nullptr);
  }
  for (const TxnState from : {TxnState::kPrepareCommit, TxnState::kPrepareAbort}) {
    given(in(from, stamp(40, 5)));
    now = {kWall + 2 * settings.id_expiration_ms, *shard.next_deadline()};
    run(coordinator::Tick{});
    EXPECT_TRUE(written.empty());
  }
}

TEST_F(EndTxnTest, DescribeAndList) {
  EXPECT_EQ(run(Describe{id}).error, ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  given(in(TxnState::kOngoing, stamp(40, 5), {tp("a", 0)}));
  const TransactionDescription description = run(Describe{id});
  EXPECT_EQ(description.state, "Ongoing");
  EXPECT_EQ(description.timeout_ms, 60'000);
  EXPECT_EQ(description.start_time_ms, kWall - 10);
  EXPECT_EQ(description.producer, stamp(40, 5));
  EXPECT_EQ(description.partitions, std::vector{tp("a", 0)});
  EXPECT_EQ(run(List{}), (List::Reply{{id, ProducerId(40), "Ongoing", kWall - 10}}));
}

}  // namespace
}  // namespace ackord::txn
