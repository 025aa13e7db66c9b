// Acknowledgements that commit and abort with a producer's transaction, for clients of both
// transaction versions.
#include "tests/integration/broker/txn_fixture.h"

namespace ackord::integration {
namespace {

class TransactionalAcks : public TxnFixture {
 protected:
  void abort_then_commit(TxnVersion version);
  void commit_with_output(TxnVersion version);
};

TEST_F(TransactionalAcks, AcksOnlyCommitInVersion1) {
  ShareMember member = holder();
  TxnProducer txn = producer(TxnVersion::k1);
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  EXPECT_EQ(state(), "0..9: 0-9 TX_PENDING ACCEPT x1");
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
}

TEST_F(TransactionalAcks, AcksOnlyCommitInVersion2) {
  ShareMember member = holder();
  TxnProducer txn = producer(TxnVersion::k2);
  const int16_t epoch = txn.producer_epoch();
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  EXPECT_EQ(state(), "0..9: 0-9 TX_PENDING ACCEPT x1");
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  EXPECT_EQ(txn.producer_epoch(), epoch + 1);
  await_state("10..10:");
}

TEST_F(TransactionalAcks, EveryVerdictInOneRange) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  auto request = txn.stage_request(member, {range(1, 5)});
  // One type per offset: accept, reject, gap, accept, accept.
  request.topics[0].partitions[0].acknowledgement_batches[0].acknowledge_types = {
      kAccept, kReject, kGap, kAccept, kAccept};
  EXPECT_EQ(txn.stage(request), staged_ok());
  EXPECT_EQ(state(),
            "0..9: 0-0 ACQUIRED x1, 1-1 TX_PENDING ACCEPT x1, 2-2 TX_PENDING REJECT x1, 3-3 "
            "TX_PENDING GAP x1, "
            "4-5 TX_PENDING ACCEPT x1, 6-9 ACQUIRED x1");
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state(
      "0..9: 0-0 ACQUIRED x1, 1-1 ACKNOWLEDGED x1, 2-3 ARCHIVED x1, 4-5 ACKNOWLEDGED x1, 6-9 "
      "ACQUIRED x1");
}

// The same producer's next transaction must not decide what the aborted one had staged.
void TransactionalAcks::abort_then_commit(TxnVersion version) {
  ShareMember member = holder();
  TxnProducer txn = producer(version);
  EXPECT_EQ(txn.stage(member, {range(0, 4)}), staged_ok());
  EXPECT_EQ(txn.abort(), ErrorCode::NONE);
  await_state("0..9: 0-4 AVAILABLE x1, 5-9 ACQUIRED x1");

  EXPECT_EQ(txn.stage(member, {range(5, 9)}), staged_ok());
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("0..9: 0-4 AVAILABLE x1, 5-9 ACKNOWLEDGED x1");

  EXPECT_EQ(member.acquire(source_, 0, 5), (Ranges{{0, 4, 2}}));
  EXPECT_EQ(txn.stage(member, {range(0, 4)}), staged_ok());
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
  EXPECT_EQ(member.fetch(source_), Ranges{});
}

TEST_F(TransactionalAcks, AbortThenCommitInVersion1) { abort_then_commit(TxnVersion::k1); }
TEST_F(TransactionalAcks, AbortThenCommitInVersion2) { abort_then_commit(TxnVersion::k2); }

void TransactionalAcks::commit_with_output(TxnVersion version) {
  ShareMember member = holder();
  TxnProducer txn = producer(version);
  EXPECT_EQ(txn.produce(output_, 0, {"out0"}), ErrorCode::NONE);
  EXPECT_EQ(txn.stage(member, {range(0, 0)}), staged_ok());
  EXPECT_EQ(committed_output(), Strings{});
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("1..9: 1-9 ACQUIRED x1");
  await_transaction_state(client_, txn.id(), "CompleteCommit");
  EXPECT_EQ(committed_output(), Strings{"out0"});

  EXPECT_EQ(txn.stage(member, {range(1, 1)}), staged_ok());
  EXPECT_EQ(txn.produce(output_, 0, {"out1"}), ErrorCode::NONE);
  EXPECT_EQ(txn.abort(), ErrorCode::NONE);
  await_state("1..9: 1-1 AVAILABLE x1, 2-9 ACQUIRED x1");
  await_transaction_state(client_, txn.id(), "CompleteAbort");
  EXPECT_EQ(committed_output(), Strings{"out0"});
  EXPECT_EQ(all_output(), (Strings{"out0", "out1"}));
}

TEST_F(TransactionalAcks, OutputAndAcksAgreeInVersion1) { commit_with_output(TxnVersion::k1); }
TEST_F(TransactionalAcks, OutputAndAcksAgreeInVersion2) { commit_with_output(TxnVersion::k2); }

TEST_F(TransactionalAcks, ATransactionThatTakesTooLongIsAborted) {
  ShareMember member = holder();
  TxnProducer txn = producer(TxnVersion::k2, 1000);
  EXPECT_EQ(txn.produce(output_, 0, {"late"}), ErrorCode::NONE);
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  EXPECT_EQ(member.acquire(source_, 0, 10), (Ranges{{0, 9, 2}}));
  await_transaction_state(client_, txn.id(), "CompleteAbort");
  EXPECT_EQ(committed_output(), Strings{});
  EXPECT_NE(txn.commit(), ErrorCode::NONE);
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x2");
}

TEST_F(TransactionalAcks, ANewProducerOfTheSameIdReleasesWhatTheOldOneHadStaged) {
  ShareMember member = holder();
  TxnProducer old = producer();
  EXPECT_EQ(old.produce(output_, 0, {"old"}), ErrorCode::NONE);
  EXPECT_EQ(old.stage(member, {range(0, 3)}), staged_ok());

  TxnProducer successor(port(), old.id(), TxnVersion::k2);
  successor.init();
  await_state("0..9: 0-3 AVAILABLE x1, 4-9 ACQUIRED x1");

  // The old one is fenced, and nothing of its stage stays.
  const Staged late = old.stage(member, {range(4, 5)});
  EXPECT_TRUE(late.error == ErrorCode::INVALID_PRODUCER_EPOCH ||
              late.error == ErrorCode::PRODUCER_FENCED)
      << late;
  EXPECT_EQ(old.commit(), ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(state(), "0..9: 0-3 AVAILABLE x1, 4-9 ACQUIRED x1");

  EXPECT_EQ(successor.stage(member, {range(4, 9)}), staged_ok());
  EXPECT_EQ(successor.commit(), ErrorCode::NONE);
  await_state("0..9: 0-3 AVAILABLE x1, 4-9 ACKNOWLEDGED x1");
  EXPECT_EQ(committed_output(), Strings{});
}

// An abort is not the record's fault: the delivery limit is not applied to it.
TEST_F(TransactionalAcks, AbortsCountDeliveriesButNeverArchive) {
  set_group_configs(client_, group_, {{"share.delivery.count.limit", "2"}});
  ShareMember member = holder();
  TxnProducer txn = producer();
  for (int16_t delivery = 1; delivery <= 4; ++delivery) {
    if (delivery > 1) {
      int64_t acquired = 0;
      for (const OffsetRange& got : member.acquire(source_, 0, kRecords)) {
        EXPECT_EQ(got.delivery_count, delivery);
        acquired += got.last - got.first + 1;
      }
      EXPECT_EQ(acquired, kRecords);
    }
    EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
    EXPECT_EQ(txn.abort(), ErrorCode::NONE);
    await_state("0..9: 0-9 AVAILABLE x" + std::to_string(delivery));
  }
}

TEST_F(TransactionalAcks, AbortWakesAWaitingFetch) {
  ShareMember member = holder();
  ShareMember other = joined(group_, {source_});
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  EXPECT_EQ(other.fetch(source_), Ranges{});
  const Pending pending = txn.send_end(false);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(other.fetch(source_, 0, 500, 15000), (Ranges{{0, 9, 2}}));
  EXPECT_LT(std::chrono::steady_clock::now() - before, Millis(10000));
  EXPECT_EQ(txn.receive_end(pending), ErrorCode::NONE);
}

TEST_F(TransactionalAcks, TwoGroupsMembersAndPartitionsInOneTransaction) {
  const Topic wide = create_topic(client_, fresh_name("wide"), 4);
  for (int32_t partition = 0; partition < 4; ++partition)
    integration::produce(client_, wide, partition, numbered_values(5));
  const std::string second_group = make_group();
  ShareMember a = joined(second_group, {wide});
  ShareMember b = holder();
  for (int32_t partition = 0; partition < 4; ++partition) a.acquire(wide, partition, 5);
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(a, {{wide, 0, 0, 4}, {wide, 1, 0, 2}, {wide, 3, 1, 1, kReject}}),
            staged_ok(3));
  EXPECT_EQ(txn.stage(b, {range(0, 9)}), staged_ok());
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
  await_share_state(client_, second_group, wide, 0, "5..5:");
  await_share_state(client_, second_group, wide, 1, "3..4: 3-4 ACQUIRED x1");
  await_share_state(client_, second_group, wide, 2, "0..4: 0-4 ACQUIRED x1");
  await_share_state(client_, second_group, wide, 3,
                    "0..4: 0-0 ACQUIRED x1, 1-1 ARCHIVED x1, 2-4 ACQUIRED x1");
}

TEST_F(TransactionalAcks, EnlistAnswersTheStartThatStagesMayCarry) {
  ShareMember member = holder();
  TxnProducer txn = producer(TxnVersion::k1);
  const Enlisted first = txn.enlist(group_, {range(0, 9)});
  EXPECT_EQ(first.error, ErrorCode::NONE);
  EXPECT_GT(first.start_time_ms, 0);
  EXPECT_EQ(txn.stage(member, {range(0, 4)}, first.start_time_ms), staged_ok());
  EXPECT_EQ(txn.enlist(group_, {range(0, 9)}, first.start_time_ms).start_time_ms,
            first.start_time_ms);
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);

  // The same epoch's next transaction has a later start.
  const Enlisted second = txn.enlist(group_, {range(5, 9)});
  EXPECT_EQ(second.error, ErrorCode::NONE);
  EXPECT_GT(second.start_time_ms, first.start_time_ms);
  EXPECT_EQ(txn.stage(member, {range(5, 9)}, second.start_time_ms), staged_ok());
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
}

}  // namespace
}  // namespace ackord::integration
