#include "broker/metadata/metadata_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "broker/metadata/config_change.h"

namespace ackord::metadata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr io::Now kNow{1000, 50};

Uuid id_of(uint8_t number) {
  Uuid id;
  id.bytes[15] = number;
  id.bytes[0] = 0x40;
  return id;
}

// What is decided, as people read it: one line per record.
std::vector<std::string> lines(const std::vector<coordinator::Batch<MetadataRecord>>& batches) {
  std::vector<std::string> all;
  for (const auto& batch : batches) {
    for (const MetadataRecord& record : batch.records) {
      if (const auto* f = std::get_if<protocol::FeatureLevelRecord>(&record)) {
        all.push_back("feature " + f->name.str() + " " + std::to_string(f->feature_level));
      } else if (const auto* t = std::get_if<protocol::TopicRecord>(&record)) {
        all.push_back("topic " + t->name.str() + " " + t->topic_id.to_string());
      } else if (const auto* p = std::get_if<protocol::PartitionRecord>(&record)) {
        EXPECT_THAT(p->replicas, ElementsAre(BrokerId(1)));
        EXPECT_THAT(p->isr, ElementsAre(1));
        EXPECT_EQ(p->leader, BrokerId(1));
        EXPECT_EQ(p->leader_epoch, 0);
        EXPECT_EQ(p->partition_epoch, 0);
        EXPECT_EQ(p->directories.size(), 1u);
        all.push_back("partition " + p->topic_id.to_string() + " " +
                      std::to_string(p->partition_id));
      } else if (const auto* r = std::get_if<protocol::RemoveTopicRecord>(&record)) {
        all.push_back("remove " + r->topic_id.to_string());
      } else if (const auto* c = std::get_if<protocol::ConfigRecord>(&record)) {
        all.push_back("config " + std::to_string(c->resource_type) + " " + c->resource_name.str() +
                      " " + c->name.str() + "=" + (c->value ? c->value->str() : "null"));
      } else if (const auto* ids = std::get_if<protocol::ProducerIdsRecord>(&record)) {
        all.push_back("producer ids " + std::to_string(ids->next_producer_id) + " epoch " +
                      std::to_string(ids->broker_epoch));
      } else if (const auto* b = std::get_if<protocol::RegisterBrokerRecord>(&record)) {
        all.push_back("broker " + std::to_string(b->broker_id.value) + " epoch " +
                      std::to_string(b->broker_epoch));
      } else {
        all.push_back("type " + std::to_string(record.index()));
      }
    }
  }
  return all;
}

class MetadataShardTest : public ::testing::Test {
 protected:
  MetadataShard shard{ShardIdentity{}};
  Offset end = 0;

  void apply(const MetadataRecord& record) { shard.apply(record, {end++, 0, std::nullopt}); }
  // Decides, applies, and leaves the records in `made`.
  template <class Op>
  auto run(const Op& op) {
    auto outcome = shard.decide(op, kNow);
    EXPECT_LE(outcome.batches.size(), 1u);
    made = lines(outcome.batches);
    for (const auto& batch : outcome.batches) {
      for (const auto& record : batch.records) apply(record);
    }
    for (const auto& effect : outcome.effects) shard.apply_soft(effect);
    return outcome.reply;
  }
  void create(std::string name, uint8_t number, ConfigMap configs = {}) {
    CreateTopics op;
    op.topics.push_back({id_of(number), TopicName(name), 1, std::move(configs)});
    run(op);
  }
  AlterConfigs::Reply alter(ResourceType type, std::string resource,
                            std::vector<ConfigChange> changes) {
    return run(AlterConfigs{type, std::move(resource), std::move(changes), false});
  }
  static ConfigChange set(std::string name, std::string value) {
    return {std::move(name), ConfigChange::Op::kSet, std::move(value)};
  }

  std::vector<std::string> made;
};

TEST_F(MetadataShardTest, FirstStartFinalizesTheFeatures) {
  run(Start{{.broker_id = BrokerId(1)}, 0});
  EXPECT_THAT(made, ElementsAre("feature group.version 1", "feature metadata.version 33",
                                "feature share.version 3", "feature transaction.version 2",
                                "broker 1 epoch 4"));
  EXPECT_EQ(shard.image().features().level("share.version"), 3);
  EXPECT_EQ(shard.image().features().level("group.version"), 1);
  EXPECT_EQ(shard.image().features().epoch, 3);
  EXPECT_EQ(shard.hard().broker_epoch, 4);
}

TEST_F(MetadataShardTest, AnUnknownTopicIsTheLastThingThatIsWrong) {
  EXPECT_EQ(alter(ResourceType::kTopic, "ghost", {set("retention.ms", "x")}).error->code,
            ErrorCode::INVALID_CONFIG);
  EXPECT_EQ(alter(ResourceType::kTopic, "ghost", {set("retention.ms", "1")}).error->code,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

TEST_F(MetadataShardTest, NumbersOfThreadsChangeByHalfOrToDouble) {
  const auto threads = [this](const char* name, const char* value) {
    const auto reply = alter(ResourceType::kBroker, "", {set(name, value)});
    return reply.error ? reply.error->message : std::string();
  };
  EXPECT_EQ(threads("log.cleaner.threads", "3"),
            "Log cleaner threads cannot be increased to more than double the current value 1");
  EXPECT_EQ(threads("log.cleaner.threads", "2"), "");
  EXPECT_EQ(threads("log.cleaner.threads", "4"), "");
  EXPECT_EQ(threads("log.cleaner.threads", "1"),
            "Log cleaner threads cannot be reduced to less than half the current value 4");
  EXPECT_EQ(threads("num.io.threads", "17"),
            "Dynamic thread count update validation failed for num.io.threads=17, value should not "
            "be greater than double the current value 8");
}

TEST_F(MetadataShardTest, SubscriptionsOfClientMetrics) {
  const auto fault = [this](std::string name, std::string value) {
    const auto reply =
        alter(ResourceType::kClientMetrics, "s", {set(std::move(name), std::move(value))});
    return reply.error ? std::string(name_of(reply.error->code)) : std::string();
  };
  EXPECT_EQ(fault("interval.ms", "99"), "INVALID_REQUEST");
  EXPECT_EQ(fault("match", "colour=red"), "INVALID_CONFIG");
  EXPECT_EQ(fault("match", "client_id=[a"), "INVALID_CONFIG");
  EXPECT_EQ(fault("no.such", "1"), "INVALID_REQUEST");
  EXPECT_EQ(fault("interval.ms", "100"), "");
  EXPECT_EQ(fault("match", "client_id=a.*"), "");
  EXPECT_THAT(
      *shard.image().metrics_configs("s"),
      ElementsAre(testing::Pair("interval.ms", "100"), testing::Pair("match", "client_id=a.*")));
  run(AlterConfigs{ResourceType::kClientMetrics, "s", {}, false, true});
  EXPECT_EQ(shard.image().metrics_configs("s"), nullptr);
}

TEST_F(MetadataShardTest, LaterStartsKeepTheLevels) {
  apply(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 1});
  run(Start{{.broker_id = BrokerId(1)}, 1});
  EXPECT_THAT(made, ElementsAre("broker 1 epoch 1"));
  EXPECT_EQ(shard.image().features().level("share.version"), 1);
}

TEST_F(MetadataShardTest, CreateTopicsWritesNameConfigsPartitions) {
  CreateTopics op;
  op.topics.push_back(
      {id_of(1), TopicName("a"), 2, {{"retention.ms", "5000"}, {"cleanup.policy", "compact"}}});
  op.topics.push_back({id_of(2), TopicName("b"), 1, {}});
  const auto records = run(op);
  const std::string a = id_of(1).to_string();
  const std::string b = id_of(2).to_string();
  EXPECT_THAT(made, ElementsAre("topic a " + a, "config 2 a cleanup.policy=compact",
                                "config 2 a retention.ms=5000", "partition " + a + " 0",
                                "partition " + a + " 1", "topic b " + b, "partition " + b + " 0"));
  EXPECT_EQ(records.size(), 7u);
  ASSERT_NE(shard.image().topic("a"), nullptr);
  EXPECT_EQ(shard.image().topic("a")->partitions, 2);
  EXPECT_EQ(shard.image().topic("a")->configs.at("retention.ms"), "5000");
  EXPECT_EQ(shard.image().topic(id_of(2))->name, "b");
}

TEST_F(MetadataShardTest, DeleteTopicForgetsItsConfigs) {
  create("a", 1, {{"retention.ms", "5000"}});
  EXPECT_EQ(run(DeleteTopic{id_of(1)}).error, ErrorCode::NONE);
  EXPECT_THAT(made, ElementsAre("remove " + id_of(1).to_string()));
  EXPECT_EQ(run(DeleteTopic{id_of(1)}).error, ErrorCode::UNKNOWN_TOPIC_ID);
  EXPECT_THAT(made, IsEmpty());
  create("a", 2);
  EXPECT_TRUE(shard.image().topic("a")->configs.empty());
  EXPECT_EQ(shard.image().topic(id_of(1)), nullptr);
}

TEST_F(MetadataShardTest, ProducerIdsAreLoggedByTheBlock) {
  EXPECT_EQ(run(NextProducerId{}), ProducerId(0));
  EXPECT_THAT(made, ElementsAre("producer ids 1000 epoch -1"));
  for (int64_t id = 1; id < 1000; ++id) {
    EXPECT_EQ(run(NextProducerId{}), ProducerId(id));
    ASSERT_THAT(made, IsEmpty());
  }
  EXPECT_EQ(run(NextProducerId{}), ProducerId(1000));
  EXPECT_THAT(made, ElementsAre("producer ids 2000 epoch -1"));
}

TEST_F(MetadataShardTest, ARestartGivesUpTheRestOfTheBlock) {
  protocol::ProducerIdsRecord logged;
  logged.next_producer_id = 7000;
  apply(logged);
  EXPECT_EQ(run(NextProducerId{}), ProducerId(7000));
  EXPECT_THAT(made, ElementsAre("producer ids 8000 epoch -1"));
}

TEST_F(MetadataShardTest, AlterConfigsWritesWhatChanges) {
  create("a", 1, {{"retention.ms", "5000"}, {"segment.ms", "9"}});
  EXPECT_EQ(alter(ResourceType::kTopic, "a",
                  {{"retention.ms", ConfigChange::Op::kDelete, std::nullopt},
                   set("segment.bytes", "1048576"),
                   set("segment.ms", "9"),
                   {"cleanup.policy", ConfigChange::Op::kAppend, "compact"},
                   {"flush.ms", ConfigChange::Op::kDelete, std::nullopt}})
                .error,
            std::nullopt);
  EXPECT_THAT(made, ElementsAre("config 2 a retention.ms=null", "config 2 a segment.bytes=1048576",
                                "config 2 a cleanup.policy=delete,compact"));
  EXPECT_FALSE(shard.image().topic("a")->configs.contains("retention.ms"));
  alter(ResourceType::kTopic, "a", {{"cleanup.policy", ConfigChange::Op::kSubtract, "delete"}});
  EXPECT_THAT(made, ElementsAre("config 2 a cleanup.policy=compact"));
  alter(ResourceType::kTopic, "a",
        {{"cleanup.policy", ConfigChange::Op::kAppend, "delete,compact"}});
  EXPECT_THAT(made, ElementsAre("config 2 a cleanup.policy=compact,delete"));
}

TEST_F(MetadataShardTest, ValidateOnlyWritesNothing) {
  create("a", 1);
  EXPECT_EQ(run(AlterConfigs{ResourceType::kTopic, "a", {set("retention.ms", "1")}, true}).error,
            std::nullopt);
  EXPECT_THAT(made, IsEmpty());
  EXPECT_TRUE(run(AlterConfigs{ResourceType::kTopic, "a", {set("retention.ms", "x")}, true})
                  .error.has_value());
}

struct Refusal {
  ResourceType type;
  const char* resource;
  std::vector<ConfigChange> changes;
  ErrorCode code;
  const char* message;
};

TEST_F(MetadataShardTest, RefusesAsKafkaDoes) {
  create("a", 1);
  using Op = ConfigChange::Op;
  const std::vector<Refusal> refusals = {
      {ResourceType::kTopic,
       "a",
       {{"retention.ms", Op::kAppend, "1"}},
       ErrorCode::INVALID_CONFIG,
       "Can't APPEND to key retention.ms because its type is not LIST."},
      {ResourceType::kTopic,
       "a",
       {set("no.such", "1")},
       ErrorCode::INVALID_CONFIG,
       "Unknown topic config name: no.such"},
      {ResourceType::kTopic,
       "a",
       {set("retention.ms", "abc")},
       ErrorCode::INVALID_CONFIG,
       "Invalid value abc for configuration retention.ms: Not a number of type LONG"},
      {ResourceType::kTopic,
       "a",
       {set("retention.ms", "1"), set("retention.ms", "2")},
       ErrorCode::INVALID_REQUEST,
       "Error due to duplicate config keys"},
      {ResourceType::kTopic,
       "a",
       {{"retention.ms", Op::kSet, std::nullopt}},
       ErrorCode::INVALID_REQUEST,
       "Null value not supported for : retention.ms"},
      {ResourceType::kTopic,
       "nope",
       {set("retention.ms", "1")},
       ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
       "The topic 'nope' does not exist."},
      {ResourceType::kTopic,
       "a b",
       {set("retention.ms", "1")},
       ErrorCode::INVALID_TOPIC_EXCEPTION,
       "Topic name is invalid: 'a b' contains one or more characters other than ASCII "
       "alphanumerics, '.', '_' and '-'"},
      {ResourceType::kTopic,
       "",
       {set("retention.ms", "1")},
       ErrorCode::INVALID_REQUEST,
       "Default topic resources are not allowed."},
      {ResourceType::kGroup,
       "",
       {set("share.isolation.level", "read_committed")},
       ErrorCode::INVALID_REQUEST,
       "Default group resources are not allowed."},
      {ResourceType::kGroup,
       "g",
       {set("foo", "1")},
       ErrorCode::INVALID_CONFIG,
       "Unknown group config name: foo"},
      {ResourceType::kBroker,
       "2",
       {set("log.retention.ms", "1")},
       ErrorCode::INVALID_REQUEST,
       "Unexpected broker id, expected 1, but received 2"},
      {ResourceType::kBroker,
       "x",
       {set("log.retention.ms", "1")},
       ErrorCode::INVALID_REQUEST,
       "Node id must be an integer, but it is: x"},
      {ResourceType::kBroker,
       "1",
       {set("log.dirs", "x")},
       ErrorCode::INVALID_REQUEST,
       "Cannot update these configs dynamically: [log.dirs]"},
      {static_cast<ResourceType>(99),
       "x",
       {},
       ErrorCode::INVALID_REQUEST,
       "Unknown resource type 99"},
  };
  for (const Refusal& refusal : refusals) {
    const auto reply = alter(refusal.type, refusal.resource, refusal.changes);
    ASSERT_TRUE(reply.error.has_value()) << refusal.message;
    EXPECT_EQ(reply.error->code, refusal.code) << refusal.message;
    EXPECT_EQ(reply.error->message, refusal.message);
    EXPECT_THAT(made, IsEmpty());
  }
}

TEST_F(MetadataShardTest, GroupAndBrokerConfigs) {
  alter(ResourceType::kGroup, "g", {set("share.session.timeout.ms", "50000")});
  EXPECT_THAT(made, ElementsAre("config 32 g share.session.timeout.ms=50000"));
  EXPECT_EQ(shard.image().group_configs("g")->at("share.session.timeout.ms"), "50000");
  alter(ResourceType::kGroup, "g",
        {{"share.session.timeout.ms", ConfigChange::Op::kDelete, std::nullopt}});
  EXPECT_EQ(shard.image().group_configs("g"), nullptr);
  alter(ResourceType::kBroker, "", {set("log.retention.ms", "7")});
  alter(ResourceType::kBroker, "1", {set("log.retention.ms", "8")});
  EXPECT_THAT(made, ElementsAre("config 4 1 log.retention.ms=8"));
  EXPECT_EQ(shard.image().broker_configs().at("log.retention.ms"), "7");
  EXPECT_EQ(shard.image().node_configs().at("log.retention.ms"), "8");
}

TEST_F(MetadataShardTest, ATransactionOfTheMetadataLogCountsAsAWhole) {
  apply(protocol::BeginTransactionRecord());
  apply(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 2});
  EXPECT_EQ(shard.image().features().level("share.version"), 0);
  apply(protocol::AbortTransactionRecord());
  EXPECT_EQ(shard.image().features().level("share.version"), 0);
  apply(protocol::BeginTransactionRecord());
  apply(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 2});
  apply(protocol::EndTransactionRecord());
  EXPECT_EQ(shard.image().features().level("share.version"), 2);
  // One that a crash has cut off is aborted by the next start.
  apply(protocol::BeginTransactionRecord());
  apply(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 1});
  run(Start{{.broker_id = BrokerId(1)}, end});
  EXPECT_EQ(made.size(), 2u);
  EXPECT_EQ(shard.image().features().level("share.version"), 2);
}

TEST_F(MetadataShardTest, RecordsBelowTheSnapshotAreSkipped) {
  apply(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 2});
  shard.snapshot_loaded(10);
  shard.apply(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 1},
              {9, 0, std::nullopt});
  EXPECT_EQ(shard.image().features().level("share.version"), 2);
  shard.apply(protocol::FeatureLevelRecord{.name = "share.version", .feature_level = 1},
              {10, 0, std::nullopt});
  EXPECT_EQ(shard.image().features().level("share.version"), 1);
}

}  // namespace
}  // namespace ackord::metadata
