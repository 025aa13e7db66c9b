// CreateTopics (key 19), versions 2-7.
//   v4  -1 for the broker's default counts   v5  flexible; counts and configs are answered   v6
//   THROTTLING_QUOTA_EXCEEDED v7  topic id
// One bad topic does not fail the others; a name that comes twice is answered once. The answer
// comes when all cores know the topic, so the timeout plays no part. May: CREATE on the cluster or
// on the topic; DESCRIBE_CONFIGS on the topic to be told its configs.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/throttling.h"
#include "broker/metadata/metadata_service.h"
#include "broker/metadata/topic_rules.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"

namespace ackord::api {
namespace {

constexpr int16_t kFirstWithStrictQuota = 6;

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

// Which of the topics may not be made. Those that cannot be anyhow are answered as such.
std::vector<bool> denied_topics(const RequestContext& context, const CreateTopicsRequest& request) {
  std::vector<bool> denied(request.topics.size());
  const Access access(context);
  if (!access.limited() ||
      access.may_see(Operation::kCreate, ResourceType::kCluster, metadata::kClusterName))
    return denied;
  std::map<std::string_view, int> count;
  for (const auto& topic : request.topics) ++count[topic.name.sv()];
  for (size_t i = 0; i < request.topics.size(); ++i) {
    const std::string_view name = request.topics[i].name.sv();
    denied[i] = count[name] == 1 && name != metadata::kMetadataTopic &&
                !access.may_topic(Operation::kCreate, name);
  }
  return denied;
}

void set_created(CreateTopicsResponse::CreatableTopicResult& result,
                 const metadata::MetadataService& service, const Access& access,
                 const metadata::TopicImage& topic) {
  result.error_message.reset();
  result.topic_id = topic.id;
  if (!access.may_see(Operation::kDescribeConfigs, ResourceType::kTopic, topic.name.sv())) {
    result.topic_config_error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    return;
  }
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

// Creates what the quota of mutations allows; each topic that could be made is charged.
io::Task<std::vector<metadata::CreatedTopic>> create(RequestContext& context, Mutations& mutations,
                                                     std::vector<metadata::CreateTopic> topics,
                                                     bool validate_only) {
  metadata::MetadataService& service = context.services.metadata;
  std::vector<metadata::CreatedTopic> results(topics.size());
  std::vector<size_t> places;
  std::vector<metadata::CreateTopic> allowed;
  std::vector<metadata::CreatedTopic> tried;
  if (mutations.limited()) {
    auto trying = service.create_topics(topics, true);
    tried = co_await std::move(trying);
  }
  for (size_t i = 0; i < topics.size(); ++i) {
    const bool counts = !tried.empty() && tried[i].error == ErrorCode::NONE;
    if (counts && !mutations.take(tried[i].topic->partitions)) {
      results[i].error = ErrorCode::THROTTLING_QUOTA_EXCEEDED;
      results[i].message = kMutationsExceeded;
      continue;
    }
    places.push_back(i);
    allowed.push_back(std::move(topics[i]));
  }
  auto creating = service.create_topics(std::move(allowed), validate_only);
  std::vector<metadata::CreatedTopic> created = co_await std::move(creating);
  for (size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(created[i]);
  co_return results;
}

}  // namespace

io::Task<CreateTopicsResponse> handle(RequestContext& context, CreateTopicsRequest request) {
  metadata::MetadataService& service = context.services.metadata;
  const std::vector<bool> denied = denied_topics(context, request);
  std::vector<metadata::CreateTopic> topics;
  topics.reserve(request.topics.size());
  for (size_t i = 0; i < request.topics.size(); ++i) {
    if (!denied[i]) topics.push_back(wanted(request.topics[i]));
  }
  auto counting = mutations_of(context, context.api_version >= kFirstWithStrictQuota);
  Mutations mutations = co_await std::move(counting);
  auto creating = create(context, mutations, std::move(topics), request.validate_only);
  std::vector<metadata::CreatedTopic> created = co_await std::move(creating);

  CreateTopicsResponse response;
  throttle(context, response, mutations.throttle_ms());
  std::set<std::string_view> seen;
  const Access access(context);
  size_t at = 0;
  for (size_t i = 0; i < request.topics.size(); ++i) {
    metadata::CreatedTopic outcome;
    if (denied[i]) {
      outcome.error = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
      outcome.message = "Authorization failed.";
    } else {
      outcome = std::move(created[at++]);
    }
    if (!seen.insert(request.topics[i].name.sv()).second) continue;
    auto& result = response.topics.emplace_back();
    result.name = request.topics[i].name;
    if (outcome.error != ErrorCode::NONE) {
      set_error(result, outcome.error, std::move(outcome.message));
    } else {
      set_created(result, service, access, *outcome.topic);
    }
  }
  co_return response;
}

}  // namespace ackord::api
