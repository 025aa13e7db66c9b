// AlterClientQuotas (key 49), versions 0-1: sets and takes away limits, each entity on its own
// (KIP-546).
//   v1  flexible
// May: ALTER_CONFIGS on the cluster.
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/client_quotas.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/alter_client_quotas_request.h"
#include "protocol/generated/alter_client_quotas_response.h"

namespace ackord::api {
namespace {

using protocol::AlterClientQuotasRequest;
using protocol::AlterClientQuotasResponse;

Result<metadata::QuotaEntity> entity_of(const AlterClientQuotasRequest::EntryData& entry) {
  metadata::QuotaEntity entity;
  for (const auto& part : entry.entity) {
    const auto name = part.entity_name ? std::optional(part.entity_name->str()) : std::nullopt;
    if (!entity.emplace(part.entity_type.str(), name).second) {
      return error(ErrorCode::INVALID_REQUEST,
                   "Invalid client quota entity, contains duplicate "
                   "entity type: " +
                       part.entity_type.str());
    }
  }
  return entity;
}

std::vector<metadata::QuotaChange> changes_of(const AlterClientQuotasRequest::EntryData& entry) {
  std::vector<metadata::QuotaChange> changes;
  for (const auto& op : entry.ops) {
    changes.push_back({op.key.str(), op.remove ? std::nullopt : std::optional<double>(op.value)});
  }
  return changes;
}

}  // namespace

io::Task<AlterClientQuotasResponse> handle(RequestContext& context,
                                           AlterClientQuotasRequest request) {
  AlterClientQuotasResponse response;
  const bool may = Access(context).may_cluster(Operation::kAlterConfigs);
  for (const auto& entry : request.entries) {
    Result<metadata::QuotaEntity> entity =
        may ? entity_of(entry)
            : error(ErrorCode::CLUSTER_AUTHORIZATION_FAILED,
                    std::string(kafka_text(ErrorCode::CLUSTER_AUTHORIZATION_FAILED)));
    Result<void> altered;
    if (entity) {
      auto altering = context.services.metadata.alter_quotas(std::move(*entity), changes_of(entry),
                                                             request.validate_only);
      altered = co_await std::move(altering);
    } else {
      altered = entity.error();
    }
    auto& out = response.entries.emplace_back();
    out.error_message.reset();
    for (const auto& part : entry.entity) {
      auto& named = out.entity.emplace_back();
      named.entity_type = part.entity_type;
      named.entity_name.reset();
      if (part.entity_name) named.entity_name = *part.entity_name;
    }
    if (altered) continue;
    out.error_code = altered.error().code;
    out.error_message = String(altered.error().message);
  }
  co_return response;
}

}  // namespace ackord::api
