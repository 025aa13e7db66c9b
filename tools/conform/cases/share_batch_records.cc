// What becomes of records that a batch transaction has staged, whatever else happens to them
// meanwhile; and what is refused while they are.
#include "tools/conform/case.h"
#include "tools/conform/kit/batch_txn.h"
#include "tools/conform/kit/groups.h"
#include "tools/conform/kit/share_offsets.h"
#include "tools/conform/kit/share_state.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.batch.records", "Batch transactions: what becomes of records", "BeginBatchTxn");

namespace {

// Ten records staged, not prepared.
Begun staged(Kit& kit, const Configs& group_configs = {}) {
  Begun on = begun(kit, 60000, group_configs);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  return on;
}
void expect_staged(Kit& kit, const Begun& on) {
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kStagedState, 1}},
               "in flight");
}
void commit(Begun& on, int64_t count = 10) {
  expect_batch(on.batch.prepare(), "PREPARE", count);
  expect_batch(on.batch.commit(), "COMMITTED", count);
}
void expect_finished(Kit& kit, Begun& on) {
  expect_lag(kit, on.member.group(), on.topic, 0);
  expect_equal(on.member.fetch(on.topic, {.max_wait_ms = 0}).acquired, Ranges{}, "acquired");
}
ErrorCode part_error(const Value& answer, const char* parts) {
  // The error may stand at the top or at the part.
  if (answer["errorCode"].error() != ErrorCode::NONE) return answer["errorCode"].error();
  const Value first = answer["responses"][0];
  return std::string_view(parts).empty() ? first["errorCode"].error()
                                         : first[parts][0]["errorCode"].error();
}

}  // namespace

// ---------------------------------------------------------------- verdicts

CASE(every_type_committed, "docs/PROTOCOL.md 1.2, P2 P3") {
  Begun on = begun(kit);
  on.batch.stage(
      on.member,
      {{.topic = on.topic, .first = 0, .last = 3, .types = {kAccept, kReject, kGap, kAccept}},
       {.topic = on.topic, .first = 4, .last = 9, .types = {kGap}}});
  commit(on);
  expect_finished(kit, on);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{}, "in flight");
}

CASE(every_type_aborted, "docs/PROTOCOL.md 1.2, P4") {
  Begun on = begun(kit);
  on.batch.stage(
      on.member,
      {{.topic = on.topic, .first = 0, .last = 3, .types = {kAccept, kReject, kGap, kAccept}},
       {.topic = on.topic, .first = 4, .last = 9, .types = {kGap}}});
  expect_batch(on.batch.abort(), "ABORTED", 10);
  expect_equal(on.member.acquire_count(on.topic, 10).size(), size_t{1}, "ranges acquired again");
}

CASE(resolved_when_answered, "docs/PROTOCOL.md 2.2") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  BatchTxn other(kit, on.member.group());
  expect_batch(other.begin(), "ONGOING", 0);
  other.stage(on.member, {{.topic = on.topic, .first = 5, .last = 9}});
  expect_batch(other.abort(), "ABORTED", 5);
  expect_equal(flight_of(kit, on.member.group(), on.topic),
               Flight{{0, 4, kStagedState, 1}, {5, 9, kAvailable, 1}}, "after the abort");
  commit(on, 5);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{5, 9, kAvailable, 1}},
               "after the commit");
}

// An abort is not the record's fault.
CASE(abort_at_the_delivery_limit, "docs/PROTOCOL.md 1.2, P4") {
  Begun on = begun(kit, 60000, {{"share.delivery.count.limit", "2"}});
  on.member.acknowledge(on.topic, 0, 8).is_none();
  on.member.acknowledge(on.topic, 9, 9, {kRelease}).is_none();
  expect_equal(on.member.acquire(on.topic), Ranges{{9, 9, 2}}, "acquired the last time");
  on.batch.stage(on.member, {{.topic = on.topic, .first = 9, .last = 9}});
  expect_batch(on.batch.abort(), "ABORTED", 1);
  expect_equal(offsets_of(on.member.acquire(on.topic)), std::vector<int64_t>{9}, "acquired again");
}

CASE(abort_wakes_waiting_fetches, "docs/PROTOCOL.md 1.2, P4") {
  Begun on = staged(kit);
  ShareMember other(kit, on.member.group());
  other.join({on.topic});
  other.fetch(on.topic, {.max_wait_ms = 0});
  const Sent waiting = other.send_share_fetch({{.topic = on.topic}}, {.max_wait_ms = 20000});
  const Stopwatch stopwatch;
  expect_batch(on.batch.abort(), "ABORTED", 10);
  const Value answer = other.receive_share_fetch(waiting, Millis(20000));
  expect_equal(fetched_of(answer, on.topic).acquired, Ranges{{0, 9, 2}}, "acquired");
  expect_between(stopwatch.elapsed().count(), 0L, 15000L, "milliseconds until they came");
}

// ---------------------------------------------------------------- what does not touch them

CASE(nobody_gets_them, "docs/PROTOCOL.md 1.2") {
  Begun on = staged(kit);
  ShareMember other(kit, on.member.group());
  other.join({on.topic});
  for (const char* state : {"ONGOING", "PREPARE"}) {
    expect_equal(other.fetch(on.topic, {.max_wait_ms = 200}).acquired, Ranges{}, state);
    expect_lag(kit, on.member.group(), on.topic, 10);
    expect_batch(on.batch.prepare(), "PREPARE", 10);
  }
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_finished(kit, on);
}

CASE(staged_holds_the_start, "docs/PROTOCOL.md 1.2") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 3, .last = 3}});
  on.member.acknowledge(on.topic, 0, 2).is_none();
  on.member.acknowledge(on.topic, 4, 9).is_none();
  in_flight(kit, on.member.group(), on.topic)["startOffset"].is(3);
  commit(on, 1);
  in_flight(kit, on.member.group(), on.topic)["startOffset"].is(10);
}

CASE(session_member_and_connection_go, "docs/PROTOCOL.md 1.2, P5") {
  Begun on = staged(kit);
  on.member.close_session();
  on.member.leave();
  on.member.disconnect();
  ShareMember other(kit, on.member.group());
  other.join({on.topic});
  expect_equal(other.fetch(on.topic, {.max_wait_ms = 200}).acquired, Ranges{}, "acquired");
  expect_staged(kit, on);
  commit(on);
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(another_acknowledgement, "docs/PROTOCOL.md 1.2, P6") {
  Begun on = staged(kit);
  for (const int8_t type : {kAccept, kRelease, kReject, kGap})
    on.member.acknowledge(on.topic, 0, 4, {type}).is(ErrorCode::INVALID_RECORD_STATE);
  on.member.acknowledge(on.topic, 0, 4, {kRenew}, {.renew = true})
      .is(ErrorCode::INVALID_RECORD_STATE);
  const ShareAck ack{.topic = on.topic, .first = 4, .last = 4};
  expect_equal(on.member.fetch(on.topic, {.max_wait_ms = 0, .acks = {ack}}).acknowledge_error,
               ErrorCode::INVALID_RECORD_STATE, "the piggy-backed acknowledgement");
  expect_staged(kit, on);
  commit(on);
}

CASE(another_owner, "docs/PROTOCOL.md 1.2, P6") {
  Begun on = staged(kit);
  BatchTxn other(kit, on.member.group());
  expect_batch(other.begin(), "ONGOING", 0);
  other.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 0})
      .is(ErrorCode::INVALID_RECORD_STATE);
  TxnProducer producer(kit);
  producer.init();
  try_stage_one(kit, producer, on.member, {.topic = on.topic, .first = 0, .last = 9})
      .is(ErrorCode::INVALID_RECORD_STATE);
  producer.abort();
  expect_batch(other.abort(), "ABORTED", 0);
  expect_staged(kit, on);
  commit(on);
  expect_finished(kit, on);
}

CASE(held_by_a_producer, "docs/PROTOCOL.md 1.2, P6") {
  Begun on = begun(kit);
  TxnProducer producer(kit);
  producer.init();
  stage(kit, producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 9, .last = 9})
      .is(ErrorCode::INVALID_RECORD_STATE);
  expect_batch(on.batch.abort(), "ABORTED", 0);
  producer.commit();
  expect_finished(kit, on);
}

// One record of each owner, one acknowledged: each goes its own way.
CASE(owners_side_by_side, "docs/PROTOCOL.md 1.3") {
  Begun on = begun(kit);
  TxnProducer producer(kit);
  producer.init();
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 2}});
  stage(kit, producer, on.member, {{.topic = on.topic, .first = 3, .last = 5}});
  on.member.acknowledge(on.topic, 6, 9).is_none();
  producer.abort();
  commit(on, 3);
  expect_equal(on.member.acquire(on.topic), Ranges{{3, 5, 2}}, "acquired again");
}

CASE(operator_cannot_release_them, "docs/PROTOCOL.md 0.6, P6") {
  Begun on = staged(kit);
  const Object range{{"firstOffset", 0}, {"lastOffset", 9}};
  const Object partition{{"partitionIndex", 0}, {"ranges", list(range)}};
  const Value answer = kit.ask(
      "ReleaseSharePartitions", 0,
      {{"groupId", on.member.group()},
       {"topics", list(Object{{"topicId", on.topic.id}, {"partitions", list(partition)}})}});
  answer["topics"][0]["partitions"][0]["errorCode"].is(ErrorCode::INVALID_RECORD_STATE);
  expect_staged(kit, on);
  commit(on);
}

CASE(log_start_moves, "docs/PROTOCOL.md 1.2, P7") {
  for (const bool committed : {true, false}) {
    Begun on = staged(kit);
    delete_records(kit, on.topic, 6);
    expect_equal(on.member.fetch(on.topic, {.max_wait_ms = 0}).acquired, Ranges{}, "acquired");
    if (committed) {
      commit(on);
      expect_finished(kit, on);
    } else {
      expect_batch(on.batch.abort(), "ABORTED", 10);
      expect_equal(offsets_of(on.member.acquire(on.topic)), std::vector<int64_t>{6, 7, 8, 9},
                   "acquired again");
    }
  }
}

CASE(topic_is_deleted, "docs/PROTOCOL.md 1.2, P8") {
  for (const bool committed : {true, false}) {
    Begun on = staged(kit);
    if (committed) expect_batch(on.batch.prepare(), "PREPARE", 10);
    delete_topic(kit, on.topic);
    if (committed)
      expect_batch(on.batch.commit(), "COMMITTED", 10);
    else
      on.batch.abort()["errorCode"].is_none();
  }
}

CASE(takes_no_record_locks, "docs/PROTOCOL.md 1.2") {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 3; ++i) produce(kit, topic, numbered(100));
  ShareMember member(kit, earliest_group(kit, {{"share.partition.max.record.locks", "100"}}));
  member.join({topic});
  BatchTxn batch(kit, member.group());
  expect_batch(batch.begin(), "ONGOING", 0);
  for (int64_t i = 0; i < 3; ++i) {
    const ShareFetchOptions hundred{.max_records = 100, .batch_size = 100};
    expect_equal(member.acquire(topic, hundred), Ranges{{100 * i, 100 * i + 99, 1}}, "acquired");
    batch.stage(member, {{.topic = topic, .first = 100 * i, .last = 100 * i + 99}});
  }
  expect_batch(batch.prepare(), "PREPARE", 300);
  expect_batch(batch.commit(), "COMMITTED", 300);
  expect_lag(kit, member.group(), topic, 0);
}

CASE(described, "docs/PROTOCOL.md 0.6") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 2, .last = 6, .types = {kReject}}});
  const Value range = in_flight(kit, on.member.group(), on.topic)["ranges"].with("firstOffset", 2);
  range["lastOffset"].is(6);
  range["state"].is(kStagedState);
  range["lockExpiresInMs"].is(-1);
  range["ownerProducerId"].is(-1);
  range["ownerProducerEpoch"].is(-1);
  range["ownerTransactionId"].is(on.batch.id());
  range["stagedForMs"].is_between(0, 60000);
  range["acknowledgeType"].is(kReject);
  expect_batch(on.batch.abort(), "ABORTED", 5);
}

// ---------------------------------------------------------------- what is refused meanwhile

CASE(offsets_cannot_be_altered, "docs/PROTOCOL.md 1.5") {
  Begun on = staged(kit);
  on.member.leave();
  for (const char* state : {"ONGOING", "PREPARE"}) {
    const Value altered = try_alter_offsets(kit, on.member.group(), {{.topic = on.topic.name}});
    expect_equal(part_error(altered, "partitions"), ErrorCode::NON_EMPTY_GROUP, state);
    expect_batch(on.batch.prepare(), "PREPARE", 10);
  }
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(offsets_cannot_be_deleted, "docs/PROTOCOL.md 1.5") {
  Begun on = staged(kit);
  on.member.leave();
  for (const char* state : {"ONGOING", "PREPARE"}) {
    const Value deleted = try_delete_offsets(kit, on.member.group(), {on.topic.name});
    expect_equal(part_error(deleted, ""), ErrorCode::NON_EMPTY_GROUP, state);
    expect_batch(on.batch.prepare(), "PREPARE", 10);
  }
  expect_batch(on.batch.commit(), "COMMITTED", 10);
}

// Also with nothing staged in it: it may take something any moment, or its engine waits for it.
CASE(group_cannot_be_deleted, "docs/PROTOCOL.md 1.5") {
  Begun on = begun(kit);
  on.member.close_session();
  on.member.leave();
  const auto remove = [&] { return delete_group(kit, on.member.group())["errorCode"]; };
  remove().is(ErrorCode::NON_EMPTY_GROUP);
  expect_batch(on.batch.prepare(), "PREPARE", 0);
  remove().is(ErrorCode::NON_EMPTY_GROUP);
  expect_batch(on.batch.abort(), "ABORTED", 0);
  remove().is_none();
}

CASE(stored_state_cannot_be_replaced, "docs/PROTOCOL.md 1.5, W1 W2") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 2, .last = 4}});
  SharePartitionState state(kit, on.topic, on.member.group());
  const Value refused = state.initialize(100, 0);
  refused["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  expect(refused["errorMessage"].text().find(on.batch.id()) != std::string::npos,
         "the message names the owner");
  state.remove()["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  const auto write = [&](int64_t start, const StateBatches& batches) {
    return state.write({.state_epoch = 100, .start_offset = start, .batches = batches});
  };
  write(0, {{4, 5, kAcknowledged, 9}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
  write(3, {})["errorCode"].is(ErrorCode::INVALID_REQUEST);
  write(0, {{8, 8, kStagedState, 1}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
  expect_equal(state.batches(), StateBatches{{2, 4, kStagedState, 1}}, "batches");
  commit(on, 3);
  expect_equal(state.batches(), StateBatches{{2, 4, kAcknowledged, 1}}, "batches then");
}

}  // namespace ackord::conform
