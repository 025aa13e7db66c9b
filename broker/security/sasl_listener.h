// SaslListener: what one listener asks of those who log in: mechanisms, users, times. Built by main
// from the configuration, then immutable but for its counters; any thread. Outlives its
// connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/base/complaint.h"
#include "broker/security/jwt_verifier.h"
#include "broker/security/sasl_exchange.h"
#include "broker/security/sasl_plain.h"

namespace ackord::security {

inline constexpr std::string_view kPlain = "PLAIN";
inline constexpr std::string_view kScramSha256 = "SCRAM-SHA-256";
inline constexpr std::string_view kScramSha512 = "SCRAM-SHA-512";
inline constexpr std::string_view kOauthbearer = "OAUTHBEARER";

struct SaslSettings {
  struct Mechanism {
    std::string name;
    int64_t max_reauth_ms = 0;  // connections.max.reauth.ms; 0: a session has no end of its own
  };
  std::vector<Mechanism> mechanisms;  // sasl.enabled.mechanisms
  PlainUsers plain_users{""};
  std::shared_ptr<const JwtVerifier> tokens;  // there when OAUTHBEARER is enabled
  std::string decoy_key;                      // see sasl_scram.h
  int32_t failure_delay_ms = 100;             // connection.failed.authentication.delay.ms
};

class SaslListener {
 public:
  struct Mechanism {
    std::string name;
    int64_t max_reauth_ms = 0;
    // Since the start. A re-authentication counts as a login.
    mutable std::atomic<uint64_t> succeeded = 0;
    mutable std::atomic<uint64_t> failed = 0;
  };

  explicit SaslListener(SaslSettings settings);

  const std::vector<std::unique_ptr<Mechanism>>& mechanisms() const { return mechanisms_; }
  // Null: not enabled.
  const Mechanism* find(std::string_view name) const;
  // `credentials` outlives it; `nonce`: random and printable, without commas.
  std::unique_ptr<SaslExchange> begin(const Mechanism& mechanism,
                                      const SaslCredentials& credentials, std::string nonce) const;
  int32_t failure_delay_ms() const { return settings_.failure_delay_ms; }

  // Connections closed because they went on after their session's end, and logins refused before a
  // mechanism was agreed on.
  mutable std::atomic<uint64_t> expired = 0;
  mutable std::atomic<uint64_t> out_of_order = 0;
  mutable base::Complaint failures;

 private:
  SaslSettings settings_;
  std::vector<std::unique_ptr<Mechanism>> mechanisms_;
};

// By the listener's name.
using SaslListeners = std::map<std::string, std::unique_ptr<const SaslListener>, std::less<>>;

}  // namespace ackord::security
