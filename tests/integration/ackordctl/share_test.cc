// ackordctl share: what is in flight, and its release.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/ackordctl/ctl.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// Ten records of which one member holds all and has staged 0-3 in a transaction.
class ShareCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    topic_ = create_topic(client_, "orders", 2);
    produce(client_, topic_, 0, numbered_values(10));
    set_group_configs(client_, "g", {{"share.auto.offset.reset", "earliest"}});
    member_.join({topic_});
    member_.acquire(topic_, 0, 10);
    producer_.init();
    ASSERT_EQ(producer_.stage(member_, {{topic_, 0, 0, 3}}), staged_ok());
  }
  std::string state() { return share_state(client_, "g", topic_); }

  BrokerProcess broker_;
  const uint16_t port_ = broker_.port();
  RawClient client_{port_};
  ShareMember member_{port_, "g"};
  TxnProducer producer_{port_, "txn", TxnVersion::k2};
  Topic topic_;
};

TEST_F(ShareCommands, InFlightSaysWhoHoldsWhat) {
  const boost::json::value shown = ctl_json(port_, {"share", "in-flight", "g"});
  ASSERT_EQ(shown.as_array().size(), 2u) << shown << ": both partitions of the group's topic";
  const boost::json::value& partition = shown.at(0);
  EXPECT_EQ(partition.at("topic"), "orders");
  EXPECT_EQ(partition.at("startOffset"), 0);
  const boost::json::array& ranges = partition.at("ranges").as_array();
  ASSERT_EQ(ranges.size(), 2u) << shown;
  EXPECT_EQ(ranges[0].at("lastOffset"), 3);
  EXPECT_EQ(ranges[0].at("state"), "staged");
  EXPECT_EQ(ranges[0].at("acknowledgeType"), "accept");
  EXPECT_EQ(ranges[0].at("owner").at("producerId"), producer_.producer_id().value);
  EXPECT_EQ(ranges[1].at("firstOffset"), 4);
  EXPECT_EQ(ranges[1].at("state"), "acquired");
  EXPECT_EQ(ranges[1].at("deliveryCount"), 1);
  EXPECT_EQ(ranges[1].at("memberId").as_string(), member_.id());
  EXPECT_GT(ranges[1].at("lockExpiresInMs").as_int64(), 0);
  EXPECT_EQ(ctl_json(port_, {"share", "in-flight", "g", "orders:1"}).at(0).at("ranges"),
            boost::json::array());
  const boost::json::value one =
      ctl_json(port_, {"share", "in-flight", "g", "orders:0", "--max-ranges", "1"});
  EXPECT_EQ(one.at(0).at("ranges").as_array().size(), 1u);
  EXPECT_EQ(one.at(0).at("more"), true);
  EXPECT_THAT(ctl(port_, {"share", "in-flight", "g", "orders:0"}).output,
              ContainsRegex("orders:0 +4-9 +acquired +1 +member " + member_.id() + ", lock for "));
}

TEST_F(ShareCommands, ReleaseTakesWhatMembersHold) {
  EXPECT_EQ(ctl_json(port_, {"share", "release", "g", "orders:0", "--offsets", "5-6"}),
            json(R"([{"topic": "orders", "partition": 0, "releasedRecords": 2}])"));
  EXPECT_EQ(state(),
            "0..9: 0-3 TX_PENDING ACCEPT x1, 4-4 ACQUIRED x1, 5-6 AVAILABLE x1, 7-9 ACQUIRED x1");
  EXPECT_EQ(ctl(port_, {"share", "release", "g", "orders", "--member", "nobody"}).output,
            "nothing to release\n");
  EXPECT_EQ(ctl(port_, {"share", "release", "g", "orders", "--member", member_.id()}).output,
            "orders:0  4 records released\n");
  EXPECT_EQ(state(), "0..9: 0-3 TX_PENDING ACCEPT x1, 4-9 AVAILABLE x1");
  ShareMember other(port_, "g");
  ASSERT_EQ(other.enter({topic_}), ErrorCode::NONE);
  EXPECT_EQ(other.acquire(topic_, 0, 6), (std::vector<OffsetRange>{{4, 9, 2}}));
}

TEST_F(ShareCommands, WhatATransactionHoldsIsNotReleased) {
  EXPECT_THAT(ctl_refused(port_, {"share", "release", "g", "orders:0", "--offsets", "3-4"}),
              HasSubstr("INVALID_RECORD_STATE"));
  EXPECT_EQ(state(), "0..9: 0-3 TX_PENDING ACCEPT x1, 4-9 ACQUIRED x1");
  EXPECT_EQ(producer_.commit(), ErrorCode::NONE);
  await_share_state(client_, "g", topic_, 0, "4..9: 4-9 ACQUIRED x1");
}

TEST_F(ShareCommands, WhatIsNotThereIsSaidAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(ctl_refused(port_, {"share", "in-flight", "g", "nothing", "--timeout", "600"}),
              HasSubstr("there is no topic nothing"));
  EXPECT_THAT(ctl_refused(port_, {"share", "in-flight", "g", "orders:2", "--timeout", "600"}),
              HasSubstr("orders has no partition 2"));
  EXPECT_THAT(ctl_refused(port_, {"share", "in-flight", "nobody", "--timeout", "600"}),
              HasSubstr("GROUP_ID_NOT_FOUND: there is no share group nobody"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(2))
      << "an answer, not a timeout";
}

}  // namespace
}  // namespace ackord::integration
