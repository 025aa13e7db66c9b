// DescribeConfigs (key 32), versions 1-4: topics (2), this broker or all brokers (4), this
// broker's loggers (8), subscriptions of client metrics (16), groups (32).
//   v1  source, synonyms   v3  type, documentation   v4  flexible
// No list of names, or an empty one, means all; names that the resource does not have are left out.
// A resource of an unknown kind spoils the whole request. May: DESCRIBE_CONFIGS on the topic, on
// the group, for all others on the cluster.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/config_rights.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/describe_configs_request.h"
#include "protocol/generated/describe_configs_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeConfigsRequest;
using protocol::DescribeConfigsResponse;

DescribeConfigsResponse::DescribeConfigsResourceResult shown(
    const metadata::DescribedConfig& config, const DescribeConfigsRequest& request) {
  DescribeConfigsResponse::DescribeConfigsResourceResult result;
  result.name = config.name;
  result.value.reset();
  if (config.value) result.value = *config.value;
  result.read_only = config.read_only;
  result.config_source = static_cast<int8_t>(config.source);
  result.is_sensitive = config.sensitive;
  result.config_type = static_cast<int8_t>(config.type);
  result.documentation.reset();
  if (request.include_documentation) result.documentation = String(config.documentation);
  if (!request.include_synonyms) return result;
  for (const auto& synonym : config.synonyms) {
    auto& one = result.synonyms.emplace_back();
    one.name = synonym.name;
    one.value.reset();
    if (synonym.value) one.value = *synonym.value;
    one.source = static_cast<int8_t>(synonym.source);
  }
  return result;
}

bool is_known(int8_t type) {
  using enum metadata::ResourceType;
  const auto known = {kTopic, kBroker, kBrokerLogger, kClientMetrics, kGroup};
  return std::find(known.begin(), known.end(), static_cast<metadata::ResourceType>(type)) !=
         known.end();
}

DescribeConfigsResponse all_refused(const DescribeConfigsRequest& request) {
  DescribeConfigsResponse response;
  for (const auto& resource : request.resources) {
    auto& result = response.results.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name;
    result.error_code = ErrorCode::INVALID_REQUEST;
    result.error_message = String(kafka_text(ErrorCode::INVALID_REQUEST));
  }
  return response;
}

}  // namespace

io::Task<DescribeConfigsResponse> handle(RequestContext& context, DescribeConfigsRequest request) {
  if (!std::all_of(request.resources.begin(), request.resources.end(),
                   [](const auto& resource) { return is_known(resource.resource_type); }))
    co_return all_refused(request);
  DescribeConfigsResponse response;
  const Access access(context);
  for (const auto& resource : request.resources) {
    auto& result = response.results.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name;
    const auto type = static_cast<metadata::ResourceType>(resource.resource_type);
    const ErrorCode denied =
        config_denial(access, Operation::kDescribeConfigs, type, resource.resource_name);
    const auto configs = denied == ErrorCode::NONE ? context.services.metadata.describe_configs(
                                                         type, resource.resource_name)
                                                   : error(denied, std::string(kafka_text(denied)));
    if (!configs) {
      result.error_code = configs.error().code;
      result.error_message = configs.error().message;
      if (configs.error().code == ErrorCode::INVALID_REQUEST && result.error_message->empty()) {
        result.error_message = String(kafka_text(ErrorCode::INVALID_REQUEST));
      }
      continue;
    }
    std::set<std::string_view> names;
    if (resource.configuration_keys)
      names.insert(resource.configuration_keys->begin(), resource.configuration_keys->end());
    for (const metadata::DescribedConfig& config : *configs) {
      if (names.empty() || names.contains(config.name))
        result.configs.push_back(shown(config, request));
    }
  }
  co_return response;
}

}  // namespace ackord::api
