// RenewDelegationToken (key 39), versions 1-2: over a listener without authentication nobody may
// renew one (KIP-48).
#include "broker/api/handlers.h"
#include "protocol/generated/renew_delegation_token_request.h"
#include "protocol/generated/renew_delegation_token_response.h"

namespace ackord::api {

io::Task<protocol::RenewDelegationTokenResponse> handle(RequestContext&,
                                                        protocol::RenewDelegationTokenRequest) {
  protocol::RenewDelegationTokenResponse response;
  response.error_code = ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED;
  response.expiry_timestamp_ms = -1;
  co_return response;
}

}  // namespace ackord::api
