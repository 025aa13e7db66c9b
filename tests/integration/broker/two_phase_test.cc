// KeepPreparedTxn (KIP-939) with the real broker: the transaction outlives its producer and a
// SIGKILL of the broker, with what it staged, and its old producer cannot touch it any more.
#include <gtest/gtest.h>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

using Strings = std::vector<std::string>;

class TwoPhase : public ::testing::Test {
 protected:
  void SetUp() override {
    source_ = create_topic(client_, "source");
    output_ = create_topic(client_, "output");
    produce(client_, source_, 0, numbered_values(10));
    set_group_configs(client_, "g", {{"share.auto.offset.reset", "earliest"}});
    member_.join({source_});
    member_.acquire(source_, 0, 10);
    old_.init_two_phase(false);
    ASSERT_EQ(old_.produce(output_, 0, {"prepared"}), ErrorCode::NONE);
    ASSERT_EQ(old_.stage(member_, {{source_, 0, 0, 9}}), staged_ok());
  }
  void crash() {
    broker_.crash();
    client_ = RawClient(broker_.port());
    old_.reconnect();
    successor_.reconnect();
    member_.reconnect();
  }
  // What the old producer still tries.
  void expect_sealed() {
    EXPECT_EQ(old_.produce(output_, 0, {"late"}), ErrorCode::INVALID_PRODUCER_EPOCH);
    EXPECT_EQ(old_.stage(member_, {{source_, 0, 0, 9}}), refused_whole(ErrorCode::PRODUCER_FENCED));
  }
  Strings committed() { return read_values(client_, output_, 0, Isolation::kReadCommitted); }

  BrokerProcess broker_{{{"transaction.two.phase.commit.enable", "true"}}};
  RawClient client_{broker_.port()};
  ShareMember member_{broker_.port(), "g"};
  TxnProducer old_{broker_.port(), "txn", TxnVersion::k2};
  TxnProducer successor_{broker_.port(), "txn", TxnVersion::k2};
  Topic source_;
  Topic output_;
};

TEST_F(TwoPhase, AKeptTransactionIsCommittedAfterACrash) {
  EXPECT_EQ(successor_.init_two_phase(true), old_.producer_epoch());
  EXPECT_EQ(successor_.producer_epoch(), old_.producer_epoch() + 1);
  expect_sealed();
  crash();
  expect_sealed();
  EXPECT_EQ(transaction_state(client_, "txn"), "Ongoing");
  EXPECT_EQ(committed(), Strings{});
  EXPECT_EQ(share_state(client_, "g", source_), "0..9: 0-9 TX_PENDING ACCEPT x1");
  EXPECT_EQ(successor_.produce(output_, 0, {"early"}), ErrorCode::INVALID_TXN_STATE);

  // Who knows its identity decides.
  EXPECT_EQ(old_.end(true), ErrorCode::NONE);
  await_transaction_state(client_, "txn", "CompleteCommit");
  EXPECT_EQ(committed(), Strings{"prepared"});
  await_share_state(client_, "g", source_, 0, "10..10:");
  EXPECT_EQ(successor_.produce(output_, 0, {"next"}), ErrorCode::NONE);
  successor_.end_for_sure(true);
  await_transaction_state(client_, "txn", "CompleteCommit");
  EXPECT_EQ(committed(), (Strings{"prepared", "next"}));
}

TEST_F(TwoPhase, TheLastSuccessorMayAbortIt) {
  EXPECT_EQ(successor_.init_two_phase(true), old_.producer_epoch());
  TxnProducer last(broker_.port(), "txn", TxnVersion::k2);
  EXPECT_EQ(last.init_two_phase(true), old_.producer_epoch());
  EXPECT_EQ(successor_.end(true), ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(last.end(false), ErrorCode::NONE);
  await_transaction_state(client_, "txn", "CompleteAbort");
  EXPECT_EQ(committed(), Strings{});
  EXPECT_EQ(old_.produce(output_, 0, {"late"}), ErrorCode::INVALID_PRODUCER_EPOCH);
}

TEST(TwoPhaseOff, Version6IsNotThere) {
  BrokerProcess broker;
  RawClient client(broker.port());
  protocol::ApiVersionsRequest request;
  request.client_software_name = String("test");
  request.client_software_version = String("1");
  const auto answer = client.call<protocol::ApiVersionsResponse>(request, 4);
  for (const auto& api : answer.message.api_keys) {
    if (api.api_key == protocol::InitProducerIdRequest::kApiKey) {
      EXPECT_EQ(api.max_version, 5);
    }
  }
  protocol::InitProducerIdRequest init;
  init.transactional_id = TransactionalId("txn");
  client.send(init, 6);
  EXPECT_FALSE(client.receive_frame().has_value());
}

}  // namespace
}  // namespace ackord::integration
