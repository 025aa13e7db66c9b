// SaslAuthenticate (key 36), versions 0-2: no listener asks for SASL, so that every client is past
// it (KIP-152).
#include "broker/api/handlers.h"
#include "protocol/generated/sasl_authenticate_request.h"
#include "protocol/generated/sasl_authenticate_response.h"

namespace ackord::api {

io::Task<protocol::SaslAuthenticateResponse> handle(RequestContext&,
                                                    protocol::SaslAuthenticateRequest) {
  protocol::SaslAuthenticateResponse response;
  response.error_code = ErrorCode::ILLEGAL_SASL_STATE;
  response.error_message =
      String("SaslAuthenticate request received after successful authentication");
  co_return response;
}

}  // namespace ackord::api
