// What a client sees of the broker through a network that is spoilt on purpose: what the tests of
// the checkpointing engine rely on; and the same faults met by a transactional producer.
#include <gtest/gtest.h>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/txn_share_acknowledge_request.h"
#include "protocol/generated/txn_share_acknowledge_response.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/proxy.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

using Meanwhile = Proxy::Meanwhile;
using Strings = std::vector<std::string>;

constexpr int16_t kApiVersions = protocol::ApiVersionsRequest::kApiKey;
constexpr int16_t kMetadata = protocol::MetadataRequest::kApiKey;
constexpr int16_t kEndTxn = protocol::EndTxnRequest::kApiKey;
constexpr int16_t kTxnStage = protocol::TxnShareAcknowledgeRequest::kApiKey;
constexpr Millis kShort{200};

protocol::ApiVersionsRequest api_versions() {
  protocol::ApiVersionsRequest request;
  request.client_software_name = "integration";
  request.client_software_version = "1";
  return request;
}

class Network : public ::testing::Test {
 protected:
  const uint16_t listener_ = free_port();
  Proxy network_{listener_};
  BrokerProcess broker_{{}, Surroundings{{{listener_, network_.port()}}, {}}};
  RawClient direct_{broker_.port()};
  RawClient client_{network_.port()};

  // Whether it is answered at once; the connection must hold.
  bool answered() {
    try {
      client_.receive<protocol::ApiVersionsResponse>(client_.send(api_versions(), 3), kShort);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  // Whether the connection has ended.
  static bool ends(RawClient& client) { return !client.receive_frame().has_value(); }
};

TEST_F(Network, IsWhatTheBrokerTellsItsClients) {
  const auto answer = client_.call<protocol::MetadataResponse>(protocol::MetadataRequest(), 9);
  ASSERT_EQ(answer.message.brokers.size(), 1u);
  EXPECT_EQ(answer.message.brokers.front().port, network_.port());
  EXPECT_EQ(network_.passed(Way::kRequests, kMetadata), 1);
  EXPECT_EQ(network_.passed(Way::kAnswers, kMetadata), 1);
  const auto other = direct_.call<protocol::MetadataResponse>(protocol::MetadataRequest(), 9);
  EXPECT_EQ(other.message.brokers.front().port, broker_.port());
}

TEST_F(Network, CutsByApi) {
  network_.inject({Way::kAnswers, Harm::kCutBefore, kMetadata});
  EXPECT_TRUE(answered()) << "of another API";
  client_.send(protocol::MetadataRequest(), 9);
  EXPECT_TRUE(ends(client_));
  EXPECT_EQ(network_.passed(Way::kRequests, kMetadata), 1);
  EXPECT_EQ(network_.passed(Way::kAnswers, kMetadata), 0);
  EXPECT_EQ(network_.struck(), 1);
}

TEST_F(Network, CutsWithinAFrame) {
  network_.inject({Way::kAnswers, Harm::kCutInside, kApiVersions, 1, 1});
  EXPECT_TRUE(answered()) << "spared";
  client_.send(api_versions(), 3);
  EXPECT_TRUE(ends(client_));
  EXPECT_EQ(network_.story(), "answer 18: cut inside\n");
}

TEST_F(Network, LosesInSilence) {
  network_.inject({Way::kRequests, Harm::kVanish, kApiVersions});
  EXPECT_FALSE(answered());
  EXPECT_FALSE(answered()) << "all that follows, too";
  client_ = RawClient(network_.port());
  EXPECT_TRUE(answered());
}

TEST_F(Network, HoldsUntilItIsTold) {
  network_.inject({Way::kRequests, Harm::kHold, kApiVersions});
  const Pending pending = client_.send(api_versions(), 3);
  poll_until("the hold", [&] { return network_.waiting() == 1; });
  EXPECT_EQ(network_.passed(Way::kRequests, kApiVersions), 0);
  network_.release();
  client_.receive<protocol::ApiVersionsResponse>(pending);
}

TEST_F(Network, PartitionsAndHeals) {
  for (const Meanwhile meanwhile : {Meanwhile::kArrives, Meanwhile::kLost}) {
    client_ = RawClient(network_.port());
    network_.partition({Way::kRequests, Way::kAnswers});
    const Pending pending = client_.send(api_versions(), 3);
    RawClient late(network_.port());
    const Pending late_pending = late.send(api_versions(), 3);
    poll_until("both requests", [&] { return network_.waiting() == 2; });
    network_.heal(meanwhile);
    if (meanwhile == Meanwhile::kArrives) {
      client_.receive<protocol::ApiVersionsResponse>(pending);
      late.receive<protocol::ApiVersionsResponse>(late_pending);
    } else {
      EXPECT_FALSE(answered());
    }
    client_ = RawClient(network_.port());
    EXPECT_TRUE(answered());
  }
}

TEST_F(Network, RefusesAndCutsOff) {
  EXPECT_TRUE(answered());
  network_.refuse(true);
  EXPECT_ANY_THROW(RawClient(network_.port()));
  EXPECT_TRUE(answered()) << "on the connection that is there";
  network_.cut_all();
  EXPECT_TRUE(ends(client_));
  network_.refuse(false);
  client_ = RawClient(network_.port());
  EXPECT_TRUE(answered());
}

// ---------------------------------------------------------------- a producer's transaction

// A stage, then EndTxn, whose first copy comes too late, or whose answer is lost. Its repetition
// has ended the transaction by then, and the next one is open: the copy must not touch that.
class LateCopies : public Network, public testing::WithParamInterface<TxnVersion> {
 protected:
  void SetUp() override {
    source_ = create_topic(direct_, "source");
    output_ = create_topic(direct_, "output");
    set_group_configs(direct_, "g", {{"share.auto.offset.reset", "earliest"}});
    integration::produce(direct_, source_, 0, numbered_values(10));
    member_.join({source_});
    member_.acquire(source_, 0, 10);
    txn_.init();
  }
  // The connection whose request is on hold; the producer goes on with a new one.
  RawClient give_up() {
    poll_until("the hold", [&] { return network_.waiting() == 1; });
    RawClient late = std::move(txn_.client());
    txn_.reconnect();
    return late;
  }
  Strings committed() { return read_values(direct_, output_, 0, Isolation::kReadCommitted); }

  ShareMember member_{broker_.port(), "g"};
  TxnProducer txn_{network_.port(), "txn", GetParam()};
  Topic source_;
  Topic output_;
};

TEST_P(LateCopies, OfAStage) {
  ASSERT_EQ(txn_.produce(output_, 0, {"first"}), ErrorCode::NONE);
  const std::vector<Staging> what{{source_, 0, 0, 3}};
  // Which tells two transactions of one epoch apart: clients name it.
  const Enlisted enlisted = txn_.enlist("g", what);
  ASSERT_EQ(enlisted.error, ErrorCode::NONE);
  const auto request = txn_.stage_request(member_, what, enlisted.start_time_ms);
  network_.inject({Way::kRequests, Harm::kHold, kTxnStage});
  const Pending pending = txn_.client().send(request, 0);
  RawClient late = give_up();
  EXPECT_EQ(txn_.stage(request), staged_ok());
  txn_.end_for_sure(true);
  await_transaction_state(direct_, "txn", "CompleteCommit");
  await_share_state(direct_, "g", source_, 0, "4..9: 4-9 ACQUIRED x1");

  ASSERT_EQ(txn_.produce(output_, 0, {"second"}), ErrorCode::NONE);
  network_.release();
  const auto answer = late.receive<protocol::TxnShareAcknowledgeResponse>(pending);
  EXPECT_NE(answer.message.error_code, ErrorCode::NONE);
  EXPECT_EQ(txn_.stage(member_, {{source_, 0, 4, 9}}), staged_ok());
  txn_.end_for_sure(true);
  await_transaction_state(direct_, "txn", "CompleteCommit");
  await_share_state(direct_, "g", source_, 0, "10..10:");
  EXPECT_EQ(committed(), (Strings{"first", "second"}));
}

TEST_P(LateCopies, OfAnEnd) {
  ASSERT_EQ(txn_.produce(output_, 0, {"first"}), ErrorCode::NONE);
  ASSERT_EQ(txn_.stage(member_, {{source_, 0, 0, 3}}), staged_ok());
  network_.inject({Way::kRequests, Harm::kHold, kEndTxn});
  const Pending pending = txn_.send_end(true);
  RawClient late = give_up();
  txn_.end_for_sure(true);
  await_transaction_state(direct_, "txn", "CompleteCommit");
  if (GetParam() == TxnVersion::k1) {
    // Here the late copy of a commit would commit the next transaction, too: that is why there is a
    // version 2. Before that one begins, it is a repetition.
    network_.release();
    const auto answer = late.receive<protocol::EndTxnResponse>(pending);
    EXPECT_EQ(answer.message.error_code, ErrorCode::NONE);
    EXPECT_EQ(committed(), Strings{"first"});
    return;
  }
  // Version 2 has given the producer a new epoch.
  ASSERT_EQ(txn_.produce(output_, 0, {"second"}), ErrorCode::NONE);
  ASSERT_EQ(txn_.stage(member_, {{source_, 0, 4, 9}}), staged_ok());
  network_.release();
  const auto answer = late.receive<protocol::EndTxnResponse>(pending);
  EXPECT_NE(answer.message.error_code, ErrorCode::NONE);
  EXPECT_EQ(transaction_state(direct_, "txn"), "Ongoing");
  EXPECT_EQ(committed(), Strings{"first"});
  txn_.end_for_sure(false);
  await_transaction_state(direct_, "txn", "CompleteAbort");
  await_share_state(direct_, "g", source_, 0, "4..9: 4-9 AVAILABLE x1");
  EXPECT_EQ(committed(), Strings{"first"});
}

TEST_P(LateCopies, OfAnAnsweredEnd) {
  for (const Harm harm : {Harm::kCutBefore, Harm::kCutInside}) {
    const std::string value = harm == Harm::kCutBefore ? "first" : "second";
    const Offset first = harm == Harm::kCutBefore ? 0 : 5;
    ASSERT_EQ(txn_.produce(output_, 0, {value}), ErrorCode::NONE);
    ASSERT_EQ(txn_.stage(member_, {{source_, 0, first, first + 4}}), staged_ok());
    network_.inject({Way::kAnswers, harm, kEndTxn});
    txn_.send_end(true);
    EXPECT_TRUE(ends(txn_.client()));
    await_transaction_state(direct_, "txn", "CompleteCommit");
    txn_.reconnect();
    txn_.end_for_sure(true);
  }
  await_share_state(direct_, "g", source_, 0, "10..10:");
  EXPECT_EQ(committed(), (Strings{"first", "second"}));
}

INSTANTIATE_TEST_SUITE_P(Every, LateCopies, testing::Values(TxnVersion::k1, TxnVersion::k2),
                         [](const testing::TestParamInfo<TxnVersion>& info) {
                           return info.param == TxnVersion::k1 ? "Version1" : "Version2";
                         });

}  // namespace
}  // namespace ackord::integration
