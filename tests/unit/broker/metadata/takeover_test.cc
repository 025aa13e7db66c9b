#include "broker/metadata/takeover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/metadata_fixture.h"

namespace ackord::metadata {
namespace {

using test::MetadataFixture;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kLog = "__cluster_metadata";
constexpr BrokerId kNode{1};
constexpr BrokerId kNobody{-1};

Uuid topic_id() {
  Uuid id;
  id.bytes[0] = 0x40;
  return id;
}

class TakeoverTest : public ::testing::Test {
 protected:
  void apply(const MetadataRecord& record) { shard.apply(record, {end++, 0, std::nullopt}); }
  void topic(std::vector<BrokerId> replicas, int32_t leader_epoch) {
    apply(protocol::TopicRecord{.name = TopicName("t"), .topic_id = topic_id()});
    protocol::PartitionRecord partition;
    partition.partition_id = 0;
    partition.topic_id = topic_id();
    partition.replicas = std::move(replicas);
    partition.leader = kNode;
    partition.leader_epoch = leader_epoch;
    apply(partition);
  }
  static protocol::PartitionChangeRecord change() {
    protocol::PartitionChangeRecord record;
    record.partition_id = 0;
    record.topic_id = topic_id();
    return record;
  }
  int32_t epoch() const { return shard.image().topic("t")->leader_epoch(0); }

  MetadataShard shard{ShardIdentity{}};
  Offset end = 0;
};

// What Kafka writes when its only node stops, and starts again.
TEST_F(TakeoverTest, EveryChangeOfTheLeaderBeginsAnEpoch) {
  topic({kNode}, 4);
  EXPECT_THAT(shard.hard().strange, IsEmpty());
  auto stopped = change();
  stopped.leader = kNobody;
  apply(stopped);
  EXPECT_EQ(epoch(), 5);
  EXPECT_EQ(shard.hard().strange.at({topic_id(), 0}).leader, kNobody);
  auto shrunk = change();
  shrunk.isr = std::vector<BrokerId>{kNode};
  apply(shrunk);
  EXPECT_EQ(epoch(), 5);
  auto elected = change();
  elected.leader = kNode;
  apply(elected);
  EXPECT_EQ(epoch(), 6);
  EXPECT_THAT(shard.hard().strange, IsEmpty());
}

TEST_F(TakeoverTest, ATopicTakesItsPartitionsAlong) {
  topic({kNode, BrokerId(2)}, 0);
  EXPECT_FALSE(check_takeover(shard, kNode).has_value());
  apply(protocol::RemoveTopicRecord{.topic_id = topic_id()});
  EXPECT_THAT(shard.hard().strange, IsEmpty());
  EXPECT_TRUE(check_takeover(shard, kNode).has_value());
}

TEST_F(TakeoverTest, RefusesReplicasOnOtherNodes) {
  topic({kNode, BrokerId(2), BrokerId(3)}, 0);
  const auto refused = check_takeover(shard, kNode);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_THAT(refused.error().message,
              HasSubstr("partition 0 of topic t has its replicas on nodes 1, 2, 3"));
  // Moved here alone since.
  auto moved = change();
  moved.replicas = std::vector<BrokerId>{kNode};
  apply(moved);
  EXPECT_TRUE(check_takeover(shard, kNode).has_value());
}

TEST_F(TakeoverTest, RefusesLevelsThatItDoesNotKnow) {
  apply(protocol::FeatureLevelRecord{.name = "group.version", .feature_level = 1});
  EXPECT_TRUE(check_takeover(shard, kNode).has_value());
  apply(protocol::FeatureLevelRecord{.name = "metadata.version", .feature_level = 99});
  const auto refused = check_takeover(shard, kNode);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message,
              HasSubstr("feature metadata.version is finalized at level 99"));
}

TEST_F(TakeoverTest, AFormattedDirectoryBeginsWithItsLevels) {
  const auto outcome = shard.decide(Start{{.broker_id = kNode}, 0, {{"share.version", 2}}}, {0, 0});
  ASSERT_EQ(outcome.batches.size(), 1u);
  for (const MetadataRecord& record : outcome.batches[0].records) apply(record);
  EXPECT_EQ(shard.image().features().level("share.version"), 2);
  EXPECT_EQ(shard.image().features().levels.size(), 1u);
}

TEST(Takeover, NamesWhatIsNotServed) {
  const auto name = [](uint8_t type) {
    const std::array<std::byte, 3> value{std::byte{1}, std::byte{type}, std::byte{0}};
    return unserved_name(value);
  };
  EXPECT_EQ(name(10), "DelegationTokenRecord");
  EXPECT_EQ(name(20), "");  // NoOpRecord
  EXPECT_EQ(name(99), "99");
}

TEST(Takeover, ALogThatHasComeFurtherTellsTheMetadata) {
  MetadataFixture broker;
  ASSERT_NE(broker.create_topic("t", 2), nullptr);
  const auto records = [&] { return broker.logs.partition(kLog, 0).records().size(); };
  broker.core.spawn(broker.logs.partition("t", 1).raise_leader_epoch(3));
  broker.core.run_until_idle();
  const size_t before = records();
  broker.restart();
  EXPECT_EQ(broker.metadata().leader_epoch({TopicName("t"), 0}), 0);
  EXPECT_EQ(broker.metadata().leader_epoch({TopicName("t"), 1}), 3);
  EXPECT_EQ(records(), before + 2);  // the registration, and the partition
  // Told once.
  broker.restart();
  EXPECT_EQ(broker.metadata().leader_epoch({TopicName("t"), 1}), 3);
  EXPECT_EQ(records(), before + 3);
}

TEST(Takeover, APartitionWithoutALeaderIsLedInTheNextEpoch) {
  MetadataFixture broker;
  const auto topic = broker.create_topic("t", 1);
  ASSERT_NE(topic, nullptr);
  protocol::PartitionChangeRecord stopped;
  stopped.partition_id = 0;
  stopped.topic_id = topic->id;
  stopped.leader = kNobody;
  const log::EncodedRecord encoded = encode_record(stopped);
  broker.logs.partition(kLog, 0).append_records(std::span(&encoded, 1), std::nullopt, 0);
  broker.core.run_until_idle();
  broker.restart();
  EXPECT_EQ(broker.metadata().leader_epoch({TopicName("t"), 0}), 2);
  EXPECT_EQ(broker.logs.partition("t", 0).leader_epoch(), 2);
  const auto last = decode_record(*broker.logs.partition(kLog, 0).records().back().value);
  const auto& led = std::get<protocol::PartitionRecord>(**last);
  EXPECT_EQ(led.leader, kNode);
  EXPECT_EQ(led.leader_epoch, 2);
}

}  // namespace
}  // namespace ackord::metadata
