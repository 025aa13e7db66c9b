#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "protocol/wire/writer.h"
#include "tests/unit/broker/group/shard_driver.h"

namespace ackord::group {
namespace {

using test::ShardDriver;
using test::topic_id;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr log::ProducerStamp kProducer{ProducerId(7), 3};

class Offsets : public ::testing::Test {
 protected:
  static OffsetToCommit offset(Offset value, int32_t partition = 0) {
    return {TopicName("t"), topic_id(1), partition, value, 4, "note"};
  }
  ErrorCode commit(Offset value) {
    return driver_.run(CommitOffsets{{GroupId("g"), {}, {offset(value)}}}).error;
  }
  std::optional<uint64_t> begin(log::ProducerStamp producer = kProducer) {
    return driver_.run(BeginTxnOffsetCommit{producer, 99});
  }
  TxnOffsetCommitOp op(Offset value, log::ProducerStamp producer = kProducer) {
    TxnOffsetCommitOp op;
    op.commit.transactional_id = TransactionalId("tx");
    op.commit.commit.group = GroupId("g");
    op.commit.producer = producer;
    op.commit.commit.offsets = {offset(value)};
    return op;
  }
  ErrorCode stage(Offset value, log::ProducerStamp producer = kProducer) {
    auto staging = op(value, producer);
    staging.guard = begin(producer);
    return driver_.run(staging).error;
  }
  ErrorCode end(bool commit, int16_t epoch = 4, std::optional<log::ProducerView> known = {}) {
    return driver_.run(WriteMarker{{{ProducerId(7), epoch}, commit, 0, 2}, known}).error;
  }
  CommittedOffset fetch() {
    const std::vector<TopicPartition> asked{{TopicName("t"), 0}};
    return driver_.run(FetchOffsets{{GroupId("g"), asked}}).offsets.at(0).second;
  }
  // Live state and a replay of the log agree.
  void expect(Offset value, bool unstable = false) {
    EXPECT_EQ(fetch().offset, value);
    EXPECT_EQ(fetch().unstable, unstable);
    driver_.restart();
    EXPECT_EQ(fetch().offset, value) << "after a replay";
    EXPECT_EQ(fetch().unstable, unstable) << "after a replay";
  }

  ShardDriver driver_;
};

TEST_F(Offsets, NothingCommitted) { EXPECT_EQ(fetch(), CommittedOffset()); }

TEST_F(Offsets, PlainCommit) {
  EXPECT_EQ(commit(40), ErrorCode::NONE);
  OffsetCommit record;
  record.key.group = "g";
  record.key.topic = "t";
  record.key.partition = 0;
  record.value.emplace();
  record.value->offset = 40;
  record.value->leader_epoch = 4;
  record.value->metadata = "note";
  record.value->commit_timestamp = driver_.now.wall_ms;
  record.value->topic_id = topic_id(1);
  EXPECT_THAT(driver_.last, ::testing::ElementsAre(GroupRecord(record)));
  EXPECT_EQ(fetch(), (CommittedOffset{40, 4, "note", driver_.now.wall_ms, topic_id(1), false}));
}

TEST_F(Offsets, StagedOffsetBecomesVisibleAtTheCommit) {
  commit(40);
  EXPECT_EQ(stage(50), ErrorCode::NONE);
  EXPECT_EQ(driver_.batches().back().transaction, kProducer);
  expect(40, true);
  EXPECT_EQ(end(true), ErrorCode::NONE);
  EXPECT_EQ(driver_.batches().back().marker->commit, true);
  expect(50);
}

TEST_F(Offsets, AbortDropsIt) {
  commit(40);
  stage(50);
  end(false);
  expect(40);
}

TEST_F(Offsets, AbortOfTheOnlyOffsetLeavesNone) {
  stage(50);
  end(false);
  expect(-1);
}

TEST_F(Offsets, PlainCommitBehindTheStageWins) {
  commit(40);
  stage(50);
  commit(60);
  end(true);
  expect(60);
}

TEST_F(Offsets, PlainCommitBeforeTheStageLoses) {
  commit(60);
  stage(50);
  end(true);
  expect(50);
}

TEST_F(Offsets, ALaterStageOfTheTransactionReplacesTheEarlierOne) {
  stage(50);
  EXPECT_EQ(begin(), std::nullopt);  // open here: no guard is needed
  EXPECT_EQ(stage(51), ErrorCode::NONE);
  end(true);
  expect(51);
}

TEST_F(Offsets, TwoTransactionsOnOnePartition) {
  stage(50);
  stage(70, {ProducerId(8), 0});
  end(true);
  expect(50, true);
  driver_.run(WriteMarker{{{ProducerId(8), 1}, true, 0, 2}, {}});
  expect(70);
}

TEST_F(Offsets, CommitWithoutAGuardIsRefused) {
  EXPECT_EQ(driver_.run(op(5)).error, ErrorCode::INVALID_TXN_STATE);
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(Offsets, AMarkerVoidsTheGuard) {
  auto late = op(5);
  late.guard = begin();
  end(false);
  EXPECT_EQ(driver_.run(late).error, ErrorCode::INVALID_TXN_STATE);
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(Offsets, AGuardIsOfOneEpochAndShared) {
  auto commit = op(5, {ProducerId(7), 2});
  commit.guard = begin();
  EXPECT_EQ(begin(), commit.guard);
  EXPECT_EQ(driver_.run(commit).error, ErrorCode::INVALID_TXN_STATE);
}

TEST_F(Offsets, AGuardThatNobodyBringsBackGoesAway) {
  auto late = op(5);
  late.guard = begin();
  EXPECT_EQ(driver_.shard().next_deadline(), driver_.now.steady_ms + GroupShard::kGuardLifetimeMs);
  driver_.advance(GroupShard::kGuardLifetimeMs);
  driver_.run(coordinator::Tick{});
  EXPECT_EQ(driver_.shard().next_deadline(), std::nullopt);
  EXPECT_EQ(driver_.run(late).error, ErrorCode::INVALID_TXN_STATE);
}

TEST_F(Offsets, FencedProducer) {
  auto fenced = op(5);
  fenced.guard = begin();
  fenced.known = log::ProducerView{{ProducerId(7), 4}, -1, -1, 0, -1};
  EXPECT_EQ(driver_.run(fenced).error, ErrorCode::INVALID_PRODUCER_EPOCH);
  auto none = op(5, {ProducerId(-1), -1});
  EXPECT_EQ(driver_.run(none).error, ErrorCode::INVALID_PRODUCER_ID_MAPPING);
}

TEST_F(Offsets, AMemberIsCheckedIfGiven) {
  auto staging = op(5);
  staging.guard = begin();
  OffsetsToCommit& commits = staging.commit.commit;
  commits.committer = {3, "m", std::nullopt};
  EXPECT_EQ(driver_.run(staging).error, ErrorCode::GROUP_ID_NOT_FOUND);
  commits.knows_group_id_not_found = false;
  EXPECT_EQ(driver_.run(staging).error, ErrorCode::ILLEGAL_GENERATION);
  commit(1);
  commits.committer = {3, "m", std::nullopt};
  EXPECT_EQ(driver_.run(staging).error, ErrorCode::UNKNOWN_MEMBER_ID);
  // Without a generation it is one to a group without members, whatever else it says.
  for (const OffsetCommitter& committer :
       {OffsetCommitter{}, {-1, "m", std::nullopt}, {-1, "", "instance"}}) {
    commits.committer = committer;
    EXPECT_EQ(driver_.run(staging).error, ErrorCode::NONE);
  }
}

TEST_F(Offsets, APlainCommitOfAMember) {
  OffsetsToCommit commits{GroupId("g"), {3, "m", std::nullopt}, {offset(5)}};
  EXPECT_EQ(driver_.run(CommitOffsets{commits}).error, ErrorCode::GROUP_ID_NOT_FOUND);
  commits.knows_group_id_not_found = false;
  EXPECT_EQ(driver_.run(CommitOffsets{commits}).error, ErrorCode::ILLEGAL_GENERATION);
  // Without a generation it is one to a group without members, whatever else it says.
  commits.committer.generation_or_member_epoch = -1;
  EXPECT_EQ(driver_.run(CommitOffsets{commits}).error, ErrorCode::NONE);
  commits.committer.generation_or_member_epoch = 0;
  EXPECT_EQ(driver_.run(CommitOffsets{commits}).error, ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(driver_.batches().size(), 1u);
}

TEST_F(Offsets, AllThatAreCommitted) {
  driver_.run(CommitOffsets{{GroupId("g"), {}, {offset(5, 2), offset(6, 0)}}});
  driver_.run(CommitOffsets{{GroupId("h"), {}, {offset(7, 1)}}});
  const auto all = driver_.run(FetchOffsets{{GroupId("g"), std::nullopt}}).offsets;
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].first, (TopicPartition{TopicName("t"), 0}));
  EXPECT_EQ(all[0].second.offset, 6);
  EXPECT_EQ(all[1].second.offset, 5);
  EXPECT_THAT(driver_.run(FetchOffsets{{GroupId("unknown"), std::nullopt}}).offsets, IsEmpty());
}

TEST_F(Offsets, ShareGroupsHaveNone) {
  ShareHeartbeatOp join;
  join.heartbeat.group = GroupId("g");
  join.heartbeat.member = "m";
  join.heartbeat.topics = {TopicName("t")};
  driver_.run(join);
  EXPECT_EQ(commit(5), ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(stage(5), ErrorCode::GROUP_ID_NOT_FOUND);
}

TEST_F(Offsets, MarkerEpochs) {
  const auto known = [](int16_t epoch, Offset open) {
    return log::ProducerView{{ProducerId(7), epoch}, -1, -1, 2, open};
  };
  const auto marker = [this](int16_t epoch, int8_t version, log::ProducerView view,
                             int32_t coordinator = 2) {
    return driver_.run(WriteMarker{{{ProducerId(7), epoch}, true, coordinator, version}, view})
        .error;
  };
  const size_t before = driver_.batches().size();
  EXPECT_EQ(marker(4, 2, known(5, 0)), ErrorCode::INVALID_PRODUCER_EPOCH);
  EXPECT_EQ(marker(4, 0, known(5, 0)), ErrorCode::INVALID_PRODUCER_EPOCH);
  EXPECT_EQ(marker(6, 2, known(5, 0), 1), ErrorCode::TRANSACTION_COORDINATOR_FENCED);
  EXPECT_EQ(marker(5, 2, known(5, 0)), ErrorCode::INVALID_PRODUCER_EPOCH);
  EXPECT_EQ(marker(5, 2, known(5, -1)), ErrorCode::NONE);  // a repeat
  EXPECT_EQ(driver_.batches().size(), before);
  EXPECT_EQ(marker(5, 0, known(5, 0)), ErrorCode::NONE);
  EXPECT_EQ(marker(6, 2, known(5, 0)), ErrorCode::NONE);
  EXPECT_EQ(driver_.batches().size(), before + 2);
}

TEST_F(Offsets, OffsetsOfARemovedTopicGo) {
  commit(40);
  driver_.run(TopicsRemoved{{{TopicName("t"), topic_id(2)}}});
  EXPECT_THAT(driver_.last, IsEmpty());  // another topic of that name
  driver_.run(TopicsRemoved{{{TopicName("t"), topic_id(1)}}});
  OffsetCommit tombstone;
  tombstone.key.group = "g";
  tombstone.key.topic = "t";
  tombstone.key.partition = 0;
  EXPECT_THAT(driver_.last, ::testing::ElementsAre(GroupRecord(tombstone)));
  expect(-1);
}

TEST(GroupRecords, OldAndUnknownTypes) {
  protocol::Writer key;
  key.int16(0);
  key.text("g", protocol::Lengths::kClassic);
  key.text("t", protocol::Lengths::kClassic);
  key.int32(2);
  protocol::Writer value;
  value.int16(0);
  value.int64(9);
  value.text("m", protocol::Lengths::kClassic);
  value.int64(77);
  const auto key_bytes = key.finish().copy();
  const auto value_bytes = value.finish().copy();
  const auto decoded = decode(key_bytes, std::span<const std::byte>(value_bytes));
  ASSERT_TRUE(decoded && *decoded);
  const auto& offset = std::get<OffsetCommit>(**decoded);
  EXPECT_EQ(offset.key.partition, 2);
  EXPECT_EQ(offset.value->offset, 9);
  EXPECT_EQ(offset.value->leader_epoch, -1);
  EXPECT_EQ(offset.value->commit_timestamp, 77);

  protocol::Writer unknown;
  unknown.int16(99);
  const auto unknown_bytes = unknown.finish().copy();
  const auto skipped = decode(unknown_bytes, std::nullopt);
  ASSERT_TRUE(skipped);
  EXPECT_FALSE(skipped->has_value());
  EXPECT_EQ(decode({}, std::nullopt).error().code, ErrorCode::CORRUPT_MESSAGE);
}

OffsetCommit tombstone(int32_t partition = 0) {
  return offset_tombstone("g", {TopicName("t"), partition});
}

TEST_F(Offsets, ATombstoneTakesTheStagedOffsetWithIt) {
  commit(40);
  stage(50);
  const auto remove = [this](std::vector<TopicPartition> partitions) {
    return driver_.run(DeleteOffsets{GroupId("g"), std::move(partitions)}).error;
  };
  EXPECT_EQ(remove({{TopicName("t"), 0}, {TopicName("t"), 9}}), ErrorCode::NONE);
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(tombstone())));
  expect(-1);
  EXPECT_EQ(end(true), ErrorCode::NONE);
  expect(-1);
  EXPECT_EQ(remove({{TopicName("t"), 0}}), ErrorCode::NONE) << "the group is still there";
  EXPECT_THAT(driver_.last, IsEmpty());
  EXPECT_EQ(driver_.run(DeleteOffsets{GroupId("other"), {}}).error, ErrorCode::GROUP_ID_NOT_FOUND);
}

TEST_F(Offsets, AGroupOfOffsetsIsListedAndDeleted) {
  commit(40);
  driver_.run(CommitOffsets{{GroupId("g"), {}, {offset(3, 1)}, true, {}}});
  EXPECT_THAT(driver_.run(ListGroups{}),
              ElementsAre(ListedGroup{GroupId("g"), "", "Empty", "classic"}));
  EXPECT_EQ(driver_.run(DescribeClassicGroup{GroupId("g")}).state, "Empty");
  const auto deleted = driver_.run(BeginDeletion{GroupId("g")});
  EXPECT_EQ(deleted.error, ErrorCode::NONE);
  EXPECT_TRUE(deleted.ended);
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(tombstone()), GroupRecord(tombstone(1)),
                                        GroupRecord(classic_group_tombstone("g"))));
  EXPECT_THAT(driver_.run(ListGroups{}), IsEmpty());
  EXPECT_EQ(driver_.run(BeginDeletion{GroupId("g")}).error, ErrorCode::GROUP_ID_NOT_FOUND);
  const auto described = driver_.run(DescribeClassicGroup{GroupId("g")});
  EXPECT_EQ(described.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(described.state, "Dead");
}

class Expiry : public Offsets {
 protected:
  static constexpr int64_t kRetentionMs = int64_t{10080} * 60000;
  static GroupRecord end_of_the_group() { return classic_group_tombstone("g"); }
  void tick() { driver_.run(coordinator::Tick{}); }
  void commit_for(int64_t retention_ms, int32_t partition) {
    driver_.run(CommitOffsets{{GroupId("g"), {}, {offset(1, partition)}, true, retention_ms}});
  }
};

TEST_F(Expiry, AfterTheRetention) {
  commit(40);
  driver_.advance(kRetentionMs - 1);
  tick();
  EXPECT_THAT(driver_.last, IsEmpty());
  driver_.advance(600000);
  tick();
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(tombstone()), end_of_the_group()));
  expect(-1);
}

TEST_F(Expiry, OncePerInterval) {
  commit_for(10, 0);
  tick();
  EXPECT_EQ(driver_.shard().next_deadline(), driver_.now.steady_ms + 600000);
  driver_.advance(599999);
  tick();
  EXPECT_THAT(driver_.last, IsEmpty());
  driver_.advance(1);
  tick();
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(tombstone()), end_of_the_group()));
  EXPECT_EQ(driver_.shard().next_deadline(), std::nullopt) << "nothing is left to expire";
}

TEST_F(Expiry, OffsetsThatBringTheirOwn) {
  commit_for(5, 0);
  commit_for(2 * kRetentionMs, 1);
  commit_for(std::numeric_limits<int64_t>::max(), 2);
  driver_.restart();
  driver_.advance(kRetentionMs);
  tick();
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(tombstone()), GroupRecord(tombstone(2))));
  driver_.advance(kRetentionMs);
  tick();
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(tombstone(1)), end_of_the_group()));
}

TEST_F(Expiry, NotWhileATransactionMayReplaceIt) {
  commit(40);
  stage(50);
  driver_.advance(kRetentionMs);
  tick();
  EXPECT_THAT(driver_.last, IsEmpty());
  end(false);
  driver_.advance(600000);
  tick();
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(tombstone()), end_of_the_group()));
}

TEST(ExpiredOffsets, AgeFromTheirCommitOrFromWhenTheirGroupBecameEmpty) {
  CommittedOffsets offsets;
  const TopicPartition read{TopicName("read"), 0}, left{TopicName("left"), 0};
  for (const TopicPartition& partition : {read, left}) {
    OffsetCommit record = offset_tombstone("g", partition);
    record.value.emplace().commit_timestamp = 100;
    offsets.apply(record, {});
  }
  constexpr TimeMs kNow = 200;
  EXPECT_THAT(offsets.expired("g", {}, kNow, 101), IsEmpty());
  EXPECT_THAT(offsets.expired("g", {}, kNow, 100), ElementsAre(left, read));
  EXPECT_THAT(offsets.expired("g", {.since_ms = 150}, kNow, 100), IsEmpty());
  EXPECT_THAT(offsets.expired("g", {.since_ms = 150}, kNow, 50), ElementsAre(left, read));
  EXPECT_THAT(offsets.expired("g", {.none = true}, kNow, 0), IsEmpty());
  const std::set<std::string, std::less<>> topics{"read"};
  EXPECT_THAT(offsets.expired("g", {.kept = topics}, kNow, 100), ElementsAre(left));
  EXPECT_THAT(offsets.expired("other", {}, kNow, 0), IsEmpty());
}

}  // namespace
}  // namespace ackord::group
