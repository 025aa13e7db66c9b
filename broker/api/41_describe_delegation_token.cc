// DescribeDelegationToken (key 41), versions 1-3: there are none (KIP-48).
#include "broker/api/delegation_tokens.h"
#include "broker/api/handlers.h"
#include "protocol/generated/describe_delegation_token_request.h"
#include "protocol/generated/describe_delegation_token_response.h"

namespace ackord::api {

io::Task<protocol::DescribeDelegationTokenResponse> handle(
    RequestContext& context, protocol::DescribeDelegationTokenRequest) {
  protocol::DescribeDelegationTokenResponse response;
  response.error_code = token_refusal(*context.client);
  co_return response;
}

}  // namespace ackord::api
