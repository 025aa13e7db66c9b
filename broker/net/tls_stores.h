// What a key store and a trust store hold: Kafka's ssl.keystore.* and ssl.truststore.*, of the
// types PEM (KIP-651) and PKCS12. Reads files: not on a core. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "broker/net/openssl_ptr.h"
#include "protocol/types/result.h"

namespace ackord::net {

struct TlsStoreSettings {
  std::string type = "JKS";             // ssl.keystore.type; JKS is Kafka's default
  std::optional<std::string> location;  // of a file
  std::optional<std::string> password;  // of the store
  // Instead of a file; PEM only.
  std::optional<std::string> key;
  std::optional<std::string> certificates;  // chain, or what is trusted
  std::optional<std::string> key_password;
};

struct TlsKeyStore {
  KeyPtr key;
  std::vector<CertificatePtr> chain;  // the key's own comes first
};

// Errors: INVALID_CONFIG; the text names the setting and never holds a secret. `prefix` is
// ssl.keystore or ssl.truststore with what comes before it.
Result<TlsKeyStore> load_key_store(const TlsStoreSettings& settings, const std::string& prefix);
Result<std::vector<CertificatePtr>> load_trust_store(const TlsStoreSettings& settings,
                                                     const std::string& prefix);

}  // namespace ackord::net
