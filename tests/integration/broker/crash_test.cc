// The broker is killed (SIGKILL) at every step of a transaction that acknowledges. Whatever the
// moment: what was answered holds after the restart, and output and acknowledgements agree record
// for record.
#include <algorithm>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/txn_share_acknowledge_response.h"
#include "tests/integration/broker/txn_fixture.h"

namespace ackord::integration {
namespace {

// The broker does its work while this client counts steps: some requests that cost it nothing.
void let_it_work(RawClient& client, int steps) {
  protocol::ApiVersionsRequest request;
  request.client_software_name = "integration";
  request.client_software_version = "1";
  for (int step = 0; step < steps; ++step) client.call<protocol::ApiVersionsResponse>(request, 3);
}

// After a restart nothing is in flight but what is in the log: that a record was acquired never is.
class Crash : public TxnFixture {
 protected:
  // Every connection ends with the broker.
  void crash(std::initializer_list<TxnProducer*> producers) {
    broker_->crash();
    client_ = RawClient(port());
    for (TxnProducer* txn : producers) txn->reconnect();
  }
};

TEST_F(Crash, AfterTheStageWasAnsweredThenCommit) {
  for (const TxnVersion version : {TxnVersion::k1, TxnVersion::k2}) {
    SetUp();
    ShareMember member = holder();
    TxnProducer txn = producer(version);
    EXPECT_EQ(txn.produce(output_, 0, {"out"}), ErrorCode::NONE);
    EXPECT_EQ(txn.stage(member, {range(0, 3), range(4, 4, kReject)}), staged_ok());
    crash({&txn});
    EXPECT_EQ(state(), "0..4: 0-3 TX_PENDING ACCEPT x1, 4-4 TX_PENDING REJECT x1");
    EXPECT_EQ(transaction_state(client_, txn.id()), "Ongoing");
    EXPECT_EQ(committed_output(), Strings{});
    txn.end_for_sure(true);
    await_state("5..5:");
    await_transaction_state(client_, txn.id(), "CompleteCommit");
    EXPECT_EQ(committed_output(), Strings{"out"});
  }
}

TEST_F(Crash, AfterTheStageWasAnsweredThenAbort) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(txn.produce(output_, 0, {"out"}), ErrorCode::NONE);
  EXPECT_EQ(txn.stage(member, {range(0, 3)}), staged_ok());
  crash({&txn});
  txn.end_for_sure(false);
  await_transaction_state(client_, txn.id(), "CompleteAbort");
  // The delivery of the staged records was made durable with them.
  await_state("0..3: 0-3 AVAILABLE x1");
  EXPECT_EQ(committed_output(), Strings{});
}

TEST_F(Crash, TheTimeoutIsKeptOverARestart) {
  ShareMember member = holder();
  TxnProducer txn = producer(TxnVersion::k2, 2000);
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  crash({});
  await_transaction_state(client_, txn.id(), "CompleteAbort");
  await_state("0..9: 0-9 AVAILABLE x1");
}

TEST_F(Crash, AStageIsRepeatedAfterTheRestart) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  const auto request = txn.stage_request(member, {range(0, 9)});
  EXPECT_EQ(txn.stage(request), staged_ok());
  crash({&txn});
  EXPECT_EQ(txn.stage(request), staged_ok());
  txn.end_for_sure(true);
  await_state("10..10:");
}

TEST_F(Crash, AfterTheMarker) {
  for (const bool commit : {true, false}) {
    SetUp();
    ShareMember member = holder();
    TxnProducer txn = producer();
    EXPECT_EQ(txn.produce(output_, 0, {"out"}), ErrorCode::NONE);
    EXPECT_EQ(txn.stage(member, {range(0, 3), range(4, 4, kReject)}), staged_ok());
    EXPECT_EQ(txn.end(commit), ErrorCode::NONE);
    await_transaction_state(client_, txn.id(), commit ? "CompleteCommit" : "CompleteAbort");
    crash({&txn});
    await_state(commit ? "5..5:" : "0..4: 0-4 AVAILABLE x1");
    EXPECT_EQ(committed_output(), commit ? Strings{"out"} : Strings{});
    // And once more from what the restart itself has written.
    crash({&txn});
    await_state(commit ? "5..5:" : "0..4: 0-4 AVAILABLE x1");
  }
}

TEST_F(Crash, EndTxnWasAnsweredAndTheBrokerDiedAtOnce) {
  for (const TxnVersion version : {TxnVersion::k1, TxnVersion::k2}) {
    for (const bool commit : {true, false}) {
      SetUp();
      ShareMember member = holder();
      TxnProducer txn = producer(version);
      EXPECT_EQ(txn.produce(output_, 0, {"out"}), ErrorCode::NONE);
      EXPECT_EQ(txn.stage(member, {range(0, 4)}), staged_ok());
      EXPECT_EQ(txn.end(commit), ErrorCode::NONE);
      crash({&txn});
      // The decision was durable: it is driven on without the client.
      await_transaction_state(client_, txn.id(), commit ? "CompleteCommit" : "CompleteAbort");
      await_state(commit ? "5..5:" : "0..4: 0-4 AVAILABLE x1");
      EXPECT_EQ(committed_output(), commit ? Strings{"out"} : Strings{});
    }
  }
}

// The stage is sent and the broker dies before the answer is read, later and later.
TEST_F(Crash, DuringAStage) {
  constexpr int kMoments = 20;
  for (int moment = 0; moment < kMoments; ++moment) {
    SetUp();
    ShareMember member = holder();
    TxnProducer txn = producer(moment % 2 == 0 ? TxnVersion::k1 : TxnVersion::k2);
    ASSERT_EQ(txn.produce(output_, 0, {"out"}), ErrorCode::NONE);
    const auto request = txn.stage_request(member, {range(0, 4)});
    txn.client().send(request, 0);
    let_it_work(client_, moment);
    crash({&txn});

    // Durable or not, but whole; and the client's retry says which.
    const std::string after = state();
    const bool durable = after == "0..4: 0-4 TX_PENDING ACCEPT x1";
    if (!durable) {
      ASSERT_EQ(after.find("TX_PENDING"), std::string::npos) << after;
    }
    const Staged retried = txn.stage(request);
    ASSERT_EQ(retried, durable ? staged_ok() : refused(ErrorCode::INVALID_RECORD_STATE)) << moment;
    txn.end_for_sure(durable);
    await_transaction_state(client_, txn.id(), durable ? "CompleteCommit" : "CompleteAbort");
    ASSERT_EQ(committed_output(), durable ? Strings{"out"} : Strings{}) << moment;
    ShareMember reader = joined(group_, {source_});
    ASSERT_EQ(reader.acquire(source_, 0, durable ? 5 : 10), (Ranges{{durable ? 5 : 0, 9, 1}}))
        << moment;
  }
}

// The same for EndTxn: whatever became of it, output and acknowledgements say the same.
TEST_F(Crash, DuringEndTxn) {
  constexpr int kMoments = 20;
  for (int moment = 0; moment < kMoments; ++moment) {
    SetUp();
    ShareMember member = holder();
    TxnProducer txn = producer(moment % 2 == 0 ? TxnVersion::k1 : TxnVersion::k2);
    ASSERT_EQ(txn.produce(output_, 0, {"out"}), ErrorCode::NONE);
    ASSERT_EQ(txn.stage(member, {range(0, 4)}), staged_ok());
    txn.send_end(true);
    let_it_work(client_, moment / 2);
    crash({&txn});

    const std::string verdict = transaction_state(client_, txn.id());
    if (verdict == "Ongoing") {
      ASSERT_EQ(state(), "0..4: 0-4 TX_PENDING ACCEPT x1") << moment;
      ASSERT_EQ(committed_output(), Strings{});
    }
    // A client repeats a request whose answer it has lost.
    txn.end_for_sure(true);
    await_transaction_state(client_, txn.id(), "CompleteCommit");
    await_state("5..5:");
    ASSERT_EQ(committed_output(), Strings{"out"}) << moment;
  }
}

// A worker takes records, writes one output per input in the transaction that acknowledges it, and
// the broker is killed at a step that moves on with every life. In the end every input has exactly
// one output.
class Ledger : public Crash {
 protected:
  static constexpr int kInputs = 60;
  static constexpr int kLives = 15;

  // One transaction over what a fetch brings; false when there was nothing. `step` counts down the
  // requests of a life: at 0 the broker dies.
  bool work(ShareMember& member, TxnProducer& txn, int& steps_left);
  bool dies(int& steps_left) { return steps_left-- == 0; }

  Topic inputs_;
};

bool Ledger::work(ShareMember& member, TxnProducer& txn, int& steps_left) {
  const Ranges got = member.fetch(inputs_, 0, 4, 200);
  if (dies(steps_left) || got.empty()) return false;
  for (const OffsetRange& range : got) {
    Strings values;
    for (Offset offset = range.first; offset <= range.last; ++offset)
      values.push_back("v" + std::to_string(offset));
    require_none(txn.produce(output_, 0, values), "Produce");
    if (dies(steps_left)) return false;
    const auto request = txn.stage_request(member, {{inputs_, 0, range.first, range.last}});
    if (dies(steps_left)) {
      txn.client().send(request, 0);
      return false;
    }
    require(txn.stage(request) == staged_ok(), "TxnShareAcknowledge");
    if (dies(steps_left)) return false;
  }
  const Pending end = txn.send_end(true);
  if (dies(steps_left)) return false;
  require_none(txn.receive_end(end), "EndTxn");
  return !dies(steps_left);
}

TEST_F(Ledger, EveryInputHasExactlyOneOutputThroughAllCrashes) {
  inputs_ = create_topic(client_, fresh_name("inputs"));
  integration::produce(client_, inputs_, 0, numbered_values(kInputs));
  const std::string transactional_id = fresh_name("worker");
  for (int life = 0; life <= kLives; ++life) {
    const bool last = life == kLives;
    // As a restarted worker does: the transaction of the life before is aborted, if it was not
    // decided.
    TxnProducer txn(port(), transactional_id, life % 2 == 0 ? TxnVersion::k1 : TxnVersion::k2);
    txn.init();
    ShareMember member = joined(group_, {inputs_});
    int steps_left = last ? -1 : 1 + life;
    if (last) {
      // Until nothing is left: a fetch that brings nothing may only have been too early.
      const std::string end = std::to_string(kInputs);
      poll_until(
          "all inputs taken",
          [&] {
            work(member, txn, steps_left);
            return share_state(client_, group_, inputs_) == end + ".." + end + ":";
          },
          Millis(60000));
      poll_until("the last transaction's markers", [&] {
        const std::string state = transaction_state(client_, transactional_id);
        return state == "CompleteCommit" ||
               state == "Empty";  // Empty: an earlier life took the last inputs
      });
      break;
    }
    while (work(member, txn, steps_left)) {
    }
    crash({});
  }
  Strings outputs = committed_output();
  Strings expected = numbered_values(kInputs);
  std::sort(outputs.begin(), outputs.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(outputs, expected);
}

}  // namespace
}  // namespace ackord::integration
