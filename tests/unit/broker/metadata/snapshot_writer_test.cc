#include "broker/metadata/snapshot_writer.h"

#include <gmock/gmock.h>

#include "broker/metadata/metadata_snapshot.h"
#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/record_reader.h"
#include "tests/support/local_file_system.h"
#include "tests/support/temp_directory.h"

namespace ackord::metadata {
namespace {

using testing::ElementsAre;

Uuid id_of(uint8_t last) {
  Uuid id;
  id.bytes[15] = last;
  return id;
}

class SnapshotWriterTest : public testing::Test {
 protected:
  // A record of the log, which the shard applies and the writer is shown.
  void log(const MetadataRecord& record) {
    shard.apply(record, {end, 0, std::nullopt});
    raw(*encode_record(record).value);
  }
  void raw(const std::vector<std::byte>& value) {
    protocol::BatchOptions options;
    options.base_offset = end++;
    protocol::BatchBuilder builder(options);
    builder.add(0, std::nullopt, std::span<const std::byte>(value));
    const auto bytes = builder.build();
    batches.insert(batches.end(), bytes.begin(), bytes.end());
  }
  void write(Offset from = 0) {
    SnapshotSource source;
    source.image = shard.image();
    source.next_producer_id = shard.hard().next_producer_id;
    source.identity = identity;
    source.end = end;
    source.end_epoch = 3;
    SnapshotWriter writer(std::move(source));
    auto before = read_newest_snapshot(files, directory.path());
    ASSERT_TRUE(before.has_value());
    const std::vector<std::byte> earlier = *before ? (*before)->bytes : std::vector<std::byte>();
    ASSERT_TRUE(writer.add_snapshot(earlier).has_value());
    ASSERT_TRUE(writer.add_log(batches, from).has_value());
    auto name = writer.write(files, directory.path());
    ASSERT_TRUE(name.has_value()) << name.error().message;
    EXPECT_EQ(*name, snapshot_name(end, 3));
  }
  MetadataShard loaded() {
    MetadataShard fresh(identity);
    auto done = load_snapshot(files, directory.path(), fresh);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return fresh;
  }
  // The types of the records that the newest snapshot has.
  std::vector<int> types() {
    std::vector<int> all;
    const auto newest = *read_newest_snapshot(files, directory.path());
    Offset next = 0;
    for (std::span<const std::byte> left(newest->bytes); !left.empty();) {
      const auto header = *protocol::parse_header(left);
      EXPECT_TRUE(protocol::check_batch(header, left).has_value());
      EXPECT_EQ(header.base_offset, next);
      EXPECT_EQ(header.leader_epoch, 3);
      next = header.next_offset();
      const auto body = left.first(header.size()).subspan(protocol::batch_format::kHeaderSize);
      protocol::RecordReader reader(header, body);
      protocol::Record record;
      while (reader.next(record)) {
        const auto& from = header.control() ? *record.key : *record.value;
        all.push_back(header.control() ? -static_cast<int>(from[3]) : static_cast<int>(from[1]));
      }
      left = left.subspan(header.size());
    }
    return all;
  }

  test::TempDirectory directory;
  test::LocalFileSystem files;
  ShardIdentity identity{BrokerId(1), {}, {}};
  MetadataShard shard{identity};
  std::vector<std::byte> batches;
  Offset end = 0;
};

TEST_F(SnapshotWriterTest, HoldsScramUsersAsTheyAreNow) {
  for (const char* user : {"stays", "goes"}) {
    for (const int32_t iterations : {4096, 8192})
      log(scram_record(user, ScramMechanism::kSha256, {"salt", "stored", "server", iterations}));
  }
  log(protocol::RemoveUserScramCredentialRecord{.name = String("goes"), .mechanism = 1});
  write();
  const MetadataShard again = loaded();
  const ScramCredentials& kept = again.image().scram();
  ASSERT_EQ(kept.size(), 1u);
  const ScramCredential& credential = kept.at("stays").at(ScramMechanism::kSha256);
  EXPECT_EQ(credential.iterations, 8192);
  EXPECT_EQ(credential.stored_key, "stored");
  EXPECT_EQ(credential.server_key, "server");
}

TEST_F(SnapshotWriterTest, HoldsAclsAsTheyAreNow) {
  const Acl stays{
      AclResource::kTopic, "t", AclPattern::kPrefixed, "User:a", "10.0.0.1", AclOperation::kWrite,
      AclPermission::kDeny};
  log(acl_record(id_of(1), stays));
  log(acl_record(id_of(2), stays));
  log(protocol::RemoveAccessControlEntryRecord{.id = id_of(1)});
  write();
  EXPECT_THAT(types(), ElementsAre(-3, 18, -4));
  const MetadataShard again = loaded();
  ASSERT_EQ(again.image().acls().by_id().size(), 1u);
  EXPECT_EQ(*again.image().acls().by_id().at(id_of(2)), stays);
}

TEST_F(SnapshotWriterTest, SaysWhatTheLogSays) {
  log(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 2});
  log(protocol::RegisterBrokerRecord{.broker_id = BrokerId(1)});
  log(protocol::RegisterBrokerRecord{.broker_id = BrokerId(1), .broker_epoch = 2});
  log(protocol::TopicRecord{.name = TopicName("gone"), .topic_id = id_of(1)});
  log(protocol::TopicRecord{.name = TopicName("kept"), .topic_id = id_of(2)});
  log(partition_record(id_of(2), 0, 0, identity));
  log(partition_record(id_of(2), 1, 4, identity));
  log(protocol::RemoveTopicRecord{.topic_id = id_of(1)});
  const auto set = [this](int8_t type, const char* resource, const char* name, const char* value) {
    protocol::ConfigRecord record;
    record.resource_type = type;
    record.resource_name = String(resource);
    record.name = String(name);
    record.value = String(value);
    log(record);
  };
  set(2, "kept", "retention.ms", "1");
  set(2, "kept", "retention.ms", "2");
  set(4, "", "log.retention.ms", "3");
  set(4, "1", "log.retention.ms", "4");
  set(32, "g", "share.session.timeout.ms", "50000");
  set(16, "m", "interval.ms", "1000");
  const QuotaEntity limited = {{"user", std::nullopt}};
  log(quota_record(limited, "request_percentage", 50.0));
  log(quota_record(limited, "producer_byte_rate", 5.0));
  log(quota_record(limited, "producer_byte_rate", std::nullopt));
  protocol::ProducerIdsRecord ids;
  ids.next_producer_id = 3000;
  log(ids);
  write();
  // Header, feature, registration, topic, 2 partitions, 5 configs, quota, producer ids, footer.
  EXPECT_THAT(types(), ElementsAre(-3, 12, 0, 2, 3, 3, 4, 4, 4, 4, 4, 14, 15, -4));
  const MetadataShard again = loaded();
  EXPECT_EQ(again.image().topic("gone"), nullptr);
  const auto kept = again.image().topic("kept");
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->id, id_of(2));
  EXPECT_EQ(kept->partitions, 2);
  EXPECT_EQ(kept->leader_epochs, (std::vector<int32_t>{0, 4}));
  EXPECT_EQ(kept->configs, shard.image().topic("kept")->configs);
  EXPECT_EQ(again.image().broker_configs(), shard.image().broker_configs());
  EXPECT_EQ(again.image().node_configs(), shard.image().node_configs());
  EXPECT_EQ(*again.image().group_configs("g"), *shard.image().group_configs("g"));
  EXPECT_EQ(*again.image().metrics_configs("m"), *shard.image().metrics_configs("m"));
  EXPECT_EQ(again.image().quotas(), (Quotas{{limited, {{"request_percentage", 50.0}}}}));
  EXPECT_EQ(again.hard().next_producer_id, 3000);
  EXPECT_EQ(again.hard().broker_epoch, 2);
  EXPECT_EQ(again.hard().snapshot_end, end);
  EXPECT_EQ(again.image().features().level("share.version"), 2);
  EXPECT_EQ(again.image().features().epoch, end - 1);
}

TEST_F(SnapshotWriterTest, RecordsThatThisRoomDoesNotKnowAreKeptFromSnapshotToSnapshot) {
  const std::vector<std::byte> other{std::byte{1}, std::byte{6}, std::byte{0}, std::byte{9}};
  const std::vector<std::byte> no_op{std::byte{1}, std::byte{20}, std::byte{0}, std::byte{0}};
  log(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 2});
  raw(other);
  raw(no_op);
  write();
  EXPECT_THAT(types(), ElementsAre(-3, 12, 6, -4));
  const Offset first = end;
  raw(other);
  write(first);
  EXPECT_THAT(types(), ElementsAre(-3, 12, 6, 6, -4));
  ASSERT_TRUE(remove_old_snapshots(files, directory.path(), end).has_value());
  EXPECT_THAT(*files.list(directory.path()), ElementsAre(snapshot_name(end, 3)));
}

TEST_F(SnapshotWriterTest, WhatIsAbortedIsNotKept) {
  const std::vector<std::byte> other{std::byte{1}, std::byte{6}, std::byte{0}, std::byte{9}};
  log(protocol::BeginTransactionRecord());
  raw(other);
  log(protocol::AbortTransactionRecord());
  log(protocol::BeginTransactionRecord());
  raw(other);
  log(protocol::EndTransactionRecord());
  write();
  EXPECT_THAT(types(), ElementsAre(-3, 6, -4));
}

TEST_F(SnapshotWriterTest, ACrashWhileWritingLeavesTheOneBefore) {
  log(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 2});
  write();
  const std::string first = snapshot_name(end, 3);
  log(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 1});
  for (int changes = 0; changes < 2; ++changes) {
    files.faults().changes_left = changes;
    SnapshotSource source;
    source.end = end;
    EXPECT_TRUE(SnapshotWriter(source).write(files, directory.path()).has_error());
    files.faults().changes_left = INT_MAX;
    EXPECT_EQ(loaded().image().features().level("share.version"), 2);
  }
  ASSERT_TRUE(remove_old_snapshots(files, directory.path(), end - 1).has_value());
  EXPECT_THAT(*files.list(directory.path()), ElementsAre(first));
}

}  // namespace
}  // namespace ackord::metadata
