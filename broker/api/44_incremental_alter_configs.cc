// IncrementalAlterConfigs (key 44), versions 0-1: topics (2), brokers (4), this broker's loggers
// (8), subscriptions of client metrics (16), groups (32).
//   v1  flexible
// Per resource all changes or none; each resource on its own, and at most once in a request. May:
// ALTER_CONFIGS on the topic, on the group, for all others on the cluster.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/config_rights.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/config_resources.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"

namespace ackord::api {
namespace {

using metadata::ConfigChange;
using protocol::IncrementalAlterConfigsRequest;
using protocol::IncrementalAlterConfigsResponse;

Result<std::vector<ConfigChange>> changes_of(
    const IncrementalAlterConfigsRequest::AlterConfigsResource& resource) {
  std::vector<ConfigChange> changes;
  for (const auto& config : resource.configs) {
    if (config.config_operation < static_cast<int8_t>(ConfigChange::Op::kSet) ||
        config.config_operation > static_cast<int8_t>(ConfigChange::Op::kSubtract)) {
      return error(ErrorCode::INVALID_REQUEST,
                   "Unknown operation type " + std::to_string(config.config_operation));
    }
    auto& change = changes.emplace_back();
    change.name = config.name.str();
    change.op = static_cast<ConfigChange::Op>(config.config_operation);
    if (config.value) change.value = config.value->str();
  }
  return changes;
}

void set_error(IncrementalAlterConfigsResponse::AlterConfigsResourceResponse& result,
               const Error& error) {
  result.error_code = error.code;
  result.error_message = error.message;
}

}  // namespace

io::Task<IncrementalAlterConfigsResponse> handle(RequestContext& context,
                                                 IncrementalAlterConfigsRequest request) {
  std::map<std::pair<int8_t, std::string_view>, int> count;
  for (const auto& resource : request.resources)
    ++count[{resource.resource_type, resource.resource_name.sv()}];
  const Access access(context);
  IncrementalAlterConfigsResponse response;
  for (const auto& resource : request.resources) {
    auto& result = response.responses.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name;
    result.error_message.reset();
    Result<void> altered;
    const auto type = static_cast<metadata::ResourceType>(resource.resource_type);
    if (count[{resource.resource_type, resource.resource_name.sv()}] > 1) {
      altered = error(ErrorCode::INVALID_REQUEST, "Each resource must appear at most once.");
    } else if (Result<std::vector<ConfigChange>> changes = changes_of(resource); !changes) {
      altered = changes.error();
    } else if (const ErrorCode denied =
                   config_denial(access, Operation::kAlterConfigs, type, resource.resource_name);
               denied != ErrorCode::NONE) {
      altered = error(denied, std::string(kafka_text(denied)));
    } else {
      std::string name = resource.resource_name.str();
      if (type == metadata::ResourceType::kBrokerLogger) {
        altered = metadata::change_loggers(name, context.services.metadata.this_node().id, *changes,
                                           request.validate_only);
        if (!altered) set_error(result, altered.error());
        continue;
      }
      auto altering = context.services.metadata.alter_configs(
          type, std::move(name), std::move(*changes), request.validate_only);
      altered = co_await std::move(altering);
    }
    if (altered) continue;
    set_error(response.responses.back(), altered.error());
  }
  co_return response;
}

}  // namespace ackord::api
