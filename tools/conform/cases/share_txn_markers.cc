// Which marker resolves what is staged: markers that do not come from the coordinator, and stages
// that run beside the end of their transaction.
#include "tools/conform/case.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.txn.markers", "Transactional share acknowledgements: markers and late stages",
     "AddShareAcksToTxn");

namespace {

// Everything is staged.
Staging staged(Kit& kit, TxnVersion version = TxnVersion::kTwo) {
  Staging on = staging(kit, version);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  return on;
}
Value write_marker(Kit& kit, const Staging& on, const StateMarker& marker) {
  return write_state_marker(kit, on.producer.producer_id(), state_partition_of(on.producer),
                            marker);
}
void expect_still_staged(Kit& kit, const Staging& on) {
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{0, 9, kStagedState, 1}},
               "in flight");
  on.producer.describe()["transactionState"].is("Ongoing");
}

}  // namespace

// It would tear an open transaction.
CASE(of_a_client, "docs/PROTOCOL.md 1.3, M8", .api = "WriteTxnMarkers", .first = 1, .last = 2) {
  // What version 1 says is of transaction version 0: there an equal epoch would do.
  Staging on = staged(kit, kit.version() >= 2 ? TxnVersion::kTwo : TxnVersion::kOne);
  const int epoch = on.producer.epoch() + (kit.version() >= 2 ? 1 : 0);
  for (const bool committed : {kCommit, kAbort}) {
    write_marker(kit, on, {.epoch = epoch, .committed = committed, .version = kit.version()})
        .is(ErrorCode::INVALID_TXN_STATE);
  }
  expect_still_staged(kit, on);
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(of_transaction_version_1, "docs/PROTOCOL.md 1.3, M4 M8") {
  Staging on = staged(kit, TxnVersion::kOne);
  write_marker(kit, on, {.epoch = on.producer.epoch(), .transaction_version = 1})
      .is(ErrorCode::INVALID_TXN_STATE);
  expect_still_staged(kit, on);
  on.producer.abort();
}

// The epoch of what is staged is that of the transaction before the marker's.
CASE(of_an_equal_epoch, "docs/PROTOCOL.md 1.3, M3") {
  Staging on = staged(kit);
  for (const bool committed : {kCommit, kAbort})
    write_marker(kit, on, {.epoch = on.producer.epoch(), .committed = committed})
        .is(ErrorCode::INVALID_PRODUCER_EPOCH);
  expect_still_staged(kit, on);
  on.producer.abort();
}

CASE(of_an_older_epoch, "docs/PROTOCOL.md 1.3, M5") {
  Staging on = staging(kit);
  TxnProducer successor(kit, TxnVersion::kTwo, on.producer.id());
  successor.init();
  on.producer = successor;
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  for (const int8_t transaction_version : {int8_t{1}, int8_t{2}})
    write_marker(kit, on,
                 {.epoch = on.producer.epoch() - 1, .transaction_version = transaction_version})
        .is(ErrorCode::INVALID_PRODUCER_EPOCH);
  expect_still_staged(kit, on);
  on.producer.abort();
}

// A delayed duplicate of the coordinator's marker: success, and nothing happens.
CASE(repeated, "docs/PROTOCOL.md 1.3, M2") {
  Staging on = staged(kit);
  const int64_t state_partition = state_partition_of(on.producer);
  on.producer.commit();
  // EndTxn 5 answers the epoch that the marker carried.
  const StateMarker again{.epoch = on.producer.epoch(), .committed = kAbort};
  write_state_marker(kit, on.producer.producer_id(), state_partition, again).is_none();
  expect_lag(kit, on.member.group(), on.topic, 0);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{}, "in flight");
}

// Once the next transaction has staged something under that epoch, it is one of the past.
CASE(of_the_transaction_before, "docs/PROTOCOL.md 1.3, M3") {
  Staging on = staging(kit);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  on.producer.commit();
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 5, .last = 9}});
  write_marker(kit, on, {.epoch = on.producer.epoch()}).is(ErrorCode::INVALID_PRODUCER_EPOCH);
  expect_equal(flight_of(kit, on.member.group(), on.topic), Flight{{5, 9, kStagedState, 1}},
               "in flight");
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(of_an_older_coordinator, "docs/PROTOCOL.md 1.3, M6") {
  const Staging on = staging(kit);  // so that the state topic is there
  const ProducerIdentity stranger = idempotent_producer(kit);
  const auto error = [&](const StateMarker& marker) {
    return write_state_marker(kit, stranger.id, 0, marker);
  };
  error({.epoch = 1, .coordinator_epoch = 5}).is_none();
  error({.epoch = 2, .coordinator_epoch = 4}).is(ErrorCode::TRANSACTION_COORDINATOR_FENCED);
  error({.epoch = 2, .coordinator_epoch = 5}).is_none();
}

CASE(of_nobody, "docs/PROTOCOL.md 1.3, M7") {
  const Staging on = staging(kit);
  const ProducerIdentity stranger = idempotent_producer(kit);
  write_state_marker(kit, stranger.id, 0, {.epoch = 9}).is_none();
  write_state_marker(kit, stranger.id, 0, {.epoch = 8}).is(ErrorCode::INVALID_PRODUCER_EPOCH);
  write_state_marker(kit, stranger.id, 100000, {.epoch = 9})
      .is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

// A stage beside the end of its transaction is in it, or it is refused: nothing is pinned, nothing
// lands in the next one, and what was answered is what happened.
CASE(stage_beside_the_end, "docs/PROTOCOL.md 1.3, G1; 4, I4 I8", .api = "EndTxn", .first = 4,
     .last = 5) {
  Staging on = staging(kit, version_of(kit));
  const std::string& group = on.member.group();
  int64_t committed = 0;
  for (int64_t offset = 0; offset < 10; ++offset) {
    const int64_t start = enlist(kit, on.producer, group, on.topic);
    Connection& other = kit.connect();
    const Object request =
        stage_request(on.producer, on.member,
                      {{.topic = on.topic, .first = offset, .last = offset}}, {.start = start});
    const Sent late = other.send("TxnShareAcknowledge", 0, request);
    // Another time in each round, so that now the one comes first, now the other.
    for (int64_t i = 0; i < offset % 5; ++i) kit.ask("ApiVersions", 0, {});
    on.producer.end_without_waiting(kCommit);
    const Value answer = other.receive(late);
    const ErrorCode top = answer["errorCode"].error();
    const bool staged =
        top == ErrorCode::NONE &&
        answer["responses"][0]["partitions"][0]["errorCode"].error() == ErrorCode::NONE;
    if (staged) ++committed;
    if (top == ErrorCode::NONE && !staged)
      answer["responses"][0]["partitions"][0]["errorCode"].is_one_of(
          {ErrorCode::INVALID_TXN_STATE, ErrorCode::INVALID_PRODUCER_EPOCH});
    if (top != ErrorCode::NONE)
      answer["errorCode"].is_one_of({ErrorCode::CONCURRENT_TRANSACTIONS,
                                     ErrorCode::INVALID_TXN_STATE, ErrorCode::PRODUCER_FENCED});
    on.producer.wait_until_complete();
    expect_nothing_staged(kit, group, on.topic);
  }
  int64_t left = 0;
  for (const auto& [first, last, state, deliveries] : flight_of(kit, group, on.topic))
    if (state == kAcquiredState) left += last - first + 1;
  expect_equal(left, 10 - committed, "records left");
}

}  // namespace ackord::conform
