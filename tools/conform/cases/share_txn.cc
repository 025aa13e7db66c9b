// What becomes of share acknowledgements that are staged in a producer's transaction, whatever its
// verdict and whatever else happens to them meanwhile.
#include "tools/conform/kit/share_txn.h"

#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/groups.h"
#include "tools/conform/kit/share_offsets.h"
#include "tools/conform/kit/share_state.h"

namespace ackord::conform {

AREA("share.txn", "Transactional share acknowledgements: what becomes of them",
     "AddShareAcksToTxn");

namespace {

// Another member of the group.
ShareMember another(Kit& kit, const ShareMember& member, const Topic& topic) {
  ShareMember other(kit, member.group());
  other.join({topic});
  return other;
}

// Nothing is left to deliver, and nothing is delivered.
void expect_finished(Kit& kit, ShareMember& member, const Topic& topic) {
  expect_lag(kit, member.group(), topic, 0);
  expect_equal(member.fetch(topic, {.max_wait_ms = 0}).acquired, Ranges{}, "acquired");
}

// The verdict of a transaction that has staged all of ten records with this type.
void committed(Kit& kit, int8_t type) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9, .types = {type}}});
  producer.commit();
  expect_finished(kit, member, topic);
  expect_equal(flight_of(kit, member.group(), topic), Flight{}, "in flight");
}
void aborted(Kit& kit, int8_t type) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9, .types = {type}}});
  producer.abort();
  expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired again");
}

}  // namespace

CASE(commit_accept, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  committed(kit, kAccept);
}
CASE(commit_reject, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  committed(kit, kReject);
}
CASE(commit_gap, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  committed(kit, kGap);
}
CASE(abort_accept, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  aborted(kit, kAccept);
}
CASE(abort_reject, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  aborted(kit, kReject);
}
CASE(abort_gap, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  aborted(kit, kGap);
}

CASE(a_type_an_offset, "docs/PROTOCOL.md 0", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  stage(kit, producer, member,
        {{.topic = topic, .first = 0, .last = 3, .types = {kAccept, kReject, kGap, kAccept}},
         {.topic = topic, .first = 6, .last = 9, .types = {kReject}}});
  const Flight staged{{0, 0, kStagedState, 1}, {1, 1, kStagedState, 1},   {2, 2, kStagedState, 1},
                      {3, 3, kStagedState, 1}, {4, 5, kAcquiredState, 1}, {6, 9, kStagedState, 1}};
  expect_equal(flight_of(kit, member.group(), topic), staged, "in flight");
  producer.commit();
  member.acknowledge(topic, 4, 5).is_none();
  expect_finished(kit, member, topic);
}

CASE(staged_is_nobodys, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  stage(kit, producer, member, {{.topic = topic, .first = 2, .last = 5}});
  member.acknowledge(topic, 0, 1, {kRelease}).is_none();
  ShareMember other = another(kit, member, topic);
  expect_equal(offsets_of(other.acquire(topic)), std::vector<int64_t>{0, 1}, "acquired");
  expect_equal(other.fetch(topic, {.max_wait_ms = 300}).acquired, Ranges{}, "acquired then");
  producer.abort();
  expect_equal(offsets_of(other.acquire(topic)), std::vector<int64_t>{2, 3, 4, 5},
               "acquired after the abort");
}

CASE(output_and_acknowledgements_together, "docs/PROTOCOL.md 4, I5", .api = "EndTxn", .first = 4,
     .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  const Topic output = create_topic(kit);
  for (const bool verdict : {kAbort, kCommit}) {
    producer.produce(output, {verdict == kCommit ? "committed" : "aborted"});
    stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
    const auto values = committed_values(kit, output);
    expect_equal(values, std::vector<std::string>{}, "values before the verdict");
    producer.end_without_waiting(verdict);
    producer.wait_until_complete();
    if (verdict == kAbort) expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired again");
  }
  expect_equal(committed_values(kit, output), std::vector<std::string>{"committed"}, "values");
  expect_finished(kit, member, topic);
}

CASE(lag_counts_what_is_staged, "docs/PROTOCOL.md 1.2") {
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4}});
  expect_lag(kit, member.group(), topic, 10);
  member.acknowledge(topic, 5, 9).is_none();
  expect_lag(kit, member.group(), topic, 5);
  producer.commit();
  expect_lag(kit, member.group(), topic, 0);
}

CASE(staged_holds_the_start, "docs/PROTOCOL.md 1.2") {
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 3, .last = 3}});
  member.acknowledge(topic, 0, 2).is_none();
  member.acknowledge(topic, 4, 9).is_none();
  in_flight(kit, member.group(), topic)["startOffset"].is(3);
  producer.commit();
  in_flight(kit, member.group(), topic)["startOffset"].is(10);
}

CASE(several_stages_in_one_transaction, "docs/PROTOCOL.md 1.3", .api = "EndTxn", .first = 4,
     .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  for (int64_t i = 0; i < 10; i += 2)
    stage(kit, producer, member, {{.topic = topic, .first = i, .last = i + 1}});
  expect_lag(kit, member.group(), topic, 10);
  producer.commit();
  expect_finished(kit, member, topic);
}

CASE(one_transaction_after_the_other, "docs/PROTOCOL.md 1.3", .api = "EndTxn", .first = 4,
     .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  for (int64_t i = 0; i < 10; ++i) {
    stage(kit, producer, member, {{.topic = topic, .first = i, .last = i}});
    producer.end_without_waiting(i % 2 == 0 ? kCommit : kAbort);
  }
  producer.wait_until_complete();
  expect_lag(kit, member.group(), topic, 5);
  expect_equal(offsets_of(member.acquire_count(topic, 5)), std::vector<int64_t>{1, 3, 5, 7, 9},
               "acquired again");
}

CASE(several_members, "docs/PROTOCOL.md 1.3") {
  auto [topic, member, producer] = staging(kit);
  member.acknowledge(topic, 5, 9, {kRelease}).is_none();
  ShareMember other = another(kit, member, topic);
  expect_equal(offsets_of(other.acquire_count(topic, 5)), std::vector<int64_t>{5, 6, 7, 8, 9},
               "acquired by the other");
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4}});
  stage(kit, producer, other, {{.topic = topic, .first = 5, .last = 9}});
  producer.commit();
  expect_finished(kit, member, topic);
}

CASE(several_groups, "docs/PROTOCOL.md 1.3", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  ShareMember other(kit, earliest_group(kit));
  other.join({topic});
  other.acquire_count(topic, 10);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  stage(kit, producer, other, {{.topic = topic, .first = 0, .last = 4}});
  producer.commit();
  expect_finished(kit, member, topic);
  expect_lag(kit, other.group(), topic, 5);
}

CASE(several_partitions, "docs/PROTOCOL.md 1.3", .api = "EndTxn", .first = 4, .last = 5) {
  const Topic topic = create_topic(kit, 4);
  ShareMember member(kit, earliest_group(kit));
  std::vector<ShareAck> acks;
  for (int32_t i = 0; i < 4; ++i) {
    produce(kit, topic, numbered(2), {.partition = i});
    acks.push_back({.topic = topic, .partition = i, .first = 0, .last = 1});
  }
  member.join({topic});
  for (int32_t i = 0; i < 4; ++i) member.acquire_count(topic, 2, {}, i);
  TxnProducer producer(kit, version_of(kit));
  producer.init();
  stage(kit, producer, member, acks);
  producer.commit();
  for (int32_t i = 0; i < 4; ++i) describe_offset(kit, member.group(), topic, i)["lag"].is(0);
}

CASE(two_producers, "docs/PROTOCOL.md 1.3", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  TxnProducer other(kit, version_of(kit));
  other.init();
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4}});
  stage(kit, other, member, {{.topic = topic, .first = 5, .last = 9}});
  producer.commit();
  expect_lag(kit, member.group(), topic, 5);
  other.abort();
  expect_equal(offsets_of(member.acquire(topic)), std::vector<int64_t>{5, 6, 7, 8, 9},
               "acquired again");
}

// An abort is not the record's fault.
CASE(abort_at_the_delivery_limit, "docs/PROTOCOL.md 1.2") {
  auto [topic, member, producer] =
      staging(kit, TxnVersion::kTwo, {{"share.delivery.count.limit", "2"}});
  member.acknowledge(topic, 0, 8).is_none();
  member.acknowledge(topic, 9, 9, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{9, 9, 2}}, "acquired the last time");
  stage(kit, producer, member, {{.topic = topic, .first = 9, .last = 9}});
  producer.abort();
  expect_equal(offsets_of(member.acquire(topic)), std::vector<int64_t>{9}, "acquired again");
}

CASE(abort_wakes_waiting_fetches, "docs/PROTOCOL.md 1.2") {
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  ShareMember other = another(kit, member, topic);
  other.fetch(topic, {.max_wait_ms = 0});
  const Stopwatch stopwatch;
  const Sent waiting = other.send_share_fetch({{.topic = topic}}, {.max_wait_ms = 12000});
  producer.abort();
  const Value answer = other.receive_share_fetch(waiting);
  expect_equal(fetched_of(answer, topic).acquired, Ranges{{0, 9, 2}}, "acquired");
  expect_between(stopwatch.elapsed().count(), 0L, 8000L, "milliseconds until they came");
}

CASE(timeout_aborts, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5,
     .limit_s = 60) {
  auto [topic, member, producer] = staging(kit, version_of(kit), {}, {.timeout_ms = 1000});
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  Ranges acquired;
  kit.until(
      "the records come again",
      [&] {
        acquired = member.fetch(topic).acquired;
        return !acquired.empty();
      },
      Millis(30000));
  expect_equal(acquired, Ranges{{0, 9, 2}}, "acquired again");
  const Value late = try_stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  late["errorCode"].is(ErrorCode::PRODUCER_FENCED);
}

CASE(fencing_aborts, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  TxnProducer successor(kit, version_of(kit), producer.id());
  successor.init();
  expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired again");
  producer.try_end(kCommit)["errorCode"].is_one_of(
      {ErrorCode::PRODUCER_FENCED, ErrorCode::INVALID_PRODUCER_EPOCH});
  stage(kit, successor, member, {{.topic = topic, .first = 0, .last = 9}});
  successor.commit();
  expect_finished(kit, member, topic);
}

// ---------------------------------------------------------------- what does not touch them

CASE(lock_time_passes, "docs/PROTOCOL.md 1.2", .limit_s = 60) {
  auto [topic, member, producer] =
      staging(kit, TxnVersion::kTwo, {{"share.record.lock.duration.ms", "15000"}});
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4}});
  kit.until(
      "the locks of the others have run out",
      [&] {
        const auto range = in_flight(kit, member.group(), topic)["ranges"].items();
        return range.back()["state"].number() != kAcquiredState;
      },
      Millis(25000));
  expect_equal(offsets_of(member.acquire(topic)), std::vector<int64_t>{5, 6, 7, 8, 9}, "acquired");
  expect_equal(member.fetch(topic, {.max_wait_ms = 0}).acquired, Ranges{}, "acquired then");
  producer.commit();
  member.acknowledge(topic, 5, 9).is_none();
  expect_finished(kit, member, topic);
}

CASE(session_closes, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4}});
  member.close_session();
  ShareMember other = another(kit, member, topic);
  expect_equal(offsets_of(other.acquire(topic)), std::vector<int64_t>{5, 6, 7, 8, 9}, "acquired");
  producer.commit();
  other.acknowledge(topic, 5, 9).is_none();
  expect_finished(kit, other, topic);
}

CASE(member_and_connection_go, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4}});
  member.leave();
  member.disconnect();
  ShareMember other = another(kit, member, topic);
  expect_equal(offsets_of(other.acquire(topic)), std::vector<int64_t>{5, 6, 7, 8, 9}, "acquired");
  producer.abort();
  expect_equal(offsets_of(other.acquire(topic)), std::vector<int64_t>{0, 1, 2, 3, 4},
               "acquired after the abort");
}

CASE(another_acknowledgement, "docs/PROTOCOL.md 1.2") {
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4}});
  for (const int8_t type : {kAccept, kRelease, kReject, kGap})
    member.acknowledge(topic, 0, 4, {type}).is(ErrorCode::INVALID_RECORD_STATE);
  member.acknowledge(topic, 0, 4, {kRenew}, {.renew = true}).is(ErrorCode::INVALID_RECORD_STATE);
  const ShareAck ack{.topic = topic, .first = 4, .last = 4};
  expect_equal(member.fetch(topic, {.max_wait_ms = 0, .acks = {ack}}).acknowledge_error,
               ErrorCode::INVALID_RECORD_STATE, "the piggy-backed acknowledgement");
  member.acknowledge(topic, 5, 9).is_none();
  producer.commit();
  expect_finished(kit, member, topic);
}

CASE(stage_of_another_transaction, "docs/PROTOCOL.md 1.2") {
  auto [topic, member, producer] = staging(kit);
  TxnProducer other(kit);
  other.init();
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  try_stage_one(kit, other, member, {.topic = topic, .first = 0, .last = 4})
      .is(ErrorCode::INVALID_RECORD_STATE);
  other.abort();
  expect_lag(kit, member.group(), topic, 10);
  producer.commit();
  expect_finished(kit, member, topic);
}

CASE(log_start_moves_then_commit, "docs/PROTOCOL.md 1.2") {
  kit.needs("DeleteRecords");
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  delete_records(kit, topic, 6);
  producer.commit();
  expect_finished(kit, member, topic);
}

// Those that are gone from the log are finished whatever the verdict; the others come again.
CASE(log_start_moves_then_abort, "docs/PROTOCOL.md 1.2") {
  kit.needs("DeleteRecords");
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  delete_records(kit, topic, 6);
  producer.abort();
  expect_equal(offsets_of(member.acquire(topic)), std::vector<int64_t>{6, 7, 8, 9},
               "acquired again");
}

CASE(topic_is_deleted, "docs/PROTOCOL.md 1.2", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, member, producer] = staging(kit, version_of(kit));
  const Topic output = create_topic(kit);
  producer.produce(output, {"x"});
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  delete_topic(kit, topic);
  producer.commit();
  expect_equal(committed_values(kit, output), std::vector<std::string>{"x"}, "values");
}

CASE(staged_takes_no_record_locks, "docs/PROTOCOL.md 1.2") {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 3; ++i) produce(kit, topic, numbered(100));
  ShareMember member(kit, earliest_group(kit, {{"share.partition.max.record.locks", "100"}}));
  member.join({topic});
  TxnProducer producer(kit);
  producer.init();
  for (int64_t i = 0; i < 3; ++i) {
    const ShareFetchOptions hundred{.max_records = 100, .batch_size = 100};
    expect_equal(member.acquire(topic, hundred), Ranges{{100 * i, 100 * i + 99, 1}}, "acquired");
    stage(kit, producer, member, {{.topic = topic, .first = 100 * i, .last = 100 * i + 99}});
  }
  producer.commit();
  expect_finished(kit, member, topic);
}

CASE(limit_of_staged_records, "docs/PROTOCOL.md 1.2") {
  auto [topic, member, producer] =
      staging(kit, TxnVersion::kTwo, {{"share.partition.max.staged.records", "5"}});
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4}});
  try_stage_one(kit, producer, member, {.topic = topic, .first = 5, .last = 5})
      .is(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
  // It does not doom the transaction.
  producer.commit();
  stage(kit, producer, member, {{.topic = topic, .first = 5, .last = 9}});
  producer.commit();
  expect_finished(kit, member, topic);
}

// ---------------------------------------------------------------- what is refused meanwhile

CASE(offsets_cannot_be_altered, "docs/PROTOCOL.md 1.5") {
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  member.leave();
  const auto altered = try_alter_offsets(kit, member.group(), {{.topic = topic.name}});
  // The error may stand at the top or at the partition.
  if (altered["errorCode"].error() == ErrorCode::NONE)
    altered["responses"][0]["partitions"][0]["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  else
    altered["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  producer.commit();
  expect_lag(kit, member.group(), topic, 0);
}

CASE(offsets_cannot_be_deleted, "docs/PROTOCOL.md 1.5") {
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  member.leave();
  const auto deleted = try_delete_offsets(kit, member.group(), {topic.name});
  if (deleted["errorCode"].error() == ErrorCode::NONE)
    deleted["responses"][0]["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  else
    deleted["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  producer.commit();
  expect_lag(kit, member.group(), topic, 0);
}

CASE(group_cannot_be_deleted, "docs/PROTOCOL.md 1.5") {
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 9}});
  member.leave();
  delete_group(kit, member.group())["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  producer.commit();
  delete_group(kit, member.group())["errorCode"].is_none();
}

CASE(stored_state_cannot_be_replaced, "docs/PROTOCOL.md 1.5") {
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 2, .last = 4}});
  SharePartitionState state(kit, topic, member.group());
  state.initialize(100, 0)["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  state.remove()["errorCode"].is(ErrorCode::NON_EMPTY_GROUP);
  const auto write = [&](int64_t start, const StateBatches& batches) {
    return state.write({.state_epoch = 100, .start_offset = start, .batches = batches});
  };
  write(0, {{4, 5, kAcknowledged, 9}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
  write(3, {})["errorCode"].is(ErrorCode::INVALID_REQUEST);
  write(0, {{8, 8, kStagedState, 1}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
  const StateBatches staged{{2, 4, kStagedState, 1}};
  expect_equal(state.batches(), staged, "batches");
  producer.commit();
  expect_equal(state.batches(), StateBatches{{2, 4, kAcknowledged, 1}}, "batches then");
}

}  // namespace ackord::conform
