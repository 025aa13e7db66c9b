// DescribeDelegationToken (key 41), versions 1-3: over a listener without authentication nobody may
// see them (KIP-48).
#include "broker/api/handlers.h"
#include "protocol/generated/describe_delegation_token_request.h"
#include "protocol/generated/describe_delegation_token_response.h"

namespace ackord::api {

io::Task<protocol::DescribeDelegationTokenResponse> handle(
    RequestContext&, protocol::DescribeDelegationTokenRequest) {
  protocol::DescribeDelegationTokenResponse response;
  response.error_code = ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED;
  co_return response;
}

}  // namespace ackord::api
