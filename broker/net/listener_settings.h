// What one entry of `listeners` asks for, and what is counted about it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "broker/net/connection.h"
#include "broker/net/connection_quotas.h"
#include "broker/net/request_budget.h"
#include "broker/security/security_protocol.h"
#include "broker/security/ssl_principal_mapper.h"

namespace ackord::net {

struct ListenerSettings {
  std::string name = "PLAINTEXT";
  std::string host;    // empty: all addresses, IPv4 and IPv6
  uint16_t port = 0;   // 0: any free one
  int backlog = 1024;  // socket.listen.backlog.size, where it is set
  security::SecurityProtocol protocol = security::SecurityProtocol::kPlaintext;
  // ssl.principal.mapping.rules; none: the subject itself.
  std::shared_ptr<const security::SslPrincipalMapper> principals;
  ListenerBounds bounds;         // may change
  int64_t max_idle_ms = 600000;  // connections.max.idle.ms; negative: never
  // Within it a peer has shaken hands and said who it is (connections.max.authentication.ms).
  int64_t max_authentication_ms = 30000;
  // A connection is closed whose descriptor's number would be this or more: the rest is for files,
  // without which the logs could not go on. Numbers are given out from below.
  int descriptor_bound = INT32_MAX;
  int send_buffer_bytes = -1;  // -1: the system adjusts it
  int receive_buffer_bytes = -1;
  ConnectionLimits limits;
};

// Of all connections of a broker. Null: the listener makes its own, without limits.
struct SharedLimits {
  std::shared_ptr<ConnectionQuotas> quotas;
  std::shared_ptr<RequestBudget> budget;
};

// Why connections ended, or were not made. Any thread.
struct ListenerCounters {
  std::atomic<uint64_t> failed_handshakes{0};     // TLS
  std::atomic<uint64_t> late_authentications{0};  // connections.max.authentication.ms
  std::atomic<uint64_t> idle{0};                  // connections.max.idle.ms
  std::atomic<uint64_t> holding_memory{0};        // slow, while others waited for a place
  std::atomic<uint64_t> too_many_of_address{0};   // max.connections.per.ip
  std::atomic<uint64_t> too_fast_of_address{0};   // connection_creation_rate
};

}  // namespace ackord::net
