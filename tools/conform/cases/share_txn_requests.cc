// What TxnShareAcknowledge and AddShareAcksToTxn refuse, and with what; a retry; the doom of a
// transaction that could not stage everything.
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/share_offsets.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.txn.requests", "Transactional share acknowledgements: what is refused, retries, doom",
     "AddShareAcksToTxn");

namespace {

const Topic kUnknown{"unknown", "BwcHBwcHBwcHBwcHBwcHBw", 1};
constexpr int64_t kPast = 1000;

// The whole request is refused.
void refused(Kit& kit, const Staging& on, const StageOptions& options, ErrorCode error) {
  const Value answer =
      try_stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}}, options);
  answer["errorCode"].is(error);
}

// The partition is refused, and nothing of it is staged.
void refused_part(Kit& kit, const Staging& on, const std::vector<ShareAck>& acks, ErrorCode error) {
  const Value answer = try_stage(kit, on.producer, on.member, acks);
  answer["errorCode"].is_none();
  answer["responses"][0]["partitions"][0]["errorCode"].is(error);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kAcquiredState, 1}},
               "in flight");
}

// What has just been refused for good leaves only the abort; the transaction after it is sound.
void expect_doomed(Kit& kit, Staging& on) {
  on.producer.try_end(kCommit)["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.producer.try_end(kCommit)["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.producer.abort();
  const Ranges again = on.member.acquire(on.topic);
  if (again.empty())  // nothing had been staged
    stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  else
    stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 9, .last = 9}});
  on.producer.commit();
}
void expect_not_doomed(Kit& kit, Staging& on) {
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

}  // namespace

// ---------------------------------------------------------------- step 2: who

CASE(null_or_empty_names, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  refused(kit, on, {.transactional_id = json::value(nullptr)}, ErrorCode::INVALID_REQUEST);
  refused(kit, on, {.transactional_id = json::value("")}, ErrorCode::INVALID_REQUEST);
  refused(kit, on, {.group = ""}, ErrorCode::INVALID_REQUEST);
  refused(kit, on, {.member = ""}, ErrorCode::INVALID_REQUEST);
  refused(kit, on, {.member = std::string(37, 'x')}, ErrorCode::INVALID_REQUEST);
  expect_not_doomed(kit, on);
}

CASE(nothing_to_stage, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const Value answer = try_stage(kit, on.producer, on.member, {});
  answer["errorCode"].is_none();
  answer["responses"].has_size(0);
  expect_equal(on.producer.state(), std::string("Empty"), "the transaction");
}

// The first step that fails answers.
CASE(steps_in_order, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const ShareAck good{.topic = on.topic, .first = 0, .last = 9};
  const ShareAck bad{.topic = on.topic, .first = 10, .last = 10};
  const TxnProducer stranger = on.producer.with_epoch(on.producer.epoch() + 1);
  const auto error = [&](const TxnProducer& producer, const std::vector<ShareAck>& acks,
                         const StageOptions& options) {
    const Value answer = try_stage(kit, producer, on.member, acks, options);
    if (answer["errorCode"].error() != ErrorCode::NONE) answer["responses"].has_size(0);
    return answer["errorCode"];
  };
  // 2 before 4, 5 before 7, 7 before 8.
  error(on.producer, {{.topic = on.topic, .first = 5, .last = 4}}, {.group = ""})
      .is(ErrorCode::INVALID_REQUEST);
  error(stranger, {good}, {.member = kit.name("m")}).is(ErrorCode::UNKNOWN_MEMBER_ID);
  error(stranger, {bad}, {}).is(ErrorCode::PRODUCER_FENCED);
  // None of that was the producer's own doing.
  expect_not_doomed(kit, on);
}

CASE(longest_member, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  refused(kit, on, {.member = std::string(36, 'x')}, ErrorCode::UNKNOWN_MEMBER_ID);
  expect_doomed(kit, on);
}

// ---------------------------------------------------------------- step 3: topics

CASE(unknown_topic, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  try_stage_one(kit, on.producer, on.member, {.topic = kUnknown}).is(ErrorCode::UNKNOWN_TOPIC_ID);
  expect_doomed(kit, on);
}

CASE(unknown_partition, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  for (const int32_t partition : {7, -1})
    try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .partition = partition})
        .is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  expect_doomed(kit, on);
}

CASE(unknown_topic_beside_a_good_one, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const Value answer = try_stage(kit, on.producer, on.member,
                                 {{.topic = on.topic, .first = 0, .last = 9}, {.topic = kUnknown}});
  answer["errorCode"].is_none();
  answer["responses"].has_size(2);
  const auto error = [&](const Topic& topic) {
    return answer["responses"].with("topicId", topic.id.c_str())["partitions"][0]["errorCode"];
  };
  error(on.topic).is_none();
  error(kUnknown).is(ErrorCode::UNKNOWN_TOPIC_ID);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kStagedState, 1}},
               "in flight");
  expect_doomed(kit, on);
}

// ---------------------------------------------------------------- step 4: shapes

CASE(types_that_are_not_for_transactions, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  for (const int8_t type : {kRelease, kRenew, int8_t{5}, int8_t{-1}})
    refused_part(kit, on, {{.topic = on.topic, .first = 0, .last = 9, .types = {type}}},
                 ErrorCode::INVALID_REQUEST);
  refused_part(kit, on, {{.topic = on.topic, .first = 0, .last = 1, .types = {kAccept, kRelease}}},
               ErrorCode::INVALID_REQUEST);
  expect_doomed(kit, on);
}

CASE(malformed_batches, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  for (const auto& acks : malformed_acks(on.topic))
    refused_part(kit, on, acks, ErrorCode::INVALID_REQUEST);
  expect_doomed(kit, on);
}

// The first naming stands.
CASE(partition_named_twice, "docs/PROTOCOL.md 0.2") {
  Staging on = staging(kit);
  Object request =
      stage_request(on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  json::array& partitions = request["topics"].at(0).at("partitions").as_array();
  partitions.push_back(json::value(partitions[0]));
  const Value answer = kit.ask("TxnShareAcknowledge", 0, request);
  answer["errorCode"].is_none();
  answer["responses"][0]["partitions"][0]["errorCode"].is_none();
  answer["responses"][0]["partitions"][1]["errorCode"].is(ErrorCode::INVALID_REQUEST);
  expect_doomed(kit, on);
}

// ---------------------------------------------------------------- step 5: members

CASE(unknown_member, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  refused(kit, on, {.member = kit.name("m")}, ErrorCode::UNKNOWN_MEMBER_ID);
  expect_doomed(kit, on);
}

CASE(unknown_group, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const Value answer =
      try_stage(kit, on.producer, on.member, {{.topic = on.topic}}, {.group = kit.name("g")});
  answer["errorCode"].is_one_of({ErrorCode::UNKNOWN_MEMBER_ID, ErrorCode::GROUP_ID_NOT_FOUND});
  expect_doomed(kit, on);
}

CASE(member_epochs, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  expect(on.member.member_epoch() > 1, "a member epoch above 1");
  // An older epoch of the same member is harmless.
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}},
        {.member_epoch = on.member.member_epoch() - 1});
  const Value newer =
      try_stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 5, .last = 9}},
                {.member_epoch = on.member.member_epoch() + 1});
  newer["errorCode"].is(ErrorCode::STALE_MEMBER_EPOCH);
  on.producer.try_end(kCommit)["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.producer.abort();
}

CASE(member_epoch_0, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  for (const int32_t epoch : {0, -1}) {
    const Value answer =
        try_stage(kit, on.producer, on.member, {{.topic = on.topic}}, {.member_epoch = epoch});
    expect(answer["errorCode"].error() != ErrorCode::NONE, "an epoch that no member has");
  }
  on.producer.abort();
}

// A bad partition beside: the member is looked at for the good one, and for the whole request.
CASE(unknown_member_and_topic, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const Value answer = try_stage(kit, on.producer, on.member,
                                 {{.topic = on.topic, .first = 0, .last = 9}, {.topic = kUnknown}},
                                 {.member = kit.name("m")});
  answer["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  answer["responses"].has_size(0);
  // None is left for it.
  const Value none =
      try_stage(kit, on.producer, on.member, {{.topic = kUnknown}}, {.member = kit.name("m")});
  none["errorCode"].is_none();
  none["responses"][0]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  expect_doomed(kit, on);
}

CASE(member_that_has_left, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const int32_t epoch = on.member.member_epoch();
  on.member.leave();
  refused(kit, on, {.member_epoch = epoch}, ErrorCode::UNKNOWN_MEMBER_ID);
  on.producer.abort();
}

// ---------------------------------------------------------------- step 8: ownership

CASE(not_acquired, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  on.member.acknowledge(on.topic, 0, 9, {kRelease}).is_none();
  try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .first = 0, .last = 9})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.producer.try_end(kCommit)["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.producer.abort();
}

CASE(acquired_by_another_member, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  ShareMember other(kit, on.member.group());
  other.join({on.topic});
  const Value answer = try_stage(kit, on.producer, other, {{.topic = on.topic, .first = 0}});
  answer["responses"][0]["partitions"][0]["errorCode"].is(ErrorCode::INVALID_RECORD_STATE);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kAcquiredState, 1}},
               "in flight");
  on.producer.abort();
}

CASE(beyond_what_is_acquired, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  refused_part(kit, on, {{.topic = on.topic, .first = 5, .last = 10}},
               ErrorCode::INVALID_RECORD_STATE);
  refused_part(kit, on, {{.topic = on.topic, .first = 100, .last = 110}},
               ErrorCode::INVALID_RECORD_STATE);
  expect_doomed(kit, on);
}

// Success would double records: another member may have committed it.
CASE(below_the_start, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  on.member.acknowledge(on.topic, 0, 4).is_none();
  try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .first = 0, .last = 4})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.producer.abort();
}

// What is acquired may be staged though its records have left the log.
CASE(below_the_log_start, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  produce(kit, on.topic, {"more"});
  delete_records(kit, on.topic, 6);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 1);
  expect_equal(offsets_of(on.member.acquire(on.topic)), std::vector<int64_t>{10}, "acquired");
}

CASE(partition_never_fetched, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const Topic other = create_topic(kit);
  produce(kit, other, {"x"});
  const Value answer = try_stage(kit, on.producer, on.member, {{.topic = other}});
  answer["errorCode"].is_none();
  answer["responses"][0]["partitions"][0]["errorCode"].is_one_of(
      {ErrorCode::INVALID_RECORD_STATE, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION});
  on.producer.abort();
}

CASE(all_or_nothing_of_a_partition, "docs/PROTOCOL.md 1.1") {
  const Topic topic = create_topic(kit, 2);
  ShareMember member(kit, earliest_group(kit));
  for (int32_t i = 0; i < 2; ++i) produce(kit, topic, numbered(10), {.partition = i});
  member.join({topic});
  for (int32_t i = 0; i < 2; ++i) member.acquire_count(topic, 10, {}, i);
  TxnProducer producer(kit);
  producer.init();
  const Value answer = try_stage(kit, producer, member,
                                 {{.topic = topic, .partition = 0, .first = 0, .last = 4},
                                  {.topic = topic, .partition = 0, .first = 10, .last = 10},
                                  {.topic = topic, .partition = 1, .first = 0, .last = 9}});
  answer["errorCode"].is_none();
  const Value parts = answer["responses"][0]["partitions"];
  parts.with("partitionIndex", 0)["errorCode"].is(ErrorCode::INVALID_RECORD_STATE);
  parts.with("partitionIndex", 0)["errorMessage"].is_not_empty();
  parts.with("partitionIndex", 1)["errorCode"].is_none();
  parts.with("partitionIndex", 1)["errorMessage"].is_null();
  expect_equal(flight_of(kit, member.group(), topic, 0), Flight{{0, 9, kAcquiredState, 1}},
               "in flight of the refused");
  expect_equal(flight_of(kit, member.group(), topic, 1), Flight{{0, 9, kStagedState, 1}},
               "in flight of the good");
  producer.try_end(kCommit)["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  producer.abort();
}

// ---------------------------------------------------------------- retries

CASE(retry, "docs/PROTOCOL.md 1.1", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  for (int i = 0; i < 3; ++i)
    stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 3, .last = 5}});
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(retry_without_the_member, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const int32_t epoch = on.member.member_epoch();
  const std::vector<ShareAck> acks{{.topic = on.topic, .first = 0, .last = 9}};
  stage(kit, on.producer, on.member, acks);
  on.member.leave();
  stage(kit, on.producer, on.member, acks, {.member_epoch = epoch});
  stage(kit, on.producer, on.member, acks, {.member_epoch = epoch + 100});
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(retry_with_more, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(again_with_another_type, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  try_stage_one(kit, on.producer, on.member,
                {.topic = on.topic, .first = 0, .last = 0, .types = {kReject}})
      .is(ErrorCode::INVALID_RECORD_STATE);
  expect_doomed(kit, on);
}

CASE(retry_by_another_member, "docs/PROTOCOL.md 1.1; 1.2, P10") {
  Staging on = staging(kit);
  const std::vector<ShareAck> acks{{.topic = on.topic, .first = 0, .last = 9}};
  stage(kit, on.producer, on.member, acks);
  ShareMember other(kit, on.member.group());
  other.join({on.topic});
  stage(kit, on.producer, other, acks);
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(retry_from_another_connection, "docs/PROTOCOL.md 3") {
  Staging on = staging(kit);
  const Object request =
      stage_request(on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  for (int i = 0; i < 3; ++i) {
    Connection& connection = kit.connect();
    const Value answer =
        ask_until_free(kit, [&] { return connection.ask("TxnShareAcknowledge", 0, request); });
    answer["responses"][0]["partitions"][0]["errorCode"].is_none();
    connection.close();
  }
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

// Half a retry, half not acquired: all or nothing.
CASE(retry_with_too_much, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 5, .last = 9}});
  try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .first = 5, .last = 10})
      .is(ErrorCode::INVALID_RECORD_STATE);
  expect_equal(flight_of(kit, on.member.group(), on.topic),
               Flight{{0, 4, kAcquiredState, 1}, {5, 9, kStagedState, 1}}, "in flight");
  on.producer.try_end(kCommit)["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.producer.abort();
}

// ---------------------------------------------------------------- doom

CASE(doomed_in_every_version, "docs/PROTOCOL.md 1.3", .api = "EndTxn", .first = 0, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .first = 10, .last = 10})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.producer.try_end(kCommit, kit.version())["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.producer.abort();
  expect_equal(offsets_of(on.member.acquire(on.topic)), std::vector<int64_t>{0, 1, 2, 3, 4},
               "acquired again");
}

// The transaction becomes an open one, so that a commit has something to fail at.
CASE(doomed_before_anything_is_in_it, "docs/PROTOCOL.md 1.3", .api = "EndTxn", .first = 4,
     .last = 5) {
  Staging on = staging(kit, version_of(kit));
  try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .first = 10, .last = 10})
      .is(ErrorCode::INVALID_RECORD_STATE);
  expect_equal(on.producer.state(), std::string("Ongoing"), "the transaction");
  expect_doomed(kit, on);
}

CASE(doomed_with_output, "docs/PROTOCOL.md 1.3") {
  Staging on = staging(kit);
  const Topic output = create_topic(kit);
  on.producer.produce(output, {"never"});
  refused(kit, on, {.member = kit.name("m")}, ErrorCode::UNKNOWN_MEMBER_ID);
  on.producer.try_end(kCommit)["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.producer.abort();
  on.producer.produce(output, {"next"});
  on.producer.commit();
  expect_equal(committed_values(kit, output), std::vector<std::string>{"next"}, "values");
}

// It still takes what is right, and gives it back with the rest.
CASE(doomed_takes_more, "docs/PROTOCOL.md 1.3, T11") {
  Staging on = staging(kit);
  try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .first = 10, .last = 10})
      .is(ErrorCode::INVALID_RECORD_STATE);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  on.producer.try_end(kCommit)["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  on.producer.abort();
  expect_equal(on.member.acquire(on.topic), Ranges{{0, 9, 2}}, "acquired again");
}

CASE(doomed_and_succeeded, "docs/PROTOCOL.md 1.3, T12", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  refused(kit, on, {.member = kit.name("m")}, ErrorCode::UNKNOWN_MEMBER_ID);
  on.producer.init();
  expect_equal(on.member.acquire(on.topic), Ranges{{0, 4, 2}}, "acquired again");
  expect_not_doomed(kit, on);
}

CASE(doomed_and_timed_out, "docs/PROTOCOL.md 1.3, T12", .limit_s = 60) {
  Staging on = staging(kit, TxnVersion::kTwo, {}, {.timeout_ms = 1000});
  refused_part(kit, on, {{.topic = on.topic, .first = 10, .last = 10}},
               ErrorCode::INVALID_RECORD_STATE);
  kit.until("it is aborted", [&] { return on.producer.state() == "CompleteAbort"; }, Millis(45000));
  on.producer.init();
  expect_not_doomed(kit, on);
}

// What a stranger asks in vain dooms nothing of others.
CASE(wrong_identity_dooms_nothing, "docs/PROTOCOL.md 1.3", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  const ShareAck bad{.topic = on.topic, .first = 10, .last = 10};
  for (const int delta : {-1, 1})
    try_stage(kit, on.producer.with_epoch(on.producer.epoch() + delta), on.member,
              {bad})["errorCode"]
        .is_not(0);
  TxnProducer stranger(kit);
  stranger.init();
  TxnProducer liar = on.producer;
  liar.set_identity(stranger.identity());
  try_stage(kit, liar, on.member, {bad});
  try_stage(kit, on.producer, on.member, {bad}, {.start = kPast});
  expect_not_doomed(kit, on);
}

// It may be prepared already.
CASE(two_phase_commit_is_never_doomed, "docs/PROTOCOL.md 1.3") {
  kit.needs("InitProducerId", 6);
  Staging on = staging(kit, TxnVersion::kTwo, {}, {.version = 6, .enable_2pc = true});
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  try_stage_one(kit, on.producer, on.member, {.topic = on.topic, .first = 10, .last = 10})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 5);
}

// ---------------------------------------------------------------- AddShareAcksToTxn

CASE(enlist_opens_the_transaction, "docs/PROTOCOL.md 0", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  const int64_t start = enlist(kit, on.producer, on.member.group(), on.topic);
  expect_between(start, now_ms() - 60000, now_ms() + 60000, "the start");
  const Value described = on.producer.describe();
  described["transactionState"].is("Ongoing");
  described["transactionStartTimeMs"].is(start);
  described["topics"].has_size(1);
  described["topics"][0]["topic"].is("__share_group_state");
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, -1);
}

CASE(enlist_empty_names, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  try_enlist(kit, on.producer, "", {{.topic = on.topic}})["errorCode"].is(
      ErrorCode::INVALID_REQUEST);
}

CASE(enlist_unknown_topics, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  const Value answer =
      try_enlist(kit, on.producer, on.member.group(),
                 {{.topic = on.topic}, {.topic = kUnknown}, {.topic = on.topic, .partition = 7}});
  answer["errorCode"].is_none();
  answer["topics"].has_size(3);
  answer["topics"][0]["partitions"][0]["errorCode"].is_none();
  answer["topics"][1]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  answer["topics"][2]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  expect_not_doomed(kit, on);
}

CASE(enlist_nothing_good, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  const Value answer = try_enlist(kit, on.producer, on.member.group(), {{.topic = kUnknown}});
  answer["errorCode"].is_none();
  answer["topics"][0]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  expect(!answer.has("transactionStartTimeMs"), "no start is told");
  try_enlist(kit, on.producer, on.member.group(), {})["errorCode"].is_none();
  expect_equal(on.producer.state(), std::string("Empty"), "the transaction");
}

// Each state partition once, however many share partitions it holds.
CASE(enlist_several_partitions, "docs/PROTOCOL.md 1.1") {
  const Topic topic = create_topic(kit, 16);
  const std::string group = earliest_group(kit);
  TxnProducer producer(kit);
  producer.init();
  std::vector<SharePart> parts;
  for (int32_t i = 0; i < 16; ++i) parts.push_back({.topic = topic, .partition = i});
  for (int round = 0; round < 2; ++round) {
    const Value answer = try_enlist(kit, producer, group, parts);
    answer["errorCode"].is_none();
    answer["topics"].has_size(16);
  }
  std::vector<int64_t> listed =
      producer.describe()["topics"].with("topic", "__share_group_state")["partitions"].numbers();
  std::ranges::sort(listed);
  expect(std::ranges::adjacent_find(listed) == listed.end(), "each is listed once");
  expect_between(listed.size(), size_t{1}, size_t{16}, "state partitions");
  producer.abort();
}

}  // namespace ackord::conform
