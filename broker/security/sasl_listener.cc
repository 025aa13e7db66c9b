#include "broker/security/sasl_listener.h"

#include <utility>

#include "broker/base/assert.h"
#include "broker/security/sasl_oauthbearer.h"
#include "broker/security/sasl_scram.h"

namespace ackord::security {

SaslListener::SaslListener(SaslSettings settings) : settings_(std::move(settings)) {
  for (const SaslSettings::Mechanism& one : settings_.mechanisms) {
    auto mechanism = std::make_unique<Mechanism>();
    mechanism->name = one.name;
    mechanism->max_reauth_ms = one.max_reauth_ms;
    mechanisms_.push_back(std::move(mechanism));
  }
}

const SaslListener::Mechanism* SaslListener::find(std::string_view name) const {
  for (const auto& one : mechanisms_) {
    if (one->name == name) return one.get();
  }
  return nullptr;
}

std::unique_ptr<SaslExchange> SaslListener::begin(const Mechanism& mechanism,
                                                  const SaslCredentials& credentials,
                                                  std::string nonce) const {
  if (mechanism.name == kPlain) return make_plain_exchange(settings_.plain_users);
  if (mechanism.name == kOauthbearer) return make_oauthbearer_exchange(*settings_.tokens);
  ScramSettings scram;
  scram.mechanism = mechanism.name == kScramSha256 ? metadata::ScramMechanism::kSha256
                                                   : metadata::ScramMechanism::kSha512;
  ACKORD_ASSERT(mechanism.name == kScramSha256 || mechanism.name == kScramSha512,
                "main enables mechanisms that there are");
  scram.nonce = std::move(nonce);
  scram.decoy_key = settings_.decoy_key;
  return make_scram_exchange(credentials, std::move(scram));
}

}  // namespace ackord::security
