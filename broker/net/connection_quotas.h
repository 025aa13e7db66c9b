// ConnectionQuotas: who may have how many connections, and how fast new ones are taken, over all
// listeners of a broker (max.connections.*, KIP-402; creation rates, KIP-612).
//
// Over a limit of the broker or of a listener nothing is refused: new connections wait in the
// system's queue until there is room, or time. Over a limit of its own an address is refused.
// Threads: core 0 alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/quota/meter.h"

namespace ackord::net {

// Of the broker.
struct ConnectionBounds {
  int64_t max_connections = INT32_MAX;              // max.connections
  int64_t max_per_ip = INT32_MAX;                   // max.connections.per.ip
  std::map<std::string, int64_t> per_ip_overrides;  // by address
  int64_t max_creation_rate = INT32_MAX;            // max.connection.creation.rate, a second
};

// Of one listener: the same settings behind listener.name.<name>.
struct ListenerBounds {
  int64_t max_connections = INT32_MAX;
  int64_t max_creation_rate = INT32_MAX;
};

class ConnectionQuotas {
 public:
  ConnectionQuotas(ConnectionBounds bounds, quota::Windows windows);
  ConnectionQuotas(const ConnectionQuotas&) = delete;

  // Connections a second that an address may make (client quotas of ip, connection_creation_rate).
  // Before the first connection.
  using AddressRate = std::function<std::optional<double>(const std::string& address)>;
  void set_address_rate(AddressRate rate) { address_rate_ = std::move(rate); }

  // Before the first connection. `on_room` is called when a listener that had no room may have some
  // again. Its number.
  size_t add_listener(ListenerBounds bounds, std::function<void()> on_room);
  void set_bounds(ConnectionBounds bounds);
  void set_bounds(size_t listener, ListenerBounds bounds);

  bool has_room(size_t listener) const;
  // For how long it is to take none.
  int64_t pause_ms(size_t listener, int64_t now_ms) const;

  enum class Verdict : int8_t { kTaken, kTooMany, kTooFast };
  struct Taking {
    Verdict verdict = Verdict::kTaken;
    int64_t throttle_ms = 0;  // kTooFast: for how long the peer is to be kept from trying again
  };
  // Counts a connection that was accepted; if it is taken, until gone().
  Taking take(size_t listener, const std::string& address, int64_t now_ms);
  void gone(size_t listener, const std::string& address);

  int64_t connections(size_t listener) const { return listeners_[listener].open; }
  int64_t max_of(const std::string& address) const;

 private:
  struct OneListener {
    ListenerBounds bounds;
    std::function<void()> on_room;
    quota::Meter created;
    int64_t open = 0;
  };
  struct AddressMeter {
    quota::Meter created;
    int64_t used_at_ms = 0;
  };

  int64_t address_throttle_ms(const std::string& address, int64_t now_ms);
  void tell_all() const;

  ConnectionBounds bounds_;
  const quota::Windows windows_;
  AddressRate address_rate_;
  std::vector<OneListener> listeners_;
  quota::Meter created_;
  int64_t open_ = 0;
  std::unordered_map<std::string, int64_t> by_address_;
  // Of those that have a limit.
  std::unordered_map<std::string, AddressMeter> address_meters_;
  size_t sweep_at_;
};

}  // namespace ackord::net
