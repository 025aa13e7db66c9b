// The client library on a network that is spoilt: calls end when they must, and say what failed.
#include <gmock/gmock.h>

#include <chrono>

#include "client/batch_transactions.h"
#include "client/share_consumer.h"
#include "protocol/generated/begin_batch_txn_request.h"
#include "protocol/generated/share_fetch_request.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/proxy.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

constexpr Millis kTime{20000};

class ClientNetwork : public ::testing::Test {
 protected:
  void SetUp() override {
    topic_ = create_topic(direct_, "topic");
    set_group_configs(direct_, "g", {{"share.auto.offset.reset", "earliest"}});
    produce(direct_, topic_, 0, numbered_values(10));
  }
  client::ClientConfig config() const {
    client::ClientConfig config;
    config.bootstrap_servers = "127.0.0.1:" + std::to_string(network_.port());
    return config;
  }
  // That has polled the ten records.
  std::unique_ptr<client::ShareConsumer> consumer(std::vector<client::ShareRecord>& records) {
    client::ShareConsumerConfig settings;
    settings.client = config();
    settings.group = GroupId("g");
    settings.mode = client::AcknowledgementMode::kExplicit;
    auto made = client::ShareConsumer::create(std::move(settings), kTime);
    require(made.has_value(), "no consumer");
    (*made)->subscribe({TopicName(topic_.name)});
    poll_until("records", [&] {
      auto polled = (*made)->poll(Millis(500));
      require(polled.has_value(), polled ? "" : polled.error().message);
      for (client::ShareRecord& record : *polled) records.push_back(std::move(record));
      return !records.empty();
    });
    return std::move(*made);
  }
  void accept(client::ShareConsumer& consumer, const std::vector<client::ShareRecord>& records) {
    for (const client::ShareRecord& record : records)
      EXPECT_TRUE(consumer.acknowledge(record).has_value());
  }

  const uint16_t listener_ = free_port();
  Proxy network_{listener_};
  BrokerProcess broker_{{{"group.share.min.heartbeat.interval.ms", "100"},
                         {"group.share.heartbeat.interval.ms", "200"}},
                        Surroundings{{{listener_, network_.port()}}, {}}};
  RawClient direct_{broker_.port()};
  Topic topic_;
};

// The connection of its share session has ended, and a new one does not come about: poll() may not
// take the whole time that a connection may need.
TEST_F(ClientNetwork, PollIsNotHeldUpByABrokerThatIsOutOfReach) {
  std::vector<client::ShareRecord> records;
  const auto member = consumer(records);
  accept(*member, records);
  ASSERT_TRUE(member->commit_sync(kTime).has_value());
  network_.partition({Way::kRequests, Way::kAnswers});
  network_.cut_all();
  const auto begin = Clock::now();
  for (int i = 0; i < 3; ++i) {
    const auto polled = member->poll(Millis(200));
    ASSERT_TRUE(polled.has_value()) << polled.error().message;
    EXPECT_TRUE(polled->empty());
  }
  EXPECT_LT(Clock::now() - begin, config().connection_timeout);
  network_.heal(Proxy::Meanwhile::kLost);
  produce(direct_, topic_, 0, {"more"});
  poll_until("the next record", [&] {
    auto polled = member->poll(Millis(200));
    require(polled.has_value(), "poll");
    if (polled->empty()) return false;
    EXPECT_EQ(polled->front().value, "more");
    return true;
  });
}

// A fetch is under way whose answer never comes: commit_sync() ends by its own timeout, not by that
// of the fetch.
TEST_F(ClientNetwork, CommitSyncEndsByItsOwnTimeout) {
  std::vector<client::ShareRecord> records;
  const auto member = consumer(records);
  // Nobody polls between the answer of a fetch and the next one: the poll of the records has none.
  accept(*member, records);
  network_.inject({Way::kAnswers, Harm::kVanish, protocol::ShareFetchRequest::kApiKey});
  (void)member->poll(Millis(100));
  const auto begin = Clock::now();
  (void)member->commit_sync(Millis(300));
  EXPECT_LT(Clock::now() - begin, config().request_timeout);
  // What became of the acknowledgements shows in time: they were sent with the fetch.
  await_share_state(direct_, "g", topic_, 0, "10..10:");
}

TEST_F(ClientNetwork, AnErrorSaysWhichRequestAndWhichBroker) {
  client::ClientConfig short_requests = config();
  short_requests.request_timeout = Millis(100);
  auto made = client::BatchTransactionCoordinator::create(short_requests, GroupId("g"), kTime);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  network_.inject({Way::kAnswers, Harm::kVanish, protocol::BeginBatchTxnRequest::kApiKey, kAlways});
  const auto begun = (*made)->begin("one", Millis(60000), Millis(1000));
  ASSERT_FALSE(begun.has_value());
  EXPECT_EQ(begun.error().code, ErrorCode::REQUEST_TIMED_OUT);
  EXPECT_THAT(begun.error().message,
              HasSubstr("BeginBatchTxnResponse, 127.0.0.1:" + std::to_string(network_.port()) +
                        ": no answer in time"));
  EXPECT_GT(network_.struck(), 1) << "it has tried again";
  network_.refuse(true);
  network_.cut_all();
  const auto refused = (*made)->begin("one", Millis(60000), Millis(1000));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message,
              HasSubstr("127.0.0.1:" + std::to_string(network_.port()) + ": connect: "));
}

// Nobody answers: how often does a client come back? Its waits double up to retry.backoff.max.ms.
TEST_F(ClientNetwork, ReconnectsAreFew) {
  std::vector<client::ShareRecord> records;
  const auto member = consumer(records);
  network_.inject({Way::kRequests, Harm::kCutBefore, kAnyApi, kAlways});
  network_.cut_all();
  const int before = network_.taken();
  const auto until = Clock::now() + std::chrono::seconds(3);
  poll_until("some seconds", [&] {
    (void)member->poll(Millis(100));
    return Clock::now() > until;
  });
  // Heartbeats, fetches and metadata would try 180 times if they always waited as at first.
  EXPECT_LT(network_.taken() - before, 60);
}

}  // namespace
}  // namespace ackord::integration
