// Against a broker with transactional acknowledgements (Ackord); the fallback's tests against one
// without (Kafka 4.4).
#include "client/transactional_acks.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "client/admin.h"
#include "client/share_consumer.h"
#include "tests/integration/client/stock_producer.h"

namespace ackord::client::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr Millis kTime{20000};

// A job's ends: records in a source topic, a consumer, a producer, an output topic.
class TransactionalAcksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_BROKER();
    source_ = make_fixture(1);
    output_ = fresh_name("output");
    ASSERT_TRUE(create_topic(*source_.cluster, TopicName(output_), 1, 1, Deadline::in(kTime)));
    transactional_ = (*source_.cluster->any_broker(Deadline::in(kTime)))->abilities().has(95);
  }

  void start(int records) {
    const StockProducer feeder = make_producer();
    for (int i = 0; i < records; ++i)
      produce(feeder.get(), source_.topic, 0, "k", "in" + std::to_string(i));
    flush(feeder.get());
    producer_ = make_producer(fresh_name("producer"));
    acks_ = std::move(*TransactionalAcks::create(producer_.get()));
    consumer_ = make_consumer();
    acks_->bind(*consumer_);
  }

  std::unique_ptr<ShareConsumer> make_consumer() {
    ShareConsumerConfig config;
    config.client.bootstrap_servers = test_bootstrap();
    config.client.warn = [](std::string_view) {};
    config.group = GroupId(source_.group);
    config.mode = AcknowledgementMode::kTransactional;
    config.fallback = AcknowledgementMode::kExplicit;
    auto consumer = ShareConsumer::create(std::move(config), kTime);
    EXPECT_TRUE(consumer) << consumer.error().message;
    (*consumer)->subscribe({TopicName(source_.topic)});
    return std::move(*consumer);
  }

  std::vector<ShareRecord> poll_for(size_t wanted, Millis time = kTime) {
    std::vector<ShareRecord> all;
    const Deadline deadline = Deadline::in(time);
    while (all.size() < wanted && !deadline.passed()) {
      auto records = consumer_->poll(std::min(Millis(500), deadline.left()));
      EXPECT_TRUE(records) << records.error().message;
      if (!records) break;
      std::move(records->begin(), records->end(), std::back_inserter(all));
    }
    return all;
  }

  void begin() { ASSERT_EQ(rd_kafka_begin_transaction(producer_.get()), nullptr); }

  TransactionResult stage(const std::vector<ShareRecord>& records,
                          AcknowledgeType type = AcknowledgeType::kAccept) {
    for (const ShareRecord& record : records) EXPECT_TRUE(consumer_->acknowledge(record, type));
    auto decided = consumer_->acknowledgements_for_transaction();
    EXPECT_TRUE(decided) << decided.error().message;
    return acks_->send_share_acknowledgements_to_transaction(
        *decided, consumer_->share_group_metadata(), kTime);
  }

  static void expect_ok(const TransactionResult& result) {
    EXPECT_TRUE(result) << name_of(result.error().code) << " " << result.error().message;
  }

  int64_t staged() {
    auto ranges = in_flight_ranges(*source_.cluster, GroupId(source_.group),
                                   TopicName(source_.topic), Deadline::in(kTime));
    EXPECT_TRUE(ranges) << ranges.error().message;
    int64_t count = 0;
    for (const InFlightRange& range : *ranges) {
      if (range.state == RecordState::kTxPending) count += range.last - range.first + 1;
    }
    return count;
  }

  int64_t lag() {
    auto offsets = share_group_offsets(*source_.cluster, GroupId(source_.group),
                                       TopicName(source_.topic), Deadline::in(kTime));
    EXPECT_TRUE(offsets) << offsets.error().message;
    return offsets->empty() ? -1 : offsets->begin()->second.lag;
  }

  // The broker resolves staged records soon after the commit, not before it is answered.
  int64_t await_lag(int64_t wanted) {
    const Deadline deadline = Deadline::in(kTime);
    while (lag() != wanted && !deadline.passed()) rd_kafka_poll(producer_.get(), 20);
    return lag();
  }

  Fixture source_;
  std::string output_;
  bool transactional_ = false;
  StockProducer producer_;
  std::unique_ptr<TransactionalAcks> acks_;
  std::unique_ptr<ShareConsumer> consumer_;
};

#define NEEDS_TRANSACTIONAL_BROKER() \
  if (!transactional_) GTEST_SKIP() << "the broker has no transactional acknowledgements"
#define NEEDS_PLAIN_BROKER() \
  if (transactional_) GTEST_SKIP() << "the broker has transactional acknowledgements"

TEST_F(TransactionalAcksTest, OutputAndAcknowledgementsCommitTogether) {
  NEEDS_TRANSACTIONAL_BROKER();
  start(10);
  const std::vector<ShareRecord> records = poll_for(10);
  ASSERT_EQ(records.size(), 10u);
  begin();
  produce(producer_.get(), output_, 0, "k", "out");
  expect_ok(stage(records));
  EXPECT_EQ(staged(), 10);
  EXPECT_EQ(lag(), 10);
  expect_ok(acks_->commit_transaction(kTime));
  EXPECT_EQ(await_lag(0), 0);
  EXPECT_EQ(staged(), 0);
  EXPECT_THAT(read_committed(output_), ElementsAre("out"));
  EXPECT_THAT(poll_for(1, Millis(1500)), IsEmpty());
}

TEST_F(TransactionalAcksTest, AnAbortBringsTheRecordsBack) {
  NEEDS_TRANSACTIONAL_BROKER();
  start(3);
  std::vector<ShareRecord> records = poll_for(3);
  begin();
  produce(producer_.get(), output_, 0, "k", "never");
  flush(producer_.get());
  expect_ok(stage(records));
  expect_ok(acks_->abort_transaction(kTime));
  records = poll_for(3);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].delivery_count, 2);
  begin();
  produce(producer_.get(), output_, 0, "k", "once");
  expect_ok(stage(records));
  expect_ok(acks_->commit_transaction(kTime));
  EXPECT_EQ(await_lag(0), 0);
  EXPECT_THAT(read_committed(output_), ElementsAre("once"));
}

TEST_F(TransactionalAcksTest, TransactionsWithAcknowledgementsOnlyEndByTheirOwnVerdict) {
  NEEDS_TRANSACTIONAL_BROKER();
  start(2);
  std::vector<ShareRecord> records = poll_for(2);
  begin();
  expect_ok(stage({records[0]}, AcknowledgeType::kReject));
  expect_ok(acks_->commit_transaction(kTime));
  EXPECT_EQ(await_lag(1), 1);
  begin();
  expect_ok(stage({records[1]}));
  EXPECT_EQ(staged(), 1);
  expect_ok(acks_->abort_transaction(kTime));
  records = poll_for(1);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].offset, 1);
}

TEST_F(TransactionalAcksTest, SeveralCallsAndVerdictsInOneTransaction) {
  NEEDS_TRANSACTIONAL_BROKER();
  start(4);
  const std::vector<ShareRecord> records = poll_for(4);
  ASSERT_EQ(records.size(), 4u);
  begin();
  expect_ok(stage({records[0], records[2]}));
  expect_ok(stage({records[1]}, AcknowledgeType::kReject));
  EXPECT_EQ(staged(), 3);
  expect_ok(acks_->commit_transaction(kTime));
  EXPECT_EQ(await_lag(1), 1);
  begin();
  for (const ShareRecord& record : {records[3]}) EXPECT_TRUE(consumer_->acknowledge(record));
  auto decided = consumer_->acknowledgements_for_transaction();
  expect_ok(acks_->send_share_acks_to_transaction(*decided, GroupId(source_.group), kTime));
  expect_ok(acks_->commit_transaction(kTime));
  EXPECT_EQ(await_lag(0), 0);
}

TEST_F(TransactionalAcksTest, ARefusedStageLeavesOnlyTheAbort) {
  NEEDS_TRANSACTIONAL_BROKER();
  start(2);
  const std::vector<ShareRecord> records = poll_for(2);
  begin();
  produce(producer_.get(), output_, 0, "k", "never");
  ShareAcknowledgements not_ours;
  not_ours.partitions[records[0].source] = {{1000, 1000, {1}}};
  not_ours.topics[records[0].source.topic_id] = records[0].topic;
  const TransactionResult staged = acks_->send_share_acknowledgements_to_transaction(
      not_ours, consumer_->share_group_metadata(), kTime);
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.error().code, ErrorCode::INVALID_RECORD_STATE);
  EXPECT_TRUE(staged.error().requires_abort);
  const TransactionResult committed = acks_->commit_transaction(kTime);
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::TRANSACTION_ABORTABLE);
  expect_ok(acks_->abort_transaction(kTime));
  begin();
  expect_ok(stage(records));
  expect_ok(acks_->commit_transaction(kTime));
  EXPECT_EQ(await_lag(0), 0);
  EXPECT_THAT(read_committed(output_), IsEmpty());
}

TEST_F(TransactionalAcksTest, AZombieStagesNothing) {
  NEEDS_TRANSACTIONAL_BROKER();
  start(2);
  const std::vector<ShareRecord> records = poll_for(2);
  begin();
  char id[256];
  size_t size = sizeof id;
  rd_kafka_conf_get(rd_kafka_conf(producer_.get()), "transactional.id", id, &size);
  const StockProducer successor = make_producer(id);
  ASSERT_EQ(rd_kafka_begin_transaction(successor.get()), nullptr);
  produce(successor.get(), output_, 0, "k", "successor");
  flush(successor.get());
  const TransactionResult result = stage(records);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().fatal) << result.error().message;
  EXPECT_EQ(staged(), 0);
  ASSERT_EQ(rd_kafka_commit_transaction(successor.get(), 20000), nullptr);
  ASSERT_TRUE(consumer_->close(kTime));
  consumer_ = make_consumer();
  EXPECT_EQ(poll_for(2).size(), 2u) << "they are still to be worked on";
}

TEST_F(TransactionalAcksTest, TheConsumersDeathDoesNotTouchWhatIsStaged) {
  NEEDS_TRANSACTIONAL_BROKER();
  start(2);
  const std::vector<ShareRecord> records = poll_for(2);
  begin();
  expect_ok(stage({records[0]}));
  ASSERT_TRUE(consumer_->close(kTime));
  consumer_ = make_consumer();
  const std::vector<ShareRecord> rest = poll_for(2, Millis(8000));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].offset, 1);
  expect_ok(acks_->commit_transaction(kTime));
  EXPECT_EQ(await_lag(1), 1);
}

TEST_F(TransactionalAcksTest, ASecondCopyForbidsTheCommitAndComesAfterTheAbort) {
  NEEDS_TRANSACTIONAL_BROKER();
  ASSERT_TRUE(set_group_configs(*source_.cluster, GroupId(source_.group),
                                {{"share.record.lock.duration.ms", "15000"}}, Deadline::in(kTime)));
  start(1);
  std::vector<ShareRecord> records = poll_for(1);
  ASSERT_EQ(records.size(), 1u);
  begin();
  produce(producer_.get(), output_, 0, "k", "never");
  // Nobody acknowledges it within its lock: the broker hands it out again, but the application does
  // not see that.
  const Deadline deadline = Deadline::in(Millis(25000));
  while (!consumer_->book()->refuses_commit(0) && !deadline.passed())
    EXPECT_THAT(poll_for(1, Millis(500)), IsEmpty());
  const TransactionResult committed = acks_->commit_transaction(kTime);
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::TRANSACTION_ABORTABLE);
  expect_ok(acks_->abort_transaction(kTime));
  records = poll_for(1);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].delivery_count, 2);
  begin();
  expect_ok(stage(records));
  expect_ok(acks_->commit_transaction(kTime));
  EXPECT_EQ(await_lag(0), 0);
  EXPECT_THAT(read_committed(output_), IsEmpty());
}

TEST_F(TransactionalAcksTest, FallbackSendsPlainlyAfterTheCommit) {
  NEEDS_PLAIN_BROKER();
  start(2);
  const std::vector<ShareRecord> records = poll_for(2);
  ASSERT_EQ(records.size(), 2u);
  begin();
  produce(producer_.get(), output_, 0, "k", "out");
  flush(producer_.get());
  expect_ok(stage({records[0]}));
  expect_ok(acks_->commit_transaction(kTime));
  begin();
  produce(producer_.get(), output_, 0, "k", "never");
  flush(producer_.get());
  expect_ok(stage({records[1]}));
  expect_ok(acks_->abort_transaction(kTime));
  // The aborted one is released with the next fetch, and comes again.
  const std::vector<ShareRecord> again = poll_for(1);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].offset, 1);
  EXPECT_EQ(await_lag(1), 1);
  EXPECT_THAT(read_committed(output_), ElementsAre("out"));
}

}  // namespace
}  // namespace ackord::client::testing
