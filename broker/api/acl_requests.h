// What the ACL requests have in common: whom they refuse, and a filter as the wire has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::api {

// In Kafka's words.
inline constexpr std::string_view kNoAuthorizer = "No Authorizer is configured on the broker";

// Why the whole request is not served. `operation`: what it needs on the cluster.
inline std::optional<Error> acl_refusal(const RequestContext& context, Operation operation) {
  constexpr ErrorCode kDenied = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
  if (!Access(context).may_cluster(operation))
    return error(kDenied, std::string(kafka_text(kDenied)));
  if (context.services.authorization == nullptr)
    return error(ErrorCode::SECURITY_DISABLED, std::string(kNoAuthorizer));
  return std::nullopt;
}

// Of a DescribeAcls request, or of one filter of DeleteAcls.
template <class Wire>
metadata::AclFilter filter_of(const Wire& wire) {
  metadata::AclFilter filter;
  filter.resource = static_cast<metadata::AclResource>(wire.resource_type_filter);
  if (wire.resource_name_filter) filter.name = wire.resource_name_filter->str();
  filter.pattern = static_cast<metadata::AclPattern>(wire.pattern_type_filter);
  if (wire.principal_filter) filter.principal = wire.principal_filter->str();
  if (wire.host_filter) filter.host = wire.host_filter->str();
  filter.operation = static_cast<metadata::AclOperation>(wire.operation);
  filter.permission = static_cast<metadata::AclPermission>(wire.permission_type);
  return filter;
}

}  // namespace ackord::api
