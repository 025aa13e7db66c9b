#include "broker/main/tls_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "broker/metadata/config_tables.h"

namespace ackord::main {
namespace {

net::TlsClientAuth client_auth_of(std::string_view text) {
  if (text == "required") return net::TlsClientAuth::kRequired;
  return text == "requested" ? net::TlsClientAuth::kRequested : net::TlsClientAuth::kNone;
}

}  // namespace

net::TlsSettings tls_settings(const Config& config, std::string_view listener,
                              security::SecurityProtocol protocol) {
  const auto find = [&](std::string_view name) { return config.find_for(listener, name); };
  net::TlsSettings settings;
  settings.prefix = fmt::format("listener {}: ", listener);
  settings.key_store.type = find("ssl.keystore.type").value_or("JKS");
  settings.key_store.location = find("ssl.keystore.location");
  settings.key_store.password = find("ssl.keystore.password");
  settings.key_store.key = find("ssl.keystore.key");
  settings.key_store.certificates = find("ssl.keystore.certificate.chain");
  settings.key_store.key_password = find("ssl.key.password");
  settings.trust_store.type = find("ssl.truststore.type").value_or("JKS");
  settings.trust_store.location = find("ssl.truststore.location");
  settings.trust_store.password = find("ssl.truststore.password");
  settings.trust_store.certificates = find("ssl.truststore.certificates");
  settings.protocol = find("ssl.protocol").value_or("TLSv1.3");
  settings.protocols = metadata::split_list(find("ssl.enabled.protocols").value_or(""));
  settings.cipher_suites = metadata::split_list(find("ssl.cipher.suites").value_or(""));
  // Where SASL says who the client is, only the listener's own setting asks for a certificate.
  const auto client_auth = security::uses_sasl(protocol)
                               ? config.find_only_for(listener, "ssl.client.auth")
                               : find("ssl.client.auth");
  settings.client_auth = client_auth_of(client_auth.value_or("none"));
  return settings;
}

Result<std::shared_ptr<const net::TlsContext>> load_tls(
    const Config& config, std::string_view listener, security::SecurityProtocol protocol,
    const std::shared_ptr<const net::TlsContext>& before) {
  auto made = net::TlsContext::make(tls_settings(config, listener, protocol));
  if (!made || before == nullptr) return made;
  const auto allows = [&](std::string_view name) {
    return config.find_for(listener, name) == "true";
  };
  const auto& now = *made;
  if (now->subject() != before->subject() && !allows("ssl.allow.dn.changes")) {
    return error(ErrorCode::INVALID_CONFIG,
                 fmt::format("listener {}: the key store's distinguished name may not change "
                             "(ssl.allow.dn.changes): {} is in use, {} is new",
                             listener, before->subject(), now->subject()));
  }
  const bool keeps_names = std::includes(now->alt_names().begin(), now->alt_names().end(),
                                         before->alt_names().begin(), before->alt_names().end());
  if (!keeps_names && !allows("ssl.allow.san.changes")) {
    return error(ErrorCode::INVALID_CONFIG,
                 fmt::format("listener {}: the key store lacks subject alternative names that are "
                             "in use (ssl.allow.san.changes)",
                             listener));
  }
  return made;
}

}  // namespace ackord::main
