// Metadata (key 3), versions 0-13.
//   v0  an empty list means all topics   v1  null means all, empty none; controller, racks,
//   internal   v2  cluster id v4  auto-creation may be declined    v5  offline replicas   v7 leader
//   epochs   v8  authorized operations v9  flexible   v10  topic ids (only answered)   v12  topics
//   by id   v13  top-level error
// A missing topic that may be created is created, and answered UNKNOWN_TOPIC_OR_PARTITION once
// more: clients ask again, as they do with Kafka. All topics never creates.
// May: DESCRIBE on each topic (of all topics the others are left out; one that is named is not said
// to exist), CREATE on the cluster or the topic to make one, DESCRIBE on the cluster for its
// operations.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
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

void add_topic(MetadataResponse& response, const Access& access, const TopicImage& topic,
               BrokerId node, bool with_operations) {
  auto& answer = response.topics.emplace_back();
  answer.name = topic.name;
  answer.topic_id = topic.id;
  answer.is_internal = topic.internal();
  if (with_operations)
    answer.topic_authorized_operations = access.operations(ResourceType::kTopic, topic.name.sv());
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

void add_missing(MetadataResponse& response, const Access& access, const TopicName& name,
                 ErrorCode code, bool with_operations) {
  auto& answer = response.topics.emplace_back();
  if (with_operations)
    answer.topic_authorized_operations = access.operations(ResourceType::kTopic, name.sv());
  answer.error_code = code;
  answer.name = name;
  answer.is_internal = metadata::is_internal(name);
}

// Nothing is said of it but that.
void add_denied(MetadataResponse& response, std::optional<TopicName> name, const Uuid& id,
                bool is_internal) {
  auto& answer = response.topics.emplace_back();
  answer.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
  answer.name.reset();
  if (name) answer.name = std::move(*name);
  answer.topic_id = id;
  answer.is_internal = is_internal;
}

void add_by_id(MetadataResponse& response, const Access& access,
               const metadata::MetadataService& service, const MetadataRequest& request) {
  std::set<Uuid> seen;
  for (const auto& topic : *request.topics) {
    if (topic.topic_id.is_zero() || !seen.insert(topic.topic_id).second) continue;
    if (const auto known = service.image().topic(topic.topic_id)) {
      if (!access.may_topic(Operation::kDescribe, known->name.sv())) {
        add_denied(response, std::nullopt, known->id, false);
        continue;
      }
      add_topic(response, access, *known, service.this_node().id,
                request.include_topic_authorized_operations);
      continue;
    }
    auto& answer = response.topics.emplace_back();
    answer.error_code = ErrorCode::UNKNOWN_TOPIC_ID;
    answer.name.reset();
    answer.topic_id = topic.topic_id;
  }
}

bool may_create(const Access& access, std::string_view topic) {
  return access.may_see(Operation::kCreate, ResourceType::kCluster, metadata::kClusterName) ||
         access.may_topic(Operation::kCreate, topic);
}

io::Task<void> add_by_name(MetadataResponse& response, const Access& access,
                           metadata::MetadataService& service, const MetadataRequest& request) {
  const bool creates =
      request.allow_auto_topic_creation && service.broker_config().auto_create_topics_enable;
  const bool with_operations = request.include_topic_authorized_operations;
  std::set<std::string_view> seen;
  for (const auto& topic : *request.topics) {
    if (!seen.insert(topic.name->sv()).second) continue;
    if (!access.may_topic(Operation::kDescribe, topic.name->sv())) {
      add_denied(response, *topic.name, {}, false);
      continue;
    }
    if (const auto known = service.image().topic(topic.name->sv())) {
      add_topic(response, access, *known, service.this_node().id, with_operations);
      continue;
    }
    if (creates && !may_create(access, topic.name->sv())) {
      add_denied(response, *topic.name, {}, metadata::is_internal(*topic.name));
      continue;
    }
    if (metadata::topic_name_fault(*topic.name)) {
      add_missing(response, access, *topic.name, ErrorCode::INVALID_TOPIC_EXCEPTION,
                  with_operations);
      continue;
    }
    if (creates) {
      TopicName name = *topic.name;
      auto creating = service.auto_create(std::move(name));
      (void)co_await std::move(creating);
    }
    add_missing(response, access, *topic.name, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                with_operations);
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
  const Access access(context);
  if (request.include_cluster_authorized_operations) {
    response.cluster_authorized_operations =
        access.may_cluster(Operation::kDescribe)
            ? access.operations(ResourceType::kCluster, metadata::kClusterName)
            : 0;
  }
  if (asks_for_all(context, request)) {
    for (const auto& [name, topic] : service.image().topics()) {
      if (!access.may_see(Operation::kDescribe, ResourceType::kTopic, name)) continue;
      add_topic(response, access, *topic, node.id, request.include_topic_authorized_operations);
    }
  } else if (by_id(context, request)) {
    add_by_id(response, access, service, request);
  } else {
    auto adding = add_by_name(response, access, service, request);
    co_await std::move(adding);
  }
  co_return response;
}

}  // namespace ackord::api
