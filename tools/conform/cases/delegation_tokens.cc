// Delegation tokens on a listener where none may be asked for, and SASL where there is none.
#include "tools/conform/case.h"
#include "tools/conform/kit/kit.h"

namespace ackord::conform {

AREA("delegation_tokens", "Delegation tokens and SASL on a plaintext listener");

namespace {

constexpr const char* kSpec = "KIP-48";
constexpr ErrorCode kNotAllowed = ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED;

}  // namespace

CASE(create, kSpec, .api = "CreateDelegationToken", .first = 1, .last = 3) {
  Object body{{"renewers", list()}, {"maxLifetimeMs", 60000}};
  if (kit.version() >= 3)
    body = merged(body, {{"ownerPrincipalType", nullptr}, {"ownerPrincipalName", nullptr}});
  const Value answer = kit.ask("CreateDelegationToken", kit.version(), body);
  answer["errorCode"].is(kNotAllowed);
  answer["principalType"].is("User");
  answer["principalName"].is("ANONYMOUS");
  answer["tokenId"].is("");
  answer["hmac"].is("");
  answer["expiryTimestampMs"].is(-1);
}

CASE(renew, kSpec, .api = "RenewDelegationToken", .first = 1, .last = 2) {
  const Value answer = kit.ask("RenewDelegationToken", kit.version(),
                               {{"hmac", bytes("abc")}, {"renewPeriodMs", 60000}});
  answer["errorCode"].is(kNotAllowed);
  answer["expiryTimestampMs"].is(-1);
}

CASE(expire, kSpec, .api = "ExpireDelegationToken", .first = 1, .last = 2) {
  const Value answer = kit.ask("ExpireDelegationToken", kit.version(),
                               {{"hmac", bytes("abc")}, {"expiryTimePeriodMs", 60000}});
  answer["errorCode"].is(kNotAllowed);
  answer["expiryTimestampMs"].is(-1);
}

CASE(describe, kSpec, .api = "DescribeDelegationToken", .first = 1, .last = 3) {
  const Value answer = kit.ask("DescribeDelegationToken", kit.version(), {{"owners", nullptr}});
  answer["errorCode"].is(kNotAllowed);
  answer["tokens"].has_size(0);
}

CASE(sasl_handshake, "KIP-43", .api = "SaslHandshake", .first = 0, .last = 1) {
  const Value answer = kit.ask("SaslHandshake", kit.version(), {{"mechanism", "PLAIN"}});
  answer["errorCode"].is(ErrorCode::ILLEGAL_SASL_STATE);
  answer["mechanisms"].has_size(0);
}

CASE(sasl_authenticate, "KIP-152", .api = "SaslAuthenticate", .first = 0, .last = 2) {
  const Value answer = kit.ask("SaslAuthenticate", kit.version(), {{"authBytes", bytes("\0a\0b")}});
  answer["errorCode"].is(ErrorCode::ILLEGAL_SASL_STATE);
  answer["errorMessage"].is_not_empty();
  kit.ask("Metadata", 12, {});
}

}  // namespace ackord::conform
