// SaslAuthenticate (key 36), versions 0-2: a token of a login, and what is answered to it
// (KIP-152).
//   v1  how long the session lasts (KIP-368)
// On a listener that asks for no SASL every client is past it.
#include "broker/api/handlers.h"
#include "broker/api/sasl_gate.h"
#include "protocol/generated/sasl_authenticate_request.h"
#include "protocol/generated/sasl_authenticate_response.h"

namespace ackord::api {

io::Task<protocol::SaslAuthenticateResponse> handle(RequestContext& context,
                                                    protocol::SaslAuthenticateRequest request) {
  protocol::SaslAuthenticateResponse response;
  Client& client = *context.client;
  if (client.sasl == nullptr) {
    response.error_code = ErrorCode::ILLEGAL_SASL_STATE;
    response.error_message =
        String("SaslAuthenticate request received after successful authentication");
    co_return response;
  }
  const io::Now now = context.core.clock.now();
  auto reply = take_token(client, request.auth_bytes.sv(), now);
  response.error_code = reply.error;
  response.error_message = String(reply.message);
  response.auth_bytes = Bytes(reply.bytes);
  response.session_lifetime_ms = reply.session_lifetime_ms;
  if (client.sasl->failed()) context.last_after_ms = login_failed(client, reply.reason, now);
  co_return response;
}

}  // namespace ackord::api
