// DescribeAcls (key 29), versions 1-3: the ACLs that a filter matches, by resource (KIP-140).
//   v1  pattern types (KIP-290)   v2  flexible   v3  resource type USER (KIP-373)
// Without an authorizer SECURITY_DISABLED. May: DESCRIBE on the cluster. A kind that is none
// matches nothing; Kafka closes the connection at 0.
#include <map>
#include <optional>
#include <tuple>

#include "broker/api/acl_requests.h"
#include "broker/api/handlers.h"
#include "protocol/generated/describe_acls_request.h"
#include "protocol/generated/describe_acls_response.h"

namespace ackord::api {

using protocol::DescribeAclsRequest;
using protocol::DescribeAclsResponse;

io::Task<DescribeAclsResponse> handle(RequestContext& context, DescribeAclsRequest request) {
  DescribeAclsResponse response;
  if (const std::optional<Error> refused = acl_refusal(context, Operation::kDescribe)) {
    response.error_code = refused->code;
    response.error_message = String(refused->message);
    co_return response;
  }
  const metadata::AclFilter filter = filter_of(request);
  std::map<std::tuple<int8_t, std::string_view, int8_t>, size_t> places;
  for (const auto& [id, acl] : context.services.metadata.image().acls().by_id()) {
    if (!filter.matches(*acl)) continue;
    const auto type = static_cast<int8_t>(acl->resource);
    const auto pattern = static_cast<int8_t>(acl->pattern);
    const auto [place, first] = places.emplace(
        std::make_tuple(type, std::string_view(acl->name), pattern), response.resources.size());
    if (first) {
      auto& resource = response.resources.emplace_back();
      resource.resource_type = type;
      resource.resource_name = String(acl->name);
      resource.pattern_type = pattern;
    }
    auto& out = response.resources[place->second].acls.emplace_back();
    out.principal = String(acl->principal);
    out.host = String(acl->host);
    out.operation = static_cast<int8_t>(acl->operation);
    out.permission_type = static_cast<int8_t>(acl->permission);
  }
  co_return response;
}

}  // namespace ackord::api
