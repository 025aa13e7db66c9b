// The service over logs in memory: waiting, markers, completion, timeouts, restarts.
#include "broker/txn/txn_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "broker/io/position_gate.h"
#include "broker/txn/txn_records.h"
#include "tests/support/metadata_fixture.h"

namespace ackord::txn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr auto kV0 = ClientTransactionVersion::kV0;
constexpr auto kV2 = ClientTransactionVersion::kV2;

TopicPartition tp(const char* topic, int32_t partition) { return {TopicName(topic), partition}; }

class FakeSink : public MarkerSink {
 public:
  struct Sent {
    TopicPartition partition;
    log::EndMarker marker;
    int64_t at_ms;
  };
  FakeSink(io::Executor& executor, io::Clock& clock) : executor_(executor), clock_(clock) {}

  std::vector<Sent> sent;
  std::map<TopicPartition, std::deque<ErrorCode>> answers;  // then NONE
  bool overlap = false;                                     // two markers under way at once
  void hold() { gate_ = std::make_shared<io::PositionGate>(0); }
  void release() {
    executor_.post([gate = std::exchange(gate_, nullptr)] { gate->advance(1); });
  }

  io::Task<ErrorCode> write_marker(TopicPartition partition, log::EndMarker marker) override {
    overlap = overlap || under_way_[partition]++ > 0;
    sent.push_back({partition, marker, clock_.now().steady_ms});
    if (auto gate = gate_) {
      auto waiting = gate->reached(1);
      co_await std::move(waiting);
    }
    --under_way_[partition];
    auto& planned = answers[partition];
    ErrorCode code = ErrorCode::NONE;
    if (!planned.empty()) {
      code = planned.front();
      planned.pop_front();
    }
    co_return code;
  }
  std::vector<TopicPartition> partitions() const {
    std::vector<TopicPartition> all;
    for (const Sent& one : sent) all.push_back(one.partition);
    return all;
  }
  std::vector<int64_t> times() const {
    std::vector<int64_t> all;
    for (const Sent& one : sent) all.push_back(one.at_ms - sent.front().at_ms);
    return all;
  }

 private:
  io::Executor& executor_;
  io::Clock& clock_;
  std::shared_ptr<io::PositionGate> gate_;
  std::map<TopicPartition, int> under_way_;
};

class TxnServiceTest : public ::testing::Test {
 protected:
  test::MetadataFixture broker;
  FakeSink sink{broker.core.executor, broker.core.clock};
  std::unique_ptr<TxnService> txn = make();
  TransactionalId id{"tx"};

  void SetUp() override {
    broker.create_topic("t", 3);
    EXPECT_TRUE(run(txn->load()).has_value());
  }
  void TearDown() override { stop(); }

  std::unique_ptr<TxnService> make() {
    return make_txn_service(broker.environment, broker.logs, broker.metadata(), sink);
  }
  void stop() {
    broker.core.executor.destroy_spawned();
    txn.reset();
  }
  // A crash: what is not durable is gone.
  void restart() {
    broker.core.run_until_idle();
    stop();
    broker.restart();
    txn = make();
    ASSERT_TRUE(run(txn->load()).has_value());
  }
  template <class T>
  T run(io::Task<T> task) {
    return broker.core.run(std::move(task));
  }
  // Starts it without waiting for its end.
  template <class T>
  std::shared_ptr<std::optional<T>> start(io::Task<T> task) {
    auto result = std::make_shared<std::optional<T>>();
    broker.core.spawn(store(std::move(task), result));
    broker.core.run_until_idle();
    return result;
  }
  template <class T>
  static io::Task<void> store(io::Task<T> task, std::shared_ptr<std::optional<T>> result) {
    T value = co_await std::move(task);
    result->emplace(std::move(value));
  }

  io::Task<bool> settle(int64_t max_wait_ms) { return done(txn->settle(id, max_wait_ms)); }
  static io::Task<bool> done(io::Task<void> task) {
    co_await std::move(task);
    co_return true;
  }

  log::ProducerStamp init() {
    const auto reply = run(txn->init_producer_id(id, 60'000, std::nullopt, false));
    EXPECT_EQ(reply.error, ErrorCode::NONE);
    return reply.producer;
  }
  ErrorCode add(log::ProducerStamp producer, std::vector<TopicPartition> partitions) {
    return run(txn->add_partitions({id, producer}, std::move(partitions), kV2));
  }
  EndTxnReply end(log::ProducerStamp producer, bool commit) {
    return run(txn->end_txn({id, producer}, commit, kV2));
  }
  std::string state() { return run(txn->describe(id)).state; }
  test::FakePartition& state_log() {
    const int32_t partition = metadata::coordinator_partition(id.sv(), 2);
    return broker.logs.partition(metadata::kTransactionTopic, partition);
  }
  std::vector<TxnState> states() {
    std::vector<TxnState> all;
    for (const auto& record : state_log().records()) {
      const auto decoded = decode(record.key, *record.value);
      all.push_back((*decoded)->transaction->state);
    }
    return all;
  }
};

TEST_F(TxnServiceTest, WithoutTransactionalIdEachCallGivesAProducerId) {
  const auto first = run(txn->init_producer_id(std::nullopt, 0, std::nullopt, false));
  const auto second = run(txn->init_producer_id(std::nullopt, 0, std::nullopt, false));
  EXPECT_EQ(first.error, ErrorCode::NONE);
  EXPECT_EQ(first.producer.epoch, 0);
  EXPECT_NE(first.producer.id, second.producer.id);
  EXPECT_FALSE(broker.logs.has(metadata::kTransactionTopic, 0));
}

TEST_F(TxnServiceTest, NothingIsKnownBeforeTheTopicExists) {
  const log::ProducerStamp nobody{ProducerId(1), 0};
  EXPECT_EQ(add(nobody, {tp("t", 0)}), ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  EXPECT_EQ(end(nobody, true).error, ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  EXPECT_EQ(run(txn->enlist({id, nobody}, std::nullopt, {tp("t", 0)})).error,
            ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  EXPECT_EQ(run(txn->verify({id, nobody}, {tp("t", 0)})).at(0).second,
            ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  EXPECT_EQ(run(txn->describe(id)).error, ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  EXPECT_FALSE(run(txn->lists_open(ProducerId(1), tp("t", 0))));
  EXPECT_TRUE(run(txn->list())->empty());
  EXPECT_FALSE(broker.logs.has(metadata::kTransactionTopic, 0));
}

TEST_F(TxnServiceTest, AnEmptyIdIsRefused) {
  const TxnIdentity nobody{TransactionalId(""), {ProducerId(1), 0}};
  EXPECT_EQ(run(txn->init_producer_id(TransactionalId(""), 1, std::nullopt, false)).error,
            ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(run(txn->add_partitions(nobody, {}, kV0)), ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(run(txn->end_txn(nobody, true, kV2)).error, ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(run(txn->describe(TransactionalId(""))).error, ErrorCode::INVALID_REQUEST);
}

TEST_F(TxnServiceTest, ATransactionFromBeginningToEnd) {
  const auto producer = init();
  EXPECT_EQ(producer.epoch, 0);
  EXPECT_EQ(add(producer, {tp("t", 1), tp("t", 0), tp("t", 1)}), ErrorCode::NONE);
  EXPECT_EQ(run(txn->verify({id, producer}, {tp("t", 0), tp("t", 2)})),
            (std::vector<std::pair<TopicPartition, ErrorCode>>{
                {tp("t", 0), ErrorCode::NONE}, {tp("t", 2), ErrorCode::TRANSACTION_ABORTABLE}}));
  EXPECT_TRUE(run(txn->lists_open(producer.id, tp("t", 1))));
  EXPECT_FALSE(run(txn->lists_open(producer.id, tp("t", 2))));

  const auto reply = end(producer, true);
  EXPECT_EQ(reply.error, ErrorCode::NONE);
  EXPECT_EQ(reply.next, (log::ProducerStamp{producer.id, 1}));
  broker.core.run_until_idle();
  log::EndMarker marker;
  marker.producer = {producer.id, 1};
  marker.commit = true;
  marker.transaction_version = 2;
  EXPECT_THAT(sink.partitions(), UnorderedElementsAre(tp("t", 0), tp("t", 1)));
  for (const auto& sent : sink.sent) EXPECT_EQ(sent.marker, marker);
  EXPECT_EQ(state(), "CompleteCommit");
  EXPECT_THAT(states(), ElementsAre(TxnState::kEmpty, TxnState::kOngoing, TxnState::kPrepareCommit,
                                    TxnState::kCompleteCommit));
  EXPECT_EQ(end(producer, true).next, (log::ProducerStamp{producer.id, 1}));
  const auto listed = run(txn->list());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().id, id);
}

TEST_F(TxnServiceTest, AKeptTransactionSealsItsProducerUntilItIsComplete) {
  broker.settings().broker.transaction_two_phase_commit_enable = true;
  restart();
  const auto old = run(txn->init_producer_id(id, 0, std::nullopt, true)).producer;
  add(old, {tp("t", 0)});
  EXPECT_FALSE(txn->is_sealed(old));
  const auto kept = run(txn->init_producer_id(id, 0, std::nullopt, true, true));
  EXPECT_EQ(kept.error, ErrorCode::NONE);
  EXPECT_EQ(kept.ongoing, old);
  EXPECT_EQ(kept.producer, (log::ProducerStamp{old.id, 1}));
  EXPECT_TRUE(txn->is_sealed(old));
  EXPECT_FALSE(txn->is_sealed(kept.producer));

  restart();
  EXPECT_TRUE(txn->is_sealed(old));
  EXPECT_THAT(sink.sent, IsEmpty());
  sink.hold();
  EXPECT_EQ(end(old, true).next, kept.producer);
  broker.core.run_until_idle();
  EXPECT_TRUE(txn->is_sealed(old));
  sink.release();
  broker.core.run_until_idle();
  EXPECT_EQ(state(), "CompleteCommit");
  EXPECT_FALSE(txn->is_sealed(old));
  EXPECT_EQ(add(kept.producer, {tp("t", 1)}), ErrorCode::NONE);
}

TEST_F(TxnServiceTest, TheDecisionIsAnsweredAndSentWhenItIsDurable) {
  const auto producer = init();
  add(producer, {tp("t", 0)});
  state_log().hold_durability();
  auto reply = start(txn->end_txn({id, producer}, true, kV2));
  EXPECT_FALSE(reply->has_value());
  EXPECT_THAT(sink.sent, IsEmpty());
  state_log().release_durability();
  broker.core.run_until_idle();
  ASSERT_TRUE(reply->has_value());
  EXPECT_EQ(sink.sent.size(), 1u);
}

TEST_F(TxnServiceTest, AnUndurableDecisionIsForgottenByACrash) {
  const auto producer = init();
  add(producer, {tp("t", 0)});
  state_log().hold_durability();
  start(txn->end_txn({id, producer}, true, kV2));
  restart();
  state_log().release_durability();
  EXPECT_EQ(state(), "Ongoing");
  EXPECT_THAT(sink.sent, IsEmpty());
}

TEST_F(TxnServiceTest, NobodyWaitsForTheCompletionsOwnDurability) {
  const auto producer = init();
  add(producer, {tp("t", 0)});
  sink.hold();
  EXPECT_EQ(end(producer, true).error, ErrorCode::NONE);
  broker.core.run_until_idle();
  state_log().hold_durability();
  sink.release();
  broker.core.run_until_idle();
  auto settled = start(txn->verify({id, {producer.id, 1}}, {}));  // reads wait, too
  EXPECT_EQ(states().back(), TxnState::kCompleteCommit);
  EXPECT_FALSE(settled->has_value());

  // Lost with a crash, it is made again: the markers are repeated.
  sink.sent.clear();
  restart();
  state_log().release_durability();
  broker.core.run_until_idle();
  EXPECT_EQ(sink.sent.size(), 1u);
  EXPECT_EQ(state(), "CompleteCommit");
}

TEST_F(TxnServiceTest, AfterARestartThePreparedAreDrivenOn) {
  const auto producer = init();
  add(producer, {tp("t", 0), tp("t", 2)});
  sink.hold();
  end(producer, false);
  broker.core.run_until_idle();
  EXPECT_EQ(sink.sent.size(), 2u);
  sink.sent.clear();
  sink.hold();
  restart();
  EXPECT_EQ(state(), "PrepareAbort");
  sink.release();
  broker.core.run_until_idle();
  EXPECT_THAT(sink.partitions(), UnorderedElementsAre(tp("t", 0), tp("t", 2)));
  EXPECT_FALSE(sink.sent.front().marker.commit);
  EXPECT_EQ(state(), "CompleteAbort");
}

// ---- markers

TEST_F(TxnServiceTest, RetriableErrorsAreTriedAgainPerPartition) {
  const std::vector<ErrorCode> retriable = {ErrorCode::NOT_LEADER_OR_FOLLOWER,
                                            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                                            ErrorCode::NOT_ENOUGH_REPLICAS,
                                            ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND,
                                            ErrorCode::REQUEST_TIMED_OUT,
                                            ErrorCode::KAFKA_STORAGE_ERROR,
                                            ErrorCode::COORDINATOR_LOAD_IN_PROGRESS,
                                            ErrorCode::COORDINATOR_NOT_AVAILABLE};
  sink.answers[tp("t", 1)].assign(retriable.begin(), retriable.end());
  const auto producer = init();
  add(producer, {tp("t", 0), tp("t", 1)});
  EXPECT_EQ(end(producer, true).error, ErrorCode::NONE);
  broker.core.run_until_idle();
  EXPECT_EQ(state(), "PrepareCommit");
  for (int i = 0; i < 400; ++i) broker.core.advance(10);
  EXPECT_EQ(state(), "CompleteCommit");
  EXPECT_FALSE(sink.overlap);
  std::erase_if(sink.sent, [](const auto& sent) { return sent.partition == tp("t", 0); });
  EXPECT_THAT(sink.times(), ElementsAre(0, 20, 60, 140, 300, 620, 1260, 2260, 3260));
}

TEST_F(TxnServiceTest, ADeletedTopicIsLeftOut) {
  const auto topic = broker.create_topic("gone", 1);
  const auto producer = init();
  add(producer, {tp("gone", 0), tp("t", 0)});
  EXPECT_EQ(run(broker.metadata().delete_topic(topic->id)), ErrorCode::NONE);
  sink.answers[tp("gone", 0)] = {ErrorCode::UNKNOWN_TOPIC_OR_PARTITION};
  end(producer, true);
  broker.core.run_until_idle();
  EXPECT_EQ(sink.sent.size(), 2u);
  EXPECT_EQ(state(), "CompleteCommit");
}

TEST_F(TxnServiceTest, ARefusedMarkerLeavesTheTransactionWhereItIs) {
  for (const ErrorCode code :
       {ErrorCode::INVALID_PRODUCER_EPOCH, ErrorCode::TRANSACTION_COORDINATOR_FENCED}) {
    id = TransactionalId("tx-" + std::string(name_of(code)));
    const auto producer = init();
    add(producer, {tp("t", 0), tp("t", 1)});
    sink.sent.clear();
    sink.answers[tp("t", 0)] = {code};
    end(producer, true);
    broker.core.advance(5'000);
    EXPECT_EQ(sink.sent.size(), 2u);
    EXPECT_EQ(state(), "PrepareCommit");
  }
}

TEST_F(TxnServiceTest, ATransactionWithoutPartitionsCompletesAtOnce) {
  const auto producer = init();
  EXPECT_EQ(end(producer, false).next, (log::ProducerStamp{producer.id, 1}));
  broker.core.run_until_idle();
  EXPECT_THAT(sink.sent, IsEmpty());
  EXPECT_EQ(state(), "CompleteAbort");
}

// ---- waiting

TEST_F(TxnServiceTest, InitProducerIdBeginsTheAbortAndItsRepeatGetsTheEpochAfterIt) {
  const auto producer = init();
  add(producer, {tp("t", 0)});
  const auto busy = run(txn->init_producer_id(id, 60'000, std::nullopt, false));
  EXPECT_EQ(busy.error, ErrorCode::CONCURRENT_TRANSACTIONS);
  EXPECT_EQ(busy.producer, log::ProducerStamp{});
  EXPECT_EQ(init(), (log::ProducerStamp{producer.id, 2}));
  EXPECT_FALSE(sink.sent.at(0).marker.commit);
  EXPECT_EQ(sink.sent.at(0).marker.producer, (log::ProducerStamp{producer.id, 1}));
  EXPECT_EQ(add(producer, {tp("t", 0)}), ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(end(producer, true).error, ErrorCode::PRODUCER_FENCED);
  EXPECT_THAT(states(), ElementsAre(TxnState::kEmpty, TxnState::kOngoing, TxnState::kPrepareAbort,
                                    TxnState::kCompleteAbort, TxnState::kEmpty));
}

TEST_F(TxnServiceTest, TheProducerThatAsksForItselfGetsTheAbortsEpoch) {
  const auto producer = init();
  add(producer, {tp("t", 0)});
  EXPECT_EQ(run(txn->init_producer_id(id, 60'000, producer, false)).error,
            ErrorCode::CONCURRENT_TRANSACTIONS);
  const auto reply = run(txn->init_producer_id(id, 60'000, producer, false));
  EXPECT_EQ(reply.error, ErrorCode::NONE);
  EXPECT_EQ(reply.producer, (log::ProducerStamp{producer.id, 1}));
}

TEST_F(TxnServiceTest, InitProducerIdWaits100MsForAnAbortUnderWay) {
  const auto producer = init();
  add(producer, {tp("t", 0)});
  sink.hold();
  run(txn->init_producer_id(id, 60'000, std::nullopt, false));
  auto reply = start(txn->init_producer_id(id, 60'000, std::nullopt, false));
  broker.core.advance(99);
  EXPECT_FALSE(reply->has_value());
  broker.core.advance(1);
  ASSERT_TRUE(reply->has_value());
  EXPECT_EQ((*reply)->error, ErrorCode::CONCURRENT_TRANSACTIONS);
  reply = start(txn->init_producer_id(id, 60'000, std::nullopt, false));
  sink.release();
  broker.core.run_until_idle();
  ASSERT_TRUE(reply->has_value());
  EXPECT_EQ((*reply)->producer, (log::ProducerStamp{producer.id, 2}));
}

TEST_F(TxnServiceTest, AddWaitsForTheCompletionAndEnlistDoesNot) {
  auto producer = init();
  add(producer, {tp("t", 0)});
  sink.hold();
  producer = end(producer, true).next;
  auto adding = start(txn->add_partitions({id, producer}, {tp("t", 1)}, kV2));
  auto settling = start(settle(60));
  EXPECT_EQ(run(txn->enlist({id, producer}, std::nullopt, {tp("t", 1)})).error,
            ErrorCode::CONCURRENT_TRANSACTIONS);
  broker.core.advance(59);
  EXPECT_FALSE(adding->has_value());
  EXPECT_FALSE(settling->has_value());
  broker.core.advance(1);
  EXPECT_TRUE(settling->has_value());
  settling = start(settle(60));
  sink.release();
  broker.core.run_until_idle();
  EXPECT_TRUE(settling->has_value());
  ASSERT_TRUE(adding->has_value());
  EXPECT_EQ(**adding, ErrorCode::NONE);
  const auto enlisted = run(txn->enlist({id, producer}, std::nullopt, {tp("t", 2)}));
  EXPECT_EQ(enlisted.start_time_ms, run(txn->describe(id)).start_time_ms);
}

TEST_F(TxnServiceTest, SettleOfWhatIsNotPreparedEndsAtOnce) {
  EXPECT_TRUE(start(settle(1'000))->has_value());
  add(init(), {tp("t", 0)});
  EXPECT_TRUE(start(settle(1'000))->has_value());
}

// ---- dooming, timeouts, epochs

TEST_F(TxnServiceTest, DoomIsDurableWhenItEnds) {
  const auto producer = init();
  const auto enlisted = run(txn->enlist({id, producer}, std::nullopt, {tp("t", 0)}));
  EXPECT_EQ(enlisted.error, ErrorCode::NONE);
  state_log().hold_durability();
  auto doomed = start(txn->doom({id, producer}, enlisted.start_time_ms));
  EXPECT_FALSE(doomed->has_value());
  state_log().release_durability();
  broker.core.run_until_idle();
  ASSERT_TRUE(doomed->has_value());
  EXPECT_EQ(**doomed, ErrorCode::NONE);
  restart();
  EXPECT_EQ(end(producer, true).error, ErrorCode::TRANSACTION_ABORTABLE);
  EXPECT_EQ(end(producer, false).error, ErrorCode::NONE);
}

TEST_F(TxnServiceTest, WhatDoomsTheNextTransactionWaitsForTheEndOfTheOneBefore) {
  auto producer = init();
  add(producer, {tp("t", 0)});
  sink.hold();
  producer = end(producer, true).next;
  auto doomed = start(txn->doom({id, producer}, std::nullopt));
  broker.core.advance(99);
  EXPECT_FALSE(doomed->has_value());
  broker.core.advance(1);
  ASSERT_TRUE(doomed->has_value());
  EXPECT_EQ(**doomed, ErrorCode::CONCURRENT_TRANSACTIONS);

  doomed = start(txn->doom({id, producer}, std::nullopt));
  sink.release();
  broker.core.run_until_idle();
  ASSERT_TRUE(doomed->has_value());
  EXPECT_EQ(**doomed, ErrorCode::NONE);
  EXPECT_EQ(add(producer, {tp("t", 0)}), ErrorCode::NONE);
  EXPECT_EQ(end(producer, true).error, ErrorCode::TRANSACTION_ABORTABLE);
}

TEST_F(TxnServiceTest, OfSomebodyElsesTransactionNothingIsDoomed) {
  auto producer = init();
  EXPECT_EQ(run(txn->doom({TransactionalId(""), producer}, std::nullopt)), ErrorCode::NONE);
  EXPECT_EQ(run(txn->doom({TransactionalId("other"), producer}, std::nullopt)), ErrorCode::NONE);
  add(producer, {tp("t", 0)});
  EXPECT_EQ(run(txn->doom({id, {producer.id, 7}}, std::nullopt)), ErrorCode::NONE);
  EXPECT_EQ(run(txn->doom({id, producer}, 12)), ErrorCode::NONE);
  EXPECT_EQ(end(producer, true).error, ErrorCode::NONE);
}

TEST_F(TxnServiceTest, AnOverdueTransactionIsAbortedAndItsProducerFenced) {
  const auto producer = init();
  add(producer, {tp("t", 0)});
  broker.core.advance(59'999);
  EXPECT_EQ(state(), "Ongoing");
  broker.core.advance(1);
  broker.core.run_until_idle();
  EXPECT_EQ(state(), "CompleteAbort");
  EXPECT_EQ(sink.sent.at(0).marker.producer, (log::ProducerStamp{producer.id, 1}));
  EXPECT_EQ(add(producer, {tp("t", 0)}), ErrorCode::PRODUCER_FENCED);
}

TEST_F(TxnServiceTest, ExhaustedEpochsTakeProducerIdsFromTheMetadata) {
  log::ProducerStamp producer = init();
  while (producer.epoch < 32766) producer = init();
  add(producer, {tp("t", 0)});
  const auto next = end(producer, true).next;
  EXPECT_NE(next.id, producer.id);
  EXPECT_EQ(next.epoch, 0);
  broker.core.run_until_idle();
  EXPECT_EQ(end(producer, true).next, next);
  EXPECT_EQ(add(next, {tp("t", 0)}), ErrorCode::NONE);
}

TEST_F(TxnServiceTest, AnOverdueTransactionWithExhaustedEpochs) {
  log::ProducerStamp producer = init();
  while (producer.epoch < 32766) producer = init();
  add(producer, {tp("t", 0)});
  broker.core.advance(60'000);
  broker.core.run_until_idle();
  const auto description = run(txn->describe(id));
  EXPECT_EQ(description.state, "CompleteAbort");
  EXPECT_NE(description.producer.id, producer.id);
  EXPECT_EQ(description.producer.epoch, 0);
}

TEST_F(TxnServiceTest, AfterAStorageFailureNothingIsPromised) {
  const auto producer = init();
  broker.logs.fail_storage();
  EXPECT_EQ(add(producer, {tp("t", 0)}), ErrorCode::COORDINATOR_NOT_AVAILABLE);
  EXPECT_EQ(end(producer, false).error, ErrorCode::COORDINATOR_NOT_AVAILABLE);
  EXPECT_EQ(run(txn->doom({id, producer}, std::nullopt)), ErrorCode::COORDINATOR_NOT_AVAILABLE);
  EXPECT_EQ(run(txn->describe(id)).error, ErrorCode::COORDINATOR_NOT_AVAILABLE);
}

TEST_F(TxnServiceTest, CallsThatMeetTheTopicsCreationAllGetThrough) {
  std::vector<std::shared_ptr<std::optional<InitProducerIdReply>>> replies;
  for (int i = 0; i < 5; ++i) {
    auto reply = std::make_shared<std::optional<InitProducerIdReply>>();
    const TransactionalId other("tx" + std::to_string(i));
    broker.core.spawn(store(txn->init_producer_id(other, 60'000, std::nullopt, false), reply));
    replies.push_back(reply);
  }
  broker.core.run_until_idle();
  for (const auto& reply : replies) {
    ASSERT_TRUE(reply->has_value());
    EXPECT_EQ((*reply)->error, ErrorCode::NONE);
  }
}

}  // namespace
}  // namespace ackord::txn
