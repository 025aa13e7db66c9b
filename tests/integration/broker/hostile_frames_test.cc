// Frames that no client sends, on one connection, while another one works undisturbed.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/txn_share_acknowledge_request.h"
#include "protocol/record_batch/big_endian.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

using Bytes = std::vector<std::byte>;

class HostileFrames : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { broker_ = std::make_unique<BrokerProcess>(); }
  static void TearDownTestSuite() {
    if (broker_ && broker_->running()) {
      EXPECT_EQ(broker_->stop(), 0);
    }
    broker_.reset();
  }

  void SetUp() override { topic_ = create_topic(good_, fresh_name("t")); }
  // The connection that behaves is still served: by the same process.
  void TearDown() override {
    EXPECT_EQ(produce(good_, topic_, 0, {"v"}), 0);
    RawClient another(broker_->port());
    EXPECT_EQ(read_values(another, topic_, 0, Isolation::kReadUncommitted),
              std::vector<std::string>{"v"});
  }

  static void expect_closed(const Bytes& bytes) {
    RawClient bad(broker_->port());
    bad.send_bytes(bytes);
    EXPECT_EQ(bad.receive_frame(), std::nullopt);
  }
  static Bytes with_length(int32_t length, const Bytes& body = {}) {
    Bytes bytes(sizeof length);
    protocol::store_big(bytes.data(), length);
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
  }
  template <class Request>
  static Bytes good_frame(const Request& request, int16_t version) {
    return RawClient::frame(request, Pending{Request::kApiKey, version, 7});
  }
  static protocol::ApiVersionsRequest versions() {
    protocol::ApiVersionsRequest request;
    request.client_software_name = "integration";
    request.client_software_version = "1";
    return request;
  }

  static std::unique_ptr<BrokerProcess> broker_;
  RawClient good_{broker_->port()};
  Topic topic_;
};

std::unique_ptr<BrokerProcess> HostileFrames::broker_;

TEST_F(HostileFrames, LengthsThatCannotBe) {
  for (const int32_t length : {-1, 0, 1, 7, std::numeric_limits<int32_t>::min()}) {
    expect_closed(with_length(length, Bytes(8)));
  }
  // Refused from the length alone: the bytes never come.
  expect_closed(with_length(std::numeric_limits<int32_t>::max()));
  expect_closed(with_length(1 << 30));
}

TEST_F(HostileFrames, AnotherProtocol) {
  const std::string http = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const auto bytes = std::as_bytes(std::span(http.data(), http.size()));
  expect_closed(Bytes(bytes.begin(), bytes.end()));
  Bytes tls{std::byte{0x16}, std::byte{3}, std::byte{1}, std::byte{2}, std::byte{0}};
  tls.resize(512);
  expect_closed(tls);
}

TEST_F(HostileFrames, UnknownKeysAndVersions) {
  Bytes frame = good_frame(versions(), 3);
  protocol::store_big<int16_t>(frame.data() + 4, 999);
  expect_closed(frame);
  frame = good_frame(protocol::MetadataRequest{}, 12);
  protocol::store_big<int16_t>(frame.data() + 6, 99);
  expect_closed(frame);
}

TEST_F(HostileFrames, CountsThatAreNotBackedByBytes) {
  // Metadata v1: a classic array count at the body's start.
  protocol::MetadataRequest request;
  request.topics.emplace();
  Bytes frame = good_frame(request, 1);
  for (const int32_t count : {std::numeric_limits<int32_t>::max(), 1}) {
    protocol::store_big<int32_t>(frame.data() + frame.size() - 4, count);
    expect_closed(frame);
  }
}

// Every request cut at every byte: closed or answered, but nobody else suffers.
TEST_F(HostileFrames, CutRequests) {
  protocol::TxnShareAcknowledgeRequest stage;
  stage.transactional_id = TransactionalId("t");
  stage.group_id = GroupId("g");
  stage.member_id = String("m");
  auto& entry = stage.topics.emplace_back();
  auto& batch = entry.partitions.emplace_back().acknowledgement_batches.emplace_back();
  batch.acknowledge_types = {1, 1, 1};
  const Bytes whole = good_frame(stage, 0);
  for (size_t size = 4; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    protocol::store_big<int32_t>(cut.data(), static_cast<int32_t>(size - 4));
    expect_closed(cut);
  }
}

// Random damage to good requests. The seed is fixed: a failure can be repeated.
TEST_F(HostileFrames, DamagedRequests) {
  protocol::ProduceRequest produce_request;
  produce_request.acks = -1;
  auto& data = produce_request.topic_data.emplace_back();
  data.name = TopicName("not-there");
  const Bytes records(200, std::byte{0x55});
  data.partition_data.emplace_back().records = Records::view(records);
  protocol::ShareFetchRequest share_fetch;
  share_fetch.group_id = GroupId("g");
  share_fetch.topics.emplace_back().partitions.emplace_back();
  const std::vector<Bytes> frames{good_frame(produce_request, 11), good_frame(share_fetch, 2),
                                  good_frame(protocol::MetadataRequest{}, 12),
                                  good_frame(versions(), 3)};
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Bytes frame = frames[static_cast<size_t>(round) % frames.size()];
    for (int change = 0; change < 3; ++change) {
      frame[4 + random() % (frame.size() - 4)] = static_cast<std::byte>(random());
    }
    RawClient bad(broker_->port());
    bad.send_bytes(frame);
    // Whatever it made of that, the next connection's request is answered.
    if (round % 10 == 0) {
      RawClient next(broker_->port());
      EXPECT_EQ(next.call<protocol::ApiVersionsResponse>(versions(), 3).message.error_code,
                ErrorCode::NONE);
    }
  }
}

TEST_F(HostileFrames, ARequestThatComesByteByByte) {
  RawClient slow(broker_->port());
  const Bytes frame = good_frame(versions(), 3);
  for (const std::byte& byte : frame) slow.send_bytes(std::span(&byte, 1));
  EXPECT_TRUE(slow.receive_frame().has_value());
}

TEST_F(HostileFrames, ConnectionsThatSayNothing) {
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<RawClient>(broker_->port()));
  RawClient busy(broker_->port());
  EXPECT_EQ(busy.call<protocol::ApiVersionsResponse>(versions(), 3).message.error_code,
            ErrorCode::NONE);
}

}  // namespace
}  // namespace ackord::integration
