// What a restart keeps, after a clean stop and after a kill: topics, their ids, records, offsets,
// configs, groups.
#include <gtest/gtest.h>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

using Strings = std::vector<std::string>;

// True: SIGTERM; false: SIGKILL.
class Restart : public ::testing::TestWithParam<bool> {
 protected:
  void restart() {
    if (GetParam()) {
      EXPECT_EQ(broker_.stop(), 0);
    } else {
      broker_.kill9();
    }
    broker_.start();
    client_ = RawClient(broker_.port());
  }

  BrokerProcess broker_;
  RawClient client_{broker_.port()};
};

TEST_P(Restart, KeepsTopicsAndRecords) {
  const Topic topic = create_topic(client_, "kept", 3);
  Strings written;
  for (int round = 0; round < 5; ++round) {
    const std::string value = "round" + std::to_string(round);
    EXPECT_EQ(produce(client_, topic, 1, {value, value}), 2 * round);
    written.insert(written.end(), 2, value);
    restart();
    const Topic found = find_topic(client_, "kept");
    EXPECT_EQ(found.id, topic.id);
    EXPECT_EQ(found.partitions, 3);
    EXPECT_EQ(read_values(client_, topic, 1, Isolation::kReadUncommitted), written);
    EXPECT_EQ(end_offset(client_, topic, 1, Isolation::kReadUncommitted), 2 * round + 2);
    EXPECT_EQ(end_offset(client_, topic, 0, Isolation::kReadUncommitted), 0);
  }
}

TEST_P(Restart, KeepsAnOpenTransactionOpen) {
  const Topic topic = create_topic(client_, "t");
  TxnProducer txn(broker_.port(), "txn", TxnVersion::k2);
  txn.init();
  EXPECT_EQ(txn.produce(topic, 0, {"a", "b"}), ErrorCode::NONE);
  EXPECT_EQ(produce(client_, topic, 0, {"plain"}), 2);
  restart();
  txn.reconnect();
  EXPECT_EQ(read_values(client_, topic, 0, Isolation::kReadCommitted), Strings{});
  EXPECT_EQ(read_values(client_, topic, 0, Isolation::kReadUncommitted),
            (Strings{"a", "b", "plain"}));
  EXPECT_EQ(txn.produce(topic, 0, {"c"}), ErrorCode::NONE);
  txn.end_for_sure(true);
  await_transaction_state(client_, "txn", "CompleteCommit");
  EXPECT_EQ(read_values(client_, topic, 0, Isolation::kReadCommitted),
            (Strings{"a", "b", "plain", "c"}));
}

TEST_P(Restart, KeepsAcknowledgements) {
  const Topic topic = create_topic(client_, "t");
  produce(client_, topic, 0, numbered_values(10));
  set_group_configs(client_, "g", {{"share.auto.offset.reset", "earliest"}});
  ShareMember member(broker_.port(), "g");
  member.join({topic});
  member.acquire(topic, 0, 10);
  EXPECT_EQ(member.acknowledge(topic, 0, 0, 3, kAccept), ErrorCode::NONE);
  EXPECT_EQ(member.acknowledge(topic, 0, 4, 7, kRelease), ErrorCode::NONE);
  EXPECT_EQ(member.acknowledge(topic, 0, 8, 8, kReject), ErrorCode::NONE);
  EXPECT_EQ(member.acknowledge(topic, 0, 9, 9, kRelease), ErrorCode::NONE);
  restart();
  // The membership too: the member goes on with a new session.
  member.reconnect();
  EXPECT_EQ(member.heartbeat(), ErrorCode::NONE);
  EXPECT_EQ(member.acquire(topic, 0, 5), (std::vector<OffsetRange>{{4, 7, 2}, {9, 9, 2}}));
}

INSTANTIATE_TEST_SUITE_P(, Restart, ::testing::Values(true, false), [](const auto& info) {
  return info.param ? "AfterSigterm" : "AfterSigkill";
});

}  // namespace
}  // namespace ackord::integration
