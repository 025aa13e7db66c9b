// SaslHandshake (key 17), versions 0-1: which mechanism a login will use (KIP-43).
//   v0  the tokens follow as bare frames
//   v1  the tokens follow in SaslAuthenticate requests (KIP-152)
// On a listener that asks for no SASL, and after a login in a session without an end, there is
// nothing to agree on.
#include "broker/api/handlers.h"
#include "broker/api/sasl_gate.h"
#include "protocol/generated/sasl_handshake_request.h"
#include "protocol/generated/sasl_handshake_response.h"

namespace ackord::api {

io::Task<protocol::SaslHandshakeResponse> handle(RequestContext& context,
                                                 protocol::SaslHandshakeRequest request) {
  protocol::SaslHandshakeResponse response;
  response.error_code = ErrorCode::ILLEGAL_SASL_STATE;
  Client& client = *context.client;
  if (client.sasl == nullptr) co_return response;
  const auto agreed = client.sasl->handshake(request.mechanism.sv(), context.api_version,
                                             make_nonce(context.services.environment.random));
  response.error_code = agreed.error;
  if (agreed.lists_mechanisms) {
    for (const auto& one : client.sasl->listener().mechanisms())
      response.mechanisms.push_back(String(one->name));
  }
  context.close_connection = !agreed.answered;
  if (client.sasl->failed()) {
    const bool unknown = agreed.error == ErrorCode::UNSUPPORTED_SASL_MECHANISM;
    context.last_after_ms =
        login_failed(client, unknown ? "a mechanism that is not enabled" : "out of order",
                     context.core.clock.now());
  }
  co_return response;
}

}  // namespace ackord::api
