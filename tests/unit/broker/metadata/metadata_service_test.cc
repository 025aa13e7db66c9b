#include "broker/metadata/metadata_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "broker/metadata/metadata_records.h"
#include "tests/support/metadata_fixture.h"

namespace ackord::metadata {
namespace {

using test::MetadataFixture;

constexpr const char* kLog = "__cluster_metadata";

// Types of the records in the metadata log, in order.
std::vector<int16_t> types(test::FakeLogService& logs) {
  std::vector<int16_t> all;
  for (const log::EncodedRecord& record : logs.partition(kLog, 0).records()) {
    EXPECT_TRUE(record.null_key);
    const auto decoded = decode_record(*record.value);
    EXPECT_TRUE(decoded.has_value());
    all.push_back(std::visit([](const auto& one) { return one.kApiKey; }, **decoded));
  }
  return all;
}

TEST(MetadataService, ANewDirectoryGetsTheBootstrapRecords) {
  MetadataFixture broker;
  EXPECT_THAT(types(broker.logs), ::testing::ElementsAre(12, 12, 12, 12, 0));
  EXPECT_EQ(broker.logs.partition(kLog, 0).topic_id().to_string(), "AAAAAAAAAAAAAAAAAAAAAQ");
  EXPECT_EQ(broker.metadata().image().features().level("transaction.version"), 2);
  EXPECT_EQ(broker.metadata().this_node().port, 9092);
  EXPECT_EQ(broker.metadata().node_for_listener("PLAINTEXT").host, "localhost");
}

TEST(MetadataService, TopicsAreThereAfterARestart) {
  MetadataFixture broker;
  const auto topic = broker.create_topic("t", 3, {{"retention.ms", "5000"}});
  ASSERT_NE(topic, nullptr);
  EXPECT_EQ(topic->partitions, 3);
  EXPECT_EQ(broker.logs.partition("t", 2).topic_id(), topic->id);
  EXPECT_EQ(broker.logs.partition("t", 0).config().retention_ms, 5000);
  EXPECT_THAT(types(broker.logs), ::testing::ElementsAre(12, 12, 12, 12, 0, 2, 4, 3, 3, 3));
  broker.restart();
  const auto again = broker.metadata().image().topic("t");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->id, topic->id);
  EXPECT_EQ(again->partitions, 3);
  EXPECT_EQ(again->configs, topic->configs);
  EXPECT_EQ(broker.metadata().image().features().level("share.version"), 3);
}

TEST(MetadataService, ATopicGrows) {
  MetadataFixture broker;
  const auto topic = broker.create_topic("t", 1, {{"retention.ms", "5000"}});
  const auto grow = [&broker](int32_t count, bool validate_only) {
    return broker.core.run(
        broker.metadata().grow_topic({TopicName("t"), count, std::nullopt}, validate_only));
  };
  EXPECT_TRUE(grow(3, true).has_value());
  EXPECT_FALSE(broker.logs.has("t", 1));
  EXPECT_TRUE(grow(3, false).has_value());
  EXPECT_EQ(grow(3, false).error().code, ErrorCode::INVALID_PARTITIONS);
  EXPECT_EQ(broker.logs.partition("t", 2).topic_id(), topic->id);
  EXPECT_EQ(broker.logs.partition("t", 2).config().retention_ms, 5000);
  EXPECT_THAT(types(broker.logs), ::testing::ElementsAre(12, 12, 12, 12, 0, 2, 4, 3, 3, 3));
  EXPECT_EQ(broker.metadata().image().topic("t")->partitions, 3);
  broker.restart();
  EXPECT_EQ(broker.metadata().image().topic("t")->partitions, 3);
}

TEST(MetadataService, ReplacedConfigsAreAllThatIsSet) {
  MetadataFixture broker;
  broker.create_topic("t", 1, {{"retention.ms", "5000"}, {"segment.ms", "7000"}});
  const auto replace = [&broker](std::vector<ConfigChange> settings) {
    return broker.core.run(
        broker.metadata().replace_configs(ResourceType::kTopic, "t", std::move(settings), false));
  };
  EXPECT_FALSE(replace({{"no.such", ConfigChange::Op::kSet, "1"}}).has_value());
  EXPECT_EQ(broker.metadata().image().topic("t")->configs.size(), 2u);
  EXPECT_TRUE(replace({{"retention.ms", ConfigChange::Op::kSet, "6000"}}).has_value());
  const ConfigMap expected{{"retention.ms", "6000"}};
  EXPECT_EQ(broker.metadata().image().topic("t")->configs, expected);
  broker.restart();
  EXPECT_EQ(broker.metadata().image().topic("t")->configs, expected);
}

TEST(MetadataService, NothingIsSeenBeforeItIsDurable) {
  MetadataFixture broker;
  broker.logs.hold_durability();
  std::vector<CreateTopic> topics(1);
  topics.front().name = "t";
  bool answered = false;
  auto creating = [](MetadataService& service, std::vector<CreateTopic> asked,
                     bool& done) -> io::Task<void> {
    auto task = service.create_topics(std::move(asked), false);
    (void)co_await std::move(task);
    done = true;
  };
  broker.core.spawn(creating(broker.metadata(), topics, answered));
  broker.core.run_until_idle();
  EXPECT_TRUE(broker.logs.has("t", 0));
  EXPECT_EQ(broker.metadata().image().topic("t"), nullptr);
  EXPECT_FALSE(answered);
  broker.logs.release_durability();
  broker.core.run_until_idle();
  EXPECT_TRUE(answered);
  EXPECT_NE(broker.metadata().image().topic("t"), nullptr);
}

TEST(MetadataService, ATopicThatADiskHasLostIsNotSaidToExist) {
  MetadataFixture broker;
  broker.logs.hold_durability();
  std::vector<CreateTopic> topics(1);
  topics.front().name = "t";
  ErrorCode first = ErrorCode::NONE;
  auto creating = [](MetadataService& service, std::vector<CreateTopic> asked,
                     ErrorCode& answer) -> io::Task<void> {
    auto task = service.create_topics(std::move(asked), false);
    const std::vector<CreatedTopic> created = co_await std::move(task);
    answer = created.front().error;
  };
  broker.core.spawn(creating(broker.metadata(), topics, first));
  broker.core.run_until_idle();
  broker.logs.fail_storage();
  broker.core.run_until_idle();
  EXPECT_EQ(first, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(broker.core.run(broker.metadata().create_topics(topics, false))[0].error,
            ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(broker.core.run(broker.metadata().auto_create(TopicName("t"))).error,
            ErrorCode::KAFKA_STORAGE_ERROR);
}

TEST(MetadataService, ACrashBetweenFolderAndRecordLeavesNothing) {
  MetadataFixture broker;
  broker.create_topic("kept");
  Uuid stray;
  stray.bytes[0] = 9;
  broker.core.run(broker.logs.create({TopicName("stray"), 0}, stray, {}));
  broker.restart();
  EXPECT_FALSE(broker.logs.has("stray", 0));
  EXPECT_TRUE(broker.logs.has("kept", 0));
}

TEST(MetadataService, ARecordWithoutItsFolderGetsOne) {
  MetadataFixture broker;
  const auto topic = broker.create_topic("t", 2, {{"retention.ms", "7"}});
  broker.core.run(broker.logs.remove({TopicName("t"), 1}));
  broker.restart();
  ASSERT_TRUE(broker.logs.has("t", 1));
  EXPECT_EQ(broker.logs.partition("t", 1).topic_id(), topic->id);
  EXPECT_EQ(broker.logs.partition("t", 1).config().retention_ms, 7);
}

TEST(MetadataService, RefusesTopicsWithoutAMetadataLog) {
  MetadataFixture broker;
  broker.create_topic("t");
  broker.core.run(broker.logs.remove({TopicName(kLog), 0}));
  const Result<void> started = broker.try_start();
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_TRUE(broker.logs.has("t", 0));
}

TEST(MetadataService, OtherFeatureLevelsComeWithALaterEpochAndStay) {
  MetadataFixture broker;
  const int64_t before = broker.metadata().image().features().epoch;
  const auto update = [&](int16_t level, bool validate_only) {
    std::vector<FeatureUpdate> updates;
    updates.push_back({"share.version", level, FeatureUpdate::Kind::kSafeDowngrade});
    return broker.core.run(broker.metadata().update_features(std::move(updates), validate_only));
  };
  EXPECT_TRUE(update(2, true).has_value());
  EXPECT_EQ(broker.metadata().image().features().level("share.version"), 3);
  EXPECT_TRUE(update(2, false).has_value());
  EXPECT_EQ(broker.metadata().image().features().level("share.version"), 2);
  const int64_t after = broker.metadata().image().features().epoch;
  EXPECT_GT(after, before);
  EXPECT_EQ(update(9, false).error().code, ErrorCode::INVALID_UPDATE_VERSION);
  EXPECT_TRUE(update(2, false).has_value());
  EXPECT_EQ(broker.metadata().image().features().epoch, after);

  EXPECT_TRUE(update(0, false).has_value());
  EXPECT_EQ(broker.metadata().image().features().levels.contains("share.version"), false);
  broker.restart();
  EXPECT_EQ(broker.metadata().image().features().level("share.version"), 0);
  EXPECT_EQ(broker.metadata().image().features().level("transaction.version"), 2);
}

TEST(MetadataService, ValidateOnlyMakesNothing) {
  MetadataFixture broker;
  std::vector<CreateTopic> topics(2);
  topics[0].name = "t";
  topics[0].partitions = 5;
  topics[1].name = "bad name";
  const auto created = broker.core.run(broker.metadata().create_topics(topics, true));
  EXPECT_EQ(created[0].error, ErrorCode::NONE);
  EXPECT_EQ(created[0].topic->partitions, 5);
  EXPECT_EQ(created[1].error, ErrorCode::INVALID_TOPIC_EXCEPTION);
  EXPECT_EQ(broker.metadata().image().topic("t"), nullptr);
  EXPECT_FALSE(broker.logs.has("t", 0));
  EXPECT_EQ(types(broker.logs).size(), 5u);
}

TEST(MetadataService, AFolderThatCannotBeMadeFailsItsTopicAlone) {
  MetadataFixture broker;
  broker.logs.fail_create(ErrorCode::KAFKA_STORAGE_ERROR);
  std::vector<CreateTopic> topics(1);
  topics[0].name = "t";
  const auto created = broker.core.run(broker.metadata().create_topics(topics, false));
  EXPECT_EQ(created[0].error, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(types(broker.logs).size(), 5u);
}

TEST(MetadataService, DeleteTellsListenersAndRemovesTheLogs) {
  MetadataFixture broker;
  std::vector<std::string> removed;
  broker.metadata().on_topic_removed(
      [&removed](const TopicImage& topic) { removed.push_back(topic.name.str()); });
  const auto topic = broker.create_topic("t", 2);
  EXPECT_EQ(broker.core.run(broker.metadata().delete_topic(topic->id)), ErrorCode::NONE);
  EXPECT_THAT(removed, ::testing::ElementsAre("t"));
  EXPECT_FALSE(broker.logs.has("t", 0));
  EXPECT_FALSE(broker.logs.has("t", 1));
  EXPECT_EQ(broker.metadata().image().topic("t"), nullptr);
  EXPECT_EQ(broker.core.run(broker.metadata().delete_topic(topic->id)),
            ErrorCode::UNKNOWN_TOPIC_ID);
  EXPECT_NE(broker.create_topic("t")->id, topic->id);
  broker.restart();
  EXPECT_EQ(broker.metadata().image().topic("t")->partitions, 1);
}

TEST(MetadataService, StateTopicsAreMadeOnce) {
  MetadataFixture broker;
  const auto first = broker.core.run(broker.metadata().ensure_internal_topic(kShareStateTopic));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ((*first)->partitions, 2);
  EXPECT_TRUE((*first)->internal());
  EXPECT_EQ(broker.logs.partition(kShareStateTopic, 1).config().retention_ms, -1);
  EXPECT_EQ(broker.core.run(broker.metadata().delete_topic((*first)->id)),
            ErrorCode::INVALID_TOPIC_EXCEPTION);
  const auto second = broker.core.run(broker.metadata().ensure_internal_topic(kShareStateTopic));
  EXPECT_EQ((*second)->id, (*first)->id);
}

TEST(MetadataService, ConfigsReachTheLogs) {
  MetadataFixture broker;
  broker.create_topic("t", 2);
  EXPECT_TRUE(broker.set_config(ResourceType::kTopic, "t", "retention.ms", "9").has_value());
  EXPECT_EQ(broker.logs.partition("t", 1).config().retention_ms, 9);
  EXPECT_TRUE(
      broker.set_config(ResourceType::kBroker, "", "log.segment.bytes", "2097152").has_value());
  EXPECT_EQ(broker.logs.partition("t", 0).config().segment_bytes, 2097152);
  EXPECT_TRUE(broker.set_config(ResourceType::kGroup, "g", "share.record.lock.duration.ms", "15000")
                  .has_value());
  EXPECT_EQ(broker.metadata().group_config("g").share_record_lock_duration_ms, 15000);
  EXPECT_EQ(broker.metadata().group_config("other").share_record_lock_duration_ms, 30000);
  EXPECT_EQ(broker.set_config(ResourceType::kTopic, "t", "retention.ms", "x").error().code,
            ErrorCode::INVALID_CONFIG);
  broker.restart();
  EXPECT_EQ(broker.logs.partition("t", 1).config().retention_ms, 9);
  EXPECT_EQ(broker.logs.partition("t", 0).config().segment_bytes, 2097152);
  EXPECT_EQ(broker.metadata().group_config("g").share_record_lock_duration_ms, 15000);
}

TEST(MetadataService, ProducerIdsAreNeverHandedOutTwice) {
  MetadataFixture broker;
  std::set<int64_t> seen;
  for (int start = 0; start < 3; ++start) {
    for (int i = 0; i < 3; ++i) {
      const auto id = broker.core.run(broker.metadata().next_producer_id());
      ASSERT_TRUE(id.has_value());
      EXPECT_TRUE(seen.insert(id->value).second);
    }
    broker.restart();
  }
  EXPECT_EQ(*seen.rbegin(), 2002);
}

TEST(MetadataService, AfterAStorageFailureNothingIsAcknowledged) {
  MetadataFixture broker;
  broker.logs.fail_storage();
  EXPECT_FALSE(broker.core.run(broker.metadata().next_producer_id()).has_value());
  std::vector<CreateTopic> topics(1);
  topics[0].name = "t";
  EXPECT_EQ(broker.core.run(broker.metadata().create_topics(topics, false))[0].error,
            ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(broker.metadata().image().topic("t"), nullptr);
}

TEST(MetadataService, DescribesResources) {
  MetadataFixture broker;
  broker.create_topic("t");
  EXPECT_EQ(broker.metadata().describe_configs(ResourceType::kTopic, "t")->size(), 37u);
  EXPECT_EQ(broker.metadata().describe_configs(ResourceType::kTopic, "nope").error().code,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  EXPECT_EQ(broker.metadata().describe_configs(ResourceType::kGroup, "").error().message,
            "Group name must not be empty");
  EXPECT_EQ(broker.metadata().describe_configs(ResourceType::kBroker, "2").error().message,
            "Unexpected broker id, expected 1 or empty string, but received 2");
  EXPECT_EQ(broker.metadata().describe_configs(ResourceType::kBroker, "x").error().message,
            "Broker id must be an integer, but it is: x");
  EXPECT_TRUE(broker.metadata().describe_configs(ResourceType::kBroker, "")->empty());
}

// Two cores: a change is answered when both images have it.
TEST(MetadataService, EveryCoreHasItsOwnImage) {
  test::TestCore cores[2];
  test::LocalFileSystem files;
  test::SeededRandom random;
  io::Environment environment{{cores[0].core(0), cores[1].core(1)}, files, random};
  test::FakeLogService logs(environment);
  auto service = make_metadata_service(environment, logs, test::metadata_settings());
  auto run = [&cores](io::Task<void> task) {
    cores[0].spawn(std::move(task));
    for (bool busy = true; busy;) busy = cores[0].executor.run_one() | cores[1].executor.run_one();
  };
  int partitions[2] = {0, 0};
  auto work = [](MetadataService& metadata, io::Executor& other, int* seen) -> io::Task<void> {
    auto loading = metadata.load({});
    (void)co_await std::move(loading);
    std::vector<CreateTopic> topics(1);
    topics[0].name = "t";
    topics[0].partitions = 3;
    auto creating = metadata.create_topics(std::move(topics), false);
    (void)co_await std::move(creating);
    seen[0] = metadata.image().topic("t")->partitions;
    auto look = [](MetadataService& there) -> io::Task<int> {
      co_return there.image().topic("t")->partitions;
    };
    auto looking = look(metadata);
    auto hop = io::on(other, std::move(looking));
    seen[1] = co_await std::move(hop);
  };
  run(work(*service, cores[1].executor, partitions));
  EXPECT_EQ(partitions[0], 3);
  EXPECT_EQ(partitions[1], 3);
}

TEST(MetadataService, TheCleanerIsToldOfItsConfigsAtTheStartAndWhenTheyChange) {
  MetadataSettings settings = test::metadata_settings();
  settings.properties["log.cleaner.dedupe.buffer.size"] = "1000000";
  MetadataFixture broker(std::move(settings));
  EXPECT_EQ(broker.logs.cleaner.threads, 1);
  EXPECT_EQ(broker.logs.cleaner.dedupe_buffer_bytes, 1000000);
  EXPECT_TRUE(broker.set_config(ResourceType::kBroker, "1", "log.cleaner.threads", "2"));
  EXPECT_TRUE(broker.set_config(ResourceType::kBroker, "", "log.cleaner.io.max.bytes.per.second",
                                "5000.5"));
  EXPECT_EQ(broker.logs.cleaner, (log::CleanerConfig{2, 1000000, 15000, 5000.5}));
  broker.logs.cleaner = {};
  broker.restart();
  EXPECT_EQ(broker.logs.cleaner.threads, 2);
}

TEST(MetadataService, QuotasAreThereAfterARestart) {
  MetadataFixture broker;
  const QuotaEntity entity = {{"user", "u"}, {"client-id", std::nullopt}};
  const auto alter = [&broker, &entity](double rate, bool validate_only) {
    return broker.core.run(
        broker.metadata().alter_quotas(entity, {{"producer_byte_rate", rate}}, validate_only));
  };
  EXPECT_EQ(alter(-1, false).error().code, ErrorCode::INVALID_REQUEST);
  EXPECT_TRUE(alter(1000, true).has_value());
  EXPECT_TRUE(broker.metadata().image().quotas().empty());
  EXPECT_TRUE(alter(1000, false).has_value());
  EXPECT_EQ(types(broker.logs).back(), 14);
  broker.restart();
  EXPECT_EQ(broker.metadata().image().quotas().at(entity).at("producer_byte_rate"), 1000);
}

}  // namespace
}  // namespace ackord::metadata
