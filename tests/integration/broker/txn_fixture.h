// TxnFixture: one broker per suite; per test a source topic of ten records, an output topic, and a
// share group that starts at the beginning. Names are fresh, so tests of a suite do not meet.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {

class TxnFixture : public ::testing::Test {
 protected:
  static constexpr int kRecords = 10;

  static void SetUpTestSuite() {
    // Timeouts of transactions are looked for often, so that the tests need not wait.
    broker_ = std::make_unique<BrokerProcess>(
        Settings{{"transaction.abort.timed.out.transaction.cleanup.interval.ms", "100"}});
  }
  static void TearDownTestSuite() {
    if (broker_ && broker_->running()) {
      EXPECT_EQ(broker_->stop(), 0);
    }
    broker_.reset();
  }
  static uint16_t port() { return broker_->port(); }

  void SetUp() override {
    source_ = create_topic(client_, fresh_name("source"));
    output_ = create_topic(client_, fresh_name("output"));
    integration::produce(client_, source_, 0, numbered_values(kRecords));
    group_ = make_group();
  }

  std::string make_group() {
    const std::string group = fresh_name("group");
    set_group_configs(client_, group, {{"share.auto.offset.reset", "earliest"}});
    return group;
  }
  ShareMember joined(const std::string& group, const std::vector<Topic>& topics) {
    ShareMember member(port(), group);
    member.join(topics);
    return member;
  }
  // A member that has acquired the ten records.
  ShareMember holder() {
    ShareMember member = joined(group_, {source_});
    EXPECT_EQ(member.acquire(source_, 0, kRecords),
              (std::vector<OffsetRange>{{0, kRecords - 1, 1}}));
    return member;
  }
  TxnProducer producer(TxnVersion version = TxnVersion::k2, int32_t timeout_ms = 60000) {
    TxnProducer made(port(), fresh_name("txn"), version);
    made.init(timeout_ms);
    return made;
  }
  Staging range(Offset first, Offset last, int8_t type = kAccept) const {
    return {source_, 0, first, last, type};
  }
  std::string state() { return share_state(client_, group_, source_); }
  void await_state(const std::string& expected) {
    await_share_state(client_, group_, source_, 0, expected);
  }
  std::vector<std::string> committed_output() {
    return read_values(client_, output_, 0, Isolation::kReadCommitted);
  }
  std::vector<std::string> all_output() {
    return read_values(client_, output_, 0, Isolation::kReadUncommitted);
  }

  static std::unique_ptr<BrokerProcess> broker_;

  RawClient client_{port()};
  Topic source_;
  Topic output_;
  std::string group_;
};

inline std::unique_ptr<BrokerProcess> TxnFixture::broker_;

using Strings = std::vector<std::string>;
using Ranges = std::vector<OffsetRange>;

}  // namespace ackord::integration
