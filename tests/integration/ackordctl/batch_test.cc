// ackordctl batch: batch transactions whose coordinator is gone are seen, and decided by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/batch_transactions.h"
#include "protocol/generated/batch_txn_acknowledge_request.h"
#include "protocol/generated/batch_txn_acknowledge_response.h"
#include "tests/integration/ackordctl/ctl.h"
#include "tests/integration/support/share_member.h"

namespace ackord::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr Millis kTime{20000};

class BatchCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    topic_ = create_topic(client_, "inputs", 1);
    produce(client_, topic_, 0, numbered_values(10));
    set_group_configs(client_, "g", {{"share.auto.offset.reset", "earliest"}});
    member_.join({topic_});
    member_.acquire(topic_, 0, 10);
  }
  // What an executor stages.
  void stage(const std::string& id, Offset first, Offset last, int8_t type) {
    protocol::BatchTxnAcknowledgeRequest request;
    request.transaction_id = TransactionalId(id);
    request.group_id = GroupId("g");
    request.member_id = String(member_.id());
    request.member_epoch = member_.epoch();
    auto& topic = request.topics.emplace_back();
    topic.topic_id = topic_.id;
    auto& partition = topic.partitions.emplace_back();
    partition.acknowledgement_batches.push_back({first, last, {type}});
    auto answer = client_.call<protocol::BatchTxnAcknowledgeResponse>(request, 0);
    require_none(answer.message.error_code, "BatchTxnAcknowledge");
    require_none(answer.message.responses.at(0).partitions.at(0).error_code, "BatchTxnAcknowledge");
  }
  // A coordinator that dies: with the batch open, or prepared.
  void leave(const std::string& id, Offset first, Offset last, bool prepared) {
    client::ClientConfig config;
    config.bootstrap_servers = broker_.bootstrap();
    auto coordinator = client::BatchTransactionCoordinator::create(config, GroupId("g"), kTime);
    ASSERT_TRUE(coordinator);
    ASSERT_TRUE((*coordinator)->begin(id, Millis(600000), kTime));
    stage(id, first, last, kAccept);
    if (prepared) {
      client::StagedOffsets staged;
      staged.add({{{topic_.id, 0}, {{first, last, {kAccept}}}}});
      ASSERT_TRUE((*coordinator)->prepare(id, staged, kTime));
    }
  }
  std::string state() { return share_state(client_, "g", topic_); }
  std::string state_of(const std::string& id) {
    return std::string(ctl_json(port_, {"batch", "describe", "g", id}).at("state").as_string());
  }

  BrokerProcess broker_;
  const uint16_t port_ = broker_.port();
  RawClient client_{port_};
  ShareMember member_{port_, "g"};
  Topic topic_;
};

TEST_F(BatchCommands, ListAndDescribe) {
  EXPECT_EQ(ctl(port_, {"batch", "list"}).output, "no such batch transactions\n");
  leave("g-job.1-1", 0, 3, true);
  leave("g-job.1-2", 4, 5, false);
  stage("g-job.1-2", 6, 6, kReject);
  const boost::json::value all = ctl_json(port_, {"batch", "list"});
  ASSERT_EQ(all.as_array().size(), 2u) << all;
  EXPECT_EQ(all.at(0).at("groupId"), "g");
  EXPECT_EQ(all.at(0).at("transactionId"), "g-job.1-1");
  EXPECT_EQ(all.at(0).at("state"), "PREPARE");
  EXPECT_EQ(all.at(0).at("stagedRecords"), 4);
  EXPECT_EQ(all.at(0).at("timeoutMs"), 600000);
  EXPECT_GE(all.at(0).at("prepareTimeMs").as_int64(), all.at(0).at("createTimeMs").as_int64());
  EXPECT_EQ(all.at(1).at("prepareTimeMs"), -1);
  EXPECT_THAT(ctl(port_, {"batch", "describe", "g", "g-job.1-1"}).output,
              ContainsRegex("g +g-job.1-1 +PREPARE .* 4\n(.*\n)?inputs:0 +0-3 +accept\n"));
  const auto count = [&](std::vector<std::string> filters) {
    filters.insert(filters.begin(), {"batch", "list"});
    return ctl_json(port_, filters).as_array().size();
  };
  EXPECT_EQ(count({"g", "--state", "prepare"}), 1u);
  EXPECT_EQ(count({"g", "--state", "PREPARE", "--state", "ONGOING"}), 2u);
  EXPECT_EQ(count({"g", "--prefix", "g-job.1-2"}), 1u);
  EXPECT_EQ(count({"other"}), 0u);
  ASSERT_EQ(ctl(port_, {"batch", "commit", "g", "g-job.1-1"}).status, 0);
  EXPECT_EQ(count({"g"}), 1u) << "what has ended is shown when it is asked for";
  EXPECT_EQ(count({"g", "--state", "COMMITTED"}), 1u);

  boost::json::object shown = ctl_json(port_, {"batch", "describe", "g", "g-job.1-2"}).as_object();
  EXPECT_EQ(shown.at("stagedRecords"), 3);
  EXPECT_EQ(shown.at("stagedAcknowledgements"), json(R"([
    {"topic": "inputs", "partition": 0, "firstOffset": 4, "lastOffset": 5,
     "acknowledgeType": "accept"},
    {"topic": "inputs", "partition": 0, "firstOffset": 6, "lastOffset": 6,
     "acknowledgeType": "reject"}])"));
  EXPECT_THAT(ctl_refused(port_, {"batch", "describe", "g", "g-job.1-"}),
              HasSubstr("g has no batch transaction g-job.1-"));
}

TEST_F(BatchCommands, APreparedOneIsCommittedByHand) {
  leave("b", 0, 3, true);
  broker_.crash();
  client_ = RawClient(port_);
  EXPECT_EQ(state(), "0..3: 0-3 TX_PENDING ACCEPT x1");
  EXPECT_EQ(ctl_json(port_, {"batch", "commit", "g", "b"}),
            json(R"({"groupId": "g", "transactionId": "b", "outcome": "committed"})"));
  EXPECT_EQ(state(), "4..4:");
  EXPECT_EQ(state_of("b"), "COMMITTED");
  EXPECT_EQ(ctl(port_, {"batch", "commit", "g", "b"}).output, "g b: committed\n");
  EXPECT_THAT(ctl_refused(port_, {"batch", "abort", "g", "b"}), HasSubstr("b is COMMITTED"));
}

TEST_F(BatchCommands, APreparedOneIsAbortedByHand) {
  leave("b", 0, 3, true);
  EXPECT_EQ(ctl_json(port_, {"batch", "abort", "g", "b"}),
            json(R"({"groupId": "g", "transactionId": "b", "outcome": "aborted"})"));
  EXPECT_EQ(state(), "0..9: 0-3 AVAILABLE x1, 4-9 ACQUIRED x1");
  EXPECT_EQ(state_of("b"), "ABORTED");
  EXPECT_EQ(ctl(port_, {"batch", "abort", "g", "b"}).status, 0);
  EXPECT_THAT(ctl_refused(port_, {"batch", "commit", "g", "b"}), HasSubstr("b is ABORTED"));
}

TEST_F(BatchCommands, AnOpenOneIsAbortedNotCommitted) {
  leave("b", 0, 3, false);
  EXPECT_THAT(ctl_refused(port_, {"batch", "commit", "g", "b"}),
              HasSubstr("b is ONGOING: only a prepared one can be committed"));
  EXPECT_EQ(state(), "0..9: 0-3 TX_PENDING ACCEPT x1, 4-9 ACQUIRED x1");
  EXPECT_EQ(ctl(port_, {"batch", "abort", "g", "b"}).output,
            "g b: aborted, its records are delivered again\n");
  EXPECT_EQ(state(), "0..9: 0-3 AVAILABLE x1, 4-9 ACQUIRED x1");
  for (const char* command : {"commit", "abort"})
    EXPECT_THAT(ctl_refused(port_, {"batch", command, "g", "never"}),
                HasSubstr("TRANSACTIONAL_ID_NOT_FOUND"));
}

}  // namespace
}  // namespace ackord::integration
