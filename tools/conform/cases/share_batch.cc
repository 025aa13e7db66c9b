// Batch transactions of share acknowledgements: no producer, two phases, decided by a coordinator.
#include "tools/conform/case.h"
#include "tools/conform/kit/batch_txn.h"
#include "tools/conform/kit/share_offsets.h"

namespace ackord::conform {

AREA("share.batch", "Batch transactions of share acknowledgements", "BeginBatchTxn");

namespace {

// Ten records acquired, and a transaction that has been begun.
struct Begun {
  Topic topic;
  ShareMember member;
  BatchTxn batch;
};
Begun begun(Kit& kit, int32_t timeout_ms = 60000) {
  auto [topic, member] = acquired_records(kit);
  Begun out{topic, member, BatchTxn(kit, member.group())};
  expect_batch(out.batch.begin(timeout_ms), "ONGOING", 0);
  return out;
}

void expect_lag(Kit& kit, const Begun& on, int64_t lag) {
  describe_offset(kit, on.member.group(), on.topic)["lag"].is(lag);
}

void refused(const Value& answer, const char* state) {
  answer["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
  answer["state"].is(state);
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

CASE(repeated_requests, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  for (int i = 0; i < 2; ++i)
    on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 3}).is_none();
  expect_batch(on.batch.begin(), "ONGOING", 4);
  for (int i = 0; i < 2; ++i) expect_batch(on.batch.prepare(), "PREPARE", 4);
  for (int i = 0; i < 2; ++i) expect_batch(on.batch.commit(), "COMMITTED", 4);
  BatchTxn other(kit, on.member.group());
  other.begin()["errorCode"].is_none();
  for (int i = 0; i < 2; ++i) expect_batch(other.abort(), "ABORTED", 0);
}

CASE(wrong_order, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  refused(on.batch.commit(), "ONGOING");
  on.batch.prepare()["errorCode"].is_none();
  on.batch.acknowledge(on.member, {{.topic = on.topic}})["errorCode"].is(
      ErrorCode::INVALID_TXN_STATE);
  on.batch.commit()["errorCode"].is_none();
  refused(on.batch.abort(), "COMMITTED");
  refused(on.batch.begin(), "COMMITTED");
  BatchTxn other(kit, on.member.group());
  other.begin()["errorCode"].is_none();
  other.abort()["errorCode"].is_none();
  refused(other.commit(), "ABORTED");
  refused(other.begin(), "ABORTED");
}

CASE(unknown_id, "docs/PROTOCOL.md 2") {
  auto [topic, member] = acquired_records(kit);
  BatchTxn batch(kit, member.group());
  for (const Value& answer : {batch.prepare(), batch.commit(), batch.abort()})
    answer["errorCode"].is(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  batch.acknowledge(member, {{.topic = topic}})["errorCode"].is(
      ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
}

CASE(ids_and_timeouts, "docs/PROTOCOL.md 2") {
  auto [topic, member] = acquired_records(kit);
  const auto error = [&](const std::string& id, int32_t timeout_ms) {
    return kit.ask("BeginBatchTxn", 0,
                   {{"transactionId", id},
                    {"groupId", member.group()},
                    {"timeoutMs", timeout_ms}})["errorCode"];
  };
  error("", 60000).is(ErrorCode::INVALID_REQUEST);
  error(std::string(250, 'x'), 60000).is(ErrorCode::INVALID_REQUEST);
  error(kit.name("b"), 0).is(ErrorCode::INVALID_TRANSACTION_TIMEOUT);
  error(kit.name("b"), INT32_MAX).is(ErrorCode::INVALID_TRANSACTION_TIMEOUT);
}

CASE(an_id_is_its_groups, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  auto [topic, member] = acquired_records(kit);
  BatchTxn same(kit, member.group(), on.batch.id());
  expect_batch(same.begin(), "ONGOING", 0);
  same.abort()["errorCode"].is_none();
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 9}).is_none();
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  on.batch.commit()["errorCode"].is_none();
}

CASE(several_members, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  on.member.acknowledge(on.topic, 5, 9, {kRelease}).is_none();
  ShareMember other(kit, on.member.group());
  other.join({on.topic});
  other.acquire_count(on.topic, 5);
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 4}).is_none();
  on.batch.acknowledge_one(other, {.topic = on.topic, .first = 5, .last = 9}).is_none();
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_lag(kit, on, 0);
}

CASE(a_failure_leaves_only_the_abort, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 4}).is_none();
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 10, .last = 10})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.batch.prepare()["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.batch.abort()["errorCode"].is_none();
  expect_equal(offsets_of(on.member.acquire(on.topic)), std::vector<int64_t>{0, 1, 2, 3, 4},
               "acquired again");
}

CASE(staged_by_another_owner, "docs/PROTOCOL.md 1.2") {
  Begun on = begun(kit);
  BatchTxn other(kit, on.member.group());
  other.begin()["errorCode"].is_none();
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 9}).is_none();
  other.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 0})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.member.acknowledge(on.topic, 0, 9).is(ErrorCode::INVALID_RECORD_STATE);
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  on.batch.commit()["errorCode"].is_none();
  expect_lag(kit, on, 0);
}

CASE(timeout_aborts_what_is_not_prepared, "docs/PROTOCOL.md 2", .limit_s = 60) {
  Begun on = begun(kit, 1000);
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 4}).is_none();
  BatchTxn prepared(kit, on.member.group());
  prepared.begin(1000)["errorCode"].is_none();
  prepared.acknowledge_one(on.member, {.topic = on.topic, .first = 5, .last = 9}).is_none();
  prepared.prepare()["errorCode"].is_none();
  Ranges acquired;
  kit.until(
      "the records come again",
      [&] {
        acquired = on.member.fetch(on.topic).acquired;
        return !acquired.empty();
      },
      Millis(30000));
  expect_equal(acquired, Ranges{{0, 4, 2}}, "acquired again");
  refused(on.batch.prepare(), "ABORTED");
  // Only its coordinator decides of a prepared one.
  expect_batch(prepared.commit(), "COMMITTED", 5);
}

CASE(listed, "docs/PROTOCOL.md 2") {
  Begun on = begun(kit);
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 2, .last = 4}).is_none();
  const auto ongoing = on.batch.listed();
  expect(ongoing.has_value(), "it is listed");
  (*ongoing)["state"].is("ONGOING");
  (*ongoing)["timeoutMs"].is(60000);
  (*ongoing)["createTimeMs"].is_between(now_ms() - 60000, now_ms() + 60000);
  (*ongoing)["prepareTimeMs"].is(-1);
  const Value pending = (*ongoing)["pendingAcks"].with("topicId", on.topic.id.c_str());
  pending["topicName"].is(on.topic.name.c_str());
  const Value acks = pending["partitions"].with("partitionIndex", 0)["acknowledgementBatches"];
  acks.has_size(1);
  acks[0]["firstOffset"].is(2);
  acks[0]["lastOffset"].is(4);
  acks[0]["acknowledgeType"].is(kAccept);
  expect(!on.batch.listed({"PREPARE"}).has_value(), "it is not listed as PREPARE");
  on.batch.prepare()["errorCode"].is_none();
  expect(on.batch.listed({"PREPARE"}).has_value(), "it is listed as PREPARE");
  on.batch.commit()["errorCode"].is_none();
  (*on.batch.listed())["pendingAcks"].has_size(0);
}

CASE(group_cannot_be_deleted, "docs/PROTOCOL.md 1.5") {
  Begun on = begun(kit);
  on.member.close_session();
  on.member.leave();
  const auto remove = [&] {
    return kit.ask("DeleteGroups", 2,
                   {{"groupsNames", list(on.member.group())}})["results"][0]["errorCode"];
  };
  remove().is(ErrorCode::NON_EMPTY_GROUP);
  on.batch.abort()["errorCode"].is_none();
  remove().is_none();
}

}  // namespace ackord::conform
