// What `listeners` and the configs about them say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "broker/main/config.h"
#include "broker/net/listener.h"

namespace ackord::main {

struct Endpoint {
  std::string name;  // of the listener, in upper case
  std::string host;  // without the brackets of an IPv6 address; may be empty
  uint16_t port = 0;
};

// "NAME://host:port".
Result<Endpoint> parse_endpoint(std::string_view text);

// What the broker's own limits say, of all listeners together, and of one.
Result<net::ConnectionBounds> connection_bounds(const Config& config);
net::ListenerBounds listener_bounds(const Config& config, std::string_view listener);

// What all connections may hold (queued.max.requests, queued.max.request.bytes).
struct QueueBounds {
  int64_t max_bytes = 0;
  int64_t max_requests = 0;
};
QueueBounds queue_bounds(const Config& config);

struct ListenerConfig {
  net::ListenerSettings settings;
  Endpoint advertised;  // what clients are told; port 0: the one that is bound
};

// One per entry of `listeners`; those of a Kafka controller are left out, there is none to talk to.
// Errors: INVALID_CONFIG, which names the entry.
Result<std::vector<ListenerConfig>> listener_configs(const Config& config);

}  // namespace ackord::main
