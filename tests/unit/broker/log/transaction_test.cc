#include <gmock/gmock.h>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

AbortedTransaction aborted(int64_t producer, Offset first) { return {ProducerId(producer), first}; }

class TransactionTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override { ASSERT_TRUE(start().has_value()); }
  // A data@0, B data@1, B abort@2, A data@3, A abort@4, plain@5
  void interleave() {
    begin(1, 0, 0, "a0");
    begin(2, 0, 0, "b1");
    marker(2, 0, false);
    append(make_batch({"a3"}, {1, 0, 1, true}));
    marker(1, 0, false);
    append(make_batch({"plain"}));
    settle();
  }
  void expect_interleaved() {
    EXPECT_EQ(partition->last_stable_offset(), 6);
    const auto committed = Isolation::kReadCommitted;
    EXPECT_THAT(read(0, 1 << 20, committed).aborted, ElementsAre(aborted(1, 0), aborted(2, 1)));
    EXPECT_THAT(read(3, 1 << 20, committed).aborted, ElementsAre(aborted(1, 0)));
    EXPECT_THAT(read(0, 1, committed).aborted, ElementsAre(aborted(1, 0)));
    EXPECT_THAT(read(2, 1, committed).aborted, ElementsAre(aborted(1, 0), aborted(2, 1)));
    EXPECT_THAT(read(5, 1 << 20, committed).aborted, IsEmpty());
    EXPECT_THAT(read(0).aborted, IsEmpty());
    EXPECT_EQ(partition->log_end_offset(), 6);
  }
};

TEST_F(TransactionTest, AbortedTransactionsOfTheRange) {
  interleave();
  expect_interleaved();
  stop();
  ASSERT_TRUE(start().has_value());
  expect_interleaved();
  crash();
  ASSERT_TRUE(start().has_value());
  expect_interleaved();
}

TEST_F(TransactionTest, AbortedTransactionsOverManySegments) {
  config.segment_bytes = 200;
  partition->configure(config);
  interleave();
  expect_interleaved();
  crash();
  ASSERT_TRUE(start().has_value());
  expect_interleaved();
  stop();
  ASSERT_TRUE(start().has_value());
  expect_interleaved();
}

TEST_F(TransactionTest, AnOpenTransactionBoundsCommittedReads) {
  append(make_batch({"before"}));
  begin(1, 0, 0, "open");
  append(make_batch({"after"}));
  settle();
  EXPECT_EQ(partition->last_stable_offset(), 1);
  EXPECT_EQ(read(0, 1 << 20, Isolation::kReadCommitted).batches.size(), 1u);
  EXPECT_EQ(read(1, 1 << 20, Isolation::kReadCommitted).batches.size(), 0u);
  EXPECT_EQ(read(0).batches.size(), 3u);
  const auto view = partition->producer(ProducerId(1));
  EXPECT_EQ(view->current_txn_start_offset, 1);
  marker(1, 1, true, 3, 2);
  EXPECT_EQ(partition->last_stable_offset(), 1) << "the marker is not durable yet";
  settle();
  EXPECT_EQ(partition->last_stable_offset(), 4);
  EXPECT_EQ(partition->producer(ProducerId(1))->producer.epoch, 1);
  EXPECT_EQ(partition->producer(ProducerId(1))->coordinator_epoch, 3);
}

TEST_F(TransactionTest, TimestampsBeyondTheStableOffsetAreNotFoundWhenCommitted) {
  const TimeMs now = core->clock.now().wall_ms;
  begin(1, 0, 0, "open");
  settle();
  EXPECT_EQ(core->run(partition->offset_for_timestamp(now, Isolation::kReadUncommitted))->offset,
            0);
  EXPECT_EQ(core->run(partition->offset_for_timestamp(now, Isolation::kReadCommitted))->offset, -1);
}

TEST_F(TransactionTest, AMarkerIsWrittenWithoutAnOpenTransaction) {
  EXPECT_EQ(marker(1, 5, true).base_offset, 0);
  EXPECT_EQ(marker(1, 4, true).error, ErrorCode::INVALID_PRODUCER_EPOCH);
  EXPECT_EQ(marker(1, 5, true, -1).error, ErrorCode::TRANSACTION_COORDINATOR_FENCED);
  EXPECT_EQ(append(make_batch({"x"}, {1, 4, 0})).error, ErrorCode::INVALID_PRODUCER_EPOCH);
}

TEST_F(TransactionTest, CoordinatorRecordsTakePartInTransactions) {
  std::vector<EncodedRecord> records(1);
  records[0].key.assign(1, std::byte{'k'});
  const auto write = [&](int16_t epoch) {
    return core->executor.inside([&] {
      return partition->append_records(records, ProducerStamp{ProducerId(1), epoch},
                                       core->clock.now().wall_ms);
    });
  };
  EXPECT_EQ(write(1).error, ErrorCode::NONE);
  EXPECT_EQ(write(1).error, ErrorCode::NONE);
  EXPECT_EQ(write(0).error, ErrorCode::INVALID_PRODUCER_EPOCH);
  settle();
  EXPECT_EQ(partition->last_stable_offset(), 0);
  EXPECT_EQ(core->run(partition->read_all(0, 1 << 20)).batches.size(), 2u);
}

TEST_F(TransactionTest, UnverifiedBatchesAreRefused) {
  EXPECT_EQ(append(make_batch({"x"}, {1, 0, 0, true})).error, ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(begin(1, 0, 0, "x").error, ErrorCode::NONE);
  EXPECT_EQ(append(make_batch({"y"}, {1, 0, 1, false})).error, ErrorCode::INVALID_TXN_STATE);
}

}  // namespace
}  // namespace ackord::log
