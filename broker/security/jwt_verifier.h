// JwtVerifier: whether a JSON Web Token (RFC 7519, in RFC 7515's compact form) is good: signed by a
// key of the set, by the expected issuer, for one of the expected audiences, within its time. The
// claims that must be there, and what they may be, are those of Kafka's broker; a token without a
// signature ("alg":"none") is never good. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/security/jwks.h"
#include "protocol/types/ids.h"

namespace ackord::security {

struct JwtSettings {
  std::shared_ptr<const Jwks> keys;
  std::optional<std::string> issuer;   // none: any, or no issuer
  std::vector<std::string> audiences;  // none: any, or no audience
  int64_t clock_skew_seconds = 30;
  std::string subject_claim = "sub";
  std::string scope_claim = "scope";
};

struct JwtClaims {
  std::string subject;
  TimeMs expires_at_ms = 0;
};

class JwtVerifier {
 public:
  explicit JwtVerifier(JwtSettings settings) : settings_(std::move(settings)) {}

  // Else why not: a constant text, for the log.
  std::variant<JwtClaims, std::string_view> verify(std::string_view token, TimeMs now_ms) const;

 private:
  JwtSettings settings_;
};

}  // namespace ackord::security
