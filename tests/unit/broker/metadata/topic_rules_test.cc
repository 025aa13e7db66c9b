#include "broker/metadata/topic_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace ackord::metadata {
namespace {

TEST(TopicName, IsLegalOrSaysWhyNot) {
  EXPECT_EQ(topic_name_fault("a.B_c-9"), std::nullopt);
  EXPECT_EQ(topic_name_fault(std::string(249, 'x')), std::nullopt);
  EXPECT_EQ(topic_name_fault(""), "Topic name is invalid: the empty string is not allowed");
  EXPECT_EQ(topic_name_fault("."), "Topic name is invalid: '.' is not allowed");
  EXPECT_EQ(topic_name_fault(".."), "Topic name is invalid: '..' is not allowed");
  EXPECT_EQ(topic_name_fault("a/b"),
            "Topic name is invalid: 'a/b' contains one or more characters other than ASCII "
            "alphanumerics, '.', '_' and '-'");
  const std::string name(250, 'x');
  EXPECT_EQ(topic_name_fault(name), "Topic name is invalid: the length of '" + name +
                                        "' is longer than the max allowed length 249");
}

class PlanTopics : public ::testing::Test {
 protected:
  MetadataImage image;
  BrokerConfig broker;

  TopicPlan plan(CreateTopic topic) {
    std::vector<CreateTopic> topics;
    topics.push_back(std::move(topic));
    return plan_topics(image, broker, BrokerId(1), topics).front();
  }
  void exists(std::string name) {
    auto topic = std::make_shared<TopicImage>();
    topic->name = name;
    topic->id.bytes[3] = static_cast<uint8_t>(image.topics().size() + 1);
    image.put_topic(topic);
  }
  static CreateTopic named(const char* name) {
    CreateTopic topic;
    topic.name = name;
    return topic;
  }
  static CreateTopic assigned(std::vector<std::pair<int32_t, std::vector<BrokerId>>> assignments) {
    CreateTopic topic = named("t");
    topic.assignments = std::move(assignments);
    return topic;
  }
  void refused(CreateTopic topic, ErrorCode code, const std::string& message) {
    const TopicPlan made = plan(std::move(topic));
    EXPECT_EQ(made.error, code) << message;
    EXPECT_EQ(made.message, message);
  }
};

TEST_F(PlanTopics, DefaultsComeFromTheBroker) {
  broker.num_partitions = 4;
  const TopicPlan made = plan(named("t"));
  EXPECT_EQ(made.error, ErrorCode::NONE);
  EXPECT_EQ(made.partitions, 4);
}

TEST_F(PlanTopics, Names) {
  exists("a.b_c");
  refused(named("a.b_c"), ErrorCode::TOPIC_ALREADY_EXISTS, "Topic 'a.b_c' already exists.");
  refused(named("a_b.c"), ErrorCode::INVALID_TOPIC_EXCEPTION,
          "Topic 'a_b.c' collides with existing topic: a.b_c");
  refused(named("__cluster_metadata"), ErrorCode::INVALID_REQUEST,
          "Creation of internal topic __cluster_metadata is prohibited.");
  refused(named("."), ErrorCode::INVALID_TOPIC_EXCEPTION,
          "Topic name is invalid: '.' is not allowed");
}

TEST_F(PlanTopics, Counts) {
  CreateTopic topic = named("t");
  topic.replication_factor = 0;
  refused(topic, ErrorCode::INVALID_REPLICATION_FACTOR,
          "Replication factor must be larger than 0, or -1 to use the default value.");
  topic.replication_factor = 3;
  refused(topic, ErrorCode::INVALID_REPLICATION_FACTOR,
          "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot "
          "be reached because only 1 "
          "broker(s) are registered or some brokers have all their log directories cordoned.");
  topic.replication_factor = 1;
  topic.partitions = 0;
  refused(topic, ErrorCode::INVALID_PARTITIONS,
          "Number of partitions was set to an invalid non-positive value.");
  topic.partitions = 10001;
  refused(topic, ErrorCode::POLICY_VIOLATION,
          "Excessively large number of partitions per request.");
}

TEST_F(PlanTopics, AssignmentsByHand) {
  EXPECT_EQ(plan(assigned({{1, {BrokerId(1)}}, {0, {BrokerId(1)}}})).partitions, 2);
  CreateTopic topic = assigned({{0, {BrokerId(1)}}});
  topic.replication_factor = 1;
  refused(topic, ErrorCode::INVALID_REQUEST,
          "A manual partition assignment was specified, but replication factor was not set to -1.");
  topic.replication_factor = -1;
  topic.partitions = 1;
  refused(topic, ErrorCode::INVALID_REQUEST,
          "A manual partition assignment was specified, but numPartitions was not set to -1.");
  const ErrorCode code = ErrorCode::INVALID_REPLICA_ASSIGNMENT;
  refused(assigned({{0, {BrokerId(1)}}, {2, {BrokerId(1)}}}), code,
          "partitions should be a consecutive 0-based integer sequence");
  refused(assigned({{0, {BrokerId(1)}}, {0, {BrokerId(1)}}}), code,
          "Found multiple manual partition assignments for partition 0");
  refused(assigned({{0, {BrokerId(7)}}}), code,
          "The manual partition assignment includes broker 7, but no such broker is registered.");
  refused(assigned({{0, {BrokerId(1), BrokerId(1)}}}), code,
          "The manual partition assignment includes the broker 1 more than once.");
  refused(assigned({{0, {}}}), code,
          "The manual partition assignment includes an empty replica list.");
}

TEST_F(PlanTopics, OneBadTopicDoesNotFailTheOthers) {
  std::vector<CreateTopic> topics = {named("twice"), named("good"), named("twice"), named("bad")};
  topics[3].configs = {{"retention.ms", "x"}};
  const std::vector<TopicPlan> plans = plan_topics(image, broker, BrokerId(1), topics);
  EXPECT_EQ(plans[0].error, ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(plans[0].message, "Duplicate topic name.");
  EXPECT_EQ(plans[1].error, ErrorCode::NONE);
  EXPECT_EQ(plans[2].error, ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(plans[3].error, ErrorCode::INVALID_CONFIG);
}

TEST_F(PlanTopics, Growth) {
  TopicImage topic;
  topic.name = "t";
  topic.partitions = 2;
  using Lists = std::vector<std::vector<BrokerId>>;
  constexpr BrokerId node(1);
  const auto grown = [&topic](int32_t count, std::optional<Lists> assignments = std::nullopt) {
    const Result<void> checked =
        check_growth(&topic, {topic.name, count, std::move(assignments)}, BrokerId(1));
    return checked ? ErrorCode::NONE : checked.error().code;
  };
  EXPECT_EQ(grown(3), ErrorCode::NONE);
  EXPECT_EQ(grown(2), ErrorCode::INVALID_PARTITIONS);
  EXPECT_EQ(grown(-1), ErrorCode::INVALID_PARTITIONS);
  EXPECT_EQ(grown(10002), ErrorCode::NONE);
  EXPECT_EQ(grown(10003), ErrorCode::POLICY_VIOLATION);
  EXPECT_EQ(grown(4, Lists{{node}, {node}}), ErrorCode::NONE);
  EXPECT_EQ(grown(4, Lists{{node}}), ErrorCode::INVALID_REPLICA_ASSIGNMENT);
  EXPECT_EQ(grown(3, Lists{{}}), ErrorCode::INVALID_REPLICA_ASSIGNMENT);
  EXPECT_EQ(grown(3, Lists{{BrokerId(2)}}), ErrorCode::INVALID_REPLICA_ASSIGNMENT);
  EXPECT_EQ(grown(3, Lists{{node, node}}), ErrorCode::INVALID_REPLICA_ASSIGNMENT);
  EXPECT_EQ(check_growth(nullptr, {topic.name, 3, std::nullopt}, BrokerId(1)).error().code,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

TEST_F(PlanTopics, StateTopicsHaveTheirOwnConfigs) {
  const TopicPlan offsets = plan_internal_topic(kOffsetsTopic, broker);
  EXPECT_EQ(offsets.partitions, 50);
  EXPECT_EQ(offsets.configs, (ConfigMap{{"cleanup.policy", "compact"},
                                        {"compression.type", "producer"},
                                        {"segment.bytes", "104857600"}}));
  const TopicPlan transactions = plan_internal_topic(kTransactionTopic, broker);
  EXPECT_EQ(transactions.configs.at("compression.type"), "uncompressed");
  const TopicPlan share = plan_internal_topic(kShareStateTopic, broker);
  EXPECT_EQ(share.configs.at("cleanup.policy"), "delete");
  EXPECT_EQ(share.configs.at("retention.ms"), "-1");
}

TEST(CoordinatorPartition, HashesAsJavaDoes) {
  EXPECT_EQ(coordinator_partition("", 50), 0);
  EXPECT_EQ(coordinator_partition("a", 50), 97 % 50);
  EXPECT_EQ(coordinator_partition("polygenelubricants", 50), 0);  // its hash is INT_MIN
  EXPECT_EQ(coordinator_partition("my-group", 50), 12);
  EXPECT_EQ(coordinator_partition("gr\xc3\xbc\xc3\x9f"
                                  "e",
                                  50),
            23);                                                 // "grüße"
  EXPECT_EQ(coordinator_partition("\xf0\x9f\x98\x80", 50), 49);  // two UTF-16 units
}

TEST(MetadataImage, WhoHoldsATopicKeepsWhatItHad) {
  MetadataImage image;
  auto topic = std::make_shared<TopicImage>();
  topic->name = "t";
  topic->id.bytes[0] = 1;
  const Uuid id = topic->id;
  image.put_topic(std::move(topic));
  image.put_partition(id, 0, 0);
  const std::shared_ptr<const TopicImage> held = image.topic("t");
  MetadataImage other = image;
  image.put_partition(id, 1, 5);
  image.put_topic_config("t", "retention.ms", "1");
  EXPECT_EQ(held->partitions, 1);
  EXPECT_EQ(other.topic("t")->partitions, 1);
  EXPECT_EQ(image.topic(id)->partitions, 2);
  EXPECT_EQ(image.topic("t"), image.topic(id));
  EXPECT_EQ(image.topic("t")->leader_epochs, (std::vector<int32_t>{0, 5}));
  EXPECT_EQ(image.remove_topic(id)->configs.at("retention.ms"), "1");
  EXPECT_EQ(image.topic("t"), nullptr);
  EXPECT_EQ(image.remove_topic(id), nullptr);
}

}  // namespace
}  // namespace ackord::metadata
