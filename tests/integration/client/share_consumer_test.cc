#include "client/share_consumer.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "client/admin.h"
#include "tests/integration/client/stock_producer.h"

namespace ackord::client::testing {
namespace {

ShareConsumerConfig config_of(const Fixture& fixture, AcknowledgementMode mode) {
  ShareConsumerConfig config;
  config.client.bootstrap_servers = test_bootstrap();
  config.client.warn = [](std::string_view) {};
  config.group = GroupId(fixture.group);
  config.mode = mode;
  return config;
}

std::unique_ptr<ShareConsumer> make_consumer(const Fixture& fixture, ShareConsumerConfig config) {
  auto consumer = ShareConsumer::create(std::move(config), Millis(30000));
  EXPECT_TRUE(consumer) << consumer.error().message;
  if (!consumer) return nullptr;
  (*consumer)->subscribe({TopicName(fixture.topic)});
  return std::move(*consumer);
}

// Polls until `wanted` records were seen or nothing has come for long.
std::vector<ShareRecord> poll_for(ShareConsumer& consumer, size_t wanted,
                                  Millis time = Millis(20000)) {
  std::vector<ShareRecord> all;
  const Deadline deadline = Deadline::in(time);
  while (all.size() < wanted && !deadline.passed()) {
    auto records = consumer.poll(std::min(Millis(1000), deadline.left()));
    EXPECT_TRUE(records) << records.error().message;
    if (!records) break;
    std::move(records->begin(), records->end(), std::back_inserter(all));
  }
  return all;
}

// Until the group's lag is as wanted; the lag otherwise.
int64_t await_lag(const Fixture& fixture, int64_t wanted) {
  const Deadline deadline = Deadline::in(Millis(20000));
  int64_t lag = -1;
  while (lag != wanted && !deadline.passed()) {
    auto offsets = share_group_offsets(*fixture.cluster, GroupId(fixture.group),
                                       TopicName(fixture.topic), deadline);
    EXPECT_TRUE(offsets) << offsets.error().message;
    if (!offsets) return -1;
    lag = 0;
    for (const auto& [partition, offset] : *offsets) lag += offset.lag;
  }
  return lag;
}

void expect_all_none(const Result<std::map<TopicIdPartition, ErrorCode>>& results) {
  ASSERT_TRUE(results) << results.error().message;
  for (const auto& [partition, code] : *results)
    EXPECT_EQ(code, ErrorCode::NONE) << partition.partition;
}

TEST(ShareConsumer, ImplicitModeAcceptsWhatAPollDelivered) {
  SKIP_WITHOUT_BROKER();
  const Fixture fixture = make_fixture(3);
  const StockProducer producer = make_producer();
  for (int i = 0; i < 1500; ++i) {
    produce(producer.get(), fixture.topic, i % 3, "k" + std::to_string(i), "v" + std::to_string(i));
  }
  flush(producer.get());
  auto consumer = make_consumer(fixture, config_of(fixture, AcknowledgementMode::kImplicit));
  ASSERT_TRUE(consumer);
  std::set<std::string> values;
  const std::vector<ShareRecord> records = poll_for(*consumer, 1500);
  for (const ShareRecord& record : records) {
    values.insert(*record.value);
    EXPECT_EQ(record.topic.sv(), fixture.topic);
    EXPECT_EQ(record.delivery_count, 1);
    EXPECT_GT(record.timestamp, 0);
  }
  EXPECT_EQ(records.size(), 1500u);
  EXPECT_EQ(values.size(), 1500u);
  expect_all_none(consumer->commit_sync(Millis(10000)));
  EXPECT_EQ(await_lag(fixture, 0), 0);
  EXPECT_TRUE(consumer->close(Millis(10000)));
}

TEST(ShareConsumer, ExplicitModeSendsEachVerdict) {
  SKIP_WITHOUT_BROKER();
  const Fixture fixture = make_fixture(1);
  const StockProducer producer = make_producer();
  for (int i = 0; i < 10; ++i) produce(producer.get(), fixture.topic, 0, "k", std::to_string(i));
  flush(producer.get());
  std::map<Offset, ErrorCode> answered;
  ShareConsumerConfig config = config_of(fixture, AcknowledgementMode::kExplicit);
  config.on_acknowledged = [&](const TopicIdPartition&,
                               const std::vector<AcknowledgementBatch>& batches, ErrorCode code) {
    for (const AcknowledgementBatch& batch : batches) {
      for (Offset offset = batch.first; offset <= batch.last; ++offset) answered[offset] = code;
    }
  };
  auto consumer = make_consumer(fixture, std::move(config));
  ASSERT_TRUE(consumer);
  const std::vector<ShareRecord> records = poll_for(*consumer, 10);
  ASSERT_EQ(records.size(), 10u);
  EXPECT_EQ(consumer->poll(Millis(0)).error().code, ErrorCode::INVALID_RECORD_STATE);
  for (const ShareRecord& record : records) {
    const AcknowledgeType type = record.offset == 3   ? AcknowledgeType::kReject
                                 : record.offset >= 8 ? AcknowledgeType::kRelease
                                                      : AcknowledgeType::kAccept;
    EXPECT_TRUE(consumer->acknowledge(record, type));
  }
  // The released ones come again; the verdicts travel with that very fetch.
  const std::vector<ShareRecord> again = poll_for(*consumer, 2);
  ASSERT_EQ(again.size(), 2u);
  for (const ShareRecord& record : again) {
    EXPECT_GE(record.offset, 8);
    EXPECT_EQ(record.delivery_count, 2);
    EXPECT_TRUE(consumer->acknowledge(record, AcknowledgeType::kAccept));
  }
  EXPECT_FALSE(consumer->acknowledge(records[0])) << "its verdict is out";
  expect_all_none(consumer->commit_sync(Millis(10000)));
  EXPECT_EQ(answered.size(), 10u);
  for (const auto& [offset, code] : answered) EXPECT_EQ(code, ErrorCode::NONE) << offset;
  EXPECT_EQ(await_lag(fixture, 0), 0);
  EXPECT_TRUE(consumer->close(Millis(10000)));
}

TEST(ShareConsumer, RenewalKeepsTheRecord) {
  SKIP_WITHOUT_BROKER();
  const Fixture fixture = make_fixture(1);
  const StockProducer producer = make_producer();
  produce(producer.get(), fixture.topic, 0, "k", "v");
  flush(producer.get());
  auto consumer = make_consumer(fixture, config_of(fixture, AcknowledgementMode::kExplicit));
  ASSERT_TRUE(consumer);
  const std::vector<ShareRecord> records = poll_for(*consumer, 1);
  ASSERT_EQ(records.size(), 1u);
  ASSERT_TRUE(consumer->acknowledge(records[0], AcknowledgeType::kRenew));
  expect_all_none(consumer->commit_sync(Millis(10000)));
  ASSERT_TRUE(consumer->acknowledge(records[0], AcknowledgeType::kAccept));
  expect_all_none(consumer->commit_sync(Millis(10000)));
  EXPECT_EQ(await_lag(fixture, 0), 0);
}

TEST(ShareConsumer, ReadsEveryCodecAndSkipsControlRecords) {
  SKIP_WITHOUT_BROKER();
  const Fixture fixture = make_fixture(1);
  size_t sent = 0;
  for (const char* codec : {"none", "gzip", "snappy", "lz4", "zstd"}) {
    const StockProducer producer = make_producer(fresh_name("producer"), codec);
    ASSERT_EQ(rd_kafka_begin_transaction(producer.get()), nullptr);
    for (int i = 0; i < 50; ++i, ++sent) {
      produce(producer.get(), fixture.topic, 0, codec, std::string(200, 'x') + std::to_string(i));
    }
    ASSERT_EQ(rd_kafka_commit_transaction(producer.get(), 30000), nullptr);
  }
  ShareConsumerConfig config = config_of(fixture, AcknowledgementMode::kImplicit);
  ASSERT_TRUE(config.set("share.acquire.mode", "record_limit"));
  ASSERT_TRUE(config.set("max.poll.records", "40"));
  auto consumer = make_consumer(fixture, std::move(config));
  ASSERT_TRUE(consumer);
  const std::vector<ShareRecord> records = poll_for(*consumer, sent);
  EXPECT_EQ(records.size(), sent);
  EXPECT_EQ(poll_for(*consumer, 1, Millis(2000)).size(), 0u);
  expect_all_none(consumer->commit_sync(Millis(10000)));
  EXPECT_EQ(await_lag(fixture, 0), 0) << "five control records were acknowledged as gaps";
}

TEST(ShareConsumer, ClosingReleasesAndTheNextMemberGetsTheRecords) {
  SKIP_WITHOUT_BROKER();
  const Fixture fixture = make_fixture(1);
  const StockProducer producer = make_producer();
  for (int i = 0; i < 20; ++i) produce(producer.get(), fixture.topic, 0, "k", std::to_string(i));
  flush(producer.get());
  auto first = make_consumer(fixture, config_of(fixture, AcknowledgementMode::kExplicit));
  ASSERT_TRUE(first);
  ASSERT_EQ(poll_for(*first, 20).size(), 20u);
  ASSERT_TRUE(first->close(Millis(10000)));
  auto second = make_consumer(fixture, config_of(fixture, AcknowledgementMode::kImplicit));
  ASSERT_TRUE(second);
  const std::vector<ShareRecord> records = poll_for(*second, 20);
  ASSERT_EQ(records.size(), 20u);
  for (const ShareRecord& record : records) EXPECT_EQ(record.delivery_count, 2);
  EXPECT_TRUE(second->close(Millis(10000)));
}

// Against a broker without transactional acknowledgements (Kafka 4.4); with one against Ackord
// these two skip.
bool broker_is_transactional(const Fixture& fixture) {
  return (*fixture.cluster->any_broker(Deadline::in(Millis(10000))))->abilities().has(95);
}

TEST(ShareConsumer, TransactionalModeFailsFastWithoutTheBrokersHelp) {
  SKIP_WITHOUT_BROKER();
  const Fixture fixture = make_fixture(1);
  if (broker_is_transactional(fixture)) GTEST_SKIP();
  auto consumer =
      ShareConsumer::create(config_of(fixture, AcknowledgementMode::kTransactional), Millis(10000));
  ASSERT_FALSE(consumer);
  EXPECT_EQ(consumer.error().code, ErrorCode::UNSUPPORTED_VERSION);
}

TEST(ShareConsumer, FallbackWarnsOnce) {
  SKIP_WITHOUT_BROKER();
  const Fixture fixture = make_fixture(1);
  if (broker_is_transactional(fixture)) GTEST_SKIP();
  int warnings = 0;
  ShareConsumerConfig config = config_of(fixture, AcknowledgementMode::kTransactional);
  config.client.warn = [&](std::string_view) { ++warnings; };
  ASSERT_TRUE(config.set("share.acknowledgement.fallback", "explicit"));
  auto consumer = make_consumer(fixture, std::move(config));
  ASSERT_TRUE(consumer);
  EXPECT_TRUE(consumer->falls_back());
  EXPECT_EQ(warnings, 1);
}

}  // namespace
}  // namespace ackord::client::testing
