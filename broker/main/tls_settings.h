// What a listener's ssl.* settings say.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "broker/main/config.h"
#include "broker/net/tls_context.h"
#include "broker/security/security_protocol.h"

namespace ackord::main {

// ssl.client.auth of a SASL_SSL listener is its own alone (KIP-684).
net::TlsSettings tls_settings(const Config& config, std::string_view listener,
                              security::SecurityProtocol protocol);

// Key and certificates, read now. `before`: what they take the place of; the own names may not
// change then, unless ssl.allow.dn.changes and ssl.allow.san.changes allow it. Not on a core.
// Errors: INVALID_CONFIG; no secret in the text.
Result<std::shared_ptr<const net::TlsContext>> load_tls(
    const Config& config, std::string_view listener, security::SecurityProtocol protocol,
    const std::shared_ptr<const net::TlsContext>& before);

}  // namespace ackord::main
