// Batch transactions of share acknowledgements: no producer, two phases, decided by a coordinator:
// the rows of the state table, B1 to B23.
#include "tools/conform/case.h"
#include "tools/conform/kit/batch_txn.h"
#include "tools/conform/kit/share_offsets.h"

namespace ackord::conform {

AREA("share.batch", "Batch transactions of share acknowledgements", "BeginBatchTxn");

namespace {

void expect_lag(Kit& kit, const Begun& on, int64_t lag) {
  describe_offset(kit, on.member.group(), on.topic)["lag"].is(lag);
}

}  // namespace

CASE(commit, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 4}).is_none();
  on.batch
      .acknowledge_one(on.member, {.topic = on.topic, .first = 5, .last = 9, .types = {kReject}})
      .is_none();
  expect_lag(kit, on, 10);
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_lag(kit, on, 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_lag(kit, on, 0);
}

CASE(abort, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 9}).is_none();
  on.batch.abort()["errorCode"].is_none();
  expect_equal(on.member.acquire(on.topic), Ranges{{0, 9, 2}}, "acquired again");
}

CASE(abort_of_a_prepared_one, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 9}).is_none();
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_equal(on.member.fetch(on.topic, {.max_wait_ms = 300}).acquired, Ranges{}, "acquired");
  on.batch.abort()["errorCode"].is_none();
  expect_equal(on.member.acquire(on.topic), Ranges{{0, 9, 2}}, "acquired again");
}

// ---------------------------------------------------------------- ONGOING

CASE(unknown_id, "docs/PROTOCOL.md 2.3, B2") {
  auto [topic, member] = acquired_records(kit);
  BatchTxn batch(kit, member.group());
  for (const Value& answer : {batch.prepare(), batch.commit(), batch.abort()}) {
    answer["errorCode"].is(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
    answer["errorMessage"].is_not_empty();
    answer["state"].is("");
    answer["stagedRecords"].is(0);
  }
  batch.acknowledge(member, {{.topic = topic}})["errorCode"].is(
      ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  expect(!batch.listed().has_value(), "nothing has come to be");
}

CASE(unknown_group, "docs/PROTOCOL.md 2.3, B2") {
  BatchTxn batch(kit, kit.name("g"));
  for (const Value& answer : {batch.prepare(), batch.commit(), batch.abort()})
    answer["errorCode"].is(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
}

CASE(begun_again, "docs/PROTOCOL.md 2.3, B3") {
  Begun on = begun(kit);
  expect_batch(on.batch.begin(), "ONGOING", 0);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 3}});
  expect_batch(on.batch.begin(1), "ONGOING", 4);
  (*on.batch.listed())["timeoutMs"].is(60000);
  expect_batch(on.batch.abort(), "ABORTED", 4);
}

// An earlier attempt has left something in it: it goes, and another id is used.
CASE(next_attempt, "docs/PROTOCOL.md 2.2") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  BatchTxn again(kit, on.member.group(), on.batch.id());
  expect_batch(again.begin(), "ONGOING", 10);
  expect_batch(again.abort(), "ABORTED", 10);
  ShareMember executor(kit, on.member.group());
  executor.join({on.topic});
  expect_equal(executor.acquire(on.topic), Ranges{{0, 9, 2}}, "acquired again");
  BatchTxn other(kit, on.member.group());
  expect_batch(other.begin(), "ONGOING", 0);
  other.stage(executor, {{.topic = on.topic, .first = 0, .last = 9}});
  expect_batch(other.prepare(), "PREPARE", 10);
  expect_batch(other.commit(), "COMMITTED", 10);
  expect_lag(kit, on, 0);
}

// Begun, and nothing staged: it goes its way all the same.
CASE(empty, "docs/PROTOCOL.md 2.3") {
  Begun on = begun(kit);
  expect_batch(on.batch.prepare(), "PREPARE", 0);
  expect_batch(on.batch.commit(), "COMMITTED", 0);
  BatchTxn other(kit, on.member.group());
  expect_batch(other.begin(), "ONGOING", 0);
  expect_batch(other.abort(), "ABORTED", 0);
  BatchTxn third(kit, on.member.group());
  expect_batch(third.begin(), "ONGOING", 0);
  expect_batch(third.prepare(), "PREPARE", 0);
  expect_batch(third.abort(), "ABORTED", 0);
  on.member.acknowledge(on.topic, 0, 9).is_none();  // nobody has touched what it holds
  expect_lag(kit, on, 0);
}

CASE(commit_before_prepare, "docs/PROTOCOL.md 2.3, B10") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  expect_wrong_state(on.batch.commit(), "ONGOING");
  on.batch.stage(on.member, {{.topic = on.topic, .first = 5, .last = 9}});
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_lag(kit, on, 0);
}

CASE(doomed, "docs/PROTOCOL.md 2.3, B5 B7 B8") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 10, .last = 10})
      .is(ErrorCode::INVALID_RECORD_STATE);
  for (int i = 0; i < 2; ++i) {
    const Value answer = on.batch.prepare();
    answer["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
    answer["state"].is("ONGOING");
  }
  expect_wrong_state(on.batch.commit(), "ONGOING");
  on.batch.stage(on.member, {{.topic = on.topic, .first = 5, .last = 6}});
  expect_batch(on.batch.begin(), "ONGOING", 7);
  expect_batch(on.batch.abort(), "ABORTED", 7);
  expect_equal(offsets_of(on.member.acquire(on.topic)), std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6},
               "acquired again");
}

CASE(timeout, "docs/PROTOCOL.md 2.3, B9 B16 B22 B23", .limit_s = 60) {
  Begun on = begun(kit, 1000);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  BatchTxn prepared(kit, on.member.group());
  expect_batch(prepared.begin(2000), "ONGOING", 0);
  prepared.stage(on.member, {{.topic = on.topic, .first = 5, .last = 9}});
  expect_batch(prepared.prepare(), "PREPARE", 5);
  Ranges acquired;
  kit.until(
      "the records come again",
      [&] {
        acquired = on.member.fetch(on.topic).acquired;
        return !acquired.empty();
      },
      Millis(30000));
  expect_equal(acquired, Ranges{{0, 4, 2}}, "acquired again");
  for (const Value& answer : {on.batch.prepare(), on.batch.commit(), on.batch.begin()})
    expect_wrong_state(answer, "ABORTED");
  on.batch.acknowledge(on.member, {{.topic = on.topic}})["errorCode"].is(
      ErrorCode::INVALID_TXN_STATE);
  expect_batch(on.batch.abort(), "ABORTED", 5);
  // Of a prepared one only its coordinator decides, however much time has passed. One that began
  // later with the same time is over by now.
  BatchTxn later(kit, on.member.group());
  expect_batch(later.begin(2000), "ONGOING", 0);
  kit.until(
      "the later one is over", [&] { return (*later.listed())["state"].text() == "ABORTED"; },
      Millis(30000));
  expect_batch(prepared.commit(), "COMMITTED", 5);
}

// ---------------------------------------------------------------- PREPARE

CASE(prepared_again, "docs/PROTOCOL.md 2.3, B15") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 3}});
  for (int i = 0; i < 3; ++i) expect_batch(on.batch.prepare(), "PREPARE", 4);
  expect_batch(on.batch.abort(), "ABORTED", 4);
}

// Each offset counts once, whatever its type and however often it was sent.
CASE(exact_count, "docs/PROTOCOL.md 2.2") {
  Begun on = begun(kit);
  for (int i = 0; i < 2; ++i)
    on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 3},
                               {.topic = on.topic, .first = 4, .last = 5, .types = {kReject}},
                               {.topic = on.topic, .first = 8, .last = 9, .types = {kGap}}});
  on.batch.stage(on.member, {{.topic = on.topic, .first = 2, .last = 3}});
  expect_batch(on.batch.prepare(), "PREPARE", 8);
  expect_batch(on.batch.commit(), "COMMITTED", 8);
  on.member.acknowledge(on.topic, 6, 7).is_none();
  expect_lag(kit, on, 0);
}

CASE(prepared_takes_nothing_more, "docs/PROTOCOL.md 2.3, B19") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  expect_batch(on.batch.prepare(), "PREPARE", 5);
  on.batch.acknowledge(on.member, {{.topic = on.topic, .first = 5, .last = 9}})["errorCode"].is(
      ErrorCode::INVALID_TXN_STATE);
  expect_wrong_state(on.batch.begin(), "PREPARE");
  // What is refused for good now dooms nothing: it may be part of the engine's commit already.
  on.batch.acknowledge(on.member, {{.topic = {"x", "BwcHBwcHBwcHBwcHBwcHBw", 1}}});
  on.batch.acknowledge(on.member, {{.topic = on.topic}}, {.member = kit.name("m")});
  expect_batch(on.batch.prepare(), "PREPARE", 5);
  expect_batch(on.batch.commit(), "COMMITTED", 5);
  expect_lag(kit, on, 5);
  on.member.acknowledge(on.topic, 5, 9).is_none();
}

// ---------------------------------------------------------------- COMMITTED, ABORTED

CASE(committed_stays_so, "docs/PROTOCOL.md 2.3, B20 B21") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  expect_batch(on.batch.prepare(), "PREPARE", 5);
  for (int i = 0; i < 3; ++i) expect_batch(on.batch.commit(), "COMMITTED", 5);
  for (const Value& answer : {on.batch.begin(), on.batch.prepare(), on.batch.abort()})
    expect_wrong_state(answer, "COMMITTED");
  on.batch.acknowledge(on.member, {{.topic = on.topic, .first = 5, .last = 9}})["errorCode"].is(
      ErrorCode::INVALID_TXN_STATE);
  expect_batch(on.batch.commit(), "COMMITTED", 5);
  expect_lag(kit, on, 5);
}

CASE(aborted_stays_so, "docs/PROTOCOL.md 2.3, B18 B22 B23") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  expect_batch(on.batch.prepare(), "PREPARE", 5);
  for (int i = 0; i < 3; ++i) expect_batch(on.batch.abort(), "ABORTED", 5);
  for (const Value& answer : {on.batch.begin(), on.batch.prepare(), on.batch.commit()})
    expect_wrong_state(answer, "ABORTED");
  on.batch.acknowledge(on.member, {{.topic = on.topic, .first = 5, .last = 9}})["errorCode"].is(
      ErrorCode::INVALID_TXN_STATE);
  expect_equal(on.member.acquire(on.topic), Ranges{{0, 4, 2}}, "acquired again");
}

// ---------------------------------------------------------------- several of them

CASE(an_id_is_its_groups, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  auto [topic, member] = acquired_records(kit);
  BatchTxn same(kit, member.group(), on.batch.id());
  expect_batch(same.begin(), "ONGOING", 0);
  same.stage(member, {{.topic = topic, .first = 0, .last = 2}});
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  expect_batch(same.abort(), "ABORTED", 3);
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_wrong_state(same.commit(), "ABORTED");
  expect_lag(kit, on, 0);
}

CASE(several_members, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  on.member.acknowledge(on.topic, 5, 9, {kRelease}).is_none();
  ShareMember other(kit, on.member.group());
  other.join({on.topic});
  other.acquire_count(on.topic, 5);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  on.batch.stage(other, {{.topic = on.topic, .first = 5, .last = 9}});
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_lag(kit, on, 0);
}

// Several participants: what one request stages, and what one decision resolves, is in several
// state partitions.
CASE(several_partitions, "docs/PROTOCOL.md 2") {
  constexpr int32_t kPartitions = 8;
  const Topic topic = create_topic(kit, kPartitions);
  ShareMember member(kit, earliest_group(kit));
  std::vector<ShareAck> acks;
  for (int32_t i = 0; i < kPartitions; ++i) {
    produce(kit, topic, numbered(2), {.partition = i});
    acks.push_back({.topic = topic, .partition = i, .first = 0, .last = 1});
  }
  member.join({topic});
  std::vector<SharePart> parts;
  for (int32_t i = 0; i < kPartitions; ++i) parts.push_back({.topic = topic, .partition = i});
  for (const bool committed : {false, true}) {
    size_t acquired = 0;
    kit.until("all records are acquired", [&] {
      const Value answer = member.share_fetch(parts);
      for (int32_t i = 0; i < kPartitions; ++i)
        acquired += offsets_of(fetched_of(answer, topic, i).acquired).size();
      return acquired == size_t{2 * kPartitions};
    });
    BatchTxn batch(kit, member.group());
    expect_batch(batch.begin(), "ONGOING", 0);
    batch.stage(member, acks);
    expect_batch(batch.begin(), "ONGOING", 2 * kPartitions);
    expect_batch(batch.prepare(), "PREPARE", 2 * kPartitions);
    if (committed)
      expect_batch(batch.commit(), "COMMITTED", 2 * kPartitions);
    else
      expect_batch(batch.abort(), "ABORTED", 2 * kPartitions);
  }
  for (int32_t i = 0; i < kPartitions; ++i)
    describe_offset(kit, member.group(), topic, i)["lag"].is(0);
}

CASE(side_by_side, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  BatchTxn other(kit, on.member.group());
  expect_batch(other.begin(), "ONGOING", 0);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  other.stage(on.member, {{.topic = on.topic, .first = 5, .last = 7}});
  on.member.acknowledge(on.topic, 8, 9).is_none();
  expect_batch(other.prepare(), "PREPARE", 3);
  expect_batch(on.batch.abort(), "ABORTED", 5);
  expect_equal(on.member.acquire(on.topic), Ranges{{0, 4, 2}}, "acquired again");
  expect_batch(other.commit(), "COMMITTED", 3);
  expect_lag(kit, on, 5);
}

}  // namespace ackord::conform
