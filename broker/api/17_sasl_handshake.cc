// SaslHandshake (key 17), versions 0-1: no listener asks for SASL, there is nothing to agree on
// (KIP-43).
#include "broker/api/handlers.h"
#include "protocol/generated/sasl_handshake_request.h"
#include "protocol/generated/sasl_handshake_response.h"

namespace ackord::api {

io::Task<protocol::SaslHandshakeResponse> handle(RequestContext&, protocol::SaslHandshakeRequest) {
  protocol::SaslHandshakeResponse response;
  response.error_code = ErrorCode::ILLEGAL_SASL_STATE;
  co_return response;
}

}  // namespace ackord::api
