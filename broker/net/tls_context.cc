#include "broker/net/tls_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "broker/net/tls_names.h"

namespace ackord::net {
namespace {

constexpr std::string_view kTls12 = "TLSv1.2";
constexpr std::string_view kTls13 = "TLSv1.3";

Error refuse(std::string text) { return error(ErrorCode::INVALID_CONFIG, std::move(text)); }

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

Result<void> set_versions(SSL_CTX* context, const TlsSettings& settings) {
  if (settings.protocol != "TLS" && settings.protocol != kTls12 && settings.protocol != kTls13) {
    return refuse(fmt::format("{}ssl.protocol={}: TLS, TLSv1.2 and TLSv1.3 are served",
                              settings.prefix, settings.protocol));
  }
  for (const std::string& version : settings.protocols) {
    if (version == kTls12 || version == kTls13) continue;
    return refuse(fmt::format("{}ssl.enabled.protocols={}: TLSv1.2 and TLSv1.3 are served",
                              settings.prefix, version));
  }
  if (settings.protocols.empty())
    return refuse(settings.prefix + "ssl.enabled.protocols names none");
  const bool old = contains(settings.protocols, kTls12);
  const bool current = contains(settings.protocols, kTls13);
  SSL_CTX_set_min_proto_version(context, old ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, current ? TLS1_3_VERSION : TLS1_2_VERSION);
  return {};
}

// OpenSSL's names of the suites by those that Java has; both are taken.
struct Suites {
  std::string of_tls13;
  std::string older;
};
Result<Suites> find_suites(const TlsSettings& settings) {
  const SslContextPtr all(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_set_cipher_list(all.get(), "ALL:@SECLEVEL=0");
  const STACK_OF(SSL_CIPHER)* known = SSL_CTX_get_ciphers(all.get());
  Suites suites;
  for (const std::string& wanted : settings.cipher_suites) {
    const SSL_CIPHER* found = nullptr;
    for (int i = 0; i < sk_SSL_CIPHER_num(known) && found == nullptr; ++i) {
      const SSL_CIPHER* one = sk_SSL_CIPHER_value(known, i);
      if (wanted == SSL_CIPHER_standard_name(one) || wanted == SSL_CIPHER_get_name(one))
        found = one;
    }
    if (found == nullptr) {
      return refuse(
          fmt::format("{}ssl.cipher.suites={}: no such suite is known", settings.prefix, wanted));
    }
    const bool is_new = std::string_view(SSL_CIPHER_get_version(found)) == kTls13;
    std::string& list = is_new ? suites.of_tls13 : suites.older;
    if (!list.empty()) list.push_back(':');
    list += SSL_CIPHER_get_name(found);
  }
  return suites;
}

// A version without a suite is not spoken.
Result<void> set_suites(SSL_CTX* context, const TlsSettings& settings) {
  if (settings.cipher_suites.empty()) return {};
  auto suites = find_suites(settings);
  if (!suites) return suites.error();
  const bool old = contains(settings.protocols, kTls12) && !suites->older.empty();
  const bool current = contains(settings.protocols, kTls13) && !suites->of_tls13.empty();
  const bool set = (!old || SSL_CTX_set_cipher_list(context, suites->older.c_str()) == 1) &&
                   (!current || SSL_CTX_set_ciphersuites(context, suites->of_tls13.c_str()) == 1);
  if (!set || (!old && !current)) {
    ERR_clear_error();
    return refuse(settings.prefix + "ssl.cipher.suites: none is left for ssl.enabled.protocols");
  }
  SSL_CTX_set_min_proto_version(context, old ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, current ? TLS1_3_VERSION : TLS1_2_VERSION);
  return {};
}

Result<void> set_key(SSL_CTX* context, const TlsKeyStore& store, const std::string& prefix) {
  bool good = SSL_CTX_use_certificate(context, store.chain.front().get()) == 1 &&
              SSL_CTX_use_PrivateKey(context, store.key.get()) == 1;
  for (size_t i = 1; good && i < store.chain.size(); ++i)
    good = SSL_CTX_add1_chain_cert(context, store.chain[i].get()) == 1;
  if (good) return {};
  return refuse(fmt::format("{}: {}", prefix, take_openssl_error()));
}

Result<void> set_trust(SSL_CTX* context, const TlsSettings& settings) {
  auto trusted = load_trust_store(settings.trust_store, settings.prefix + "ssl.truststore");
  if (!trusted) return trusted.error();
  if (settings.client_auth == TlsClientAuth::kNone) return {};
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const auto& one : *trusted) {
    X509_STORE_add_cert(store, one.get());
    SSL_CTX_add_client_CA(context, one.get());
  }
  if (trusted->empty()) SSL_CTX_set_default_verify_paths(context);
  // What is in the store is trusted, whether or not it was issued by itself: as in Java.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  const int required =
      settings.client_auth == TlsClientAuth::kRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | required, nullptr);
  ERR_clear_error();
  return {};
}

void set_manners(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  // Buffers only while there is something in them: most connections are idle.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::make(const TlsSettings& settings) {
  const std::string key_prefix = settings.prefix + "ssl.keystore";
  auto store = load_key_store(settings.key_store, key_prefix);
  if (!store) return store.error();
  std::shared_ptr<TlsContext> made(new TlsContext());
  made->context_.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = made->context_.get();
  if (context == nullptr) return refuse("TLS cannot be used: " + take_openssl_error());
  set_manners(context);
  if (auto set = set_versions(context, settings); !set) return set.error();
  if (auto set = set_suites(context, settings); !set) return set.error();
  if (auto set = set_key(context, *store, key_prefix); !set) return set.error();
  if (auto set = set_trust(context, settings); !set) return set.error();
  made->subject_ = distinguished_name(store->chain.front().get());
  made->alt_names_ = subject_alt_names(store->chain.front().get());
  return std::shared_ptr<const TlsContext>(std::move(made));
}

}  // namespace ackord::net
