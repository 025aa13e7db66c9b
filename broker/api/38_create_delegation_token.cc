// CreateDelegationToken (key 38), versions 1-3: none is made (KIP-48).
//   v3  who asks, for whom (KIP-373)
#include <algorithm>

#include "broker/api/delegation_tokens.h"
#include "broker/api/handlers.h"
#include "protocol/generated/create_delegation_token_request.h"
#include "protocol/generated/create_delegation_token_response.h"

namespace ackord::api {

io::Task<protocol::CreateDelegationTokenResponse> handle(
    RequestContext& context, protocol::CreateDelegationTokenRequest request) {
  const security::Principal& requester = context.client->principal;
  protocol::CreateDelegationTokenResponse response;
  response.error_code = token_refusal(*context.client);
  const bool all_users = std::all_of(request.renewers.begin(), request.renewers.end(),
                                     [](const auto& one) { return one.principal_type == "User"; });
  if (response.error_code == ErrorCode::DELEGATION_TOKEN_AUTH_DISABLED && !all_users)
    response.error_code = ErrorCode::INVALID_PRINCIPAL_TYPE;
  const bool for_another = request.owner_principal_name && !request.owner_principal_name->empty();
  response.principal_type = for_another && request.owner_principal_type
                                ? *request.owner_principal_type
                                : String(requester.type);
  response.principal_name = for_another ? *request.owner_principal_name : String(requester.name);
  response.token_requester_principal_type = String(requester.type);
  response.token_requester_principal_name = String(requester.name);
  const int64_t no_time = response.error_code == ErrorCode::DELEGATION_TOKEN_AUTH_DISABLED ? 0 : -1;
  response.issue_timestamp_ms = no_time;
  response.expiry_timestamp_ms = no_time;
  response.max_timestamp_ms = no_time;
  co_return response;
}

}  // namespace ackord::api
