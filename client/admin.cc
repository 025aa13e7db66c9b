#include "client/admin.h"

#include "client/retry.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"
#include "protocol/generated/describe_share_partitions_request.h"
#include "protocol/generated/describe_share_partitions_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"

namespace ackord::client {
namespace {

constexpr int8_t kGroupResource = 32;
constexpr int8_t kSet = 0;

Error answered(ErrorCode code, const char* what, const std::optional<String>& message) {
  return error(code,
               std::string(what) + ": " + (message ? message->str() : std::string(name_of(code))));
}

Result<void> try_create_topic(Cluster& cluster, const protocol::CreateTopicsRequest& request,
                              const Deadline& deadline) {
  Result<Connection*> broker = cluster.any_broker(deadline);
  if (!broker) return broker.error();
  auto answer = (*broker)->call<protocol::CreateTopicsResponse>(request, deadline);
  if (!answer) return answer.error();
  for (const auto& topic : answer->message.topics) {
    if (topic.error_code == ErrorCode::NONE || topic.error_code == ErrorCode::TOPIC_ALREADY_EXISTS)
      continue;
    return answered(topic.error_code, "CreateTopics", topic.error_message);
  }
  return {};
}

Result<void> try_alter_configs(Cluster& cluster,
                               const protocol::IncrementalAlterConfigsRequest& request,
                               const Deadline& deadline) {
  Result<Connection*> broker = cluster.any_broker(deadline);
  if (!broker) return broker.error();
  auto answer = (*broker)->call<protocol::IncrementalAlterConfigsResponse>(request, deadline);
  if (!answer) return answer.error();
  for (const auto& resource : answer->message.responses) {
    if (resource.error_code == ErrorCode::NONE) continue;
    return answered(resource.error_code, "IncrementalAlterConfigs", resource.error_message);
  }
  return {};
}

using GroupOffsets = std::map<int32_t, ShareGroupOffset>;

Result<GroupOffsets> try_group_offsets(Cluster& cluster, const GroupId& group,
                                       const TopicName& topic, const Deadline& deadline) {
  const std::string key = group.str();
  Result<Connection*> coordinator = cluster.coordinator(CoordinatorType::kGroup, key, deadline);
  if (!coordinator) {
    cluster.forget_coordinator(CoordinatorType::kGroup, key);
    return coordinator.error();
  }
  protocol::DescribeShareGroupOffsetsRequest request;
  request.groups.emplace_back().group_id = group;
  request.groups.back().topics.reset();
  auto answer =
      (*coordinator)->call<protocol::DescribeShareGroupOffsetsResponse>(request, deadline);
  if (!answer) return answer.error();
  GroupOffsets offsets;
  for (const auto& described : answer->message.groups) {
    if (described.error_code != ErrorCode::NONE) {
      if (is_stale(described.error_code)) cluster.forget_coordinator(CoordinatorType::kGroup, key);
      return answered(described.error_code, "DescribeShareGroupOffsets", described.error_message);
    }
    for (const auto& found : described.topics) {
      if (found.topic_name != topic) continue;
      for (const auto& partition : found.partitions) {
        if (partition.error_code != ErrorCode::NONE) {
          return answered(partition.error_code, "DescribeShareGroupOffsets",
                          partition.error_message);
        }
        offsets[partition.partition_index] = {partition.start_offset, partition.lag};
      }
    }
  }
  return offsets;
}

Result<std::vector<InFlightRange>> try_in_flight(Cluster& cluster, const GroupId& group,
                                                 const TopicName& name, const Deadline& deadline) {
  if (Result<void> refreshed = cluster.refresh(std::span(&name, 1), deadline); !refreshed)
    return refreshed.error();
  const Topic* topic = cluster.topic(name);
  if (topic == nullptr) return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, name.str());
  std::map<BrokerId, std::vector<int32_t>> by_leader;
  for (size_t i = 0; i < topic->partitions.size(); ++i) {
    by_leader[topic->partitions[i].leader].push_back(static_cast<int32_t>(i));
  }
  const Uuid id = topic->id;
  std::vector<InFlightRange> ranges;
  for (const auto& [leader, partitions] : by_leader) {
    if (leader.value < 0) return error(ErrorCode::LEADER_NOT_AVAILABLE, name.str());
    Result<Connection*> broker = cluster.broker(leader, deadline);
    if (!broker) return broker.error();
    protocol::DescribeSharePartitionsRequest request;
    request.group_id = group;
    request.topics.push_back({id, partitions});
    auto answer = (*broker)->call<protocol::DescribeSharePartitionsResponse>(request, deadline);
    if (!answer) return answer.error();
    const protocol::DescribeSharePartitionsResponse& response = answer->message;
    if (response.error_code != ErrorCode::NONE) {
      return answered(response.error_code, "DescribeSharePartitions", response.error_message);
    }
    for (const auto& described : response.topics) {
      for (const auto& partition : described.partitions) {
        if (partition.error_code != ErrorCode::NONE) {
          return answered(partition.error_code, "DescribeSharePartitions", partition.error_message);
        }
        for (const auto& range : partition.ranges) {
          ranges.push_back({partition.partition_index, range.first_offset, range.last_offset,
                            static_cast<RecordState>(range.state)});
        }
      }
    }
  }
  return ranges;
}

}  // namespace

Result<void> create_topic(Cluster& cluster, const TopicName& name, int32_t partitions,
                          int16_t replication, const Deadline& deadline) {
  protocol::CreateTopicsRequest request;
  auto& topic = request.topics.emplace_back();
  topic.name = name;
  topic.num_partitions = partitions;
  topic.replication_factor = replication;
  request.timeout_ms = static_cast<int32_t>(cluster.config().request_timeout.count());
  return retry(cluster.config(), deadline,
               [&] { return try_create_topic(cluster, request, deadline); });
}

Result<void> set_group_configs(Cluster& cluster, const GroupId& group,
                               const std::vector<std::pair<std::string, std::string>>& configs,
                               const Deadline& deadline) {
  protocol::IncrementalAlterConfigsRequest request;
  auto& resource = request.resources.emplace_back();
  resource.resource_type = kGroupResource;
  resource.resource_name = group;
  for (const auto& [name, value] : configs) {
    auto& config = resource.configs.emplace_back();
    config.name = name;
    config.config_operation = kSet;
    config.value = String(value);
  }
  return retry(cluster.config(), deadline,
               [&] { return try_alter_configs(cluster, request, deadline); });
}

Result<std::map<int32_t, ShareGroupOffset>> share_group_offsets(Cluster& cluster,
                                                                const GroupId& group,
                                                                const TopicName& topic,
                                                                const Deadline& deadline) {
  return retry(cluster.config(), deadline,
               [&] { return try_group_offsets(cluster, group, topic, deadline); });
}

Result<std::vector<InFlightRange>> in_flight_ranges(Cluster& cluster, const GroupId& group,
                                                    const TopicName& topic,
                                                    const Deadline& deadline) {
  return retry(cluster.config(), deadline,
               [&] { return try_in_flight(cluster, group, topic, deadline); });
}

}  // namespace ackord::client
