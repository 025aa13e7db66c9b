// DeleteAcls (key 31), versions 1-3: what each filter matches goes, all of it at once (KIP-140).
//   v1  pattern types (KIP-290)   v2  flexible   v3  resource type USER (KIP-373)
// Without an authorizer SECURITY_DISABLED. May: ALTER on the cluster. At most 10,000 at once: else
// INVALID_REQUEST, and nothing goes.
#include <optional>
#include <utility>
#include <vector>

#include "broker/api/acl_requests.h"
#include "broker/api/handlers.h"
#include "protocol/generated/delete_acls_request.h"
#include "protocol/generated/delete_acls_response.h"

namespace ackord::api {
namespace {

using protocol::DeleteAclsRequest;
using protocol::DeleteAclsResponse;

DeleteAclsResponse::DeleteAclsFilterResult result_of(
    const Result<std::vector<metadata::Acl>>& deleted) {
  DeleteAclsResponse::DeleteAclsFilterResult result;
  result.error_message.reset();
  if (!deleted) {
    result.error_code = deleted.error().code;
    result.error_message = String(deleted.error().message);
    return result;
  }
  for (const metadata::Acl& acl : *deleted) {
    auto& out = result.matching_acls.emplace_back();
    out.error_message.reset();
    out.resource_type = static_cast<int8_t>(acl.resource);
    out.resource_name = String(acl.name);
    out.pattern_type = static_cast<int8_t>(acl.pattern);
    out.principal = String(acl.principal);
    out.host = String(acl.host);
    out.operation = static_cast<int8_t>(acl.operation);
    out.permission_type = static_cast<int8_t>(acl.permission);
  }
  return result;
}

}  // namespace

io::Task<DeleteAclsResponse> handle(RequestContext& context, DeleteAclsRequest request) {
  const std::optional<Error> refused = acl_refusal(context, Operation::kAlter);
  Result<metadata::AclDeletions> deleted = metadata::AclDeletions();
  if (refused) {
    deleted = *refused;
  } else if (!request.filters.empty()) {
    std::vector<metadata::AclFilter> filters;
    for (const auto& one : request.filters) filters.push_back(filter_of(one));
    auto deleting = context.services.metadata.delete_acls(std::move(filters));
    deleted = co_await std::move(deleting);
  }
  DeleteAclsResponse response;
  for (size_t i = 0; i < request.filters.size(); ++i) {
    response.filter_results.push_back(
        deleted ? result_of((*deleted)[i])
                : result_of(Result<std::vector<metadata::Acl>>(deleted.error())));
  }
  co_return response;
}

}  // namespace ackord::api
