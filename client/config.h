// What every part of the client library is configured with. Plain data; names are those of Kafka's
// clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types/result.h"

namespace ackord::client {

using Millis = std::chrono::milliseconds;

struct Endpoint {
  std::string host;
  uint16_t port = 9092;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "host:port,[::1]:port,host" (port 9092 when none is given). INVALID_CONFIG for anything else.
Result<std::vector<Endpoint>> parse_endpoints(std::string_view text);

struct ClientConfig {
  std::string bootstrap_servers = "localhost:9092";
  std::string client_id = "ackord";
  Millis request_timeout{30000};           // request.timeout.ms
  Millis connection_timeout{10000};        // socket.connection.setup.timeout.ms
  Millis retry_backoff{50};                // retry.backoff.ms; doubles up to the next
  Millis retry_backoff_max{1000};          // retry.backoff.max.ms
  uint32_t max_response_size = 256 << 20;  // a larger frame ends the connection
  // Receives warnings, one line each, from whichever thread met the cause. Default: standard error.
  std::function<void(std::string_view)> warn;
};

void warn(const ClientConfig& config, std::string_view text);

}  // namespace ackord::client
