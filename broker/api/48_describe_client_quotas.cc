// DescribeClientQuotas (key 48), versions 0-1: the limits of the entities that fit (KIP-546).
//   v1  flexible
// May: DESCRIBE_CONFIGS on the cluster.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/client_quotas.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/describe_client_quotas_request.h"
#include "protocol/generated/describe_client_quotas_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeClientQuotasRequest;
using protocol::DescribeClientQuotasResponse;

std::vector<metadata::QuotaFilter> filters_of(const DescribeClientQuotasRequest& request) {
  std::vector<metadata::QuotaFilter> filters;
  for (const auto& component : request.components) {
    auto& filter = filters.emplace_back();
    filter.type = component.entity_type.str();
    filter.match = static_cast<metadata::QuotaFilter::Match>(component.match_type);
    if (component.match) filter.name = component.match->str();
  }
  return filters;
}

DescribeClientQuotasResponse::EntryData entry_of(const metadata::QuotaEntity& entity,
                                                 const metadata::QuotaValues& values) {
  DescribeClientQuotasResponse::EntryData entry;
  for (const auto& [type, name] : entity) {
    auto& part = entry.entity.emplace_back();
    part.entity_type = String(type);
    part.entity_name.reset();
    if (name) part.entity_name = String(*name);
  }
  for (const auto& [key, value] : values) {
    auto& out = entry.values.emplace_back();
    out.key = String(key);
    out.value = value;
  }
  return entry;
}

}  // namespace

io::Task<DescribeClientQuotasResponse> handle(RequestContext& context,
                                              DescribeClientQuotasRequest request) {
  DescribeClientQuotasResponse response;
  response.error_message.reset();
  response.entries.reset();
  if (!Access(context).may_cluster(Operation::kDescribeConfigs)) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    co_return response;
  }
  const std::vector<metadata::QuotaFilter> filters = filters_of(request);
  if (const Result<void> checked = metadata::check_filters(filters); !checked) {
    response.error_code = checked.error().code;
    response.error_message = String(checked.error().message);
    co_return response;
  }
  auto& entries = response.entries.emplace();
  for (const auto& [entity, values] : context.services.metadata.image().quotas()) {
    if (metadata::fits(entity, filters, request.strict))
      entries.push_back(entry_of(entity, values));
  }
  co_return response;
}

}  // namespace ackord::api
