// SASL SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677): the client proves that it knows the
// password without sending it, and so does the broker. Without channel binding, as Kafka.
//
// Stricter than Kafka, which no client minds: the channel-binding field is checked, a mandatory
// extension (m=) is refused. A user that is not there gets a salt that stays the same, and fails
// where a wrong password does: nobody learns by asking who has an account.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "broker/security/crypto.h"
#include "broker/security/sasl_exchange.h"

namespace ackord::security {

constexpr Digest digest_of(metadata::ScramMechanism mechanism) {
  return mechanism == metadata::ScramMechanism::kSha256 ? Digest::kSha256 : Digest::kSha512;
}

struct ScramSettings {
  metadata::ScramMechanism mechanism = metadata::ScramMechanism::kSha256;
  std::string nonce;      // the broker's part: random, printable, without commas
  std::string decoy_key;  // makes the salts of those who are not there: random, of this process
};

// `credentials` outlives it.
std::unique_ptr<SaslExchange> make_scram_exchange(const SaslCredentials& credentials,
                                                  ScramSettings settings);

}  // namespace ackord::security
