#include "broker/metadata/topic_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "broker/base/assert.h"
#include "broker/metadata/config_tables.h"

namespace ackord::metadata {
namespace {

constexpr size_t kMaxNameLength = 249;

void refuse(TopicPlan& plan, ErrorCode code, std::string message) {
  plan.error = code;
  plan.message = std::move(message);
}

void check_assignments(TopicPlan& plan, const CreateTopic& topic, BrokerId node) {
  if (topic.replication_factor != -1) {
    return refuse(
        plan, ErrorCode::INVALID_REQUEST,
        "A manual partition assignment was specified, but replication factor was not set to -1.");
  }
  if (topic.partitions != -1) {
    return refuse(
        plan, ErrorCode::INVALID_REQUEST,
        "A manual partition assignment was specified, but numPartitions was not set to -1.");
  }
  std::set<int32_t> indexes;
  for (const auto& [index, replicas] : topic.assignments) {
    if (!indexes.insert(index).second) {
      return refuse(
          plan, ErrorCode::INVALID_REPLICA_ASSIGNMENT,
          fmt::format("Found multiple manual partition assignments for partition {}", index));
    }
    if (std::optional<std::string> fault = replicas_fault(replicas, node))
      return refuse(plan, ErrorCode::INVALID_REPLICA_ASSIGNMENT, std::move(*fault));
  }
  if (*indexes.begin() != 0 ||
      *indexes.rbegin() + int64_t{1} != static_cast<int64_t>(indexes.size())) {
    return refuse(plan, ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                  "partitions should be a consecutive 0-based integer sequence");
  }
  plan.partitions = static_cast<int32_t>(indexes.size());
}

void check_counts(TopicPlan& plan, const CreateTopic& topic, const BrokerConfig& broker) {
  if (topic.replication_factor < -1 || topic.replication_factor == 0) {
    return refuse(plan, ErrorCode::INVALID_REPLICATION_FACTOR,
                  "Replication factor must be larger than 0, or -1 to use the default value.");
  }
  if (topic.partitions < -1 || topic.partitions == 0) {
    return refuse(plan, ErrorCode::INVALID_PARTITIONS,
                  "Number of partitions was set to an invalid non-positive value.");
  }
  // The default is for a cluster; on one node it means one.
  if (topic.replication_factor > 1) {
    return refuse(
        plan, ErrorCode::INVALID_REPLICATION_FACTOR,
        fmt::format(
            "Unable to replicate the partition {0} time(s): The target replication factor of {0} "
            "cannot be "
            "reached because only 1 broker(s) are registered or some brokers have all their log "
            "directories cordoned.",
            topic.replication_factor));
  }
  plan.partitions = topic.partitions == -1 ? broker.num_partitions : topic.partitions;
}

void check_name(TopicPlan& plan, const std::map<std::string, std::string>& by_collision_key,
                const MetadataImage& image) {
  if (std::optional<std::string> fault = topic_name_fault(plan.name)) {
    return refuse(plan, ErrorCode::INVALID_TOPIC_EXCEPTION, std::move(*fault));
  }
  if (plan.name == kMetadataTopic) {
    return refuse(plan, ErrorCode::INVALID_REQUEST,
                  fmt::format("Creation of internal topic {} is prohibited.", kMetadataTopic));
  }
  if (image.topic(plan.name) != nullptr) {
    return refuse(plan, ErrorCode::TOPIC_ALREADY_EXISTS,
                  fmt::format("Topic '{}' already exists.", plan.name.sv()));
  }
  const auto other = by_collision_key.find(collision_key(plan.name));
  if (other != by_collision_key.end()) {
    return refuse(
        plan, ErrorCode::INVALID_TOPIC_EXCEPTION,
        fmt::format("Topic '{}' collides with existing topic: {}", plan.name.sv(), other->second));
  }
}

void refuse_duplicates(std::vector<TopicPlan>& plans) {
  std::map<std::string_view, size_t> count;
  for (const TopicPlan& plan : plans) ++count[plan.name.sv()];
  for (TopicPlan& plan : plans) {
    if (count[plan.name.sv()] > 1)
      refuse(plan, ErrorCode::INVALID_REQUEST, "Duplicate topic name.");
  }
}

// Kafka counts what is asked for, but for names that come twice, before it looks at anything else.
bool asks_too_much(const std::vector<CreateTopic>& topics, const std::vector<TopicPlan>& plans,
                   const BrokerConfig& broker) {
  int64_t total = 0;
  for (size_t i = 0; i < topics.size(); ++i) {
    const CreateTopic& topic = topics[i];
    if (plans[i].error != ErrorCode::NONE) continue;
    if (!topic.assignments.empty()) {
      total += static_cast<int64_t>(topic.assignments.size());
    } else {
      total += topic.partitions == -1 ? broker.num_partitions : std::max(topic.partitions, 0);
    }
  }
  return total > kMaxPartitionsPerRequest;
}

}  // namespace

std::optional<std::string> replicas_fault(const std::vector<BrokerId>& replicas, BrokerId node) {
  if (replicas.empty()) return "The manual partition assignment includes an empty replica list.";
  for (size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i] != node) {
      return fmt::format(
          "The manual partition assignment includes broker {}, but no such broker is registered.",
          replicas[i].value);
    }
    if (i > 0) {
      return fmt::format("The manual partition assignment includes the broker {} more than once.",
                         node.value);
    }
  }
  return std::nullopt;
}

std::optional<std::string> topic_name_fault(std::string_view name) {
  constexpr std::string_view kStart = "Topic name is invalid: ";
  if (name.empty()) return fmt::format("{}the empty string is not allowed", kStart);
  if (name == "." || name == "..") return fmt::format("{}'{}' is not allowed", kStart, name);
  if (name.size() > kMaxNameLength) {
    return fmt::format("{}the length of '{}' is longer than the max allowed length {}", kStart,
                       name, kMaxNameLength);
  }
  const bool legal = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  if (legal) return std::nullopt;
  return fmt::format(
      "{}'{}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
      kStart, name);
}

std::string collision_key(std::string_view name) {
  std::string key(name);
  std::replace(key.begin(), key.end(), '.', '_');
  return key;
}

std::vector<TopicPlan> plan_topics(const MetadataImage& image, const BrokerConfig& broker,
                                   BrokerId node, const std::vector<CreateTopic>& topics) {
  std::vector<TopicPlan> plans(topics.size());
  for (size_t i = 0; i < topics.size(); ++i) {
    plans[i].name = topics[i].name;
    plans[i].configs = topics[i].configs;
  }
  refuse_duplicates(plans);
  if (asks_too_much(topics, plans, broker)) {
    for (TopicPlan& plan : plans) {
      if (plan.error == ErrorCode::NONE)
        refuse(plan, ErrorCode::POLICY_VIOLATION,
               "Excessively large number of partitions per request.");
    }
    return plans;
  }
  std::map<std::string, std::string> by_collision_key;
  for (const auto& [name, topic] : image.topics())
    by_collision_key.emplace(collision_key(name), name);
  for (size_t i = 0; i < topics.size(); ++i) {
    TopicPlan& plan = plans[i];
    if (plan.error != ErrorCode::NONE) continue;
    check_name(plan, by_collision_key, image);
    if (plan.error != ErrorCode::NONE) continue;
    const Result<void> configs = check_topic_configs(plan.configs);
    if (!topics[i].configs_without_value.empty()) {
      refuse(plan, ErrorCode::INVALID_CONFIG,
             "Null value not supported for topic configs: " + topics[i].configs_without_value);
    } else if (!configs) {
      refuse(plan, configs.error().code, configs.error().message);
    } else if (topics[i].assignments.empty()) {
      check_counts(plan, topics[i], broker);
    } else {
      check_assignments(plan, topics[i], node);
    }
  }
  return plans;
}

Result<void> check_growth(const TopicImage* topic, const GrowTopic& growth, BrokerId node) {
  if (topic == nullptr) return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  if (growth.count == topic->partitions) {
    return error(ErrorCode::INVALID_PARTITIONS,
                 fmt::format("Topic already has {} partition(s).", topic->partitions));
  }
  if (growth.count < topic->partitions) {
    return error(ErrorCode::INVALID_PARTITIONS,
                 fmt::format("The topic {} currently has {} partition(s); {} would not be an "
                             "increase.",
                             growth.name.sv(), topic->partitions, growth.count));
  }
  const int32_t added = growth.count - topic->partitions;
  if (growth.assignments && growth.assignments->size() != static_cast<size_t>(added)) {
    return error(ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                 fmt::format("Attempted to add {} additional partition(s), but only {} "
                             "assignment(s) were specified.",
                             added, growth.assignments->size()));
  }
  if (added > kMaxPartitionsPerRequest) {
    return error(ErrorCode::POLICY_VIOLATION,
                 "Excessively large number of partitions per request.");
  }
  if (!growth.assignments) return {};
  for (const std::vector<BrokerId>& replicas : *growth.assignments) {
    if (std::optional<std::string> fault = replicas_fault(replicas, node))
      return error(ErrorCode::INVALID_REPLICA_ASSIGNMENT, std::move(*fault));
  }
  return {};
}

TopicPlan plan_internal_topic(std::string_view name, const BrokerConfig& broker) {
  ACKORD_ASSERT(is_internal(name), "only the state topics are made this way");
  TopicPlan plan;
  plan.name = TopicName(name);
  if (name == kOffsetsTopic) {
    plan.partitions = broker.offsets_topic_num_partitions;
    plan.configs = {{"cleanup.policy", "compact"},
                    {"compression.type", "producer"},
                    {"segment.bytes", std::to_string(broker.offsets_topic_segment_bytes)}};
  } else if (name == kTransactionTopic) {
    plan.partitions = broker.transaction_state_log_num_partitions;
    plan.configs = {{"cleanup.policy", "compact"},
                    {"compression.type", "uncompressed"},
                    {"min.insync.replicas", "1"},
                    {"segment.bytes", std::to_string(broker.transaction_state_log_segment_bytes)},
                    {"unclean.leader.election.enable", "false"}};
  } else {
    plan.partitions = broker.share_coordinator_state_topic_num_partitions;
    plan.configs = {
        {"cleanup.policy", "delete"},
        {"compression.type", "producer"},
        {"min.insync.replicas", "1"},
        {"retention.ms", "-1"},
        {"segment.bytes", std::to_string(broker.share_coordinator_state_topic_segment_bytes)}};
  }
  return plan;
}

}  // namespace ackord::metadata
