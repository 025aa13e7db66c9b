// SaslExchange: one login by one mechanism: bytes in, bytes out, a verdict. What the mechanisms
// have in common; sasl_authentication.h asks them. Pure: time and randomness come in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker/metadata/scram_credentials.h"
#include "broker/security/principal.h"
#include "protocol/types/ids.h"

namespace ackord::security {

struct SaslStep {
  enum class Verdict : uint8_t { kContinue, kAccepted, kRefused };

  Verdict verdict = Verdict::kRefused;
  std::string answer;                     // to the client, unless refused
  Principal principal;                    // accepted
  std::optional<TimeMs> expires_at_ms;    // accepted: what was shown is good until then
  std::string told;                       // refused: to the client; empty: the general text
  std::string_view reason = "malformed";  // refused: for the log; a constant, so without secrets
};

inline SaslStep sasl_continue(std::string answer) {
  SaslStep step;
  step.verdict = SaslStep::Verdict::kContinue;
  step.answer = std::move(answer);
  return step;
}
inline SaslStep sasl_refused(std::string_view reason, std::string told = "") {
  SaslStep step;
  step.reason = reason;
  step.told = std::move(told);
  return step;
}

class SaslExchange {
 public:
  virtual ~SaslExchange() = default;
  // The client's next bytes, as hostile as they may be. Not called after the verdict.
  virtual SaslStep step(std::string_view token, TimeMs now_ms) = 0;
};

// Where SCRAM finds what users prove themselves with. Called on the connection's core.
class SaslCredentials {
 public:
  virtual ~SaslCredentials() = default;
  virtual std::optional<metadata::ScramCredential> scram(metadata::ScramMechanism mechanism,
                                                         std::string_view user) const = 0;
};

}  // namespace ackord::security
