// Listener: one entry of `listeners`: accepts connections and spreads them over the cores.
//
// Accepting and counting belong to core 0; each connection belongs to one core, in turn.
// Lifetime: destroyed after AsioCores::stop() and before the AsioCores; outlived by sink and files.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "broker/io/core.h"
#include "broker/io/posix/asio_core.h"
#include "broker/net/listener_settings.h"
#include "broker/net/request_sink.h"
#include "broker/net/room.h"
#include "broker/net/tls_context.h"
#include "protocol/types/result.h"

namespace ackord::net {

class Acceptor;

class Listener {
 public:
  // Binds; the port is known then, but refuses connections until listen(). The error says which
  // address and why.
  static Result<std::unique_ptr<Listener>> open(io::AsioCores& cores, io::Environment& environment,
                                                RequestSink& sink, ListenerSettings settings,
                                                SharedLimits shared = {});
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  uint16_t port() const;

  const std::string& name() const { return settings_.name; }

  // Of the connections that come from now on; before accept() where the protocol is one of TLS.
  // Any thread.
  void use_tls(std::shared_ptr<const TlsContext> tls);
  // From now on. Any thread.
  void set_bounds(ListenerBounds bounds);

  // From here on connections are made, and wait. Any thread, once. The error is that of open().
  Result<void> listen();
  // Serves them. Any thread, once, after listen(); the cores may not run yet. Of several listeners
  // all listen before one accepts: who is answered by one finds the others, too.
  void accept();
  // On any core, once. Accepts no more, lets every connection answer what it has received, and
  // closes those that have not ended after `grace_ms`.
  io::Task<void> stop(int64_t grace_ms);
  // For tests and metrics: open connections as core 0 counts them. On core 0.
  int64_t connections() const;
  const ListenerCounters& counters() const { return counters_; }

 private:
  explicit Listener(ListenerSettings settings, SharedLimits shared);
  // Tasks for on(), which wants a result.
  static io::Task<int> stop_accepting(Acceptor* acceptor);
  static io::Task<int> stop_room(Room* room, int64_t grace_ms);

  const ListenerSettings settings_;
  const SharedLimits shared_;
  ListenerCounters counters_;
  Room::Complaints complaints_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::unique_ptr<Room>> rooms_;  // one per core
};

}  // namespace ackord::net
