// ExpireDelegationToken (key 40), versions 1-2: over a listener without authentication nobody may
// end one (KIP-48).
#include "broker/api/handlers.h"
#include "protocol/generated/expire_delegation_token_request.h"
#include "protocol/generated/expire_delegation_token_response.h"

namespace ackord::api {

io::Task<protocol::ExpireDelegationTokenResponse> handle(RequestContext&,
                                                         protocol::ExpireDelegationTokenRequest) {
  protocol::ExpireDelegationTokenResponse response;
  response.error_code = ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED;
  response.expiry_timestamp_ms = -1;
  co_return response;
}

}  // namespace ackord::api
