// CreateDelegationToken (key 38), versions 1-3: over a listener without authentication nobody may
// ask for one (KIP-48).
//   v3  who asks, for whom (KIP-373)
#include "broker/api/handlers.h"
#include "protocol/generated/create_delegation_token_request.h"
#include "protocol/generated/create_delegation_token_response.h"

namespace ackord::api {

io::Task<protocol::CreateDelegationTokenResponse> handle(RequestContext&,
                                                         protocol::CreateDelegationTokenRequest) {
  const String type("User");
  const String anonymous("ANONYMOUS");
  protocol::CreateDelegationTokenResponse response;
  response.error_code = ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED;
  response.principal_type = response.token_requester_principal_type = type;
  response.principal_name = response.token_requester_principal_name = anonymous;
  response.issue_timestamp_ms = response.expiry_timestamp_ms = response.max_timestamp_ms = -1;
  co_return response;
}

}  // namespace ackord::api
