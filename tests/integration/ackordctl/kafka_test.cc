// ackordctl against a stock Apache Kafka: transactions as there, and a plain word about what it
// does not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/ackordctl/ctl.h"
#include "tests/integration/ackordctl/hanging.h"
#include "tests/integration/support/kafka_peer.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class OnKafka : public KafkaSuite {
 protected:
  static void SetUpTestSuite() { start_kafka("transaction.partition.verification.enable=false"); }
};

TEST_F(OnKafka, ATransactionIsSeenAndAborted) {
  RawClient client(port());
  const Topic output = create_topic(client, fresh_name("output"));
  // Looking for the coordinator makes its topic.
  EXPECT_THAT(ctl_refused(port(), {"txn", "describe", "txn"}),
              HasSubstr("TRANSACTIONAL_ID_NOT_FOUND"));
  TxnProducer producer(port(), "txn", TxnVersion::k2);
  producer.init();
  ASSERT_EQ(producer.produce(output, 0, {"made of it"}), ErrorCode::NONE);
  EXPECT_THAT(ctl(port(), {"txn", "list", "--state", "Ongoing"}).output,
              ContainsRegex("txn +Ongoing +[0-9]+ +1\n"));
  const boost::json::value shown = ctl_json(port(), {"txn", "describe", "txn"});
  EXPECT_EQ(shown.at("state"), "Ongoing");
  EXPECT_EQ(shown.at("producerId"), producer.producer_id().value);
  EXPECT_EQ(shown.at("stagedAcknowledgements"), boost::json::array());
  EXPECT_EQ(shown.at("partitions"),
            json(R"([{"topic": ")" + output.name + R"(", "partition": 0}])"));
  EXPECT_THAT(ctl_refused(port(), {"txn", "abort", "--topic", output.name, "--partition", "0",
                                   "--start-offset", "0"}),
              HasSubstr("end all of it with txn abort txn"));
  EXPECT_THAT(ctl_refused(port(), {"txn", "commit", "txn"}), HasSubstr("INVALID_TXN_STATE"));

  EXPECT_EQ(ctl(port(), {"txn", "abort", "txn"}).output,
            "txn: fenced, and what was open is aborted (Empty)\n");
  EXPECT_EQ(end_offset(client, output, 0, Isolation::kReadCommitted), 2);
  EXPECT_EQ(producer.produce(output, 0, {"late"}), ErrorCode::INVALID_PRODUCER_EPOCH);
  EXPECT_THAT(ctl_refused(port(), {"txn", "describe", "never"}),
              HasSubstr("TRANSACTIONAL_ID_NOT_FOUND"));
  EXPECT_THAT(ctl_refused(port(), {"txn", "list", "--state", "Stuck"}),
              HasSubstr("there is no state Stuck"));
}

TEST_F(OnKafka, AnAbortMarkerFreesAPartition) {
  RawClient client(port());
  free_hanging_transaction(port(), create_topic(client, fresh_name("hanging")));
}

TEST_F(OnKafka, WhatItDoesNotHaveIsSaid) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"batch", "list"},
                                                  {"batch", "list", "g"},
                                                  {"batch", "describe", "g", "t"},
                                                  {"batch", "commit", "g", "t"}}) {
    EXPECT_EQ(ctl_refused(port(), command),
              "ackordctl: UNSUPPORTED_VERSION: the broker has no batch transactions\n");
  }
  RawClient client(port());
  const Topic topic = create_topic(client, fresh_name("topic"));
  EXPECT_THAT(ctl_refused(port(), {"share", "in-flight", "g", topic.name}),
              HasSubstr("UNSUPPORTED_VERSION"));
}

}  // namespace
}  // namespace ackord::integration
