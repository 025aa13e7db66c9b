// What the configuration says of logins (SASL), listener by listener.
//
// Names are looked for as Kafka does: listener.name.<listener>.<mechanism>.<name>, then
// listener.name.<listener>.<name>, then <name>; a JAAS entry only in the first form.
#pragma once

#include <vector>

#include "broker/main/config.h"
#include "broker/main/listeners.h"
#include "broker/security/sasl_listener.h"

namespace ackord::main {

// Of those of the listeners that ask for SASL. Reads the key set of OAUTHBEARER. Errors:
// INVALID_CONFIG, which names the setting: a listener on which nobody could log in, or which would
// let somebody in unproved, is refused.
Result<security::SaslListeners> sasl_listeners(const Config& config,
                                               const std::vector<ListenerConfig>& listeners);

}  // namespace ackord::main
