// ListConfigResources (key 74), versions 0-1: what has configs (KIP-1142).
//   v0  metrics subscriptions alone   v1 by type; no types means all
// Groups and metrics subscriptions are those that have something set. May: DESCRIBE_CONFIGS on the
// cluster.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/list_config_resources_request.h"
#include "protocol/generated/list_config_resources_response.h"

namespace ackord::api {
namespace {

using ConfigResource = metadata::ResourceType;
using protocol::ListConfigResourcesRequest;
using protocol::ListConfigResourcesResponse;

constexpr int16_t kFirstWithTypes = 1;
constexpr ConfigResource kTypes[] = {ConfigResource::kTopic, ConfigResource::kBroker,
                                     ConfigResource::kBrokerLogger, ConfigResource::kClientMetrics,
                                     ConfigResource::kGroup};

}  // namespace

io::Task<ListConfigResourcesResponse> handle(RequestContext& context,
                                             ListConfigResourcesRequest request) {
  ListConfigResourcesResponse response;
  if (!Access(context).may_cluster(Operation::kDescribeConfigs)) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    co_return response;
  }
  std::vector<int8_t> types = request.resource_types;
  if (context.api_version < kFirstWithTypes) {
    types = {static_cast<int8_t>(ConfigResource::kClientMetrics)};
  } else if (types.empty()) {
    for (const ConfigResource type : kTypes) types.push_back(static_cast<int8_t>(type));
  }
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  for (const int8_t type : types) {
    if (std::find(std::begin(kTypes), std::end(kTypes), static_cast<ConfigResource>(type)) ==
        std::end(kTypes)) {
      response.config_resources.clear();
      response.error_code = ErrorCode::UNSUPPORTED_VERSION;
      co_return response;
    }
    for (std::string& name :
         context.services.metadata.config_resources(static_cast<ConfigResource>(type))) {
      auto& out = response.config_resources.emplace_back();
      out.resource_name = String(std::move(name));
      out.resource_type = type;
    }
  }
  co_return response;
}

}  // namespace ackord::api
