// ApiVersions (key 18), versions 0-5. Its response header never has tagged fields; a version that
// is not known here is answered by dispatch, in version 0.
//   v1  throttle time   v3  flexible, the client's software, features   v4  features whose least
//   level is 0 v5  cluster and node that the client means to reach (KIP-1242)
// Before v4 clients cannot read a least level of 0, so such features are left out.
#include <algorithm>
#include <string>
#include <utility>

#include "broker/api/dispatch.h"
#include "broker/api/handlers.h"
#include "broker/api/sasl_gate.h"
#include "broker/metadata/features.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"

namespace ackord::api {
namespace {

using protocol::ApiVersionsRequest;
using protocol::ApiVersionsResponse;

constexpr int16_t kFirstWithSoftware = 3;
constexpr int16_t kFirstWithZeroLevels = 4;
constexpr int32_t kNoNode = -1;

// KIP-511: letters, digits, '-' and '.', the last two not at an end.
bool is_software_text(std::string_view text) {
  auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || !alphanumeric(text.front()) || !alphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '-' || c == '.'; });
}

ErrorCode check(const RequestContext& context, const ApiVersionsRequest& request) {
  if (context.api_version < kFirstWithSoftware) return ErrorCode::NONE;
  if (!is_software_text(request.client_software_name) ||
      !is_software_text(request.client_software_version)) {
    return ErrorCode::INVALID_REQUEST;
  }
  const bool has_node = request.node_id != kNoNode;
  if (request.cluster_id.has_value() != has_node) return ErrorCode::INVALID_REQUEST;
  if (!has_node) return ErrorCode::NONE;
  const metadata::MetadataService& service = context.services.metadata;
  const bool meant = request.cluster_id->sv() == service.cluster_id() &&
                     request.node_id == service.this_node().id.value;
  return meant ? ErrorCode::NONE : ErrorCode::REBOOTSTRAP_REQUIRED;
}

void add_features(ApiVersionsResponse& response, const RequestContext& context) {
  const metadata::Features& finalized = context.services.metadata.image().features();
  response.finalized_features_epoch = finalized.epoch;
  for (const metadata::SupportedFeature& feature : metadata::supported_features()) {
    if (feature.min > 0 || context.api_version >= kFirstWithZeroLevels) {
      response.supported_features.push_back({String(feature.name), feature.min, feature.max});
    }
    // A directory may have features finalized that are not served here; those are not claimed.
    const int16_t level = finalized.level(feature.name);
    if (level > 0) response.finalized_features.push_back({String(feature.name), level, level});
  }
}

}  // namespace

io::Task<ApiVersionsResponse> handle(RequestContext& context, ApiVersionsRequest request) {
  ApiVersionsResponse response;
  response.error_code = check(context, request);
  if (response.error_code != ErrorCode::NONE) co_return response;
  if (Client& client = *context.client; client.sasl != nullptr) {
    response.error_code = client.sasl->versions_told();
    if (client.sasl->failed()) {
      context.last_after_ms = login_failed(client, "out of order", context.core.clock.now());
      co_return response;
    }
  }
  if (context.api_version >= kFirstWithSoftware) {
    context.client->software_name = request.client_software_name.str();
    context.client->software_version = request.client_software_version.str();
  }
  for (const ServedApi& api : served_apis(context.services.metadata.broker_config()))
    response.api_keys.push_back({api.key, api.min_version, api.max_version});
  add_features(response, context);
  co_return response;
}

}  // namespace ackord::api
