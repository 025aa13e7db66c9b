// ackordctl txn: transactions that are stuck are found and ended, with their share
// acknowledgements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/ackordctl/ctl.h"
#include "tests/integration/ackordctl/hanging.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A producer that has produced and staged 0-4 of ten records, and does nothing more.
class TxnCommands : public ::testing::Test {
 protected:
  explicit TxnCommands(Settings settings = {}) : broker_(std::move(settings)) {}

  void SetUp() override {
    source_ = create_topic(client_, "source");
    output_ = create_topic(client_, "output");
    integration::produce(client_, source_, 0, numbered_values(10));
    set_group_configs(client_, "g", {{"share.auto.offset.reset", "earliest"}});
    member_.join({source_});
    member_.acquire(source_, 0, 10);
  }
  void hang(TxnProducer& producer) {
    ASSERT_EQ(producer.produce(output_, 0, {"made of it"}), ErrorCode::NONE);
    ASSERT_EQ(producer.stage(member_, {{source_, 0, 0, 4}}), staged_ok());
  }
  void abort_frees(TxnVersion version) {
    TxnProducer producer(port_, "txn", version);
    producer.init();
    hang(producer);
    EXPECT_EQ(last_stable_offset(), 0);
    EXPECT_EQ(state(), "0..9: 0-4 TX_PENDING ACCEPT x1, 5-9 ACQUIRED x1");

    EXPECT_EQ(ctl_json(port_, {"txn", "abort", "txn"}),
              json(R"({"transactionalId": "txn", "outcome": "fenced", "state": "Empty"})"));
    // All of it is done when the command has ended.
    EXPECT_EQ(state(), "0..9: 0-4 AVAILABLE x1, 5-9 ACQUIRED x1");
    EXPECT_EQ(last_stable_offset(), 2) << "the record and its marker";
    EXPECT_EQ(read_values(client_, output_, 0, Isolation::kReadCommitted),
              std::vector<std::string>());
    EXPECT_EQ(producer.produce(output_, 0, {"late"}), late_error(version));

    const Ended again = ctl(port_, {"txn", "abort", "--transactional-id", "txn"});
    EXPECT_EQ(again.status, 0);
    EXPECT_EQ(again.output, "txn: nothing open (Empty)\n");
    ShareMember other(port_, "g");
    ASSERT_EQ(other.enter({source_}), ErrorCode::NONE);
    EXPECT_EQ(other.acquire(source_, 0, 5), (std::vector<OffsetRange>{{0, 4, 2}}));
  }
  static ErrorCode late_error(TxnVersion version) {
    return version == TxnVersion::k1 ? ErrorCode::PRODUCER_FENCED
                                     : ErrorCode::INVALID_PRODUCER_EPOCH;
  }
  Offset last_stable_offset() { return end_offset(client_, output_, 0, Isolation::kReadCommitted); }
  std::string state() { return share_state(client_, "g", source_); }

  BrokerProcess broker_;
  const uint16_t port_ = broker_.port();
  RawClient client_{port_};
  ShareMember member_{port_, "g"};
  Topic source_;
  Topic output_;
};

TEST_F(TxnCommands, ListFilters) {
  TxnProducer open(port_, "pay-1", TxnVersion::k2);
  TxnProducer idle(port_, "pay-2", TxnVersion::k2);
  TxnProducer done(port_, "ship-1", TxnVersion::k1);
  open.init();
  hang(open);
  idle.init();
  done.init();
  ASSERT_EQ(done.produce(output_, 0, {"x"}), ErrorCode::NONE);
  done.end_for_sure(true);
  await_transaction_state(client_, "ship-1", "CompleteCommit");
  const auto ids = [&](std::vector<std::string> filters) {
    filters.insert(filters.begin(), {"txn", "list"});
    std::string text;
    const boost::json::value listed = ctl_json(port_, filters);
    for (const boost::json::value& one : listed.as_array())
      text += std::string(one.at("transactionalId").as_string()) + " ";
    return text;
  };
  EXPECT_EQ(ids({}), "pay-1 pay-2 ship-1 ");
  EXPECT_EQ(ids({"--state", "Ongoing"}), "pay-1 ");
  EXPECT_EQ(ids({"--state", "Ongoing", "--state", "CompleteCommit"}), "pay-1 ship-1 ");
  EXPECT_EQ(ids({"--producer-id", std::to_string(idle.producer_id().value)}), "pay-2 ");
  EXPECT_EQ(ids({"--pattern", "pay-.*"}), "pay-1 pay-2 ");
  EXPECT_EQ(ids({"--state", "Ongoing", "--duration", "3600000"}), "");
  EXPECT_EQ(ids({"--state", "Ongoing", "--duration-filter", "0"}), "pay-1 ");
  EXPECT_THAT(ctl_refused(port_, {"txn", "list", "--state", "Stuck"}),
              HasSubstr("there is no state Stuck"));
  EXPECT_THAT(ctl_refused(port_, {"txn", "list", "--pattern", "("}),
              HasSubstr("INVALID_REGULAR_EXPRESSION"));
  EXPECT_THAT(ctl(port_, {"txn", "list"}).output, ContainsRegex("pay-1 +Ongoing +[0-9]+ +1\n"));
}

TEST_F(TxnCommands, DescribeShowsWhatIsStaged) {
  TxnProducer producer(port_, "txn", TxnVersion::k2);
  producer.init(45000);
  EXPECT_EQ(ctl_json(port_, {"txn", "describe", "txn"}).at("state"), "Empty");
  hang(producer);
  const boost::json::value shown = ctl_json(port_, {"txn", "describe", "txn"});
  EXPECT_EQ(shown.at("state"), "Ongoing");
  EXPECT_EQ(shown.at("producerId"), producer.producer_id().value);
  EXPECT_EQ(shown.at("producerEpoch"), producer.producer_epoch());
  EXPECT_EQ(shown.at("timeoutMs"), 45000);
  EXPECT_GT(shown.at("startTimeMs").as_int64(), 0);
  ASSERT_EQ(shown.at("stagedAcknowledgements").as_array().size(), 1u) << shown;
  boost::json::object staged = shown.at("stagedAcknowledgements").at(0).as_object();
  EXPECT_GE(staged.at("stagedForMs").as_int64(), 0);
  staged.erase("stagedForMs");
  EXPECT_EQ(staged, json(R"({"group": "g", "topic": "source", "partition": 0, "firstOffset": 0,
                             "lastOffset": 4, "acknowledgeType": "accept", "deliveryCount": 1})"));
  const std::string table = ctl(port_, {"txn", "describe", "--transactional-id", "txn"}).output;
  EXPECT_THAT(table, ContainsRegex("partitions +__share_group_state:[0-9], output:0\n"));
  EXPECT_THAT(table, ContainsRegex("g +source:0 +0-4 +accept +1 "));
  EXPECT_THAT(ctl_refused(port_, {"txn", "describe", "never"}),
              HasSubstr("TRANSACTIONAL_ID_NOT_FOUND"));
}

TEST_F(TxnCommands, AbortFreesATransactionOfVersion1) { abort_frees(TxnVersion::k1); }
TEST_F(TxnCommands, AbortFreesATransactionOfVersion2) { abort_frees(TxnVersion::k2); }

TEST_F(TxnCommands, AnIdleProducerIsNotFenced) {
  TxnProducer producer(port_, "txn", TxnVersion::k2);
  producer.init();
  EXPECT_EQ(ctl(port_, {"txn", "abort", "txn"}).output, "txn: nothing open (Empty)\n");
  hang(producer);
  EXPECT_EQ(producer.commit(), ErrorCode::NONE);
  await_share_state(client_, "g", source_, 0, "5..9: 5-9 ACQUIRED x1");
  EXPECT_THAT(ctl_refused(port_, {"txn", "abort", "never"}),
              HasSubstr("TRANSACTIONAL_ID_NOT_FOUND"));
  EXPECT_EQ(ctl_json(port_, {"txn", "list", "--pattern", "never"}), boost::json::array())
      << "asking has not created it";
}

TEST_F(TxnCommands, AnOpenTransactionIsNotTornApart) {
  TxnProducer producer(port_, "txn", TxnVersion::k2);
  producer.init();
  hang(producer);
  const std::string id = std::to_string(producer.producer_id().value);
  const std::string epoch = std::to_string(producer.producer_epoch());
  EXPECT_THAT(ctl_refused(port_, {"txn", "abort", "--topic", "output", "--partition", "0",
                                  "--start-offset", "0"}),
              HasSubstr("end all of it with txn abort txn"));
  const boost::json::value shown = ctl_json(port_, {"txn", "describe", "txn"});
  for (const boost::json::value& partition : shown.at("partitions").as_array()) {
    EXPECT_THAT(
        ctl_refused(port_,
                    {"txn", "abort", "--topic", std::string(partition.at("topic").as_string()),
                     "--partition", std::to_string(partition.at("partition").as_int64()),
                     "--producer-id", id, "--producer-epoch", epoch, "--coordinator-epoch", "0"}),
        HasSubstr("INVALID_TXN_STATE"));
  }
  EXPECT_EQ(producer.commit(), ErrorCode::NONE);
  await_transaction_state(client_, "txn", "CompleteCommit");
  EXPECT_EQ(state(), "5..9: 5-9 ACQUIRED x1");
  EXPECT_EQ(read_values(client_, output_, 0, Isolation::kReadCommitted),
            std::vector<std::string>{"made of it"});
}

TEST_F(TxnCommands, CommitIsForTwoPhaseTransactionsOnly) {
  TxnProducer producer(port_, "txn", TxnVersion::k2);
  producer.init();
  hang(producer);
  EXPECT_THAT(ctl_refused(port_, {"txn", "commit", "txn"}),
              HasSubstr("txn is no open two-phase transaction (Ongoing)"));
  EXPECT_EQ(transaction_state(client_, "txn"), "Ongoing");
}

TEST_F(TxnCommands, WhatIsNotThereIsSaid) {
  EXPECT_THAT(ctl_refused(port_, {"txn", "producers", "--topic", "nothing", "--partition", "0"}),
              HasSubstr("there is no topic nothing"));
  EXPECT_THAT(ctl_refused(port_, {"txn", "abort", "--topic", "output", "--partition", "0",
                                  "--start-offset", "7"}),
              HasSubstr("no transaction is open there that starts at offset 7"));
}

class HangingCommands : public TxnCommands {
 protected:
  HangingCommands() : TxnCommands({{"transaction.partition.verification.enable", "false"}}) {}
};

TEST_F(HangingCommands, AnAbortMarkerFreesThePartition) {
  free_hanging_transaction(port_, output_);
}

class TwoPhaseCommands : public TxnCommands {
 protected:
  TwoPhaseCommands() : TxnCommands({{"transaction.two.phase.commit.enable", "true"}}) {}
  void SetUp() override {
    TxnCommands::SetUp();
    producer_.init_two_phase(false);
    hang(producer_);
  }
  TxnProducer producer_{port_, "txn", TxnVersion::k2};
};

TEST_F(TwoPhaseCommands, APreparedOneIsCommittedByHand) {
  TxnProducer successor(port_, "txn", TxnVersion::k2);
  EXPECT_EQ(successor.init_two_phase(true), producer_.producer_epoch());
  EXPECT_THAT(ctl(port_, {"txn", "describe", "txn"}).output, HasSubstr("two-phase"));
  EXPECT_EQ(
      ctl_json(port_, {"txn", "commit", "txn"}),
      json(R"({"transactionalId": "txn", "outcome": "committed", "state": "CompleteCommit"})"));
  EXPECT_EQ(state(), "5..9: 5-9 ACQUIRED x1");
  EXPECT_EQ(read_values(client_, output_, 0, Isolation::kReadCommitted),
            std::vector<std::string>{"made of it"});
  EXPECT_THAT(ctl_refused(port_, {"txn", "commit", "txn"}), HasSubstr("(CompleteCommit)"));
}

TEST_F(TwoPhaseCommands, APreparedOneIsAbortedByHand) {
  TxnProducer successor(port_, "txn", TxnVersion::k2);
  EXPECT_EQ(successor.init_two_phase(true), producer_.producer_epoch());
  EXPECT_EQ(ctl(port_, {"txn", "abort", "txn"}).output,
            "txn: fenced, and what was open is aborted (Empty)\n");
  EXPECT_EQ(state(), "0..9: 0-4 AVAILABLE x1, 5-9 ACQUIRED x1");
  EXPECT_EQ(successor.produce(output_, 0, {"late"}), ErrorCode::INVALID_PRODUCER_EPOCH);
}

}  // namespace
}  // namespace ackord::integration
