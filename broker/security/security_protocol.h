// What a listener's connections are carried by, and whether they must say who they are
// (listener.security.protocol.map).
#pragma once

#include <cstdint>

namespace ackord::security {

enum class SecurityProtocol : uint8_t { kPlaintext, kSsl, kSaslPlaintext, kSaslSsl };

constexpr bool uses_tls(SecurityProtocol protocol) {
  return protocol == SecurityProtocol::kSsl || protocol == SecurityProtocol::kSaslSsl;
}
constexpr bool uses_sasl(SecurityProtocol protocol) {
  return protocol == SecurityProtocol::kSaslPlaintext || protocol == SecurityProtocol::kSaslSsl;
}

}  // namespace ackord::security
