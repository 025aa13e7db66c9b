// What a topic may be called and how it may be made: Kafka's rules, codes and texts. Pure; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/metadata/image.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::metadata {

// The log of this room; no topic may have its name.
inline constexpr std::string_view kMetadataTopic = "__cluster_metadata";
// Kafka's bound for all topics of one request together.
inline constexpr int64_t kMaxPartitionsPerRequest = 10000;

// Why the name is not legal ("Topic name is invalid: …"); nullopt for a legal one.
std::optional<std::string> topic_name_fault(std::string_view name);
// Names that differ in '.' and '_' alone collide: both would be one metric.
std::string collision_key(std::string_view name);

// Why a partition cannot have these replicas, given by hand: on one node it has that one.
std::optional<std::string> replicas_fault(const std::vector<BrokerId>& replicas, BrokerId node);

// One topic of a request: how it will be made, or why not.
struct TopicPlan {
  ErrorCode error = ErrorCode::NONE;
  std::string message;
  TopicName name;
  int32_t partitions = 0;
  ConfigMap configs;
};

// In the order of the request. A name that comes twice fails in all its places (INVALID_REQUEST).
std::vector<TopicPlan> plan_topics(const MetadataImage& image, const BrokerConfig& broker,
                                   BrokerId node, const std::vector<CreateTopic>& topics);
// Whether the topic (null: there is none) may grow so, with Kafka's reasons why not.
Result<void> check_growth(const TopicImage* topic, const GrowTopic& growth, BrokerId node);
// Partition count and configs of a state topic.
TopicPlan plan_internal_topic(std::string_view name, const BrokerConfig& broker);

}  // namespace ackord::metadata
