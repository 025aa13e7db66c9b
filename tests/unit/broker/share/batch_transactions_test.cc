// The coordinator's side of batch transactions: replies and exact records (docs/PROTOCOL.md part
// 2).
#include "broker/share/batch_transactions.h"

#include <gtest/gtest.h>

#include "tests/unit/broker/share/shard_harness.h"

namespace ackord::share {
namespace {

using State = BatchTxnState;

const BatchTxnId kId{GroupId("g"), TransactionalId("g-job-1")};

class BatchTransactionsTest : public ::testing::Test {
 protected:
  BatchTxnRecord::Value value(State state, std::vector<int32_t> participants = {}) const {
    BatchTxnRecord::Value value;
    value.state = state;
    value.create_time_ms = begun_ms_;
    value.timeout_ms = 60000;
    value.last_update_ms = harness_.now().wall_ms;
    value.state_partitions = std::move(participants);
    return value;
  }
  void expect_written(std::optional<BatchTxnRecord::Value> value) {
    EXPECT_EQ(harness_.records(), (std::vector<ShareRecord>{BatchTxnRecord{kId, value}}));
  }
  BatchTxnReply begin() {
    begun_ms_ = harness_.now().wall_ms;
    return harness_.run(BeginBatchTxn{kId, 60000});
  }
  void enlist(std::vector<int32_t> participants) {
    ASSERT_TRUE(harness_.run(EnlistBatchTxn{kId, std::move(participants)}).ok());
  }
  BatchTxnReply close_and_decide(BatchTxnClosing why, int64_t staged) {
    const auto closing = harness_.run(CloseBatchTxn{kId, why, 7});
    if (!closing.closing) return closing.result;
    return harness_.run(DecideBatchTxn{kId, why, 7, staged});
  }
  ErrorCode enlisting() { return harness_.run(EnlistBatchTxn{kId, {9}}).error_code; }

  ShardHarness harness_;
  TimeMs begun_ms_ = 0;
};

TEST_F(BatchTransactionsTest, ABeginIsLoggedAndARepeatedOneIsNot) {
  EXPECT_EQ(begin().state, State::ONGOING);
  expect_written(value(State::ONGOING));
  const BatchTxnReply again = harness_.run(BeginBatchTxn{kId, 1});
  EXPECT_TRUE(again.error.ok());
  EXPECT_EQ(again.state, State::ONGOING);
  EXPECT_TRUE(harness_.written().empty());
}

TEST_F(BatchTransactionsTest, ParticipantsJoinOnce) {
  begin();
  enlist({3, 1});
  expect_written(value(State::ONGOING, {1, 3}));
  enlist({1});
  EXPECT_TRUE(harness_.written().empty());
  enlist({2, 3});
  expect_written(value(State::ONGOING, {1, 2, 3}));
}

TEST_F(BatchTransactionsTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(enlisting(), ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  EXPECT_EQ(close_and_decide(BatchTxnClosing::PREPARE, 0).error.error_code,
            ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  EXPECT_EQ(harness_.run(CommitBatchTxn{kId}).error.error_code,
            ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  begin();
  const BatchTxnId elsewhere{GroupId("h"), kId.transaction_id};
  EXPECT_EQ(harness_.run(CommitBatchTxn{elsewhere}).error.error_code,
            ErrorCode::TRANSACTIONAL_ID_NOT_FOUND)
      << "an id is scoped by its group";
}

TEST_F(BatchTransactionsTest, PreparedThenCommitted) {
  begin();
  enlist({1, 2});
  harness_.wait(10);
  const auto closing = harness_.run(CloseBatchTxn{kId, BatchTxnClosing::PREPARE, 7});
  EXPECT_TRUE(closing.closing);
  EXPECT_EQ(closing.result.participants, (std::vector<int32_t>{1, 2}));
  EXPECT_TRUE(harness_.written().empty());
  EXPECT_EQ(enlisting(), ErrorCode::INVALID_TXN_STATE) << "nothing joins a transaction that closes";

  const BatchTxnReply prepared = harness_.run(DecideBatchTxn{kId, BatchTxnClosing::PREPARE, 7, 12});
  EXPECT_EQ(prepared.state, State::PREPARE);
  EXPECT_EQ(prepared.staged_records, 12);
  auto expected = value(State::PREPARE, {1, 2});
  expected.prepare_time_ms = harness_.now().wall_ms;
  expected.staged_records = 12;
  expect_written(expected);
  EXPECT_EQ(enlisting(), ErrorCode::INVALID_TXN_STATE);

  const BatchTxnReply again = close_and_decide(BatchTxnClosing::PREPARE, 99);
  EXPECT_TRUE(again.error.ok());
  EXPECT_EQ(again.staged_records, 12) << "the same answer";

  harness_.wait(10);
  const BatchTxnReply committed = harness_.run(CommitBatchTxn{kId});
  EXPECT_TRUE(committed.error.ok());
  EXPECT_EQ(committed.participants, (std::vector<int32_t>{1, 2}));
  expected.state = State::COMMITTED;
  expected.last_update_ms = harness_.now().wall_ms;
  expect_written(expected);

  harness_.run(BatchTxnResolved{kId, {1}});
  expected.state_partitions = {2};
  expect_written(expected);
  EXPECT_EQ(harness_.run(CommitBatchTxn{kId}).participants, std::vector<int32_t>{2})
      << "a repeated commit drives on what is left";
  EXPECT_TRUE(harness_.written().empty());
  harness_.run(BatchTxnResolved{kId, {2}});
  expected.state_partitions = {};
  expect_written(expected);
}

TEST_F(BatchTransactionsTest, AnswersInTheWrongOrderSayWhereItStands) {
  begin();
  const BatchTxnReply early = harness_.run(CommitBatchTxn{kId});
  EXPECT_EQ(early.error.error_code, ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(early.state, State::ONGOING);
  close_and_decide(BatchTxnClosing::ABORT, 3);
  for (const BatchTxnReply& reply :
       {harness_.run(CommitBatchTxn{kId}), close_and_decide(BatchTxnClosing::PREPARE, 0),
        harness_.run(BeginBatchTxn{kId, 60000})}) {
    EXPECT_EQ(reply.error.error_code, ErrorCode::INVALID_TXN_STATE);
    EXPECT_EQ(reply.state, State::ABORTED);
    EXPECT_TRUE(reply.participants.empty());
  }
  const BatchTxnReply again = close_and_decide(BatchTxnClosing::ABORT, 0);
  EXPECT_TRUE(again.error.ok());
  EXPECT_EQ(again.staged_records, 3);
}

TEST_F(BatchTransactionsTest, WhatIsCommittedIsNotAborted) {
  begin();
  close_and_decide(BatchTxnClosing::PREPARE, 0);
  harness_.run(CommitBatchTxn{kId});
  const BatchTxnReply reply = close_and_decide(BatchTxnClosing::ABORT, 0);
  EXPECT_EQ(reply.error.error_code, ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(reply.state, State::COMMITTED);
  EXPECT_TRUE(harness_.written().empty());
}

TEST_F(BatchTransactionsTest, WhatIsPreparedIsAbortedByItsCoordinatorOnly) {
  begin();
  enlist({4});
  close_and_decide(BatchTxnClosing::PREPARE, 5);
  harness_.wait(int64_t{1000} * 86400 * 1000);
  EXPECT_TRUE(harness_.tick().timed_out.empty());
  EXPECT_EQ(close_and_decide(BatchTxnClosing::TIMEOUT, 0).state, State::PREPARE);
  EXPECT_TRUE(harness_.written().empty());
  const BatchTxnReply aborted = close_and_decide(BatchTxnClosing::ABORT, 0);
  EXPECT_TRUE(aborted.error.ok());
  EXPECT_EQ(aborted.state, State::ABORTED);
  EXPECT_EQ(aborted.staged_records, 5);
  EXPECT_EQ(aborted.participants, std::vector<int32_t>{4});
}

TEST_F(BatchTransactionsTest, ARefusedStageLeavesOnlyTheAbort) {
  begin();
  harness_.run(DoomBatchTxn{kId});
  auto expected = value(State::ONGOING);
  expected.abort_only = true;
  expect_written(expected);
  harness_.run(DoomBatchTxn{kId});
  EXPECT_TRUE(harness_.written().empty());
  harness_.reload();
  EXPECT_EQ(close_and_decide(BatchTxnClosing::PREPARE, 0).error.error_code,
            ErrorCode::TRANSACTION_ABORTABLE);
  EXPECT_EQ(close_and_decide(BatchTxnClosing::ABORT, 0).state, State::ABORTED);
}

TEST_F(BatchTransactionsTest, NothingDoomsWhatIsClosingOrPrepared) {
  begin();
  harness_.run(CloseBatchTxn{kId, BatchTxnClosing::PREPARE, 7});
  harness_.run(DoomBatchTxn{kId});
  EXPECT_TRUE(harness_.written().empty());
  EXPECT_EQ(harness_.run(DecideBatchTxn{kId, BatchTxnClosing::PREPARE, 7, 0}).state,
            State::PREPARE);
  harness_.run(DoomBatchTxn{kId});
  EXPECT_TRUE(harness_.written().empty());
}

TEST_F(BatchTransactionsTest, OneClosingAtATime) {
  begin();
  EXPECT_TRUE(harness_.run(CloseBatchTxn{kId, BatchTxnClosing::PREPARE, 7}).closing);
  for (const BatchTxnClosing why :
       {BatchTxnClosing::PREPARE, BatchTxnClosing::ABORT, BatchTxnClosing::TIMEOUT}) {
    const auto second = harness_.run(CloseBatchTxn{kId, why, 8});
    EXPECT_FALSE(second.closing);
    EXPECT_TRUE(second.result.busy);
  }
  EXPECT_EQ(harness_.run(DecideBatchTxn{kId, BatchTxnClosing::ABORT, 8, 0}).error.error_code,
            ErrorCode::CONCURRENT_TRANSACTIONS);
  harness_.run(GiveUpClosingBatchTxn{kId, 8});
  EXPECT_EQ(enlisting(), ErrorCode::INVALID_TXN_STATE) << "another's closing still stands";
  harness_.run(GiveUpClosingBatchTxn{kId, 7});
  EXPECT_EQ(enlisting(), ErrorCode::NONE);
}

TEST_F(BatchTransactionsTest, AClosingDoesNotOutliveTheShard) {
  begin();
  harness_.run(CloseBatchTxn{kId, BatchTxnClosing::PREPARE, 7});
  harness_.reload();
  EXPECT_EQ(harness_.run(DecideBatchTxn{kId, BatchTxnClosing::PREPARE, 7, 0}).error.error_code,
            ErrorCode::CONCURRENT_TRANSACTIONS);
  EXPECT_TRUE(harness_.written().empty());
  EXPECT_EQ(enlisting(), ErrorCode::NONE);
}

TEST_F(BatchTransactionsTest, TimeEndsWhatIsOngoing) {
  begin();
  harness_.wait(59999);
  EXPECT_TRUE(harness_.tick().timed_out.empty());
  harness_.wait(1);
  EXPECT_EQ(harness_.tick().timed_out, std::vector<BatchTxnId>{kId});
  EXPECT_TRUE(harness_.written().empty()) << "the closing comes first";
  harness_.wait(1000);
  EXPECT_EQ(harness_.tick().timed_out, std::vector<BatchTxnId>{kId}) << "until it is aborted";
  EXPECT_EQ(close_and_decide(BatchTxnClosing::TIMEOUT, 2).state, State::ABORTED);
  harness_.wait(5000);
  EXPECT_TRUE(harness_.tick().timed_out.empty());
}

TEST_F(BatchTransactionsTest, TheTimeOfOneGoesOnAfterALoad) {
  begin();
  harness_.wait(50000);
  harness_.reload();
  EXPECT_FALSE(harness_.shard().next_deadline());
  EXPECT_TRUE(harness_.run(ResumeBatchTxns{}).decisions.empty());
  harness_.wait(9999);
  EXPECT_TRUE(harness_.tick().timed_out.empty());
  harness_.wait(1);
  EXPECT_EQ(harness_.tick().timed_out, std::vector<BatchTxnId>{kId});
}

TEST_F(BatchTransactionsTest, ADecisionIsDrivenOnAfterALoad) {
  begin();
  enlist({1, 2});
  close_and_decide(BatchTxnClosing::PREPARE, 4);
  harness_.reload();
  EXPECT_TRUE(harness_.run(ResumeBatchTxns{}).decisions.empty()) << "nothing is decided yet";
  harness_.run(CommitBatchTxn{kId});
  harness_.run(BatchTxnResolved{kId, {2}});
  harness_.reload();
  const auto decisions = harness_.run(ResumeBatchTxns{}).decisions;
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].id, kId);
  EXPECT_TRUE(decisions[0].commit);
  EXPECT_EQ(decisions[0].participants, std::vector<int32_t>{1});
}

TEST_F(BatchTransactionsTest, WhatHasEndedIsForgottenWhenItsRetentionIsOver) {
  begin();
  enlist({1});
  close_and_decide(BatchTxnClosing::ABORT, 0);
  harness_.wait(2 * 86400000);
  harness_.tick();
  EXPECT_TRUE(harness_.written().empty()) << "a participant is not resolved yet";
  harness_.run(BatchTxnResolved{kId, {1}});
  harness_.wait(86399999);
  harness_.tick();
  EXPECT_TRUE(harness_.written().empty());
  harness_.reload();
  harness_.run(ResumeBatchTxns{});
  harness_.wait(1);
  harness_.tick();
  expect_written(std::nullopt);
  EXPECT_EQ(harness_.shard().batch_transactions().find(kId), nullptr);
  EXPECT_FALSE(harness_.shard().next_deadline());
  EXPECT_EQ(begin().state, State::ONGOING) << "the id is free again";
}

TEST_F(BatchTransactionsTest, ListedByGroupStateAndPrefix) {
  const auto begin_one = [this](const char* group, const char* id) {
    harness_.run(BeginBatchTxn{{GroupId(group), TransactionalId(id)}, 60000});
  };
  for (const char* id : {"a-1", "a-2", "b-1"}) begin_one("g", id);
  begin_one("f", "a-1");
  begin_one("h", "a-1");
  const BatchTxnId prepared{GroupId("g"), TransactionalId("a-2")};
  harness_.run(CloseBatchTxn{prepared, BatchTxnClosing::PREPARE, 7});
  harness_.run(DecideBatchTxn{prepared, BatchTxnClosing::PREPARE, 7, 0});
  const auto list = [this](std::vector<State> states, const char* prefix) {
    std::string names;
    for (const auto& entry : harness_.run(ListBatchTxns{GroupId("g"), states, prefix}))
      names += entry.id.transaction_id.str() + " ";
    return names;
  };
  EXPECT_EQ(list({}, ""), "a-1 a-2 b-1 ");
  EXPECT_EQ(list({}, "a-"), "a-1 a-2 ");
  EXPECT_EQ(list({State::PREPARE}, ""), "a-2 ");
  EXPECT_EQ(list({State::ONGOING, State::COMMITTED}, "b"), "b-1 ");
  EXPECT_EQ(harness_.run(CountLiveBatchTxns{GroupId("g")}).live, 3);
  EXPECT_EQ(harness_.run(CountLiveBatchTxns{std::nullopt}).live, 5);
  harness_.run(CommitBatchTxn{prepared});
  EXPECT_EQ(harness_.run(CountLiveBatchTxns{GroupId("g")}).live, 2);
}

TEST_F(BatchTransactionsTest, PruningKeepsTheLastRecordOfEach) {
  begin();
  const auto needed = [this] {
    return harness_.shard().batch_transactions().first_needed_offset();
  };
  EXPECT_EQ(needed(), harness_.log_end() - 1);
  harness_.run(BeginBatchTxn{{GroupId("g"), TransactionalId("later")}, 60000});
  EXPECT_EQ(needed(), harness_.log_end() - 2);
  enlist({1});
  EXPECT_EQ(needed(), harness_.log_end() - 2);
  harness_.run(EnlistBatchTxn{{GroupId("g"), TransactionalId("later")}, {1}});
  EXPECT_EQ(needed(), harness_.log_end() - 2);
}

// One that is prepared may stand for weeks, one that has ended for its retention.
TEST_F(BatchTransactionsTest, TheyAreLoggedAnewWhereTheyHoldBackMuch) {
  begin();
  const BatchTxnId ended{GroupId("g"), TransactionalId("ended")};
  harness_.run(BeginBatchTxn{ended, 60000});
  harness_.run(CloseBatchTxn{ended, BatchTxnClosing::ABORT, 7});
  harness_.run(DecideBatchTxn{ended, BatchTxnClosing::ABORT, 7, 0});
  const auto state = [this] {
    std::string text;
    for (const auto& one : harness_.run(ListBatchTxns{GroupId("g"), {}, ""}))
      text += one.id.transaction_id.str() + " " + std::string(name_of(one.value.state)) + " ";
    return text;
  };
  EXPECT_FALSE(harness_.run(SnapshotCold{}).more);
  EXPECT_TRUE(harness_.records().empty()) << "there is little behind them";
  for (int32_t partition = 0; partition < 9; ++partition)
    harness_.run(EnlistBatchTxn{kId, {partition}});
  const std::string before = state();
  EXPECT_EQ(before, "ended ABORTED g-job-1 ONGOING ");
  EXPECT_TRUE(harness_.run(SnapshotCold{300000, 1}).more);
  EXPECT_EQ(harness_.records().size(), 1u) << "the oldest";
  EXPECT_FALSE(harness_.run(SnapshotCold{300000, 1}).more);
  EXPECT_EQ(harness_.shard().prunable_offset(), harness_.log_end() - 2);
  EXPECT_EQ(state(), before);
  harness_.reload();
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace ackord::share
