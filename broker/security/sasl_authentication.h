// SaslAuthentication: how far one connection has come in saying who it is (KIP-43, KIP-152), and
// how long that holds (KIP-368). Pure: time and randomness come in, answers go out.
//
// Each frame is put to admit() first, then those that are served come back as versions_told(),
// handshake() or token(). After a failure the last answer, if there is one, is held back for the
// listener's failure_delay_ms(), and the connection is closed. Order of states, texts and what is
// answered: Kafka's SaslServerAuthenticator. Threads: the connection's core.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "broker/io/clock.h"
#include "broker/security/sasl_exchange.h"
#include "broker/security/sasl_listener.h"
#include "protocol/types/error_code.h"

namespace ackord::security {

enum class SaslState : uint8_t {
  kOpening,         // nothing has come: ApiVersions or SaslHandshake may
  kVersionsTold,    // SaslHandshake must come
  kRequests,        // handshake version 1: tokens come as SaslAuthenticate requests
  kRawTokens,       // handshake version 0: a frame is a token
  kReopened,        // a handshake has come after success
  kOtherMechanism,  // it asked for another mechanism than the first time
  kComplete,
  kFailed,
};

struct SaslTransition {
  SaslState from;
  SaslState to;
};

inline constexpr SaslTransition kSaslTransitions[] = {
    // received ApiVersions => answered
    {SaslState::kOpening, SaslState::kVersionsTold},
    // received SaslHandshake of an enabled mechanism => tokens are awaited
    {SaslState::kOpening, SaslState::kRequests},
    {SaslState::kOpening, SaslState::kRawTokens},
    {SaslState::kVersionsTold, SaslState::kRequests},
    {SaslState::kVersionsTold, SaslState::kRawTokens},
    // received SaslHandshake of another mechanism, or any other request => closed
    {SaslState::kOpening, SaslState::kFailed},
    {SaslState::kVersionsTold, SaslState::kFailed},
    // received the last token, it proves => who it is, is known
    {SaslState::kRequests, SaslState::kComplete},
    {SaslState::kRawTokens, SaslState::kComplete},
    // received a token that proves nothing, or another request => closed
    {SaslState::kRequests, SaslState::kFailed},
    {SaslState::kRawTokens, SaslState::kFailed},
    // received SaslHandshake in a session that has an end => once more
    {SaslState::kComplete, SaslState::kReopened},
    {SaslState::kReopened, SaslState::kRequests},
    {SaslState::kReopened, SaslState::kRawTokens},
    // the mechanism may not change, which is said with the next frame => closed
    {SaslState::kReopened, SaslState::kOtherMechanism},
    {SaslState::kReopened, SaslState::kFailed},
    {SaslState::kOtherMechanism, SaslState::kFailed},
    // received a request after the session's end => closed
    {SaslState::kComplete, SaslState::kFailed},
};

class SaslAuthentication {
 public:
  // Both outlive it.
  SaslAuthentication(const SaslListener& listener, const SaslCredentials& credentials)
      : listener_(listener), credentials_(credentials) {}

  enum class Admission : uint8_t {
    kServe,       // as any request
    kRawToken,    // the frame is a token, without a header
    kClose,       // at once, without an answer
    kCloseLater,  // after the delay, without an answer
  };
  // What becomes of a frame, of which the first two bytes are `api_key`.
  Admission admit(int16_t api_key, io::Now now);

  // An ApiVersions request was answered without an error. ILLEGAL_SASL_STATE: it came while tokens
  // were awaited; the connection has failed.
  ErrorCode versions_told();

  struct Handshake {
    ErrorCode error = ErrorCode::NONE;
    bool lists_mechanisms = false;
    bool answered = true;  // false: closed at once
  };
  // UNSUPPORTED_SASL_MECHANISM, ILLEGAL_SASL_STATE; the connection has failed, unless it was
  // complete, when it simply goes on.
  Handshake handshake(std::string_view mechanism, int16_t version, std::string nonce);

  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    std::string message;
    std::string bytes;
    int64_t session_lifetime_ms = 0;
    std::string_view reason;  // of a failure, for the log
  };
  // SASL_AUTHENTICATION_FAILED; ILLEGAL_SASL_STATE after success.
  Reply token(std::string_view token, io::Now now);

  SaslState state() const { return state_; }
  bool failed() const { return state_ == SaslState::kFailed; }
  const SaslListener& listener() const { return listener_; }
  // Empty: none has been agreed on.
  std::string_view mechanism() const {
    return mechanism_ != nullptr ? std::string_view(mechanism_->name) : std::string_view();
  }
  // Once complete.
  const Principal& principal() const { return principal_; }

 private:
  void move_to(SaslState next);
  Admission refuse(Admission how);
  Admission admit_complete(int16_t api_key, io::Now now);
  Reply accept(SaslStep step, io::Now now);
  Reply fail(std::string_view reason, std::string told);

  const SaslListener& listener_;
  const SaslCredentials& credentials_;
  SaslState state_ = SaslState::kOpening;
  const SaslListener::Mechanism* mechanism_ = nullptr;
  std::unique_ptr<SaslExchange> exchange_;
  bool again_ = false;  // it has been complete before
  Principal principal_;
  std::optional<int64_t> session_ends_ms_;  // steady
  std::optional<int64_t> reopened_at_ms_;   // steady
};

}  // namespace ackord::security
