// AlterConfigs (key 33), versions 0-2: all settings of a resource at once (KIP-133); what is not
// named goes back to its default.
//   v2  flexible
// Resources as IncrementalAlterConfigs knows them, but for loggers. One that is named twice fails
// in all its places. May: ALTER_CONFIGS on the topic, on the group, for all others on the cluster.
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/config_rights.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/alter_configs_request.h"
#include "protocol/generated/alter_configs_response.h"

namespace ackord::api {
namespace {

using metadata::ConfigChange;
using protocol::AlterConfigsRequest;
using protocol::AlterConfigsResponse;

std::vector<ConfigChange> settings_of(const AlterConfigsRequest::AlterConfigsResource& resource) {
  std::vector<ConfigChange> settings;
  for (const auto& config : resource.configs) {
    auto& setting = settings.emplace_back();
    setting.name = config.name.str();
    if (config.value) setting.value = config.value->str();
  }
  return settings;
}

void refuse(const AlterConfigsRequest::AlterConfigsResource& resource, ErrorCode code,
            AlterConfigsResponse& response) {
  auto& out = response.responses.emplace_back();
  out.resource_type = resource.resource_type;
  out.resource_name = resource.resource_name;
  out.error_code = code;
  out.error_message = String(kafka_text(code));
}

}  // namespace

io::Task<AlterConfigsResponse> handle(RequestContext& context, AlterConfigsRequest request) {
  std::map<std::pair<int8_t, std::string_view>, int> count;
  for (const auto& resource : request.resources)
    ++count[{resource.resource_type, resource.resource_name.sv()}];
  const Access access(context);
  AlterConfigsResponse response;
  for (const auto& resource : request.resources) {
    Result<void> altered =
        error(ErrorCode::INVALID_REQUEST, "Each resource must appear at most once.");
    if (count[{resource.resource_type, resource.resource_name.sv()}] == 1) {
      const auto type = static_cast<metadata::ResourceType>(resource.resource_type);
      const ErrorCode denied =
          config_denial(access, Operation::kAlterConfigs, type, resource.resource_name);
      if (denied != ErrorCode::NONE) {
        refuse(resource, denied, response);
        continue;
      }
      auto altering = context.services.metadata.replace_configs(
          type, resource.resource_name.str(), settings_of(resource), request.validate_only);
      altered = co_await std::move(altering);
    }
    auto& out = response.responses.emplace_back();
    out.resource_type = resource.resource_type;
    out.resource_name = resource.resource_name;
    out.error_message.reset();
    if (altered) continue;
    out.error_code = altered.error().code;
    out.error_message = altered.error().message;
  }
  co_return response;
}

}  // namespace ackord::api
