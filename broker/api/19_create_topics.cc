// CreateTopics (key 19), versions 2-7.
//   v4  -1 for the broker's default counts   v5  flexible; counts and configs are answered   v6
//   THROTTLING_QUOTA_EXCEEDED v7  topic id
// One bad topic does not fail the others; a name that comes twice is answered once. The answer
// comes when all cores know the topic, so the timeout plays no part.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"

namespace ackord::api {
namespace {

using protocol::CreateTopicsRequest;
using protocol::CreateTopicsResponse;

constexpr int16_t kReplicationFactor = 1;  // one node

metadata::CreateTopic wanted(const CreateTopicsRequest::CreatableTopic& topic) {
  metadata::CreateTopic create;
  create.name = topic.name;
  create.partitions = topic.num_partitions;
  create.replication_factor = topic.replication_factor;
  for (const auto& assignment : topic.assignments) {
    create.assignments.emplace_back(assignment.partition_index, assignment.broker_ids);
  }
  for (const auto& config : topic.configs) {
    if (config.value) create.configs[config.name.str()] = config.value->str();
  }
  return create;
}

std::string null_configs(const CreateTopicsRequest::CreatableTopic& topic) {
  std::string names;
  for (const auto& config : topic.configs) {
    if (config.value) continue;
    if (!names.empty()) names += ",";
    names += config.name.sv();
  }
  return names;
}

void set_error(CreateTopicsResponse::CreatableTopicResult& result, ErrorCode code,
               std::string message) {
  result.error_code = code;
  result.error_message = std::move(message);
}

void set_created(CreateTopicsResponse::CreatableTopicResult& result,
                 const metadata::MetadataService& service, const metadata::TopicImage& topic) {
  result.error_message.reset();
  result.topic_id = topic.id;
  result.num_partitions = topic.partitions;
  result.replication_factor = kReplicationFactor;
  auto& configs = result.configs.emplace();
  for (metadata::DescribedConfig& config : service.describe_topic(topic.configs)) {
    auto& shown = configs.emplace_back();
    shown.name = config.name;
    shown.value.reset();
    if (config.value) shown.value = *config.value;
    shown.read_only = config.read_only;
    shown.config_source = static_cast<int8_t>(config.source);
    shown.is_sensitive = config.sensitive;
  }
}

}  // namespace

io::Task<CreateTopicsResponse> handle(RequestContext& context, CreateTopicsRequest request) {
  metadata::MetadataService& service = context.services.metadata;
  std::vector<metadata::CreateTopic> topics;
  topics.reserve(request.topics.size());
  for (const auto& topic : request.topics) topics.push_back(wanted(topic));
  // A config without a value would be lost on the way: such a topic is checked like the others, but
  // not made.
  std::vector<std::string> without_value;
  bool any_without_value = false;
  for (const auto& topic : request.topics) {
    without_value.push_back(null_configs(topic));
    any_without_value = any_without_value || !without_value.back().empty();
  }
  std::vector<metadata::CreatedTopic> checked;
  if (any_without_value) {
    auto checking = service.create_topics(topics, true);
    checked = co_await std::move(checking);
    std::vector<metadata::CreateTopic> rest;
    for (size_t i = 0; i < topics.size(); ++i) {
      if (without_value[i].empty()) rest.push_back(topics[i]);
    }
    topics = std::move(rest);
  }
  auto creating = service.create_topics(std::move(topics), request.validate_only);
  std::vector<metadata::CreatedTopic> created = co_await std::move(creating);

  CreateTopicsResponse response;
  std::set<std::string_view> seen;
  size_t next = 0;
  for (size_t i = 0; i < request.topics.size(); ++i) {
    metadata::CreatedTopic& outcome = without_value[i].empty() ? created[next++] : checked[i];
    if (!seen.insert(request.topics[i].name.sv()).second) continue;
    auto& result = response.topics.emplace_back();
    result.name = request.topics[i].name;
    if (outcome.error != ErrorCode::NONE) {
      set_error(result, outcome.error, std::move(outcome.message));
    } else if (!without_value[i].empty()) {
      set_error(result, ErrorCode::INVALID_CONFIG,
                "Null value not supported for topic configs: " + without_value[i]);
    } else {
      set_created(result, service, *outcome.topic);
    }
  }
  co_return response;
}

}  // namespace ackord::api
