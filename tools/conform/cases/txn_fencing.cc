// What a producer is told whose transactional id has been taken over, by API and version.
#include "tools/conform/case.h"
#include "tools/conform/kit/offsets.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.fencing", "Fenced producers");

namespace {

// The old producer has an open transaction of one record; the new one has taken over.
struct Fenced {
  Topic topic;
  TxnProducer old;
  TxnProducer owner;
};
Fenced take_over(Kit& kit, TxnVersion version = TxnVersion::kTwo) {
  const Topic topic = create_topic(kit);
  const TxnProducer old = begin_transaction(kit, topic, {"old"}, version);
  TxnProducer owner = old;
  owner.init();
  return {topic, old, owner};
}

// Below the version that knows PRODUCER_FENCED.
ErrorCode fenced(int16_t version, int16_t since) {
  return version >= since ? ErrorCode::PRODUCER_FENCED : ErrorCode::INVALID_PRODUCER_EPOCH;
}

}  // namespace

CASE(produce, "KIP-360; docs/SEMANTICS.md C.9", .api = "Produce", .first = 3, .last = 13) {
  auto [topic, old, owner] = take_over(kit);
  for (const int sequence : {0, 1})
    old.try_produce(topic, {"late"}, {.sequence = sequence, .version = kit.version()})["errorCode"]
        .is(ErrorCode::INVALID_PRODUCER_EPOCH);
  owner.produce(topic, {"new"});
  old.try_produce(topic, {"late"}, {.sequence = 1, .version = kit.version()})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_EPOCH);
  owner.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"new"}, "values");
}

CASE(produce_to_another_partition, "KIP-890: the coordinator is asked", .api = "Produce",
     .first = 3, .last = 13) {
  // The partition has never seen this producer, so only the coordinator knows.
  auto [topic, old, owner] = take_over(kit);
  const Topic other = create_topic(kit);
  old.try_produce(other, {"late"}, {.version = kit.version()})["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_EPOCH);
  expect_equal(end_offset(kit, other), 0, "the log's end");
}

CASE(add_partitions, "KIP-588; docs/SEMANTICS.md C.1", .api = "AddPartitionsToTxn", .first = 0,
     .last = 5) {
  auto [topic, old, owner] = take_over(kit);
  old.try_add(topic, kit.version()).is(fenced(kit.version(), 2));
  owner.with_epoch(owner.epoch() + 5).try_add(topic, kit.version()).is(fenced(kit.version(), 2));
}

CASE(add_partitions_of_another_id, "docs/SEMANTICS.md C.4", .api = "AddPartitionsToTxn", .first = 0,
     .last = 5) {
  auto [topic, old, owner] = take_over(kit);
  old.set_identity({old.producer_id() + 1000, 0});
  old.try_add(topic, kit.version()).is(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
}

CASE(verify_partitions, "KIP-890", .api = "AddPartitionsToTxn", .first = 4, .last = 5) {
  auto [topic, old, owner] = take_over(kit);
  old.try_add(topic, kit.version(), true).is(ErrorCode::PRODUCER_FENCED);
  old.set_identity({old.producer_id() + 1000, 0});
  old.try_add(topic, kit.version(), true).is(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
}

CASE(add_offsets, "KIP-588; docs/SEMANTICS.md C.1", .api = "AddOffsetsToTxn", .first = 0,
     .last = 4) {
  auto [topic, old, owner] = take_over(kit);
  const std::string group = offsets_group(kit);
  old.try_add_group(group, kit.version())["errorCode"].is(fenced(kit.version(), 2));
  owner.with_epoch(owner.epoch() + 5)
      .try_add_group(group, kit.version())["errorCode"]
      .is(fenced(kit.version(), 2));
  old.set_identity({old.producer_id() + 1000, 0});
  old.try_add_group(group, kit.version())["errorCode"].is(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
}

CASE(end, "KIP-588; docs/SEMANTICS.md C.5", .api = "EndTxn", .first = 0, .last = 5) {
  auto [topic, old, owner] = take_over(kit);
  owner.produce(topic, {"new"});
  for (const bool committed : {kCommit, kAbort})
    old.try_end(committed, kit.version())["errorCode"].is(fenced(kit.version(), 2));
  old.set_identity({old.producer_id() + 1000, 0});
  old.try_end(kCommit, kit.version())["errorCode"].is(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  expect_equal(owner.state(), "Ongoing", "state");
}

CASE(init, "KIP-360; KIP-588", .api = "InitProducerId", .first = 3, .last = 5) {
  auto [topic, old, owner] = take_over(kit);
  old.try_init({.version = kit.version(), .current = old.identity()})["errorCode"].is(
      fenced(kit.version(), 4));
}

CASE(init_over_the_owners_transaction, "KIP-360", .api = "InitProducerId", .first = 3, .last = 5) {
  auto [topic, old, owner] = take_over(kit);
  owner.produce(topic, {"new"});
  const InitOptions options{.version = kit.version(), .current = old.identity()};
  const Value answer = old.try_init(options);
  // Kafka 4.4 does not look at the epoch while a transaction is open: it aborts the owner's, and
  // fences at the next try. To fence at once is what the owner is better served with.
  answer["errorCode"].is_one_of({ErrorCode::CONCURRENT_TRANSACTIONS, fenced(kit.version(), 4)});
  if (answer["errorCode"].error() == ErrorCode::CONCURRENT_TRANSACTIONS)
    owner.wait_until_complete();
  else
    expect_equal(owner.state(), "Ongoing", "state");
  ask_until_free(kit, [&] { return old.try_init(options); })["errorCode"].is(
      fenced(kit.version(), 4));
}

CASE(commit_offsets, "docs/SEMANTICS.md D.3", .api = "TxnOffsetCommit", .first = 0, .last = 6) {
  auto [topic, old, owner] = take_over(kit);
  const std::string group = offsets_group(kit);
  const TxnOffset offset{.offset = 7, .version = kit.version()};
  old.try_commit_offset(group, topic, offset)["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
  old.set_identity({old.producer_id() + 1000, 0});
  old.try_commit_offset(group, topic, offset)["errorCode"].is(
      ErrorCode::INVALID_PRODUCER_ID_MAPPING);
}

CASE(commit_loses_against_the_abort, "docs/SEMANTICS.md C.3; KIP-890") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"old"});
  const ProducerIdentity first = producer.identity();
  TxnProducer(producer).try_init()["errorCode"].is(ErrorCode::CONCURRENT_TRANSACTIONS);
  producer.wait_until_complete();
  producer.try_end(kCommit, 4)["errorCode"].is(ErrorCode::PRODUCER_FENCED);
  // To version 5 the abort looks like one that it has asked for itself.
  producer.try_end(kCommit, 5)["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
  const Value abort = producer.try_end(kAbort, 5);
  abort["errorCode"].is_none();
  abort["producerId"].is(first.id);
  abort["producerEpoch"].is(first.epoch + 1);
  TxnProducer next = producer.with_epoch(first.epoch + 1);
  next.produce(topic, {"new"});
  next.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"new"}, "values");
}

CASE(taken_over_while_empty, "KIP-360") {
  TxnProducer old(kit);
  old.init();
  TxnProducer owner = old;
  owner.init();
  const Topic topic = create_topic(kit);
  old.try_produce(topic, {"late"})["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
  old.try_add(topic).is(ErrorCode::PRODUCER_FENCED);
  old.try_end(kCommit, 4)["errorCode"].is(ErrorCode::PRODUCER_FENCED);
  old.try_end(kAbort, 5)["errorCode"].is(ErrorCode::PRODUCER_FENCED);
  owner.produce(topic, {"new"});
}

CASE(two_take_over_at_once, "KIP-98") {
  const Topic topic = create_topic(kit);
  TxnProducer old = begin_transaction(kit, topic, {"old"});
  std::vector<TxnProducer> owners(4, old);
  std::set<int64_t> epochs;
  for (TxnProducer& owner : owners) {
    owner.init();
    epochs.insert(owner.epoch());
  }
  expect_equal(epochs.size(), owners.size(), "different epochs");
  for (size_t i = 0; i + 1 < owners.size(); ++i)
    owners[i].try_produce(topic, {"late"})["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
  owners.back().produce(topic, {"new"});
  owners.back().commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"new"}, "values");
}

CASE(version_1_transaction, "KIP-98") {
  auto [topic, old, owner] = take_over(kit, TxnVersion::kOne);
  old.try_produce(topic, {"late"})["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
  old.try_add(topic).is(ErrorCode::PRODUCER_FENCED);
  old.try_end(kCommit)["errorCode"].is(ErrorCode::PRODUCER_FENCED);
  owner.produce(topic, {"new"});
  owner.commit();
  expect_equal(committed_values(kit, topic), std::vector<std::string>{"new"}, "values");
}

}  // namespace ackord::conform
