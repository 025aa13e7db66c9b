// What authorizer.class.name, super.users and allow.everyone.if.no.acl.found say.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "broker/main/config.h"
#include "broker/main/listeners.h"
#include "broker/security/authorizer.h"

namespace ackord::main {

// None where no authorizer is configured. INVALID_CONFIG for one that is not served, or for
// super users that are none.
Result<std::optional<security::AuthorizerConfig>> authorizer_config(const Config& config);

// The names of the listeners that others than this machine may reach, with commas between.
std::string listeners_beyond_loopback(std::span<const ListenerConfig> listeners);

}  // namespace ackord::main
