// ExpireDelegationToken (key 40), versions 1-2: there is none (KIP-48).
#include "broker/api/delegation_tokens.h"
#include "broker/api/handlers.h"
#include "protocol/generated/expire_delegation_token_request.h"
#include "protocol/generated/expire_delegation_token_response.h"

namespace ackord::api {

io::Task<protocol::ExpireDelegationTokenResponse> handle(RequestContext& context,
                                                         protocol::ExpireDelegationTokenRequest) {
  protocol::ExpireDelegationTokenResponse response;
  response.error_code = token_refusal(*context.client);
  const bool disabled = response.error_code == ErrorCode::DELEGATION_TOKEN_AUTH_DISABLED;
  response.expiry_timestamp_ms = disabled ? 0 : -1;
  co_return response;
}

}  // namespace ackord::api
