// Stages beside the end of their transaction: the next one at once, and at the very moment.
#include "protocol/generated/txn_share_acknowledge_response.h"
#include "tests/integration/broker/txn_fixture.h"

namespace ackord::integration {
namespace {

constexpr int kTransactions = 1000;

class BackToBack : public TxnFixture {
 protected:
  void run(TxnVersion version);
};

// A client that begins its next transaction at once must not be sent into its backoff.
void BackToBack::run(TxnVersion version) {
  const Topic topic = create_topic(client_, fresh_name("many"));
  integration::produce(client_, topic, 0, numbered_values(kTransactions));
  const std::string group = make_group();
  ShareMember member = joined(group, {topic});
  member.acquire(topic, 0, kTransactions);
  TxnProducer txn = producer(version);
  int concurrent = 0;
  for (Offset offset = 0; offset < kTransactions; ++offset) {
    const Staged staged = txn.stage(member, {{topic, 0, offset, offset}});
    if (staged.error == ErrorCode::CONCURRENT_TRANSACTIONS) ++concurrent;
    ASSERT_EQ(staged, staged_ok()) << offset;
    ASSERT_EQ(txn.commit(), ErrorCode::NONE) << offset;
  }
  EXPECT_EQ(concurrent, 0);
  const std::string end = std::to_string(kTransactions);
  await_share_state(client_, group, topic, 0, end + ".." + end + ":");
}

TEST_F(BackToBack, InVersion1) { run(TxnVersion::k1); }
TEST_F(BackToBack, InVersion2) { run(TxnVersion::k2); }

class CommitRaces : public TxnFixture {
 protected:
  static constexpr int kRounds = 200;
  void run(TxnVersion version, bool commit);
};

// The stage comes from another connection than EndTxn, carries the start of its transaction, and
// arrives before it, after it or in between: it is in the transaction or it is refused, but it
// never stays behind.
void CommitRaces::run(TxnVersion version, bool commit) {
  const Topic topic = create_topic(client_, fresh_name("raced"));
  integration::produce(client_, topic, 0, numbered_values(kRounds));
  const std::string group = make_group();
  ShareMember member = joined(group, {topic});
  member.acquire(topic, 0, kRounds);
  TxnProducer txn = producer(version);
  RawClient other(port());
  std::vector<bool> taken;
  for (Offset offset = 0; offset < kRounds; ++offset) {
    const Staging item{topic, 0, offset, offset};
    const Enlisted enlisted = txn.enlist(group, {item});
    ASSERT_EQ(enlisted.error, ErrorCode::NONE) << offset;
    const auto request = txn.stage_request(member, {item}, enlisted.start_time_ms);
    // Both orders of sending.
    const bool stage_first = offset % 2 == 0;
    Pending stage{};
    if (stage_first) stage = other.send(request, 0);
    const Pending end = txn.send_end(commit);
    if (!stage_first) stage = other.send(request, 0);
    ASSERT_EQ(txn.receive_end(end), ErrorCode::NONE) << offset;
    const auto answer = other.receive<protocol::TxnShareAcknowledgeResponse>(stage);
    bool staged = answer.message.error_code == ErrorCode::NONE;
    for (const auto& entry : answer.message.responses)
      staged = staged && entry.partitions.at(0).error_code == ErrorCode::NONE;
    taken.push_back(staged);
  }
  await_transaction_state(client_, txn.id(), commit ? "CompleteCommit" : "CompleteAbort");
  const std::string state = share_state(client_, group, topic);
  EXPECT_EQ(state.find("TX_PENDING"), std::string::npos) << state;

  // What was not taken by a committed transaction comes again, and nothing else.
  ASSERT_EQ(member.leave(), ErrorCode::NONE);
  member.close_session();
  std::vector<bool> again(kRounds, false);
  int64_t expected = 0;
  for (bool taken_once : taken) expected += taken_once && commit ? 0 : 1;
  ShareMember rest = joined(group, {topic});
  for (const OffsetRange& got : expected == 0 ? Ranges{} : rest.acquire(topic, 0, expected)) {
    for (Offset offset = got.first; offset <= got.last; ++offset)
      again.at(static_cast<size_t>(offset)) = true;
  }
  for (size_t offset = 0; offset < kRounds; ++offset)
    EXPECT_NE(again[offset], taken[offset] && commit) << offset;
  EXPECT_EQ(rest.fetch(topic), Ranges{});
}

TEST_F(CommitRaces, CommitInVersion1) { run(TxnVersion::k1, true); }
TEST_F(CommitRaces, CommitInVersion2) { run(TxnVersion::k2, true); }
TEST_F(CommitRaces, AbortInVersion1) { run(TxnVersion::k1, false); }
TEST_F(CommitRaces, AbortInVersion2) { run(TxnVersion::k2, false); }

}  // namespace
}  // namespace ackord::integration
