// What the transcripts do not show: wakes of the soft kind, deadlines, guards, pruning, several
// partitions at once.
#include "broker/share/share_shard.h"

#include <gtest/gtest.h>

#include "tests/unit/broker/share/shard_harness.h"

namespace ackord::share {
namespace {

SharePartitionKey key(int32_t partition = 0, const char* group = "g") {
  return {GroupId(group), Uuid{{1}}, partition};
}

class ShareShardTest : public testing::Test {
 protected:
  void start(const SharePartitionKey& at) {
    ASSERT_TRUE(harness_.run(Initialize{at, 0, 0}).ok());
    ASSERT_TRUE(harness_.run(Activate{at, 0, -1}).error.ok());
  }
  std::vector<AcquiredRecords> acquire(const SharePartitionKey& at, const std::string& member,
                                       Offset first, Offset last, SessionNumber session = 1) {
    Acquire op{at, {member, session}, {}};
    op.request.batches = {{first, last}};
    op.request.fetch_offset = first;
    return harness_.run(op).acquired;
  }
  Stage stage_of(const SharePartitionKey& at, const std::string& member, Offset first,
                 Offset last) {
    Stage op;
    op.owner = {ProducerId(7), 3, TransactionalId("t"), 0};
    op.guard = harness_.run(TakeGuard{{ProducerId(7), {}, {}}, ++token_});
    op.member_id = member;
    op.partitions = {{at, {{first, last, {1}}}}};
    return op;
  }

  ShardHarness harness_;
  uint64_t token_ = 0;
};

// An initialisation whose outcome a crash has taken from the group coordinator is asked for again.
TEST_F(ShareShardTest, InitializeOnlyIfAbsentKeepsWhatHasHappenedSince) {
  Initialize again{key(), 5, -1, true};
  ASSERT_TRUE(harness_.run(again).ok());
  ASSERT_EQ(harness_.records().size(), 1u) << "absent: it is made";
  ASSERT_TRUE(harness_.run(Activate{key(), 0, 0}).error.ok());
  acquire(key(), "m", 0, 4);
  ASSERT_TRUE(harness_.run(stage_of(key(), "m", 0, 4)).front().error.ok());
  again.state_epoch = 6;
  EXPECT_TRUE(harness_.run(again).ok()) << "staged records are no reason to refuse";
  EXPECT_TRUE(harness_.records().empty());
  EXPECT_EQ(harness_.run(Describe{key()}).ranges.size(), 1u);
  Initialize anew{key(), 6, -1};
  EXPECT_EQ(harness_.run(anew).error_code, ErrorCode::NON_EMPTY_GROUP);
}

TEST_F(ShareShardTest, DeadlinesAreThoseOfLocksAndGuards) {
  start(key());
  EXPECT_EQ(harness_.shard().next_deadline(), std::nullopt);
  acquire(key(), "m", 0, 4);
  EXPECT_EQ(harness_.shard().next_deadline(), harness_.now().steady_ms + 30000);
  harness_.wait(10000);
  acquire(key(), "m", 5, 9);
  EXPECT_EQ(harness_.shard().next_deadline(), harness_.now().steady_ms + 20000);
  harness_.run(stage_of(key(), "m", 0, 4));
  EXPECT_EQ(harness_.shard().next_deadline(), harness_.now().steady_ms + 30000);
  harness_.run(stage_of(key(), "m", 5, 9));
  EXPECT_EQ(harness_.shard().next_deadline(), std::nullopt) << "used guards leave nothing behind";
  harness_.run(TakeGuard{{ProducerId(7), {}, {}}, 99});
  EXPECT_EQ(harness_.shard().next_deadline(), harness_.now().steady_ms + 60000);
  harness_.wait(60000);
  harness_.tick();
  EXPECT_EQ(harness_.shard().next_deadline(), std::nullopt);
}

TEST_F(ShareShardTest, OneTickEndsTheLocksOfAllPartitionsInOneBatch) {
  start(key(0));
  start(key(1));
  acquire(key(0), "m", 0, 4);
  acquire(key(1), "m", 0, 4);
  harness_.shard().take_wakes();
  harness_.wait(30000);
  EXPECT_EQ(harness_.tick().expired_records, 10);
  ASSERT_EQ(harness_.written().size(), 1u);
  EXPECT_EQ(harness_.written()[0].records.size(), 2u);
  EXPECT_EQ(harness_.shard().take_wakes(), (std::vector<SharePartitionKey>{key(0), key(1)}));
  EXPECT_TRUE(harness_.shard().take_wakes().empty());
}

TEST_F(ShareShardTest, AnAcquireWakesNobody) {
  start(key());
  harness_.shard().take_wakes();
  acquire(key(), "m", 0, 4);
  EXPECT_TRUE(harness_.shard().take_wakes().empty());
  EXPECT_TRUE(harness_.written().empty()) << "acquired records are not logged";
}

TEST_F(ShareShardTest, PartitionsOfOneAcknowledgeStandAlone) {
  start(key(0));
  start(key(1));
  acquire(key(0), "m", 0, 4);
  acquire(key(1), "m", 0, 4);
  Acknowledge op;
  op.member_id = "m";
  op.partitions = {{key(0), {{0, 4, {1}}}},
                   {key(1), {{3, 7, {1}}}},
                   {key(2), {{0, 0, {1}}}},
                   {key(0), {{0, 4, {1}}}}};
  const auto reply = harness_.run(op);
  ASSERT_EQ(reply.size(), 4u);
  EXPECT_EQ(reply[0].error_code, ErrorCode::NONE);
  EXPECT_EQ(reply[1].error_code, ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(reply[2].error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  EXPECT_EQ(reply[3].error_code, ErrorCode::INVALID_REQUEST) << "named twice";
  ShareUpdate update{key(0), 0, 0, 0, 5, {{0, 4, RecordState::ACKNOWLEDGED, 1}}, {}};
  EXPECT_EQ(harness_.records(), (std::vector<ShareRecord>{update}));
}

TEST_F(ShareShardTest, AStageIsOneTransactionalBatch) {
  start(key());
  acquire(key(), "m", 0, 4);
  const auto reply = harness_.run(stage_of(key(), "m", 0, 4));
  ASSERT_EQ(reply.size(), 1u);
  EXPECT_TRUE(reply[0].error.ok());
  ASSERT_EQ(harness_.written().size(), 1u);
  EXPECT_EQ(harness_.written()[0].transaction, (log::ProducerStamp{ProducerId(7), 3}));
  const ShareUpdate update{key(),
                           0,
                           0,
                           0,
                           0,
                           {{0, 4, RecordState::TX_PENDING, 1, 0, 1, 2}},
                           {{ProducerId(7), 3, TransactionalId("t"), harness_.now().wall_ms}}};
  EXPECT_EQ(harness_.records(), (std::vector<ShareRecord>{update}));
}

TEST_F(ShareShardTest, GuardsOfOtherProducersSurviveAMarker) {
  start(key());
  acquire(key(), "m", 0, 4);
  Stage stage = stage_of(key(), "m", 0, 4);
  harness_.run(Marker{{{ProducerId(8), 0}, true, 0, 1}, std::nullopt});
  EXPECT_TRUE(harness_.run(stage)[0].error.ok());
}

// Protocol 1.5: no marker from the wire tears a transaction, not even one that opens while the
// coordinator is asked.
class MarkerFromTheWire : public ShareShardTest {
 protected:
  void SetUp() override {
    start(key());
    acquire(key(), "m", 0, 4);
  }
  WatchProducer::Reply watch() { return harness_.run(WatchProducer{ProducerId(7), ++token_}); }
  ErrorCode send(WatchProducer::Reply watched, bool listed, int16_t epoch = 3, int8_t version = 1) {
    Marker op{{{ProducerId(7), epoch}, false, 0, version},
              harness_.producer(ProducerId(7)),
              Marker::FromTheWire{watched, listed}};
    return harness_.run(op).error.error_code;
  }
};

TEST_F(MarkerFromTheWire, EndsWhatNoOpenTransactionHolds) {
  ASSERT_TRUE(harness_.run(stage_of(key(), "m", 0, 4))[0].error.ok());
  const WatchProducer::Reply watched = watch();
  EXPECT_EQ(watched.staged_records, 5);
  EXPECT_EQ(send(watched, false), ErrorCode::NONE);
  ASSERT_EQ(harness_.written().size(), 1u);
  EXPECT_TRUE(harness_.written()[0].marker.has_value());
  EXPECT_EQ(harness_.run(Describe{key()}).ranges.front().state, RecordState::AVAILABLE);
}

TEST_F(MarkerFromTheWire, IsRefusedWhileATransactionListsThePartition) {
  ASSERT_TRUE(harness_.run(stage_of(key(), "m", 0, 4))[0].error.ok());
  EXPECT_EQ(send(watch(), true), ErrorCode::INVALID_TXN_STATE);
  EXPECT_TRUE(harness_.written().empty());
  // The refused one's watch is over, so that it stands in nobody's way.
  EXPECT_EQ(send(watch(), false), ErrorCode::NONE);
}

TEST_F(MarkerFromTheWire, IsRefusedWhenSomethingWasStagedMeanwhile) {
  const WatchProducer::Reply watched = watch();
  ASSERT_TRUE(harness_.run(stage_of(key(), "m", 0, 4))[0].error.ok());
  EXPECT_EQ(send(watched, false), ErrorCode::INVALID_TXN_STATE);
  EXPECT_EQ(harness_.run(Describe{key()}).ranges.front().state, RecordState::TX_PENDING);
}

TEST_F(MarkerFromTheWire, IsRefusedWhileAStageIsUnderWay) {
  const WatchProducer::Reply watched = watch();
  const Stage stage = stage_of(key(), "m", 0, 4);
  EXPECT_EQ(send(watched, false), ErrorCode::INVALID_TXN_STATE);
  EXPECT_TRUE(harness_.run(stage)[0].error.ok()) << "its guard still stands";
}

TEST_F(MarkerFromTheWire, IsRefusedWhenAnotherMarkerCameMeanwhile) {
  const WatchProducer::Reply watched = watch();
  harness_.run(Marker{{{ProducerId(7), 3}, true, 0, 1}, harness_.producer(ProducerId(7)), {}});
  EXPECT_EQ(send(watched, false), ErrorCode::INVALID_TXN_STATE);
}

TEST_F(MarkerFromTheWire, TheRulesOfEpochsComeFirst) {
  ASSERT_TRUE(harness_.run(stage_of(key(), "m", 0, 4))[0].error.ok());
  EXPECT_EQ(send(watch(), true, 2), ErrorCode::INVALID_PRODUCER_EPOCH);
  EXPECT_EQ(send(watch(), true, 3, 2), ErrorCode::INVALID_PRODUCER_EPOCH);
  EXPECT_EQ(send(watch(), true, 4, 2), ErrorCode::INVALID_TXN_STATE);
  harness_.run(Marker{{{ProducerId(7), 4}, true, 0, 2}, harness_.producer(ProducerId(7)), {}});
  EXPECT_EQ(send(watch(), true, 4, 2), ErrorCode::NONE) << "a repeat, and nothing is staged";
  EXPECT_TRUE(harness_.written().empty());
}

TEST_F(ShareShardTest, IdleGroupsLoseTheirSoftStateOnly) {
  start(key(0, "g"));
  start(key(0, "h"));
  acquire(key(0, "g"), "m", 0, 4);
  acquire(key(0, "h"), "m", 0, 4);
  harness_.run(DropSoft{GroupId("g"), kEverySession});
  EXPECT_TRUE(harness_.run(NextFetch{key(0, "g"), 0, 2000}).inactive);
  EXPECT_FALSE(harness_.run(NextFetch{key(0, "h"), 0, 2000}).inactive);
  harness_.wait(30000);
  EXPECT_EQ(harness_.tick().expired_records, 5);
}

// The end of a session is learnt late: by then its member, or another one, may hold records in a
// new session.
TEST_F(ShareShardTest, TheEndOfASessionLeavesWhatALaterOneHolds) {
  start(key(0));
  start(key(1));
  acquire(key(0), "m", 0, 4, 1);
  acquire(key(0), "m", 5, 9, 2);
  acquire(key(1), "m", 0, 4, 1);
  EXPECT_EQ(harness_.run(ReleaseMember{{"m", 1}, {key(0)}, 5, false}).released_records, 5);
  EXPECT_EQ(acquire(key(0), "n", 5, 9, 3), std::vector<AcquiredRecords>());
  harness_.run(DropSoft{GroupId("g"), 1});
  EXPECT_FALSE(harness_.run(NextFetch{key(0), 0, 2000}).inactive);
  EXPECT_EQ(acquire(key(0), "n", 5, 9, 3), std::vector<AcquiredRecords>());
  EXPECT_TRUE(harness_.run(NextFetch{key(1), 0, 2000}).inactive);
  EXPECT_EQ(harness_.run(ReleaseMember{{"m", 2}, {key(0)}, 5, false}).released_records, 5);
}

TEST_F(ShareShardTest, PruningWaitsForTheOldestSnapshot) {
  EXPECT_EQ(harness_.shard().prunable_offset(), 0);
  start(key(0));
  start(key(1));
  EXPECT_EQ(harness_.shard().prunable_offset(), 0);
  harness_.wait(1000000);
  EXPECT_EQ(harness_.run(SnapshotCold{300000, 1}).snapshots, 1) << "the oldest first";
  EXPECT_EQ(harness_.shard().prunable_offset(), 1);
  EXPECT_EQ(harness_.run(SnapshotCold{}).snapshots, 1);
  EXPECT_EQ(harness_.shard().prunable_offset(), 2);
  harness_.wait(1000000);
  EXPECT_EQ(harness_.run(SnapshotCold{}).snapshots, 0) << "all are cold";
  ASSERT_TRUE(harness_.run(Delete{key(0)}).ok());
  EXPECT_EQ(harness_.shard().prunable_offset(), 3);
  ASSERT_TRUE(harness_.run(Delete{key(1)}).ok());
  EXPECT_EQ(harness_.shard().prunable_offset(), harness_.log_end()) << "tombstones go too";
  harness_.reload();
  EXPECT_EQ(harness_.shard().prunable_offset(), harness_.log_end());
}

TEST_F(ShareShardTest, ALeaderEpochThatRisesIsLogged) {
  start(key());
  const auto reply = harness_.run(Read{key(), 4});
  EXPECT_TRUE(reply.error.ok());
  EXPECT_EQ(harness_.records(), (std::vector<ShareRecord>{ShareUpdate{key(), 0, 4, 0, 0, {}, {}}}));
  EXPECT_EQ(harness_.run(Read{key(), 3}).error.error_code, ErrorCode::FENCED_LEADER_EPOCH);
  EXPECT_EQ(harness_.run(Read{key(), -1}).error.error_code, ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(harness_.run(Summary{key()}).leader_epoch, 4);
  EXPECT_TRUE(harness_.run(Initialize{key(), 1, 0}).ok());
  EXPECT_EQ(harness_.run(Summary{key()}).leader_epoch, 4);
}

TEST_F(ShareShardTest, WhatIsAcquiredOfAReplacedStateIsVoid) {
  start(key());
  acquire(key(), "m", 0, 9);
  ASSERT_TRUE(harness_.run(Initialize{key(), 1, 4}).ok());
  Acknowledge late{"m", 4, {}};
  late.partitions = {{key(), {{0, 9, {1}}}}};
  EXPECT_EQ(harness_.run(late).front().error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
  EXPECT_TRUE(harness_.records().empty());
  ASSERT_EQ(harness_.run(Activate{key(), 0, -1}).start_offset, 4);
  EXPECT_EQ(harness_.run(late).front().error_code, ErrorCode::INVALID_RECORD_STATE);
}

TEST_F(ShareShardTest, AWriteOfTheOutsideIsTakenInAsItIs) {
  start(key());
  Write op{key(), 0, 0, 5, 2, {}};
  ASSERT_TRUE(harness_.run(op).ok());
  EXPECT_EQ(harness_.run(Summary{key()}).delivery_complete_count, 2);
  op.start_offset = 3;
  op.delivery_complete_count = 44;
  ASSERT_TRUE(harness_.run(op).ok()) << "an older start changes nothing";
  EXPECT_EQ(harness_.run(Summary{key()}).start_offset, 5);
  EXPECT_EQ(harness_.run(Summary{key()}).delivery_complete_count, 2);
  op.start_offset = 6;
  op.delivery_complete_count = -1;
  ASSERT_TRUE(harness_.run(op).ok());
  EXPECT_EQ(harness_.run(Summary{key()}).delivery_complete_count, -1) << "not known to version 0";
}

// The start offset moves by a write that names it, not because a snapshot was due.
TEST_F(ShareShardTest, TheSnapshotOfAWriteKeepsTheStart) {
  harness_ = ShardHarness(2);
  start(key());
  for (const Offset at : {0, 2, 4}) {
    const StateBatch done{at, at, RecordState::ACKNOWLEDGED, 1};
    ASSERT_TRUE(harness_.run(Write{key(), 0, 0, 0, 1, {done}}).ok());
  }
  ASSERT_EQ(harness_.records().size(), 1u);
  const auto value = std::get<ShareSnapshot>(harness_.records().front()).value;
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->start_offset, 0);
  EXPECT_EQ(value->state_batches.size(), 3u);
}

TEST_F(ShareShardTest, AnOperatorFreesWhatIsAcquired) {
  start(key());
  acquire(key(), "m", 0, 9);
  const auto reply = harness_.run(ReleaseRanges{key(), {{2, 3}, {8, INT64_MAX}}});
  EXPECT_TRUE(reply.error.ok());
  EXPECT_EQ(reply.released_records, 4);
  const ShareUpdate update{
      key(), 0, 0, 0, 0, {{2, 3, RecordState::AVAILABLE, 1}, {8, 9, RecordState::AVAILABLE, 1}},
      {}};
  EXPECT_EQ(harness_.records(), (std::vector<ShareRecord>{update}));
  EXPECT_EQ(harness_.run(ReleaseRanges{key(), {{3, 2}}}).error.error_code,
            ErrorCode::INVALID_REQUEST);
}

}  // namespace
}  // namespace ackord::share
