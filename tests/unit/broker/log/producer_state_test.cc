#include "broker/log/producer_state.h"

#include <gtest/gtest.h>

namespace ackord::log {
namespace {

using protocol::BatchHeader;

// A batch of `count` records of a producer.
struct Write {
  int64_t producer = 1;
  int16_t epoch = 0;
  int32_t sequence = 0;
  int32_t count = 1;
  bool transactional = false;
};

class ProducerStateTest : public testing::Test {
 protected:
  BatchHeader header(const Write& write) const {
    BatchHeader batch;
    batch.base_offset = next_;
    batch.last_offset_delta = write.count - 1;
    batch.records_count = write.count;
    batch.producer_id = ProducerId(write.producer);
    batch.producer_epoch = write.epoch;
    batch.base_sequence = write.sequence;
    batch.max_timestamp = 1000 + next_;
    if (write.transactional) batch.attributes = protocol::batch_format::kTransactional;
    return batch;
  }
  ErrorCode check(const Write& write, std::optional<uint64_t> guard = {}, bool zero = false) const {
    auto allowed = state_.check(header(write), Origin::kClient, guard, zero);
    return allowed.has_error() ? allowed.error().code : ErrorCode::NONE;
  }
  void apply(const Write& write) {
    state_.apply(header(write));
    next_ += write.count;
  }
  ErrorCode write(const Write& write) {
    std::optional<uint64_t> guard;
    if (write.transactional) {
      guard = state_.begin_verification({ProducerId(write.producer), write.epoch});
    }
    const ErrorCode code = check(write, guard);
    if (code == ErrorCode::NONE) apply(write);
    return code;
  }
  ErrorCode check_marker(int64_t producer, int16_t epoch, int8_t version, int32_t coordinator = 0) {
    auto allowed = state_.check_marker({{ProducerId(producer), epoch}, true, coordinator, version});
    return allowed.has_error() ? allowed.error().code : ErrorCode::NONE;
  }
  std::optional<CompletedTransaction> mark(int64_t producer, int16_t epoch, bool commit,
                                           int32_t coordinator = 0) {
    BatchHeader batch = header({producer, epoch, -1});
    ++next_;
    return state_.apply_marker(batch, {commit, coordinator});
  }

  ProducerState state_;
  Offset next_ = 0;
};

TEST_F(ProducerStateTest, SequencesFollowOneAnother) {
  EXPECT_EQ(write({1, 0, 0, 2}), ErrorCode::NONE);
  EXPECT_EQ(write({1, 0, 2, 3}), ErrorCode::NONE);
  EXPECT_EQ(check({1, 0, 6}), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  EXPECT_EQ(check({1, 0, 4}), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  EXPECT_EQ(check({1, 0, 5}), ErrorCode::NONE);
}

TEST_F(ProducerStateTest, SequencesWrapAfterTheLargest) {
  EXPECT_EQ(write({1, 0, INT32_MAX - 1, 2}), ErrorCode::NONE);
  EXPECT_EQ(check({1, 0, 0, 2}), ErrorCode::NONE);
  EXPECT_EQ(check({1, 0, 1, 2}), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  EXPECT_EQ(write({1, 0, 0, 2}), ErrorCode::NONE);
  ProducerState other;
  other.apply(header({1, 0, INT32_MAX, 3}));  // wraps within the batch
  const auto* known = other.find_duplicate(header({1, 0, INT32_MAX, 3}));
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->last_sequence, 1);
  EXPECT_EQ(known->first_sequence(), INT32_MAX);
}

TEST_F(ProducerStateTest, DuplicatesOfTheLastFiveBatchesAreFound) {
  for (int i = 0; i < 6; ++i) EXPECT_EQ(write({1, 0, 2 * i, 2}), ErrorCode::NONE);
  EXPECT_EQ(state_.find_duplicate(header({1, 0, 0, 2})), nullptr);
  for (int i = 1; i < 6; ++i) {
    const auto* known = state_.find_duplicate(header({1, 0, 2 * i, 2}));
    ASSERT_NE(known, nullptr) << i;
    EXPECT_EQ(known->first_offset(), 2 * i);
  }
  EXPECT_EQ(state_.find_duplicate(header({1, 0, 2, 3})), nullptr);
  EXPECT_EQ(state_.find_duplicate(header({1, 1, 2, 2})), nullptr);
  EXPECT_EQ(check({1, 0, 0, 2}), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
}

TEST_F(ProducerStateTest, UnknownProducersStartAnywhereAndNewEpochsAtZero) {
  EXPECT_EQ(check({5, 0, 42}), ErrorCode::NONE);
  EXPECT_EQ(check({5, 0, 42}, {}, true), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  EXPECT_EQ(write({1, 0, 0}), ErrorCode::NONE);
  EXPECT_EQ(check({1, 1, 5}), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  EXPECT_EQ(write({1, 1, 0}), ErrorCode::NONE);
  EXPECT_EQ(check({1, 0, 1}), ErrorCode::INVALID_PRODUCER_EPOCH);
}

TEST_F(ProducerStateTest, TransactionalBatchesNeedAGuardOrAnOpenTransaction) {
  EXPECT_EQ(check({1, 0, 0, 1, true}), ErrorCode::INVALID_TXN_STATE);
  const uint64_t guard = state_.begin_verification({ProducerId(1), 0});
  EXPECT_EQ(check({1, 0, 0, 1, true}, guard + 1), ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(check({1, 1, 0, 1, true}, guard), ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(check({2, 0, 0, 1, true}, guard), ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(check({1, 0, 0, 1, true}, guard), ErrorCode::NONE);
  apply({1, 0, 0, 1, true});
  EXPECT_TRUE(state_.has_open_transaction({ProducerId(1), 0}));
  EXPECT_EQ(check({1, 0, 1, 1, true}), ErrorCode::NONE);
  EXPECT_EQ(check({1, 0, 1, 1, false}), ErrorCode::INVALID_TXN_STATE);
}

TEST_F(ProducerStateTest, AMarkerVoidsTheGuard) {
  const uint64_t guard = state_.begin_verification({ProducerId(1), 0});
  mark(1, 0, false);
  EXPECT_EQ(check({1, 0, 0, 1, true}, guard), ErrorCode::INVALID_TXN_STATE);
  EXPECT_NE(state_.begin_verification({ProducerId(1), 0}), guard);
}

// EndTxn of version 2 is answered before the markers are written.
TEST_F(ProducerStateTest, ALateMarkerLeavesTheGuardOfTheNextTransaction) {
  EXPECT_EQ(write({1, 0, 0, 1, true}), ErrorCode::NONE);
  const uint64_t next = state_.begin_verification({ProducerId(1), 1});
  mark(1, 1, true);
  EXPECT_EQ(check({1, 1, 0, 1, true}, next), ErrorCode::NONE);
  // Not that of the transaction which the marker ends.
  apply({1, 1, 0, 1, true});
  const uint64_t late = state_.begin_verification({ProducerId(1), 1});
  mark(1, 2, false);
  EXPECT_EQ(check({1, 1, 1, 1, true}, late), ErrorCode::INVALID_TXN_STATE);
}

TEST_F(ProducerStateTest, MarkerEpochsOfBothVersions) {
  EXPECT_EQ(check_marker(1, 0, 1), ErrorCode::NONE) << "unknown producer";
  EXPECT_EQ(write({1, 3, 0, 1, true}), ErrorCode::NONE);
  for (const int8_t version : {int8_t{0}, int8_t{1}, int8_t{2}}) {
    EXPECT_EQ(check_marker(1, 2, version), ErrorCode::INVALID_PRODUCER_EPOCH);
    EXPECT_EQ(check_marker(1, 4, version), ErrorCode::NONE);
  }
  EXPECT_EQ(check_marker(1, 3, 1), ErrorCode::NONE);
  EXPECT_EQ(check_marker(1, 3, 2), ErrorCode::INVALID_PRODUCER_EPOCH);
  ASSERT_TRUE(mark(1, 4, true));
  EXPECT_EQ(check_marker(1, 4, 2), ErrorCode::NONE) << "the same marker again";
  EXPECT_EQ(write({2, INT16_MAX, 0, 1, true}), ErrorCode::NONE);
  EXPECT_EQ(check_marker(2, INT16_MAX, 2), ErrorCode::NONE) << "cannot be raised further";
}

TEST_F(ProducerStateTest, OldCoordinatorsAreFenced) {
  mark(1, 0, true, 5);
  EXPECT_EQ(check_marker(1, 0, 1, 4), ErrorCode::TRANSACTION_COORDINATOR_FENCED);
  EXPECT_EQ(check_marker(1, 0, 1, 5), ErrorCode::NONE);
}

TEST_F(ProducerStateTest, AfterAMarkerWithAHigherEpochSequencesStartAgain) {
  EXPECT_EQ(write({1, 0, 0, 3, true}), ErrorCode::NONE);
  ASSERT_TRUE(mark(1, 1, true));
  EXPECT_EQ(write({1, 0, 3, 1, true}), ErrorCode::INVALID_PRODUCER_EPOCH);
  EXPECT_EQ(write({1, 1, 3, 1, true}), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  EXPECT_EQ(write({1, 1, 0, 1, true}), ErrorCode::NONE);
}

TEST_F(ProducerStateTest, CompletedTransactionsHoldUntilTheirMarkerIsDurable) {
  EXPECT_EQ(state_.first_unstable_offset(), std::nullopt);
  write({1, 0, 0, 1, true});              // 0
  write({2, 0, 0, 1, true});              // 1
  const auto second = mark(2, 0, false);  // 2
  ASSERT_TRUE(second);
  EXPECT_EQ(second->first_offset, 1);
  EXPECT_EQ(second->marker_offset, 2);
  EXPECT_TRUE(second->aborted);
  EXPECT_EQ(second->last_stable_offset, 0);
  const auto first = mark(1, 0, true);  // 3
  EXPECT_EQ(first->last_stable_offset, 4);
  EXPECT_EQ(state_.first_unstable_offset(), 0);
  state_.advance_high_watermark(3);
  EXPECT_EQ(state_.first_unstable_offset(), 0);
  state_.advance_high_watermark(4);
  EXPECT_EQ(state_.first_unstable_offset(), std::nullopt);
  EXPECT_FALSE(mark(1, 0, true)) << "no transaction is open";
}

TEST_F(ProducerStateTest, CoordinatorBatchesHaveNoSequence) {
  BatchHeader batch = header({1, 2, -1, 1, true});
  EXPECT_TRUE(state_.check(batch, Origin::kCoordinator, {}, false).has_value());
  state_.apply(batch);
  EXPECT_TRUE(state_.check(batch, Origin::kCoordinator, {}, false).has_value());
  batch.producer_epoch = 1;
  EXPECT_EQ(state_.check(batch, Origin::kCoordinator, {}, false).error().code,
            ErrorCode::INVALID_PRODUCER_EPOCH);
}

TEST_F(ProducerStateTest, IdleProducersExpireButNotOpenTransactions) {
  write({1, 0, 0});
  write({2, 0, 0, 1, true});
  state_.remove_expired(1000 + 99, 100);
  EXPECT_EQ(state_.views().size(), 2u);
  state_.remove_expired(1000 + 100, 100);
  ASSERT_EQ(state_.views().size(), 1u);
  EXPECT_EQ(state_.views()[0].producer.id.value, 2);
}

TEST_F(ProducerStateTest, SnapshotsRoundTripWithTheWholeWindow) {
  for (int i = 0; i < 7; ++i) write({1, 0, 2 * i, 2});
  write({2, 3, 0, 1, true});
  mark(3, 9, false, 4);
  const auto bytes = state_.encode();
  ProducerState copy;
  ASSERT_TRUE(copy.decode(bytes).has_value());
  EXPECT_EQ(copy, state_);
  EXPECT_EQ(copy.first_unstable_offset(), state_.first_unstable_offset());
  EXPECT_EQ(copy.view(ProducerId(3))->coordinator_epoch, 4);
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto bad = bytes;
    bad[i] ^= std::byte{1};
    EXPECT_TRUE(ProducerState().decode(bad).has_error()) << i;
    EXPECT_TRUE(ProducerState().decode(std::span(bytes).first(i)).has_error()) << i;
  }
}

// As Kafka 4.4 writes it.
TEST_F(ProducerStateTest, AnEmptySnapshot) {
  const auto bytes = ProducerState().encode();
  ASSERT_EQ(bytes.size(), 10u);
  EXPECT_EQ(bytes[1], std::byte{1});
}

TEST_F(ProducerStateTest, VerificationsAreBounded) {
  const uint64_t first = state_.begin_verification({ProducerId(1), 0});
  for (int64_t id = 2; id <= static_cast<int64_t>(ProducerState::kMaxVerifications); ++id) {
    state_.begin_verification({ProducerId(id), 0});
  }
  EXPECT_EQ(state_.begin_verification({ProducerId(1), 0}), first);
  const uint64_t last = state_.begin_verification({ProducerId(1'000'000), 0});
  EXPECT_EQ(check({1'000'000, 0, 0, 1, true}, last), ErrorCode::NONE);
  EXPECT_EQ(check({1, 0, 0, 1, true}, first), ErrorCode::INVALID_TXN_STATE)
      << "the oldest one went";
}

}  // namespace
}  // namespace ackord::log
