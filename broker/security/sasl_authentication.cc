#include "broker/security/sasl_authentication.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "broker/base/assert.h"

namespace ackord::security {
namespace {

constexpr int16_t kSaslHandshakeKey = 17;
constexpr int16_t kApiVersionsKey = 18;
constexpr int16_t kSaslAuthenticateKey = 36;
// KIP-368: who authenticates again more often than that is told that it is out of order.
constexpr int64_t kLeastReauthPauseMs = 1000;

}  // namespace

void SaslAuthentication::move_to(SaslState next) {
  const bool allowed =
      std::any_of(std::begin(kSaslTransitions), std::end(kSaslTransitions),
                  [&](const SaslTransition& one) { return one.from == state_ && one.to == next; });
  ACKORD_ASSERT(allowed, "a SASL transition of the table");
  state_ = next;
}

SaslAuthentication::Admission SaslAuthentication::refuse(Admission how) {
  ++listener_.out_of_order;
  move_to(SaslState::kFailed);
  return how;
}

SaslAuthentication::Admission SaslAuthentication::admit(int16_t api_key, io::Now now) {
  const bool handshake = api_key == kSaslHandshakeKey;
  const bool versions = api_key == kApiVersionsKey;
  switch (state_) {
    case SaslState::kOpening:
      return handshake || versions ? Admission::kServe : refuse(Admission::kClose);
    case SaslState::kVersionsTold: return handshake ? Admission::kServe : refuse(Admission::kClose);
    case SaslState::kRequests:
      return handshake || versions || api_key == kSaslAuthenticateKey
                 ? Admission::kServe
                 : refuse(Admission::kCloseLater);
    case SaslState::kRawTokens: return Admission::kRawToken;
    case SaslState::kOtherMechanism:
      ++mechanism_->failed;
      move_to(SaslState::kFailed);
      return Admission::kCloseLater;
    case SaslState::kComplete: return admit_complete(api_key, now);
    case SaslState::kReopened:  // a handshake that could not be read has ended the connection
    case SaslState::kFailed: return Admission::kClose;
  }
  return Admission::kClose;
}

SaslAuthentication::Admission SaslAuthentication::admit_complete(int16_t api_key, io::Now now) {
  if (!session_ends_ms_) return Admission::kServe;
  if (api_key == kSaslHandshakeKey &&
      (!reopened_at_ms_ || now.steady_ms - *reopened_at_ms_ >= kLeastReauthPauseMs)) {
    reopened_at_ms_ = now.steady_ms;
    move_to(SaslState::kReopened);
    return Admission::kServe;
  }
  if (now.steady_ms <= *session_ends_ms_) return Admission::kServe;
  ++listener_.expired;
  move_to(SaslState::kFailed);
  return Admission::kClose;
}

ErrorCode SaslAuthentication::versions_told() {
  if (state_ == SaslState::kOpening) move_to(SaslState::kVersionsTold);
  if (state_ != SaslState::kRequests) return ErrorCode::NONE;
  refuse(Admission::kCloseLater);
  return ErrorCode::ILLEGAL_SASL_STATE;
}

SaslAuthentication::Handshake SaslAuthentication::handshake(std::string_view name, int16_t version,
                                                            std::string nonce) {
  if (state_ == SaslState::kComplete) return {ErrorCode::ILLEGAL_SASL_STATE};
  if (state_ == SaslState::kRequests) {
    refuse(Admission::kCloseLater);
    return {ErrorCode::ILLEGAL_SASL_STATE};
  }
  const SaslListener::Mechanism* wanted = listener_.find(name);
  if (wanted == nullptr) {
    refuse(Admission::kCloseLater);
    return {ErrorCode::UNSUPPORTED_SASL_MECHANISM, true, !again_};
  }
  if (again_ && wanted != mechanism_) {
    move_to(SaslState::kOtherMechanism);
    return {ErrorCode::NONE, true};
  }
  mechanism_ = wanted;
  exchange_ = listener_.begin(*wanted, credentials_, std::move(nonce));
  move_to(version == 0 ? SaslState::kRawTokens : SaslState::kRequests);
  return {ErrorCode::NONE, true};
}

SaslAuthentication::Reply SaslAuthentication::token(std::string_view token, io::Now now) {
  if (state_ != SaslState::kRequests && state_ != SaslState::kRawTokens) {
    Reply reply;
    reply.error = ErrorCode::ILLEGAL_SASL_STATE;
    reply.message = "SaslAuthenticate request received after successful authentication";
    return reply;
  }
  SaslStep step = exchange_->step(token, now.wall_ms);
  switch (step.verdict) {
    case SaslStep::Verdict::kContinue: break;
    case SaslStep::Verdict::kAccepted: return accept(std::move(step), now);
    case SaslStep::Verdict::kRefused: return fail(step.reason, std::move(step.told));
  }
  Reply reply;
  reply.bytes = std::move(step.answer);
  return reply;
}

SaslAuthentication::Reply SaslAuthentication::fail(std::string_view reason, std::string told) {
  ++mechanism_->failed;
  exchange_.reset();
  move_to(SaslState::kFailed);
  Reply reply;
  reply.error = ErrorCode::SASL_AUTHENTICATION_FAILED;
  reply.reason = reason;
  reply.message = std::move(told);
  if (reply.message.empty()) {
    reply.message = fmt::format(
        "Authentication failed during {} due to invalid credentials with SASL mechanism {}",
        again_ ? "re-authentication" : "authentication", mechanism_->name);
  }
  return reply;
}

SaslAuthentication::Reply SaslAuthentication::accept(SaslStep step, io::Now now) {
  if (again_ &&
      (step.principal.type != principal_.type || step.principal.name != principal_.name)) {
    return fail(
        "another principal",
        fmt::format("Cannot change principals during re-authentication from {}.{}: {}.{}",
                    principal_.type, principal_.name, step.principal.type, step.principal.name));
  }
  Reply reply;
  reply.bytes = std::move(step.answer);
  session_ends_ms_.reset();
  std::optional<int64_t> lifetime;
  if (mechanism_->max_reauth_ms > 0) lifetime = mechanism_->max_reauth_ms;
  if (step.expires_at_ms) {
    const int64_t left = std::max<int64_t>(*step.expires_at_ms - now.wall_ms, 0);
    lifetime = std::min(lifetime.value_or(left), left);
  }
  if (lifetime) {
    reply.session_lifetime_ms = *lifetime;
    session_ends_ms_ = now.steady_ms + *lifetime;
  }
  principal_ = std::move(step.principal);
  again_ = true;
  exchange_.reset();
  ++mechanism_->succeeded;
  move_to(SaslState::kComplete);
  return reply;
}

}  // namespace ackord::security
