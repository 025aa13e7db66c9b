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
    if (config.value) {
      create.configs[config.name.str()] = config.value->str();
      continue;
    }
    if (!create.configs_without_value.empty()) create.configs_without_value += ",";
    create.configs_without_value += config.name.sv();
  }
  return create;
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
  auto creating = service.create_topics(std::move(topics), request.validate_only);
  std::vector<metadata::CreatedTopic> created = co_await std::move(creating);

  CreateTopicsResponse response;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < request.topics.size(); ++i) {
    metadata::CreatedTopic& outcome = created[i];
    if (!seen.insert(request.topics[i].name.sv()).second) continue;
    auto& result = response.topics.emplace_back();
    result.name = request.topics[i].name;
    if (outcome.error != ErrorCode::NONE) {
      set_error(result, outcome.error, std::move(outcome.message));
    } else {
      set_created(result, service, *outcome.topic);
    }
  }
  co_return response;
}

}  // namespace ackord::api
