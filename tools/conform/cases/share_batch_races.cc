// Batch transactions: requests that run beside each other. What was answered is what happened, and
// nothing stays staged.
#include "tools/conform/case.h"
#include "tools/conform/kit/batch_txn.h"
#include "tools/conform/kit/share_state.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.batch.races", "Batch transactions: requests beside each other", "BeginBatchTxn");

namespace {

constexpr int kRounds = 10;

// A little time, another one in each round, so that now the one request comes first, now the other.
void pause(Kit& kit, int64_t round) {
  for (int64_t i = 0; i < round % 5; ++i) kit.ask("ApiVersions", 0, {});
}

// How many offsets are not done with.
int64_t left(Kit& kit, const std::string& group, const Topic& topic) {
  int64_t count = 0;
  for (const auto& [first, last, state, deliveries] : flight_of(kit, group, topic))
    if (state == kAvailable || state == kAcquiredState) count += last - first + 1;
  return count;
}

bool staged(const Value& answer) {
  return answer["errorCode"].error() == ErrorCode::NONE &&
         answer["responses"][0]["partitions"][0]["errorCode"].error() == ErrorCode::NONE;
}

}  // namespace

// StagedRecords is the sum of what was answered NONE.
CASE(stage_beside_prepare, "docs/PROTOCOL.md 2.2, B11") {
  auto [topic, member] = acquired_records(kit);
  int64_t committed = 0;
  for (int64_t offset = 0; offset < kRounds; ++offset) {
    BatchTxn batch(kit, member.group());
    expect_batch(batch.begin(), "ONGOING", 0);
    Connection& executor = kit.connect();
    const Sent late = executor.send(
        "BatchTxnAcknowledge", 0,
        batch.acknowledge_request(member, {{.topic = topic, .first = offset, .last = offset}}));
    pause(kit, offset);
    const Value prepared = batch.prepare();
    const Value answer = executor.receive(late);
    if (!staged(answer)) {
      const ErrorCode error = answer["errorCode"].error() != ErrorCode::NONE
                                  ? answer["errorCode"].error()
                                  : answer["responses"][0]["partitions"][0]["errorCode"].error();
      expect_equal(error, ErrorCode::INVALID_TXN_STATE, "the late stage");
    }
    expect_batch(prepared, "PREPARE", staged(answer) ? 1 : 0);
    expect_batch(batch.commit(), "COMMITTED", staged(answer) ? 1 : 0);
    if (staged(answer)) ++committed;
    expect_nothing_staged(kit, member.group(), topic);
  }
  expect_equal(left(kit, member.group(), topic), 10 - committed, "records left");
}

CASE(stage_beside_abort, "docs/PROTOCOL.md 2.2, B11; 4, I4") {
  auto [topic, member] = acquired_records(kit);
  for (int64_t offset = 0; offset < kRounds; ++offset) {
    BatchTxn batch(kit, member.group());
    expect_batch(batch.begin(), "ONGOING", 0);
    Connection& executor = kit.connect();
    const Sent late = executor.send(
        "BatchTxnAcknowledge", 0,
        batch.acknowledge_request(member, {{.topic = topic, .first = offset, .last = offset}}));
    pause(kit, offset);
    const Value aborted = batch.abort();
    const Value answer = executor.receive(late);
    expect_batch(aborted, "ABORTED", staged(answer) ? 1 : 0);
    expect_nothing_staged(kit, member.group(), topic);
  }
  expect_equal(left(kit, member.group(), topic), int64_t{10}, "records left");
}

// All of them see the same count.
CASE(prepare_beside_prepare, "docs/PROTOCOL.md 2.3, B12 B15") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 6}});
  std::vector<std::pair<Connection*, Sent>> sent;
  for (int i = 0; i < 4; ++i) {
    Connection& connection = kit.connect();
    sent.emplace_back(&connection, connection.send("PrepareBatchTxn", 0, on.batch.name()));
  }
  for (auto& [connection, request] : sent) expect_batch(connection->receive(request), "PREPARE", 7);
  expect_batch(on.batch.commit(), "COMMITTED", 7);
}

// One of them decides, the others are told.
CASE(commit_beside_abort, "docs/PROTOCOL.md 2.3, B17 B18 B21 B23") {
  auto [topic, member] = acquired_records(kit);
  int64_t committed = 0;
  for (int64_t offset = 0; offset < kRounds; ++offset) {
    BatchTxn batch(kit, member.group());
    expect_batch(batch.begin(), "ONGOING", 0);
    batch.stage(member, {{.topic = topic, .first = offset, .last = offset}});
    expect_batch(batch.prepare(), "PREPARE", 1);
    Connection& one = kit.connect();
    Connection& other = kit.connect();
    const bool commit_first = offset % 2 == 0;
    const Sent first = one.send(commit_first ? "CommitBatchTxn" : "AbortBatchTxn", 0, batch.name());
    const Sent second =
        other.send(commit_first ? "AbortBatchTxn" : "CommitBatchTxn", 0, batch.name());
    const Value answers[] = {one.receive(first), other.receive(second)};
    const std::string state = (*batch.listed())["state"].text();
    for (int i = 0; i < 2; ++i) {
      const bool asked_commit = (i == 0) == commit_first;
      if (asked_commit == (state == "COMMITTED"))
        expect_batch(answers[i], state.c_str(), 1);
      else
        expect_wrong_state(answers[i], state.c_str());
    }
    if (state == "COMMITTED") ++committed;
    expect_nothing_staged(kit, member.group(), topic);
  }
  expect_equal(left(kit, member.group(), topic), 10 - committed, "records left");
}

CASE(prepare_beside_abort, "docs/PROTOCOL.md 2.3, B12") {
  auto [topic, member] = acquired_records(kit);
  for (int64_t offset = 0; offset < kRounds; ++offset) {
    BatchTxn batch(kit, member.group());
    expect_batch(batch.begin(), "ONGOING", 0);
    batch.stage(member, {{.topic = topic, .first = offset, .last = offset}});
    Connection& one = kit.connect();
    Connection& other = kit.connect();
    const Sent preparing = one.send("PrepareBatchTxn", 0, batch.name());
    const Sent aborting = other.send("AbortBatchTxn", 0, batch.name());
    const Value prepared = one.receive(preparing);
    // Whichever comes first: in the end it is aborted.
    expect_batch(other.receive(aborting), "ABORTED", 1);
    if (prepared["errorCode"].error() == ErrorCode::NONE)
      expect_batch(prepared, "PREPARE", 1);
    else
      expect_wrong_state(prepared, "ABORTED");
    expect_nothing_staged(kit, member.group(), topic);
  }
  expect_equal(left(kit, member.group(), topic), int64_t{10}, "records left");
}

CASE(begin_beside_begin, "docs/PROTOCOL.md 2.3, B3") {
  const std::string group = earliest_group(kit);
  BatchTxn batch(kit, group);
  ShareMember member(kit, group);  // so that the coordinator is there
  std::vector<std::pair<Connection*, Sent>> sent;
  for (int i = 0; i < 4; ++i) {
    Connection& connection = kit.connect();
    sent.emplace_back(&connection, connection.send("BeginBatchTxn", 0,
                                                   merged(batch.name(), {{"timeoutMs", 60000}})));
  }
  for (auto& [connection, request] : sent) {
    const Value answer = connection->receive(request);
    if (!is_busy(answer["errorCode"].error())) expect_batch(answer, "ONGOING", 0);
  }
  expect_batch(batch.begin(), "ONGOING", 0);
  list_batches(kit, group)["transactions"].has_size(1);
  expect_batch(batch.abort(), "ABORTED", 0);
}

// Executors that stage the same records: each offset is staged once.
CASE(executors_beside_each_other, "docs/PROTOCOL.md 2.2; 4, I6") {
  Begun on = begun(kit);
  std::vector<std::pair<Connection*, Sent>> sent;
  for (int64_t i = 0; i < 5; ++i) {
    Connection& connection = kit.connect();
    sent.emplace_back(
        &connection,
        connection.send("BatchTxnAcknowledge", 0,
                        on.batch.acknowledge_request(
                            on.member, {{.topic = on.topic, .first = i, .last = 9 - i}})));
  }
  for (auto& [connection, request] : sent)
    expect(staged(connection->receive(request)), "it is staged");
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_lag(kit, on.member.group(), on.topic, 0);
}

}  // namespace ackord::conform
