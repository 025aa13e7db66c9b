// A staged record stays staged until its transaction ends, whatever becomes of the member, its
// session, its connection and its lock.
#include "tests/integration/broker/txn_fixture.h"

namespace ackord::integration {
namespace {

constexpr char kAllStaged[] = "0..9: 0-9 TX_PENDING ACCEPT x1";

class StageHolds : public TxnFixture {};

TEST_F(StageHolds, PlainAcknowledgementsAreRefused) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  for (int8_t type : {kAccept, kRelease, kReject}) {
    EXPECT_EQ(member.acknowledge(source_, 0, 0, 4, type), ErrorCode::INVALID_RECORD_STATE)
        << int{type};
    EXPECT_EQ(member.acknowledge_by_fetch(source_, 0, 0, 4, type), ErrorCode::INVALID_RECORD_STATE)
        << int{type};
  }
  EXPECT_EQ(state(), kAllStaged);
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
}

TEST_F(StageHolds, NobodyIsHandedAStagedRecord) {
  ShareMember member = holder();
  ShareMember other = joined(group_, {source_});
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(2, 9)}), staged_ok());
  EXPECT_EQ(member.acknowledge(source_, 0, 0, 1, kRelease), ErrorCode::NONE);
  EXPECT_EQ(other.acquire(source_, 0, 2), (Ranges{{0, 1, 2}}));
  EXPECT_EQ(other.fetch(source_), Ranges{});
  // Later records are not held up.
  integration::produce(client_, source_, 0, {"v10"});
  EXPECT_EQ(other.acquire(source_, 0, 1), (Ranges{{10, 10, 1}}));
}

TEST_F(StageHolds, TheSessionIsClosed) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 6)}), staged_ok());
  member.close_session();
  await_state("0..9: 0-6 TX_PENDING ACCEPT x1, 7-9 AVAILABLE x1");
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("7..9: 7-9 AVAILABLE x1");
}

TEST_F(StageHolds, TheConnectionIsLost) {
  ShareMember member = holder();
  // Keeps the group's share partition in memory.
  ShareMember other = joined(group_, {source_});
  EXPECT_EQ(other.fetch(source_), Ranges{});
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 6)}), staged_ok());
  member.reconnect();
  EXPECT_EQ(other.acquire(source_, 0, 3), (Ranges{{7, 9, 2}}));
  EXPECT_EQ(state(), "0..9: 0-6 TX_PENDING ACCEPT x1, 7-9 ACQUIRED x2");
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("7..9: 7-9 ACQUIRED x2");
}

TEST_F(StageHolds, TheLastConnectionOfTheGroupIsLost) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  member.reconnect();
  EXPECT_EQ(state(), kAllStaged);
  EXPECT_EQ(txn.abort(), ErrorCode::NONE);
  EXPECT_EQ(member.acquire(source_, 0, 10), (Ranges{{0, 9, 2}}));
}

TEST_F(StageHolds, TheMemberLeaves) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  EXPECT_EQ(member.leave(), ErrorCode::NONE);
  EXPECT_EQ(state(), kAllStaged);
  // Membership is not looked at again at commit.
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
}

TEST_F(StageHolds, CommittedRecordsNeverComeAgain) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 4), range(5, 6, kReject)}), staged_ok());
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("7..9: 7-9 ACQUIRED x1");
  EXPECT_EQ(member.acknowledge(source_, 0, 7, 9, kRelease), ErrorCode::NONE);
  member.close_session();
  ShareMember other = joined(group_, {source_});
  EXPECT_EQ(other.acquire(source_, 0, 3), (Ranges{{7, 9, 2}}));
}

TEST_F(StageHolds, ItCountsAsLagUntilItIsDecided) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 0)}), staged_ok());
  EXPECT_EQ(member.acknowledge(source_, 0, 1, 9, kAccept), ErrorCode::NONE);
  // The start offset stands before the staged record.
  EXPECT_EQ(state(), "0..9: 0-0 TX_PENDING ACCEPT x1, 1-9 ACKNOWLEDGED x1");
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
}

class LockExpiry : public TxnFixture {};

// The shortest lock that a broker allows is 15 s.
TEST_F(LockExpiry, AStagedRecordOutlivesItsLock) {
  set_group_configs(client_, group_, {{"share.record.lock.duration.ms", "15000"}});
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 4)}), staged_ok());
  ShareMember other = joined(group_, {source_});
  // What was not staged comes again; that is how the test knows that the locks have expired.
  poll_until(
      "the locks to expire",
      [&] {
        EXPECT_EQ(member.heartbeat(), ErrorCode::NONE);
        return state() != "0..9: 0-4 TX_PENDING ACCEPT x1, 5-9 ACQUIRED x1";
      },
      Millis(40000));
  EXPECT_EQ(other.acquire(source_, 0, 5), (Ranges{{5, 9, 2}}));
  EXPECT_EQ(state(), "0..9: 0-4 TX_PENDING ACCEPT x1, 5-9 ACQUIRED x2");
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("5..9: 5-9 ACQUIRED x2");
}

}  // namespace
}  // namespace ackord::integration
