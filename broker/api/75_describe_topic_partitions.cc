// DescribeTopicPartitions (key 75), version 0: partitions in pages (KIP-966).
// Topics come in the order of their names, and from the cursor on; no topics means all. A page ends
// at its limit of partitions, at most max.request.partition.size.limit, with the place of the next
// one. May: DESCRIBE on each topic; of all topics the others are left out.
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "broker/metadata/topic_rules.h"
#include "protocol/generated/describe_topic_partitions_request.h"
#include "protocol/generated/describe_topic_partitions_response.h"

namespace ackord::api {
namespace {

using metadata::TopicImage;
using protocol::DescribeTopicPartitionsRequest;
using protocol::DescribeTopicPartitionsResponse;
using Topic = DescribeTopicPartitionsResponse::DescribeTopicPartitionsResponseTopic;

std::set<std::string_view> asked_topics(const metadata::MetadataImage& image,
                                        const DescribeTopicPartitionsRequest& request) {
  const std::string_view from = request.cursor ? request.cursor->topic_name.sv() : "";
  std::set<std::string_view> names;
  if (request.topics.empty()) {
    for (auto at = image.topics().lower_bound(from); at != image.topics().end(); ++at)
      names.insert(at->first);
  }
  for (const auto& topic : request.topics) {
    if (topic.name.sv() >= from) names.insert(topic.name.sv());
  }
  return names;
}

DescribeTopicPartitionsResponse refused(const DescribeTopicPartitionsRequest& request) {
  DescribeTopicPartitionsResponse response;
  for (const auto& topic : request.topics) {
    auto& out = response.topics.emplace_back();
    out.error_code = ErrorCode::INVALID_REQUEST;
    out.name = topic.name;
  }
  return response;
}

Topic missing(std::string_view name) {
  Topic out;
  const bool legal = !metadata::topic_name_fault(name);
  out.error_code =
      legal ? ErrorCode::UNKNOWN_TOPIC_OR_PARTITION : ErrorCode::INVALID_TOPIC_EXCEPTION;
  out.name = TopicName(name);
  return out;
}

Topic denied(std::string_view name) {
  Topic out;
  out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
  out.name = TopicName(name);
  return out;
}

Topic described(const Access& access, const TopicImage& topic, BrokerId node, int32_t first,
                int32_t end) {
  Topic out;
  out.name = topic.name;
  out.topic_id = topic.id;
  out.is_internal = topic.internal();
  out.topic_authorized_operations = access.operations(ResourceType::kTopic, topic.name.sv());
  for (int32_t index = first; index < end; ++index) {
    auto& partition = out.partitions.emplace_back();
    partition.partition_index = index;
    partition.leader_id = node;
    partition.leader_epoch = topic.leader_epoch(index);
    partition.replica_nodes = {node};
    partition.isr_nodes = {node};
    partition.eligible_leader_replicas.emplace();
    partition.last_known_elr.emplace();
  }
  return out;
}

}  // namespace

io::Task<DescribeTopicPartitionsResponse> handle(RequestContext& context,
                                                 DescribeTopicPartitionsRequest request) {
  const metadata::MetadataService& service = context.services.metadata;
  std::set<std::string_view> names = asked_topics(service.image(), request);
  if (request.cursor) {
    const bool listed = request.topics.empty() || names.contains(request.cursor->topic_name.sv());
    if (!listed || request.cursor->partition_index < 0) co_return refused(request);
  }
  DescribeTopicPartitionsResponse response;
  const Access access(context);
  if (request.topics.empty()) {
    std::erase_if(names, [&access](std::string_view name) {
      return !access.may_see(Operation::kDescribe, ResourceType::kTopic, name);
    });
  }
  int32_t left = std::clamp(request.response_partition_limit, 1,
                            service.broker_config().max_request_partition_size_limit);
  for (const std::string_view name : names) {
    if (left == 0) {
      response.next_cursor.emplace().topic_name = TopicName(name);
      break;
    }
    if (!access.may_topic(Operation::kDescribe, name)) {
      response.topics.push_back(denied(name));
      continue;
    }
    const auto topic = service.image().topic(name);
    if (topic == nullptr) {
      response.topics.push_back(missing(name));
      continue;
    }
    const bool at_cursor = request.cursor && request.cursor->topic_name == name;
    const int32_t first =
        at_cursor ? std::min(request.cursor->partition_index, topic->partitions) : 0;
    const int32_t end = first + std::min(left, topic->partitions - first);
    response.topics.push_back(described(access, *topic, service.this_node().id, first, end));
    left -= end - first;
    if (end == topic->partitions) continue;
    auto& next = response.next_cursor.emplace();
    next.topic_name = topic->name;
    next.partition_index = end;
    break;
  }
  co_return response;
}

}  // namespace ackord::api
