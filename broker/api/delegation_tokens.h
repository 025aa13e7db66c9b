// Why a request about delegation tokens (KIP-48) is refused: there are none yet.
#pragma once

#include "broker/api/handler.h"
#include "protocol/types/error_code.h"

namespace ackord::api {

// As Kafka answers where delegation.token.secret.key is not set: who has not proved who it is may
// not ask, nobody else is given any.
inline ErrorCode token_refusal(const Client& client) {
  const bool proved = client.protocol != security::SecurityProtocol::kPlaintext &&
                      client.principal != security::Principal();
  return proved ? ErrorCode::DELEGATION_TOKEN_AUTH_DISABLED
                : ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED;
}

}  // namespace ackord::api
