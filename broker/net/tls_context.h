// TlsContext: what the TLS connections of a listener begin with: key, chain, whom to trust,
// versions, cipher suites. Immutable; a change makes another one, for the connections that come.
//
// make() reads files: not on a core. Everything else: any thread. There is no resumption of
// sessions: each connection proves anew who it is.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "broker/net/openssl_ptr.h"
#include "broker/net/tls_stores.h"
#include "protocol/types/result.h"

namespace ackord::net {

enum class TlsClientAuth : int8_t { kNone, kRequested, kRequired };  // ssl.client.auth

struct TlsSettings {
  TlsStoreSettings key_store;
  TlsStoreSettings trust_store;            // none: what the system trusts
  std::string protocol = "TLSv1.3";        // ssl.protocol
  std::vector<std::string> protocols;      // ssl.enabled.protocols
  std::vector<std::string> cipher_suites;  // IANA's names; none: OpenSSL's choice
  TlsClientAuth client_auth = TlsClientAuth::kNone;
  // listener.name.<name>., for texts.
  std::string prefix;
};

class TlsContext {
 public:
  // Errors: INVALID_CONFIG; the text names the setting and holds no secret.
  static Result<std::shared_ptr<const TlsContext>> make(const TlsSettings& settings);

  // A server's end, which has not shaken hands.
  SslPtr new_session() const { return SslPtr(SSL_new(context_.get())); }

  // Of the own certificate; may not change while the broker runs, unless ssl.allow.dn.changes and
  // ssl.allow.san.changes say so.
  const std::string& subject() const { return subject_; }
  const std::set<std::string>& alt_names() const { return alt_names_; }

 private:
  TlsContext() = default;

  SslContextPtr context_;
  std::string subject_;
  std::set<std::string> alt_names_;
};

}  // namespace ackord::net
