// SASL OAUTHBEARER (RFC 7628): the client shows a JSON Web Token. Tokens without a signature, which
// Kafka takes where no validator is set, are never taken. A token that is not good is answered with
// the RFC's JSON, and the login fails with the client's next message.
#pragma once

#include <memory>

#include "broker/security/jwt_verifier.h"
#include "broker/security/sasl_exchange.h"

namespace ackord::security {

// `verifier` outlives it.
std::unique_ptr<SaslExchange> make_oauthbearer_exchange(const JwtVerifier& verifier);

}  // namespace ackord::security
