// What the requests of batch transactions refuse, and with what; a retry; what dooms.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/batch_txn.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.batch.requests", "Batch transactions: what is refused, retries, doom", "BeginBatchTxn");

namespace {

const Topic kUnknown{"unknown", kUnknownId, 1};

void expect_untouched(Kit& kit, const Begun& on) {
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kAcquiredState, 1}},
               "in flight");
}
// The partition is refused for good, nothing of it is staged, and only an abort is left.
void dooms(Kit& kit, Begun& on, const std::vector<ShareAck>& acks, ErrorCode error) {
  BatchTxn batch(kit, on.member.group());
  expect_batch(batch.begin(), "ONGOING", 0);
  const Value answer = batch.acknowledge(on.member, acks);
  answer["errorCode"].is_none();
  answer["responses"][0]["partitions"][0]["errorCode"].is(error);
  expect_untouched(kit, on);
  batch.prepare()["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  expect_batch(batch.abort(), "ABORTED", 0);
}
// So is the whole request.
void dooms_by_member(Kit& kit, Begun& on, const BatchAckOptions& options, ErrorCode error) {
  BatchTxn batch(kit, on.member.group());
  expect_batch(batch.begin(), "ONGOING", 0);
  const Value answer =
      batch.acknowledge(on.member, {{.topic = on.topic, .first = 0, .last = 9}}, options);
  answer["errorCode"].is(error);
  answer["responses"].has_size(0);
  expect_untouched(kit, on);
  batch.prepare()["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  expect_batch(batch.abort(), "ABORTED", 0);
}
// It goes on as if nothing had been asked.
void expect_sound(Kit& kit, Begun& on) {
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  expect_lag(kit, on.member.group(), on.topic, 0);
}

}  // namespace

// ---------------------------------------------------------------- names and times

CASE(ids, "docs/PROTOCOL.md 2, 0.4") {
  Begun on = begun(kit);
  const auto ask = [&](const char* api, const std::string& id, const std::string& group) {
    Object request{{"transactionId", id}, {"groupId", group}};
    if (std::string_view(api) == "BeginBatchTxn") request["timeoutMs"] = 60000;
    if (std::string_view(api) == "BatchTxnAcknowledge")
      request = merged(request, {{"memberId", on.member.id()},
                                 {"memberEpoch", on.member.member_epoch()},
                                 {"topics", list()}});
    return kit.ask(api, 0, request)["errorCode"];
  };
  for (const char* api : {"BeginBatchTxn", "BatchTxnAcknowledge", "PrepareBatchTxn",
                          "CommitBatchTxn", "AbortBatchTxn"}) {
    ask(api, "", on.member.group()).is(ErrorCode::INVALID_REQUEST);
    ask(api, std::string(250, 'x'), on.member.group()).is(ErrorCode::INVALID_REQUEST);
    // Bytes count, not characters: 125 of two bytes each.
    std::string wide;
    for (int i = 0; i < 125; ++i) wide += "\xc3\xa9";
    ask(api, wide, on.member.group()).is(ErrorCode::INVALID_REQUEST);
    ask(api, on.batch.id(), "").is(ErrorCode::INVALID_REQUEST);
  }
  expect_sound(kit, on);
}

CASE(longest_and_shortest_id, "docs/PROTOCOL.md 2") {
  auto [topic, member] = acquired_records(kit);
  std::string longest = kit.name("b");
  longest.resize(249, 'x');
  for (const std::string& id : {longest, std::string("b"), std::string("\xc3\xa9 / * .. -")}) {
    BatchTxn batch(kit, member.group(), id);
    expect_batch(batch.begin(), "ONGOING", 0);
    batch.stage(member, {{.topic = topic, .first = 0, .last = 0}});
    expect_batch(batch.abort(), "ABORTED", 1);
    expect(batch.listed().has_value(), "it is listed");
    expect_equal(offsets_of(member.acquire(topic)), std::vector<int64_t>{0}, "acquired again");
  }
}

CASE(timeouts, "docs/PROTOCOL.md 2.2, 0.4") {
  auto [topic, member] = acquired_records(kit);
  BatchTxn batch(kit, member.group());
  const int64_t most = std::stoll(*configs_of(
      kit, ConfigResource::kBroker, std::to_string(node_id(kit)))["transaction.max.timeout.ms"]);
  for (const int64_t timeout : {int64_t{0}, int64_t{-1}, int64_t{INT32_MIN}, most + 1})
    batch.begin(static_cast<int32_t>(timeout))["errorCode"].is(
        ErrorCode::INVALID_TRANSACTION_TIMEOUT);
  expect(!batch.listed().has_value(), "nothing has begun");
  expect_batch(batch.begin(static_cast<int32_t>(most)), "ONGOING", 0);
  // Of one that has begun it is not taken, but looked at.
  batch.begin(0)["errorCode"].is(ErrorCode::INVALID_TRANSACTION_TIMEOUT);
  expect_batch(batch.abort(), "ABORTED", 0);
}

CASE(member_names, "docs/PROTOCOL.md 1.1, 2") {
  Begun on = begun(kit);
  const auto ask = [&](const std::string& member) {
    return on.batch.acknowledge(on.member, {{.topic = on.topic}}, {.member = member})["errorCode"];
  };
  ask("").is(ErrorCode::INVALID_REQUEST);
  ask(std::string(37, 'x')).is(ErrorCode::INVALID_REQUEST);
  expect_untouched(kit, on);
  expect_sound(kit, on);  // that dooms nothing
}

CASE(nothing_to_stage, "docs/PROTOCOL.md 1.1, 2") {
  Begun on = begun(kit);
  const Value answer = on.batch.acknowledge(on.member, {});
  answer["errorCode"].is_none();
  answer["responses"].has_size(0);
  expect_sound(kit, on);
}

// ---------------------------------------------------------------- what is refused for good

CASE(unknown_topic, "docs/PROTOCOL.md 1.1, 2") {
  Begun on = begun(kit);
  dooms(kit, on, {{.topic = kUnknown}}, ErrorCode::UNKNOWN_TOPIC_ID);
}

CASE(unknown_partition, "docs/PROTOCOL.md 1.1, 2") {
  Begun on = begun(kit);
  for (const int32_t partition : {7, -1})
    dooms(kit, on, {{.topic = on.topic, .partition = partition}},
          ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(types_that_are_not_for_transactions, "docs/PROTOCOL.md 0.2") {
  Begun on = begun(kit);
  for (const int8_t type : {kRelease, kRenew, int8_t{5}, int8_t{-1}})
    dooms(kit, on, {{.topic = on.topic, .first = 0, .last = 9, .types = {type}}},
          ErrorCode::INVALID_REQUEST);
  dooms(kit, on, {{.topic = on.topic, .first = 0, .last = 1, .types = {kAccept, kRelease}}},
        ErrorCode::INVALID_REQUEST);
}

CASE(malformed_batches, "docs/PROTOCOL.md 0.2") {
  Begun on = begun(kit);
  for (const auto& acks : malformed_acks(on.topic))
    dooms(kit, on, acks, ErrorCode::INVALID_REQUEST);
}

CASE(not_acquired, "docs/PROTOCOL.md 1.2, P9") {
  Begun on = begun(kit);
  dooms(kit, on, {{.topic = on.topic, .first = 5, .last = 10}}, ErrorCode::INVALID_RECORD_STATE);
  dooms(kit, on, {{.topic = on.topic, .first = 100, .last = 110}}, ErrorCode::INVALID_RECORD_STATE);
}

CASE(released, "docs/PROTOCOL.md 1.2, P9") {
  Begun on = begun(kit);
  on.member.acknowledge(on.topic, 0, 9, {kRelease}).is_none();
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 9})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.batch.prepare()["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  expect_batch(on.batch.abort(), "ABORTED", 0);
}

CASE(acquired_by_another_member, "docs/PROTOCOL.md 1.2, P9") {
  Begun on = begun(kit);
  ShareMember other(kit, on.member.group());
  other.join({on.topic});
  on.batch.acknowledge_one(other, {.topic = on.topic, .first = 0, .last = 0})
      .is(ErrorCode::INVALID_RECORD_STATE);
  expect_untouched(kit, on);
  on.batch.prepare()["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  expect_batch(on.batch.abort(), "ABORTED", 0);
}

// Success would double records: another member may have committed it.
CASE(below_the_start, "docs/PROTOCOL.md 1.1") {
  Begun on = begun(kit);
  on.member.acknowledge(on.topic, 0, 4).is_none();
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 4})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.batch.prepare()["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  expect_batch(on.batch.abort(), "ABORTED", 0);
}

CASE(unknown_member, "docs/PROTOCOL.md 1.1") {
  Begun on = begun(kit);
  dooms_by_member(kit, on, {.member = kit.name("m")}, ErrorCode::UNKNOWN_MEMBER_ID);
  dooms_by_member(kit, on, {.member = std::string(36, 'x')}, ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(member_epochs, "docs/PROTOCOL.md 1.1") {
  Begun on = begun(kit);
  expect(on.member.member_epoch() > 1, "a member epoch above 1");
  dooms_by_member(kit, on, {.member_epoch = on.member.member_epoch() + 1},
                  ErrorCode::STALE_MEMBER_EPOCH);
  for (const int32_t epoch : {0, -1})
    dooms_by_member(kit, on, {.member_epoch = epoch}, ErrorCode::UNKNOWN_MEMBER_ID);
  // An older one of the same member is harmless.
  on.batch
      .acknowledge(on.member, {{.topic = on.topic, .first = 0, .last = 9}},
                   {.member_epoch =
                        on.member.member_epoch() - 1})["responses"][0]["partitions"][0]["errorCode"]
      .is_none();
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
}

CASE(bad_beside_good, "docs/PROTOCOL.md 1.1") {
  Begun on = begun(kit);
  const Value answer = on.batch.acknowledge(
      on.member, {{.topic = on.topic, .first = 0, .last = 9}, {.topic = kUnknown}});
  answer["errorCode"].is_none();
  answer["responses"].has_size(2);
  answer["responses"][0]["partitions"][0]["errorCode"].is_none();
  answer["responses"][1]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kStagedState, 1}},
               "in flight");
  on.batch.prepare()["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  expect_batch(on.batch.abort(), "ABORTED", 10);
}

// A stranger's mistakes are not this transaction's, nor is what comes to one that does not exist.
CASE(another_id_is_not_doomed, "docs/PROTOCOL.md 1.3") {
  Begun on = begun(kit);
  BatchTxn never(kit, on.member.group());
  never.acknowledge(on.member, {{.topic = kUnknown}});
  BatchTxn elsewhere(kit, kit.name("g"), on.batch.id());
  elsewhere.acknowledge(on.member, {{.topic = kUnknown}});
  expect_sound(kit, on);
}

// ---------------------------------------------------------------- retries, limits

CASE(retry_without_the_member, "docs/PROTOCOL.md 1.1") {
  Begun on = begun(kit);
  const std::vector<ShareAck> acks{{.topic = on.topic, .first = 0, .last = 9}};
  const int32_t epoch = on.member.member_epoch();
  on.batch.stage(on.member, acks);
  on.member.leave();
  for (const int32_t told : {epoch, epoch + 100})
    on.batch
        .acknowledge(on.member, acks,
                     {.member_epoch = told})["responses"][0]["partitions"][0]["errorCode"]
        .is_none();
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_batch(on.batch.commit(), "COMMITTED", 10);
}

CASE(retry_with_more, "docs/PROTOCOL.md 1.1") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  expect_sound(kit, on);
}

CASE(again_with_another_type, "docs/PROTOCOL.md 1.1") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  on.batch
      .acknowledge_one(on.member, {.topic = on.topic, .first = 0, .last = 0, .types = {kReject}})
      .is(ErrorCode::INVALID_RECORD_STATE);
  on.batch.prepare()["errorCode"].is(ErrorCode::TRANSACTION_ABORTABLE);
  expect_batch(on.batch.abort(), "ABORTED", 10);
}

CASE(limit_of_staged_records, "docs/PROTOCOL.md 1.2, P11") {
  Begun on = begun(kit, 60000, {{"share.partition.max.staged.records", "5"}});
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  on.batch.acknowledge_one(on.member, {.topic = on.topic, .first = 5, .last = 5})
      .is(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
  expect_batch(on.batch.prepare(), "PREPARE", 5);  // it dooms nothing
  expect_batch(on.batch.commit(), "COMMITTED", 5);
  expect_lag(kit, on.member.group(), on.topic, 5);
}

}  // namespace ackord::conform
