// What a stage is refused for, and what a refusal does to its transaction.
#include "tests/integration/broker/txn_fixture.h"

namespace ackord::integration {
namespace {

class StageRefusals : public TxnFixture {
 protected:
  // A failure for good dooms the transaction: only an abort is left.
  void expect_doomed(TxnProducer& txn) {
    EXPECT_EQ(txn.commit(), ErrorCode::TRANSACTION_ABORTABLE);
    EXPECT_EQ(txn.commit(), ErrorCode::TRANSACTION_ABORTABLE);
    EXPECT_EQ(txn.abort(), ErrorCode::NONE);
  }
};

TEST_F(StageRefusals, ReleaseRenewAndUnknownTypes) {
  ShareMember member = holder();
  for (int8_t type : {kRelease, kRenew, int8_t{5}, int8_t{-1}}) {
    TxnProducer txn = producer();
    EXPECT_EQ(txn.stage(member, {range(0, 9, type)}), refused(ErrorCode::INVALID_REQUEST))
        << int{type};
    EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
    expect_doomed(txn);
  }
}

TEST_F(StageRefusals, MalformedBatches) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(5, 4)}), refused(ErrorCode::INVALID_REQUEST));
  auto request = txn.stage_request(member, {range(0, 4)});
  auto& batches = request.topics[0].partitions[0].acknowledgement_batches;
  batches[0].acknowledge_types = {};
  EXPECT_EQ(txn.stage(request), refused(ErrorCode::INVALID_REQUEST));
  batches[0].acknowledge_types = {kAccept, kAccept, kAccept};
  EXPECT_EQ(txn.stage(request), refused(ErrorCode::INVALID_REQUEST));
  batches[0].acknowledge_types = {kAccept};
  batches.push_back(batches[0]);  // the same range twice: overlapping
  EXPECT_EQ(txn.stage(request), refused(ErrorCode::INVALID_REQUEST));
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
  expect_doomed(txn);
}

TEST_F(StageRefusals, AnonymousGroupsMembersAndTransactions) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  const auto good = txn.stage_request(member, {range(0, 9)});
  auto request = good;
  request.group_id = GroupId("");
  EXPECT_EQ(txn.stage(request), refused_whole(ErrorCode::INVALID_REQUEST));
  request = good;
  request.transactional_id = std::nullopt;
  EXPECT_EQ(txn.stage(request), refused_whole(ErrorCode::INVALID_REQUEST));
  request.transactional_id = TransactionalId("");
  EXPECT_EQ(txn.stage(request), refused_whole(ErrorCode::INVALID_REQUEST));
  request = good;
  request.member_id = String("");
  EXPECT_EQ(txn.stage(request), refused_whole(ErrorCode::INVALID_REQUEST));
  request.member_id = String(std::string(37, 'm'));
  EXPECT_EQ(txn.stage(request), refused_whole(ErrorCode::INVALID_REQUEST));
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
}

TEST_F(StageRefusals, UnknownMember) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  auto request = txn.stage_request(member, {range(0, 9)});
  request.member_id = Uuid{}.to_string();
  EXPECT_EQ(txn.stage(request), refused_whole(ErrorCode::UNKNOWN_MEMBER_ID));
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
  expect_doomed(txn);
}

TEST_F(StageRefusals, MemberEpochAhead) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  auto request = txn.stage_request(member, {range(0, 9)});
  request.member_epoch = member.epoch() + 1;
  EXPECT_EQ(txn.stage(request), refused_whole(ErrorCode::STALE_MEMBER_EPOCH));
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
  expect_doomed(txn);
}

TEST_F(StageRefusals, AnOlderMemberEpochIsHarmless) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  auto request = txn.stage_request(member, {range(0, 9)});
  request.member_epoch = 1;
  EXPECT_EQ(txn.stage(request), staged_ok());
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
}

TEST_F(StageRefusals, RecordsOfAnotherMember) {
  ShareMember member = holder();
  ShareMember other = joined(group_, {source_});
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(other, {range(0, 0)}), refused(ErrorCode::INVALID_RECORD_STATE));
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
  expect_doomed(txn);
}

// Silent success below the start offset would double records: another member may have committed
// them.
TEST_F(StageRefusals, BelowTheStartOffset) {
  ShareMember member = holder();
  EXPECT_EQ(member.acknowledge(source_, 0, 0, 4, kAccept), ErrorCode::NONE);
  EXPECT_EQ(state(), "5..9: 5-9 ACQUIRED x1");
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(4, 6)}), refused(ErrorCode::INVALID_RECORD_STATE));
  EXPECT_EQ(txn.stage(member, {range(0, 1)}), refused(ErrorCode::INVALID_RECORD_STATE));
  EXPECT_EQ(state(), "5..9: 5-9 ACQUIRED x1");
  expect_doomed(txn);
}

TEST_F(StageRefusals, OnePartitionIsAllOrNothingTheOthersAreNot) {
  const Topic pair = create_topic(client_, fresh_name("pair"), 2);
  for (int32_t partition : {0, 1})
    integration::produce(client_, pair, partition, numbered_values(5));
  ShareMember member = joined(group_, {pair});
  for (int32_t partition : {0, 1}) member.acquire(pair, partition, 5);
  TxnProducer txn = producer();
  auto request = txn.stage_request(member, {{pair, 0, 0, 1}, {pair, 1, 0, 4}});
  auto& batches = request.topics[0].partitions[0].acknowledgement_batches;
  batches.push_back(batches[0]);
  batches[1].first_offset = 4;
  batches[1].last_offset = 7;  // 5 to 7 do not exist
  EXPECT_EQ(txn.stage(request),
            (Staged{ErrorCode::NONE, {ErrorCode::INVALID_RECORD_STATE, ErrorCode::NONE}}));
  EXPECT_EQ(share_state(client_, group_, pair, 0), "0..4: 0-4 ACQUIRED x1");
  EXPECT_EQ(share_state(client_, group_, pair, 1), "0..4: 0-4 TX_PENDING ACCEPT x1");
  expect_doomed(txn);
  await_share_state(client_, group_, pair, 1, "0..4: 0-4 AVAILABLE x1");
}

TEST_F(StageRefusals, UnknownTopics) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  auto request = txn.stage_request(member, {range(0, 9)});
  request.topics[0].topic_id.bytes[3] ^= 1;
  EXPECT_EQ(txn.stage(request), refused(ErrorCode::UNKNOWN_TOPIC_ID));
  expect_doomed(txn);
}

TEST_F(StageRefusals, TheSameStageAgainIsASuccess) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  const auto request = txn.stage_request(member, {range(0, 4), range(5, 9, kReject)});
  EXPECT_EQ(txn.stage(request), staged_ok());
  EXPECT_EQ(txn.stage(request), staged_ok());
  // Also of a member that has left meanwhile: it is already staged by this owner with this type.
  EXPECT_EQ(member.leave(), ErrorCode::NONE);
  EXPECT_EQ(txn.stage(request), staged_ok());
  EXPECT_EQ(state(), "0..9: 0-4 TX_PENDING ACCEPT x1, 5-9 TX_PENDING REJECT x1");
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
}

TEST_F(StageRefusals, TheSameRecordsWithAnotherType) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 4)}), staged_ok());
  EXPECT_EQ(txn.stage(member, {range(0, 4, kReject)}), refused(ErrorCode::INVALID_RECORD_STATE));
  EXPECT_EQ(state(), "0..9: 0-4 TX_PENDING ACCEPT x1, 5-9 ACQUIRED x1");
  expect_doomed(txn);
}

TEST_F(StageRefusals, RecordsThatAnotherTransactionHolds) {
  ShareMember member = holder();
  TxnProducer first = producer();
  TxnProducer second = producer();
  EXPECT_EQ(first.stage(member, {range(0, 4)}), staged_ok());
  EXPECT_EQ(second.stage(member, {range(4, 5)}), refused(ErrorCode::INVALID_RECORD_STATE));
  expect_doomed(second);
  EXPECT_EQ(first.commit(), ErrorCode::NONE);
  await_state("5..9: 5-9 ACQUIRED x1");
}

TEST_F(StageRefusals, AnotherProducersIdentityDoomsNothing) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.stage(member, {range(0, 4)}), staged_ok());
  auto request = txn.stage_request(member, {range(5, 5, kRelease)});
  request.producer_id = ProducerId(txn.producer_id().value + 1000);
  EXPECT_NE(txn.stage(request), staged_ok());
  request.producer_id = txn.producer_id();
  request.producer_epoch = static_cast<int16_t>(txn.producer_epoch() + 1);
  EXPECT_NE(txn.stage(request), staged_ok());
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("5..9: 5-9 ACQUIRED x1");
}

TEST_F(StageRefusals, AForeignProducerIdIsNotTheTransactionalIds) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  auto request = txn.stage_request(member, {range(0, 9)});
  request.producer_id = ProducerId(txn.producer_id().value + 1000);
  EXPECT_EQ(txn.stage(request), refused_whole(ErrorCode::INVALID_PRODUCER_ID_MAPPING));
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
}

// A delayed duplicate must not come into the next transaction of the same epoch.
TEST_F(StageRefusals, ADelayedDuplicateWithAnOldStart) {
  ShareMember member = holder();
  TxnProducer txn = producer(TxnVersion::k1);
  const Enlisted first = txn.enlist(group_, {range(0, 9)});
  const auto delayed = txn.stage_request(member, {range(0, 4)}, first.start_time_ms);
  EXPECT_EQ(txn.abort(), ErrorCode::NONE);
  // No transaction is open.
  EXPECT_EQ(txn.stage(delayed), refused_whole(ErrorCode::INVALID_TXN_STATE));
  EXPECT_EQ(txn.enlist(group_, {range(0, 9)}, first.start_time_ms).error,
            ErrorCode::INVALID_TXN_STATE);
  // Another one is.
  const Enlisted second = txn.enlist(group_, {range(0, 9)});
  EXPECT_EQ(txn.stage(delayed), refused_whole(ErrorCode::INVALID_TXN_STATE));
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
  // That dooms nothing.
  EXPECT_EQ(txn.stage(member, {range(0, 9)}, second.start_time_ms), staged_ok());
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  await_state("10..10:");
}

TEST_F(StageRefusals, AStageOfAnEndedEpoch) {
  ShareMember member = holder();
  TxnProducer txn = producer(TxnVersion::k2);
  EXPECT_EQ(txn.enlist(group_, {range(0, 9)}).error, ErrorCode::NONE);
  const auto delayed = txn.stage_request(member, {range(0, 4)});
  EXPECT_EQ(txn.commit(), ErrorCode::NONE);
  const Staged late = txn.stage(delayed);
  EXPECT_TRUE(late.error == ErrorCode::INVALID_PRODUCER_EPOCH ||
              late.error == ErrorCode::PRODUCER_FENCED)
      << late;
  EXPECT_EQ(state(), "0..9: 0-9 ACQUIRED x1");
}

// A doomed transaction is durable.
TEST_F(StageRefusals, DoomOutlivesTheBroker) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.produce(output_, 0, {"never"}), ErrorCode::NONE);
  EXPECT_EQ(txn.stage(member, {range(0, 4)}), staged_ok());
  EXPECT_EQ(txn.stage(member, {range(10, 12)}), refused(ErrorCode::INVALID_RECORD_STATE));
  broker_->crash();
  client_ = RawClient(port());
  txn.reconnect();
  EXPECT_EQ(state(), "0..4: 0-4 TX_PENDING ACCEPT x1");
  expect_doomed(txn);
  await_state("0..4: 0-4 AVAILABLE x1");
  await_transaction_state(client_, txn.id(), "CompleteAbort");
  EXPECT_EQ(committed_output(), Strings{});
}

}  // namespace
}  // namespace ackord::integration
