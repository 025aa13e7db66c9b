// Metadata (key 3), versions 0-13.
//   v0  an empty list means all topics   v1  null means all, empty none; controller, racks,
//   internal   v2  cluster id v4  auto-creation may be declined    v5  offline replicas   v7 leader
//   epochs   v8  authorized operations v9  flexible   v10  topic ids (only answered)   v12  topics
//   by id   v13  top-level error
// A missing topic that may be created is created, and answered UNKNOWN_TOPIC_OR_PARTITION once
// more: clients ask again, as they do with Kafka. All topics never creates.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorized_operations.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "broker/metadata/topic_rules.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"

namespace ackord::api {
namespace {

using metadata::TopicImage;
using protocol::MetadataRequest;
using protocol::MetadataResponse;

constexpr int16_t kFirstWithIds = 10;
constexpr int16_t kFirstByIds = 12;

bool asks_for_all(const RequestContext& context, const MetadataRequest& request) {
  return !request.topics || (context.api_version == 0 && request.topics->empty());
}

// Before v12 a topic has a name and no id; from then on one of both, or nothing beside others that
// have an id.
bool well_formed(const RequestContext& context, const MetadataRequest& request) {
  if (!request.topics || context.api_version < kFirstWithIds) return true;
  const auto& topics = *request.topics;
  const bool any_id = std::any_of(topics.begin(), topics.end(),
                                  [](const auto& topic) { return !topic.topic_id.is_zero(); });
  if (context.api_version < kFirstByIds && any_id) return false;
  return any_id ||
         std::all_of(topics.begin(), topics.end(), [](const auto& topic) { return topic.name; });
}

MetadataResponse invalid_request(const MetadataRequest& request) {
  MetadataResponse response;
  response.error_code = ErrorCode::INVALID_REQUEST;
  for (const auto& topic : *request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.error_code = ErrorCode::INVALID_REQUEST;
    if (topic.name) answer.name = *topic.name;
    answer.topic_id = topic.topic_id;
  }
  return response;
}

void add_topic(MetadataResponse& response, const TopicImage& topic, BrokerId node,
               bool with_operations) {
  auto& answer = response.topics.emplace_back();
  answer.name = topic.name;
  answer.topic_id = topic.id;
  answer.is_internal = topic.internal();
  if (with_operations) answer.topic_authorized_operations = kTopicOperations;
  answer.partitions.reserve(static_cast<size_t>(topic.partitions));
  for (int32_t index = 0; index < topic.partitions; ++index) {
    auto& partition = answer.partitions.emplace_back();
    partition.partition_index = index;
    partition.leader_id = node;
    partition.leader_epoch = topic.leader_epoch(index);
    partition.replica_nodes = {node};
    partition.isr_nodes = {node};
  }
}

void add_missing(MetadataResponse& response, const TopicName& name, ErrorCode code,
                 bool with_operations) {
  auto& answer = response.topics.emplace_back();
  if (with_operations) answer.topic_authorized_operations = kTopicOperations;
  answer.error_code = code;
  answer.name = name;
  answer.is_internal = metadata::is_internal(name);
}

void add_by_id(MetadataResponse& response, const metadata::MetadataService& service,
               const MetadataRequest& request) {
  std::set<Uuid> seen;
  for (const auto& topic : *request.topics) {
    if (topic.topic_id.is_zero() || !seen.insert(topic.topic_id).second) continue;
    if (const auto known = service.image().topic(topic.topic_id)) {
      add_topic(response, *known, service.this_node().id,
                request.include_topic_authorized_operations);
      continue;
    }
    auto& answer = response.topics.emplace_back();
    answer.error_code = ErrorCode::UNKNOWN_TOPIC_ID;
    answer.name.reset();
    answer.topic_id = topic.topic_id;
  }
}

io::Task<void> add_by_name(MetadataResponse& response, metadata::MetadataService& service,
                           const MetadataRequest& request) {
  const bool may_create =
      request.allow_auto_topic_creation && service.broker_config().auto_create_topics_enable;
  std::set<std::string_view> seen;
  for (const auto& topic : *request.topics) {
    if (!seen.insert(topic.name->sv()).second) continue;
    if (const auto known = service.image().topic(topic.name->sv())) {
      add_topic(response, *known, service.this_node().id,
                request.include_topic_authorized_operations);
      continue;
    }
    if (metadata::topic_name_fault(*topic.name)) {
      add_missing(response, *topic.name, ErrorCode::INVALID_TOPIC_EXCEPTION,
                  request.include_topic_authorized_operations);
      continue;
    }
    if (may_create) {
      TopicName name = *topic.name;
      auto creating = service.auto_create(std::move(name));
      (void)co_await std::move(creating);
    }
    add_missing(response, *topic.name, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                request.include_topic_authorized_operations);
  }
}

bool by_id(const RequestContext& context, const MetadataRequest& request) {
  if (context.api_version < kFirstByIds) return false;
  for (const auto& topic : *request.topics) {
    if (!topic.topic_id.is_zero()) return true;
  }
  return false;
}

}  // namespace

io::Task<MetadataResponse> handle(RequestContext& context, MetadataRequest request) {
  if (!well_formed(context, request)) co_return invalid_request(request);
  metadata::MetadataService& service = context.services.metadata;
  MetadataResponse response;
  const metadata::Node node = service.node_for_listener(context.client->listener);
  auto& broker = response.brokers.emplace_back();
  broker.node_id = node.id;
  broker.host = node.host;
  broker.port = node.port;
  if (node.rack) broker.rack = *node.rack;
  response.cluster_id = service.cluster_id();
  response.controller_id = node.id;
  if (request.include_cluster_authorized_operations)
    response.cluster_authorized_operations = kClusterOperations;
  if (asks_for_all(context, request)) {
    for (const auto& [name, topic] : service.image().topics()) {
      add_topic(response, *topic, node.id, request.include_topic_authorized_operations);
    }
  } else if (by_id(context, request)) {
    add_by_id(response, service, request);
  } else {
    auto adding = add_by_name(response, service, request);
    co_await std::move(adding);
  }
  co_return response;
}

}  // namespace ackord::api
