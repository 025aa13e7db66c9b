// DescribeAcls (key 29), versions 1-3: there is no authorizer to ask (KIP-140).
#include "broker/api/handlers.h"
#include "broker/api/no_authorizer.h"
#include "protocol/generated/describe_acls_request.h"
#include "protocol/generated/describe_acls_response.h"

namespace ackord::api {

io::Task<protocol::DescribeAclsResponse> handle(RequestContext&, protocol::DescribeAclsRequest) {
  protocol::DescribeAclsResponse response;
  response.error_code = ErrorCode::SECURITY_DISABLED;
  response.error_message = String(kNoAuthorizer);
  co_return response;
}

}  // namespace ackord::api
