// Which transaction a stage belongs to: producer ids and epochs, the start of the transaction, late
// stages, and markers that do not come from the coordinator.
#include "tools/conform/case.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.txn.fencing", "Transactional share acknowledgements: zombies and late requests",
     "AddShareAcksToTxn");

namespace {

const std::initializer_list<ErrorCode> kFenced{ErrorCode::PRODUCER_FENCED,
                                               ErrorCode::INVALID_PRODUCER_EPOCH};

ShareAck all_of(const Topic& topic) { return {.topic = topic, .first = 0, .last = 9}; }

// Nothing is staged.
void expect_untouched(Kit& kit, const Staging& on) {
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kAcquiredState, 1}},
               "in flight");
}

}  // namespace

CASE(unknown_transactional_id, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  TxnProducer never(kit);
  never.set_identity(on.producer.identity());
  try_stage(kit, never, on.member, {all_of(on.topic)})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  try_enlist(kit, never, on.member.group(), {{.topic = on.topic}})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  expect_untouched(kit, on);
}

CASE(wrong_producer_id, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  TxnProducer other = on.producer;
  other.set_identity({on.producer.producer_id() + 100000, 0});
  try_stage(kit, other, on.member, {all_of(on.topic)})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  try_enlist(kit, other, on.member.group(), {{.topic = on.topic}})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  expect_untouched(kit, on);
}

CASE(wrong_epochs, "docs/PROTOCOL.md 1.1") {
  Staging on = staging(kit);
  for (const int delta : {-1, 1, 5}) {
    const TxnProducer other = on.producer.with_epoch(on.producer.epoch() + delta);
    try_stage(kit, other, on.member, {all_of(on.topic)})["errorCode"].is_one_of(kFenced);
    try_enlist(kit, other, on.member.group(), {{.topic = on.topic}})["errorCode"].is_one_of(
        kFenced);
  }
  expect_untouched(kit, on);
}

CASE(zombie, "docs/PROTOCOL.md 4, I8", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  TxnProducer successor(kit, version_of(kit), on.producer.id());
  successor.init();
  try_stage(kit, on.producer, on.member, {all_of(on.topic)})["errorCode"].is_one_of(kFenced);
  try_enlist(kit, on.producer, on.member.group(), {{.topic = on.topic}})["errorCode"].is_one_of(
      kFenced);
  expect_untouched(kit, on);
  stage(kit, successor, on.member, {all_of(on.topic)});
  successor.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(zombie_in_an_open_transaction, "docs/PROTOCOL.md 4, I8", .api = "EndTxn", .first = 4,
     .last = 5) {
  Staging on = staging(kit, version_of(kit));
  TxnProducer successor(kit, version_of(kit), on.producer.id());
  successor.init();
  stage(kit, successor, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  try_stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 5, .last = 9}})["errorCode"]
      .is_one_of(kFenced);
  successor.commit();
  expect_lag(kit, on.member.group(), on.topic, 5);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{5, 9, kAcquiredState, 1}},
               "in flight");
}

CASE(epoch_of_the_transaction_before, "docs/PROTOCOL.md 1.3") {
  Staging on = staging(kit);
  const TxnProducer before = on.producer;
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  on.producer.commit();
  try_stage(kit, before, on.member, {{.topic = on.topic, .first = 5, .last = 9}})["errorCode"]
      .is_one_of(kFenced);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{5, 9, kAcquiredState, 1}},
               "in flight");
}

// ---------------------------------------------------------------- the start of a transaction

CASE(start_is_the_same_within_a_transaction, "docs/PROTOCOL.md 0", .api = "EndTxn", .first = 4,
     .last = 5) {
  Staging on = staging(kit, version_of(kit));
  const int64_t start = enlist(kit, on.producer, on.member.group(), on.topic);
  expect_equal(enlist(kit, on.producer, on.member.group(), on.topic), start, "the start");
  expect_equal(enlist(kit, on.producer, on.member.group(), on.topic, start), start, "the start");
  stage(kit, on.producer, on.member, {all_of(on.topic)}, {.start = start});
  expect_equal(on.producer.describe()["transactionStartTimeMs"].number(), start, "as described");
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(start_grows, "docs/PROTOCOL.md 0", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  int64_t last = -1;
  for (int i = 0; i < 5; ++i) {
    const int64_t start = enlist(kit, on.producer, on.member.group(), on.topic);
    expect(start > last, "the start has grown");
    last = start;
    on.producer.end_without_waiting(i % 2 == 0 ? kCommit : kAbort);
  }
  on.producer.wait_until_complete();
}

CASE(wrong_start, "docs/PROTOCOL.md 0", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  const int64_t start = enlist(kit, on.producer, on.member.group(), on.topic);
  for (const int64_t wrong : {start - 1, start + 1, int64_t{0}}) {
    try_stage(kit, on.producer, on.member, {all_of(on.topic)}, {.start = wrong})["errorCode"].is(
        ErrorCode::INVALID_TXN_STATE);
    try_enlist(kit, on.producer, on.member.group(), {{.topic = on.topic}}, wrong)["errorCode"].is(
        ErrorCode::INVALID_TXN_STATE);
  }
  expect_untouched(kit, on);
  stage(kit, on.producer, on.member, {all_of(on.topic)}, {.start = start});
  on.producer.commit();
}

CASE(start_without_a_transaction, "docs/PROTOCOL.md 0", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  try_enlist(kit, on.producer, on.member.group(), {{.topic = on.topic}}, now_ms())["errorCode"].is(
      ErrorCode::INVALID_TXN_STATE);
  try_stage(kit, on.producer, on.member, {all_of(on.topic)}, {.start = now_ms()})["errorCode"].is(
      ErrorCode::INVALID_TXN_STATE);
  expect_equal(on.producer.state(), std::string("Empty"), "the transaction");
  expect_untouched(kit, on);
}

// In transaction version 1 the epoch of the next transaction is the same: only the start tells.
CASE(late_stage_of_the_transaction_before, "docs/PROTOCOL.md 0", .api = "EndTxn", .first = 4,
     .last = 5) {
  Staging on = staging(kit, version_of(kit));
  const TxnProducer before = on.producer;
  const int64_t start = enlist(kit, on.producer, on.member.group(), on.topic);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 1}},
        {.start = start});
  on.producer.commit();
  const std::vector<ShareAck> late{{.topic = on.topic, .first = 5, .last = 9}};
  try_stage(kit, before, on.member, late, {.start = start})["errorCode"].is_one_of(
      {ErrorCode::INVALID_TXN_STATE, ErrorCode::PRODUCER_FENCED});
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 2, .last = 4}});
  try_stage(kit, before, on.member, late, {.start = start})["errorCode"].is_one_of(
      {ErrorCode::INVALID_TXN_STATE, ErrorCode::PRODUCER_FENCED});
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 5);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{5, 9, kAcquiredState, 1}},
               "in flight");
}

CASE(clients_cannot_add_the_state_topic, "docs/SEMANTICS.md B.6", .api = "AddPartitionsToTxn",
     .first = 0, .last = 3) {
  Staging on = staging(kit, TxnVersion::kOne);
  const Topic internal{"__share_group_state", {}, 1};
  on.producer.try_add(internal, kit.version()).is(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
}

// ---------------------------------------------------------------- DescribeSharePartitions

CASE(acquired_is_described, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  const Value part = in_flight(kit, on.member.group(), on.topic);
  part["errorCode"].is_none();
  part["errorMessage"].is_null();
  part["startOffset"].is(0);
  part["endOffset"].is_between(9, 10);
  part["ranges"].has_size(1);
  const Value range = part["ranges"][0];
  range["firstOffset"].is(0);
  range["lastOffset"].is(9);
  range["state"].is(kAcquiredState);
  range["deliveryCount"].is(1);
  range["memberId"].is(on.member.id().c_str());
  range["lockExpiresInMs"].is_between(1, 30000);
  range["ownerProducerId"].is(-1);
  range["ownerProducerEpoch"].is(-1);
  range["stagedForMs"].is(-1);
  range["acknowledgeType"].is(-1);
}

CASE(staged_is_described, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  stage(kit, on.producer, on.member,
        {{.topic = on.topic, .first = 2, .last = 6, .types = {kReject}}});
  const Value range = in_flight(kit, on.member.group(), on.topic)["ranges"].with("firstOffset", 2);
  range["lastOffset"].is(6);
  range["state"].is(kStagedState);
  range["deliveryCount"].is(1);
  range["lockExpiresInMs"].is(-1);
  range["ownerProducerId"].is(on.producer.producer_id());
  range["ownerProducerEpoch"].is(on.producer.epoch());
  range["stagedForMs"].is_between(0, 60000);
  range["acknowledgeType"].is(kReject);
  on.producer.abort();
}

CASE(released_is_described, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  on.member.acknowledge(on.topic, 0, 9, {kRelease}).is_none();
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, 0, 1}}, "in flight");
}

CASE(ranges_are_limited, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  for (int64_t i = 0; i < 10; i += 2)
    stage(kit, on.producer, on.member, {{.topic = on.topic, .first = i, .last = i}});
  in_flight(kit, on.member.group(), on.topic)["ranges"].has_size(10);
  const Value few = in_flight(kit, on.member.group(), on.topic, 0, 3)["ranges"];
  few.has_size(3);
  few[0]["firstOffset"].is(0);
  on.producer.abort();
}

CASE(all_partitions_are_described, "docs/PROTOCOL.md 0") {
  const Topic topic = create_topic(kit, 3);
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  const Value answer =
      kit.ask("DescribeSharePartitions", 0,
              {{"groupId", member.group()},
               {"topics", list(Object{{"topicId", topic.id}, {"partitions", list()}})}});
  answer["errorCode"].is_none();
  answer["topics"][0]["partitions"].has_size(3);
}

CASE(describe_what_is_not_there, "docs/PROTOCOL.md 0") {
  Staging on = staging(kit);
  in_flight(kit, on.member.group(), {"x", "BwcHBwcHBwcHBwcHBwcHBw", 1})["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_ID);
  in_flight(kit, on.member.group(), on.topic, 7)["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  const auto of_group = [&](const std::string& group) {
    return kit.ask("DescribeSharePartitions", 0,
                   {{"groupId", group}, {"topics", list()}})["errorCode"];
  };
  of_group(kit.name("g")).is(ErrorCode::GROUP_ID_NOT_FOUND);
  of_group("").is_one_of({ErrorCode::INVALID_REQUEST, ErrorCode::INVALID_GROUP_ID});
}

// ---------------------------------------------------------------- ReleaseSharePartitions

CASE(operator_releases, "docs/PROTOCOL.md 0") {
  kit.needs("ReleaseSharePartitions");
  Staging on = staging(kit);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 1}});
  const auto release = [&](int64_t first, int64_t last) {
    const Object range{{"firstOffset", first}, {"lastOffset", last}};
    const Object partition{{"partitionIndex", 0}, {"ranges", list(range)}};
    return kit.ask(
        "ReleaseSharePartitions", 0,
        {{"groupId", on.member.group()},
         {"topics", list(Object{{"topicId", on.topic.id},
                                {"partitions", list(partition)}})}})["topics"][0]["partitions"][0];
  };
  release(0, 4)["errorCode"].is(ErrorCode::INVALID_RECORD_STATE);
  const Value released = release(5, 9);
  released["errorCode"].is_none();
  released["releasedRecords"].is(5);
  on.member.acknowledge(on.topic, 5, 9).is(ErrorCode::INVALID_RECORD_STATE);
  on.producer.abort();
}

}  // namespace ackord::conform
