// Offsets that are committed as a part of a transaction.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/offsets.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("txn.offsets", "Transactional offsets (KIP-98, KIP-447)");

namespace {

constexpr int16_t kByMemberEpoch = 6;  // the first version of TxnOffsetCommit that knows its codes

// A group with 40 committed (unless told otherwise) and 50 staged in an open transaction.
struct Staged {
  Topic topic;
  std::string group;
  TxnProducer producer;
};
Staged stage(Kit& kit, std::optional<int64_t> committed = 40,
             TxnVersion version = TxnVersion::kTwo) {
  Staged staged{create_topic(kit), offsets_group(kit), TxnProducer(kit, version)};
  if (committed) commit(kit, staged.group, staged.topic, *committed);
  staged.producer.init();
  staged.producer.commit_offset(staged.group, staged.topic, {.offset = 50});
  return staged;
}

Value stable_offset(Kit& kit, const std::string& group, const Topic& topic, int16_t version = 9) {
  return committed(kit, group, topic, 0, {.version = version, .require_stable = true});
}

void expect_unstable(const Value& partition) {
  partition["errorCode"].is(ErrorCode::UNSTABLE_OFFSET_COMMIT);
  partition["committedOffset"].is(-1);
}

void wait_for_offset(Kit& kit, const std::string& group, const Topic& topic, int64_t offset) {
  kit.until("the group's offset is stable", [&] {
    return stable_offset(kit, group, topic)["errorCode"].error() == ErrorCode::NONE;
  });
  stable_offset(kit, group, topic)["committedOffset"].is(offset);
}

// A producer that has the group in its transaction.
TxnProducer with_group(Kit& kit, const std::string& group) {
  TxnProducer producer(kit, TxnVersion::kOne);
  producer.init();
  producer.add_group(group);
  return producer;
}

}  // namespace

CASE(commit, "KIP-98; docs/SEMANTICS.md D.3", .api = "TxnOffsetCommit", .first = 0, .last = 6) {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  TxnProducer producer = with_group(kit, group);
  const int16_t version = kit.version();
  producer
      .try_commit_offset(
          group, topic,
          {.offset = 50, .version = version, .leader_epoch = 3, .metadata = "m"})["errorCode"]
      .is_none();
  expect_unstable(stable_offset(kit, group, topic));
  expect_equal(committed_offset(kit, group, topic), -1, "committed offset");
  producer.commit();
  wait_for_offset(kit, group, topic, 50);
  const Value found = committed(kit, group, topic);
  found["metadata"].is("m");
  found["committedLeaderEpoch"].is(version >= 2 ? 3 : -1);
}

CASE(abort, "KIP-98; docs/SEMANTICS.md D.3", .api = "TxnOffsetCommit", .first = 0, .last = 6) {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  commit(kit, group, topic, 40);
  TxnProducer producer = with_group(kit, group);
  producer.try_commit_offset(group, topic, {.offset = 50, .version = kit.version()})["errorCode"]
      .is_none();
  expect_unstable(stable_offset(kit, group, topic));
  expect_equal(committed_offset(kit, group, topic), 40, "committed offset");
  producer.abort();
  wait_for_offset(kit, group, topic, 40);
}

CASE(added_by_request, "KIP-98", .api = "AddOffsetsToTxn", .first = 0, .last = 4) {
  const std::string group = offsets_group(kit);
  TxnProducer producer(kit, TxnVersion::kOne);
  producer.init();
  producer.try_add_group(group, kit.version())["errorCode"].is_none();
  producer.try_add_group(group, kit.version())["errorCode"].is_none();
  const Value state = producer.describe();
  state["transactionState"].is("Ongoing");
  state["topics"].has_size(1);
  state["topics"][0]["topic"].is("__consumer_offsets");
  state["topics"][0]["partitions"].has_size(1);
  // Nothing is staged: its marker has nothing to do.
  producer.commit();
}

CASE(not_added, "KIP-890; docs/SEMANTICS.md C.4", .api = "TxnOffsetCommit", .first = 0, .last = 4) {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  TxnProducer producer(kit, TxnVersion::kOne);
  producer.init();
  producer.try_commit_offset(group, topic, {.offset = 5, .version = kit.version()})["errorCode"].is(
      kit.version() >= 4 ? ErrorCode::TRANSACTION_ABORTABLE : ErrorCode::INVALID_TXN_STATE);
  stable_offset(kit, group, topic)["errorCode"].is_none();
  expect_equal(producer.state(), "Empty", "state");
}

CASE(added_by_itself, "KIP-890", .api = "TxnOffsetCommit", .first = 5, .last = 6) {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  TxnProducer producer(kit);
  producer.init();
  producer.commit_offset(group, topic, {.offset = 50, .version = kit.version()});
  producer.describe()["topics"][0]["topic"].is("__consumer_offsets");
  producer.commit();
  expect_equal(producer.epoch(), 1, "epoch");
  wait_for_offset(kit, group, topic, 50);
}

CASE(with_records, "KIP-98: consume, transform, produce") {
  for (const TxnVersion version : {TxnVersion::kOne, TxnVersion::kTwo}) {
    const Topic topic = create_topic(kit);
    const std::string group = offsets_group(kit);
    TxnProducer producer(kit, version);
    producer.init();
    int64_t expected = -1;
    for (int i = 1; i <= 4; ++i) {
      producer.produce(topic, {"v" + std::to_string(i)});
      producer.commit_offset(group, topic, {.offset = i});
      if (i % 2 == 1) expected = i;
      i % 2 == 1 ? producer.commit() : producer.abort();
      wait_for_offset(kit, group, topic, expected);
    }
    expect_equal(committed_values(kit, topic), std::vector<std::string>{"v1", "v3"}, "values");
  }
}

CASE(require_stable, "KIP-447; docs/SEMANTICS.md D.3", .api = "OffsetFetch", .first = 7,
     .last = 10) {
  auto [topic, group, producer] = stage(kit);
  const int16_t version = kit.version();
  const Value unstable = stable_offset(kit, group, topic, version);
  expect_unstable(unstable);
  unstable["committedLeaderEpoch"].is(-1);
  committed(kit, group, topic, 0, {.version = version})["committedOffset"].is(40);
  producer.commit();
  wait_for_offset(kit, group, topic, 50);
  stable_offset(kit, group, topic, version)["committedOffset"].is(50);
}

CASE(not_stable_for_old_readers, "KIP-447", .api = "OffsetFetch", .first = 1, .last = 6) {
  auto [topic, group, producer] = stage(kit);
  committed(kit, group, topic, 0, {.version = kit.version()})["committedOffset"].is(40);
}

CASE(require_stable_of_all, "KIP-447", .api = "OffsetFetch", .first = 7, .last = 10) {
  // Without naming partitions.
  auto [topic, group, producer] = stage(kit);
  const Value answer =
      fetch_offsets(kit, group, std::nullopt, {.version = kit.version(), .require_stable = true});
  answer["errorCode"].is_none();
  answer["topics"].has_size(1);
  expect_unstable(answer["topics"][0]["partitions"][0]);
}

CASE(require_stable_by_partition, "KIP-447") {
  const Topic topic = create_topic(kit, 3);
  const std::string group = offsets_group(kit);
  for (const int partition : {0, 1}) conform::commit(kit, group, topic, 7, partition);
  TxnProducer producer(kit);
  producer.init();
  producer.commit_offset(group, topic, {.offset = 50, .partition = 1});
  const auto read = [&](int partition) {
    return committed(kit, group, topic, partition, {.require_stable = true});
  };
  read(0)["committedOffset"].is(7);
  expect_unstable(read(1));
  read(2)["errorCode"].is_none();
  read(2)["committedOffset"].is(-1);
}

CASE(require_stable_of_two_groups, "KIP-447; KIP-709") {
  auto [topic, group, producer] = stage(kit);
  const std::string other = offsets_group(kit);
  conform::commit(kit, other, topic, 7);
  const auto part = [&](const std::string& id) {
    return Object{{"groupId", id},
                  {"topics", list(Object{{"name", topic.name}, {"partitionIndexes", list(0)}})}};
  };
  const Value groups =
      kit.ask("OffsetFetch", 8,
              {{"requireStable", true}, {"groups", list(part(group), part(other))}})["groups"];
  expect_unstable(groups.with("groupId", group.c_str())["topics"][0]["partitions"][0]);
  const Value stable = groups.with("groupId", other.c_str())["topics"][0]["partitions"][0];
  stable["errorCode"].is_none();
  stable["committedOffset"].is(7);
}

CASE(abort_without_earlier_commit, "KIP-98") {
  auto [topic, group, producer] = stage(kit, std::nullopt);
  producer.abort();
  wait_for_offset(kit, group, topic, -1);
  const Value none = stable_offset(kit, group, topic);
  none["committedLeaderEpoch"].is(-1);
  none["metadata"].is("");
}

CASE(staged_twice, "KIP-98: the last one counts") {
  auto [topic, group, producer] = stage(kit);
  producer.commit_offset(group, topic, {.offset = 70});
  producer.commit_offset(group, topic, {.offset = 60});
  producer.commit();
  wait_for_offset(kit, group, topic, 60);
}

CASE(plain_commit_after_the_stage_wins, "KIP-98: what counts is the place in the log") {
  auto [topic, group, producer] = stage(kit);
  conform::commit(kit, group, topic, 60);
  expect_unstable(stable_offset(kit, group, topic));
  expect_equal(committed_offset(kit, group, topic), 60, "committed offset");
  producer.commit();
  wait_for_offset(kit, group, topic, 60);
}

CASE(plain_commit_before_the_stage_loses, "KIP-98: what counts is the place in the log") {
  auto [topic, group, producer] = stage(kit, 60);
  producer.commit();
  wait_for_offset(kit, group, topic, 50);
}

CASE(two_transactions_on_one_partition, "KIP-98: what counts is the place in the log") {
  auto [topic, group, first] = stage(kit);
  TxnProducer second(kit);
  second.init();
  second.commit_offset(group, topic, {.offset = 70});
  second.commit();
  expect_unstable(stable_offset(kit, group, topic));
  expect_equal(committed_offset(kit, group, topic), 70, "committed offset");
  first.commit();
  wait_for_offset(kit, group, topic, 70);
}

CASE(one_aborts_one_commits, "KIP-98") {
  auto [topic, group, first] = stage(kit);
  TxnProducer second(kit);
  second.init();
  second.commit_offset(group, topic, {.offset = 70});
  second.abort();
  expect_unstable(stable_offset(kit, group, topic));
  first.commit();
  wait_for_offset(kit, group, topic, 50);
}

CASE(several_groups_in_one_transaction, "KIP-98") {
  auto [topic, group, producer] = stage(kit);
  const std::string other = offsets_group(kit);
  producer.commit_offset(other, topic, {.offset = 90});
  producer.commit();
  wait_for_offset(kit, group, topic, 50);
  wait_for_offset(kit, other, topic, 90);
}

CASE(simple_group_is_created, "KIP-98") {
  auto [topic, group, producer] = stage(kit, std::nullopt);
  const Value described = describe_classic(kit, group);
  described["errorCode"].is_none();
  described["groupState"].is("Empty");
  producer.commit();
  wait_for_offset(kit, group, topic, 50);
}

CASE(unknown_group_with_a_generation, "KIP-447", .api = "TxnOffsetCommit", .first = 3, .last = 6) {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  TxnProducer producer = with_group(kit, group);
  producer
      .try_commit_offset(
          group, topic,
          {.offset = 5, .version = kit.version(), .generation = 3, .member = "nobody"})["errorCode"]
      .is(kit.version() >= kByMemberEpoch ? ErrorCode::GROUP_ID_NOT_FOUND
                                          : ErrorCode::ILLEGAL_GENERATION);
}

CASE(no_generation_in_an_empty_group, "KIP-447", .api = "TxnOffsetCommit", .first = 3, .last = 6) {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  TxnProducer producer = with_group(kit, group);
  const auto code = [&](const std::string& id, const std::optional<std::string>& instance) {
    return producer.try_commit_offset(group, topic,
                                      {.offset = 5,
                                       .version = kit.version(),
                                       .generation = -1,
                                       .member = id,
                                       .instance = instance})["errorCode"];
  };
  // Whatever else it says: an empty group is anybody's.
  code("nobody", std::nullopt).is_none();
  code("", "I").is_none();
  producer.commit();
  wait_for_offset(kit, group, topic, 5);
}

CASE(classic_member, "KIP-447", .api = "TxnOffsetCommit", .first = 3, .last = 6) {
  const Topic topic = create_topic(kit);
  ClassicMember member(kit, new_group(kit), {.instance = "I"});
  form_group(kit, {&member});
  TxnProducer producer = with_group(kit, member.group());
  const auto code = [&](int generation, const std::string& id,
                        const std::optional<std::string>& instance) {
    return producer.try_commit_offset(member.group(), topic,
                                      {.offset = 5,
                                       .version = kit.version(),
                                       .generation = generation,
                                       .member = id,
                                       .instance = instance})["errorCode"];
  };
  const int now = member.generation();
  code(now + 4, member.id(), "I").is(ErrorCode::ILLEGAL_GENERATION);
  code(now - 1, member.id(), "I").is(ErrorCode::ILLEGAL_GENERATION);
  code(now, "nobody", std::nullopt).is(ErrorCode::UNKNOWN_MEMBER_ID);
  code(now, "nobody", "I").is(ErrorCode::FENCED_INSTANCE_ID);
  code(now, member.id(), "J").is(ErrorCode::UNKNOWN_MEMBER_ID);
  code(now, member.id(), "I").is_none();
  // Those that say nothing of a member are not looked at.
  code(-1, "", std::nullopt).is_none();
  producer.commit();
  wait_for_offset(kit, member.group(), topic, 5);
}

CASE(consumer_member, "KIP-848; docs/SEMANTICS.md D.3", .api = "TxnOffsetCommit", .first = 3,
     .last = 6) {
  ConsumerJoined joined = consumer_joined(kit);
  const std::string group = joined.member.group();
  TxnProducer producer = with_group(kit, group);
  const auto code = [&](int epoch, const std::string& id) {
    return producer.try_commit_offset(
        group, joined.topic,
        {.offset = 5, .version = kit.version(), .generation = epoch, .member = id})["errorCode"];
  };
  const bool newer = kit.version() >= kByMemberEpoch;
  code(joined.member.epoch() + 4, joined.member.id())
      .is(newer ? ErrorCode::STALE_MEMBER_EPOCH : ErrorCode::ILLEGAL_GENERATION);
  code(joined.member.epoch(), "nobody").is(ErrorCode::UNKNOWN_MEMBER_ID);
  code(joined.member.epoch(), joined.member.id()).is_none();
  code(-1, "").is_none();
  producer.commit();
  wait_for_offset(kit, group, joined.topic, 5);
}

CASE(metadata_too_large, "KIP-98; offset.metadata.max.bytes") {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  TxnProducer producer = with_group(kit, group);
  producer
      .try_commit_offset(group, topic,
                         {.offset = 5, .metadata = std::string(4097, 'm')})["errorCode"]
      .is(ErrorCode::OFFSET_METADATA_TOO_LARGE);
  producer
      .try_commit_offset(group, topic,
                         {.offset = 5, .metadata = std::string(4096, 'm')})["errorCode"]
      .is_none();
  producer.try_commit_offset(group, topic, {.offset = 5, .metadata = std::nullopt})["errorCode"]
      .is_none();
}

CASE(unknown_topic, "KIP-98; KIP-1319", .api = "TxnOffsetCommit", .first = 0, .last = 6) {
  const std::string group = offsets_group(kit);
  TxnProducer producer = with_group(kit, group);
  producer
      .try_commit_offset(group, ghost_topic(kit),
                         {.offset = 5, .version = kit.version()})["errorCode"]
      .is(kit.version() >= 6 ? ErrorCode::UNKNOWN_TOPIC_ID : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(unknown_partition, "KIP-98", .api = "TxnOffsetCommit", .first = 0, .last = 6) {
  const Topic topic = create_topic(kit);
  const std::string group = offsets_group(kit);
  TxnProducer producer = with_group(kit, group);
  producer
      .try_commit_offset(group, topic,
                         {.offset = 5, .partition = 9, .version = kit.version()})["errorCode"]
      .is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(no_names, "KIP-98", .api = "TxnOffsetCommit", .first = 0, .last = 4) {
  const Topic topic = create_topic(kit);
  TxnProducer producer = with_group(kit, offsets_group(kit));
  producer.try_commit_offset("", topic, {.offset = 5, .version = kit.version()})["errorCode"].is(
      ErrorCode::INVALID_GROUP_ID);
}

CASE(group_deletion_drops_what_is_staged, "KIP-229") {
  auto [topic, group, producer] = stage(kit);
  delete_group(kit, group)["errorCode"].is_none();
  stable_offset(kit, group, topic)["errorCode"].is_none();
  producer.commit();
  wait_for_offset(kit, group, topic, -1);
}

}  // namespace ackord::conform
