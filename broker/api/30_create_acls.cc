// CreateAcls (key 30), versions 1-3: there is no authorizer to tell (KIP-140).
#include "broker/api/handlers.h"
#include "broker/api/no_authorizer.h"
#include "protocol/generated/create_acls_request.h"
#include "protocol/generated/create_acls_response.h"

namespace ackord::api {

io::Task<protocol::CreateAclsResponse> handle(RequestContext&,
                                              protocol::CreateAclsRequest request) {
  protocol::CreateAclsResponse response;
  for (size_t i = 0; i < request.creations.size(); ++i) {
    auto& result = response.results.emplace_back();
    result.error_code = ErrorCode::SECURITY_DISABLED;
    result.error_message = String(kNoAuthorizer);
  }
  co_return response;
}

}  // namespace ackord::api
