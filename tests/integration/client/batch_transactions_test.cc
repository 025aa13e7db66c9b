// Batch transactions as an engine uses them: one coordinator, executors with a share consumer each.
// Against a broker without them (Kafka): the coordinator does not start.
#include "client/batch_transactions.h"

#include <gmock/gmock.h>

#include "client/admin.h"
#include "client/share_consumer.h"
#include "tests/integration/client/stock_producer.h"

namespace ackord::client::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Millis kTime{20000};

ClientConfig client_config() {
  ClientConfig config;
  config.bootstrap_servers = test_bootstrap();
  config.warn = [](std::string_view) {};
  return config;
}

// One task of the engine.
struct Task {
  std::unique_ptr<ShareConsumer> consumer;
  std::unique_ptr<BatchTransactionExecutor> executor;

  // Stages what a poll brings; how many.
  Result<size_t> step(const std::string& id) {
    auto records = consumer->poll(Millis(200));
    if (!records) return records.error();
    for (const ShareRecord& record : *records) {
      if (Result<void> decided = consumer->acknowledge(record); !decided) return decided.error();
    }
    auto verdicts = consumer->acknowledgements_for_transaction();
    if (!verdicts) return verdicts.error();
    Result<void> staged =
        executor->acknowledge(id, *verdicts, consumer->share_group_metadata(), kTime);
    if (!staged) return staged.error();
    return records->size();
  }
  StagedOffsets reported(const std::string& id) const {
    const Result<StagedOffsets> offsets = executor->report(id);
    EXPECT_TRUE(offsets) << offsets.error().message;
    return offsets ? *offsets : StagedOffsets();
  }
};

class BatchTransactionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_BROKER();
    source_ = make_fixture(2);
    auto coordinator =
        BatchTransactionCoordinator::create(client_config(), GroupId(source_.group), kTime);
    const bool able = (*source_.cluster->any_broker(Deadline::in(kTime)))->abilities().has(20001);
    if (!able) {
      ASSERT_FALSE(coordinator);
      EXPECT_EQ(coordinator.error().code, ErrorCode::UNSUPPORTED_VERSION);
      GTEST_SKIP() << "the broker has no batch transactions";
    }
    ASSERT_TRUE(coordinator) << coordinator.error().message;
    coordinator_ = std::move(*coordinator);
    feed(10);
  }

  void feed(int records) {
    const StockProducer feeder = make_producer();
    for (int i = 0; i < records; ++i) produce(feeder.get(), source_.topic, i % 2, "k", "v");
    flush(feeder.get());
  }
  Task make_task() {
    ShareConsumerConfig config;
    config.client = client_config();
    config.group = GroupId(source_.group);
    config.mode = AcknowledgementMode::kTransactional;
    auto consumer = ShareConsumer::create(std::move(config), kTime);
    EXPECT_TRUE(consumer) << consumer.error().message;
    (*consumer)->subscribe({TopicName(source_.topic)});
    return {std::move(*consumer), std::move(*BatchTransactionExecutor::create(client_config()))};
  }
  // Until they have staged `count` records in it.
  static Result<void> work(const std::string& id, std::vector<Task*> tasks, size_t count) {
    size_t staged = 0;
    const Deadline deadline = Deadline::in(kTime);
    while (staged < count && !deadline.passed()) {
      for (Task* task : tasks) {
        const Result<size_t> step = task->step(id);
        if (!step) return step.error();
        staged += *step;
      }
    }
    EXPECT_EQ(staged, count);
    return {};
  }
  static StagedOffsets sum_of(const std::string& id, const std::vector<const Task*>& tasks) {
    StagedOffsets sum;
    for (const Task* task : tasks) sum.add(task->reported(id));
    return sum;
  }
  int64_t lag() {
    auto offsets = share_group_offsets(*source_.cluster, GroupId(source_.group),
                                       TopicName(source_.topic), Deadline::in(kTime));
    EXPECT_TRUE(offsets) << offsets.error().message;
    int64_t lag = 0;
    for (const auto& [partition, offset] : *offsets) lag += offset.lag;
    return lag;
  }
  std::string id(const std::string& checkpoint) const {
    return source_.group + "-job-" + checkpoint;
  }
  void begin(const std::string& id) { expect_ok(coordinator_->begin(id, kTime, kTime)); }
  static void expect_ok(const Result<void>& result) {
    EXPECT_TRUE(result) << name_of(result.error().code) << " " << result.error().message;
  }
  std::vector<std::string> pending() {
    const auto listed = coordinator_->list_pending(source_.group, kTime);
    EXPECT_TRUE(listed) << listed.error().message;
    std::vector<std::string> ids;
    for (const BatchTransaction& one : *listed) ids.push_back(one.id);
    return ids;
  }

  Fixture source_;
  std::unique_ptr<BatchTransactionCoordinator> coordinator_;
};

TEST_F(BatchTransactionsTest, WhatAllExecutorsHaveStagedCommits) {
  Task first = make_task();
  Task second = make_task();
  begin(id("1"));
  expect_ok(work(id("1"), {&first, &second}, 10));
  EXPECT_EQ(lag(), 10);
  expect_ok(coordinator_->prepare(id("1"), sum_of(id("1"), {&first, &second}), kTime));
  EXPECT_THAT(pending(), ElementsAre(id("1")));
  expect_ok(coordinator_->commit(id("1"), kTime));
  EXPECT_EQ(lag(), 0) << "resolved when the commit is answered";
  expect_ok(coordinator_->commit(id("1"), kTime));
  EXPECT_THAT(pending(), IsEmpty());
  first.executor->ended(id("1"), true);
  second.executor->ended(id("1"), true);
  feed(2);
  begin(id("2"));
  expect_ok(work(id("2"), {&first, &second}, 2));
  expect_ok(coordinator_->prepare(id("2"), sum_of(id("2"), {&first, &second}), kTime));
  expect_ok(coordinator_->commit(id("2"), kTime));
  EXPECT_EQ(lag(), 0);
}

TEST_F(BatchTransactionsTest, WhatIsAbortedIsDeliveredAgain) {
  Task task = make_task();
  begin(id("1"));
  expect_ok(work(id("1"), {&task}, 10));
  expect_ok(coordinator_->abort(id("1"), kTime));
  EXPECT_EQ(lag(), 10);
  task.executor->ended(id("1"), false);
  begin(id("2"));
  expect_ok(work(id("2"), {&task}, 10));
  EXPECT_EQ(task.reported(id("2")).size(), 10);
  expect_ok(coordinator_->prepare(id("2"), task.reported(id("2")), kTime));
  expect_ok(coordinator_->abort(id("2"), kTime));
  EXPECT_EQ(lag(), 10);
}

TEST_F(BatchTransactionsTest, AZombieOfTheSameIdIsFoundByTheSum) {
  Task zombie = make_task();
  begin(id("1"));
  expect_ok(work(id("1"), {&zombie}, 10));
  expect_ok(zombie.consumer->close(kTime));
  feed(3);
  Task task = make_task();
  expect_ok(work(id("1"), {&task}, 3));
  // The engine knows of one executor only.
  const Result<void> prepared = coordinator_->prepare(id("1"), task.reported(id("1")), kTime);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, ErrorCode::TRANSACTION_ABORTABLE);
  EXPECT_THAT(pending(), IsEmpty()) << "it is aborted";
  EXPECT_EQ(lag(), 13);
}

// A stage that is sent again succeeds, whoever sends it: both executors have results of these.
TEST_F(BatchTransactionsTest, WhatTwoExecutorsHaveStagedDoesNotCommit) {
  Task first = make_task();
  Task second = make_task();
  begin(id("1"));
  auto records = first.consumer->poll(kTime);
  ASSERT_TRUE(records);
  for (const ShareRecord& record : *records) expect_ok(first.consumer->acknowledge(record));
  auto verdicts = first.consumer->acknowledgements_for_transaction();
  ASSERT_TRUE(verdicts);
  for (const Task* task : {&first, &second}) {
    expect_ok(task->executor->acknowledge(id("1"), *verdicts,
                                          first.consumer->share_group_metadata(), kTime));
    EXPECT_EQ(task->reported(id("1")).size(), verdicts->size());
    verdicts->origin = nullptr;  // the second one is not the consumer's own
  }
  const StagedOffsets sum = sum_of(id("1"), {&first, &second});
  EXPECT_EQ(sum.size(), verdicts->size());
  EXPECT_EQ(coordinator_->prepare(id("1"), sum, kTime).error().code,
            ErrorCode::TRANSACTION_ABORTABLE);
  EXPECT_THAT(pending(), IsEmpty()) << "it is aborted";
  first.executor->ended(id("1"), false);
  second.executor->ended(id("1"), false);
  begin(id("2"));
  expect_ok(work(id("2"), {&first, &second}, 10));
}

TEST_F(BatchTransactionsTest, ALateAcknowledgementIsRefusedAndReported) {
  Task task = make_task();
  begin(id("1"));
  expect_ok(coordinator_->prepare(id("1"), {}, kTime));
  EXPECT_EQ(work(id("1"), {&task}, 10).error().code, ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(task.executor->report(id("1")).error().code, ErrorCode::TRANSACTION_ABORTABLE);
  expect_ok(coordinator_->commit(id("1"), kTime));
  task.executor->ended(id("1"), false);
  begin(id("2"));
  expect_ok(work(id("2"), {&task}, 10));
  EXPECT_EQ(task.reported(id("2")).size(), 10) << "given back, and staged in the next one";
}

TEST_F(BatchTransactionsTest, AnIdThatAnEarlierAttemptHasUsedIsNotTakenOver) {
  Task zombie = make_task();
  begin(id("1"));
  expect_ok(work(id("1"), {&zombie}, 10));
  expect_ok(zombie.consumer->close(kTime));
  EXPECT_EQ(coordinator_->begin(id("1"), kTime, kTime).error().code, ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(lag(), 10) << "what it had staged is free again";
  EXPECT_THAT(pending(), IsEmpty());
}

TEST_F(BatchTransactionsTest, ARestartedEngineRecovers) {
  Task task = make_task();
  for (const char* checkpoint : {"1", "2"}) {
    begin(id(checkpoint));
    expect_ok(work(id(checkpoint), {&task}, checkpoint[0] == '1' ? 10 : 6));
    expect_ok(coordinator_->prepare(id(checkpoint), task.reported(id(checkpoint)), kTime));
    if (checkpoint[0] == '1') feed(6);
  }
  begin(id("3"));
  // Of two that are prepared the engine had made one durable.
  auto restarted =
      BatchTransactionCoordinator::create(client_config(), GroupId(source_.group), kTime);
  ASSERT_TRUE(restarted);
  const auto recovered =
      (*restarted)
          ->recover(source_.group, [&](const std::string& one) { return one == id("1"); }, kTime);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(recovered->committed, ElementsAre(id("1")));
  EXPECT_THAT(recovered->aborted, ElementsAre(id("2"), id("3")));
  EXPECT_EQ(lag(), 6);
  const auto again =
      (*restarted)->recover(source_.group, [](const std::string&) { return false; }, kTime);
  ASSERT_TRUE(again);
  EXPECT_THAT(again->committed, IsEmpty());
  EXPECT_THAT(again->aborted, IsEmpty());
}

}  // namespace
}  // namespace ackord::client::testing
