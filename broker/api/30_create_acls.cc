// CreateAcls (key 30), versions 1-3: each ACL for itself; one that is there already is a success
// (KIP-140).
//   v1  pattern types (KIP-290)   v2  flexible   v3  resource type USER (KIP-373)
// Without an authorizer SECURITY_DISABLED. May: ALTER on the cluster. A kind that is none, or that
// only filters have, is INVALID_REQUEST; Kafka closes the connection or answers -1 to all.
#include <optional>
#include <utility>
#include <vector>

#include "broker/api/acl_requests.h"
#include "broker/api/handlers.h"
#include "protocol/generated/create_acls_request.h"
#include "protocol/generated/create_acls_response.h"

namespace ackord::api {
namespace {

using protocol::CreateAclsRequest;
using protocol::CreateAclsResponse;

std::vector<metadata::Acl> acls_of(const CreateAclsRequest& request) {
  std::vector<metadata::Acl> acls;
  for (const auto& one : request.creations) {
    auto& acl = acls.emplace_back();
    acl.resource = static_cast<metadata::AclResource>(one.resource_type);
    acl.name = one.resource_name.str();
    acl.pattern = static_cast<metadata::AclPattern>(one.resource_pattern_type);
    acl.principal = one.principal.str();
    acl.host = one.host.str();
    acl.operation = static_cast<metadata::AclOperation>(one.operation);
    acl.permission = static_cast<metadata::AclPermission>(one.permission_type);
  }
  return acls;
}

}  // namespace

io::Task<CreateAclsResponse> handle(RequestContext& context, CreateAclsRequest request) {
  const std::optional<Error> refused = acl_refusal(context, Operation::kAlter);
  metadata::AclCreations results(request.creations.size(), refused);
  if (!refused && !request.creations.empty()) {
    auto creating = context.services.metadata.create_acls(acls_of(request));
    Result<metadata::AclCreations> created = co_await std::move(creating);
    if (created) {
      results = std::move(*created);
    } else {
      results.assign(results.size(), created.error());
    }
  }
  CreateAclsResponse response;
  for (const std::optional<Error>& fault : results) {
    auto& result = response.results.emplace_back();
    if (!fault) continue;
    result.error_code = fault->code;
    result.error_message = String(fault->message);
  }
  co_return response;
}

}  // namespace ackord::api
