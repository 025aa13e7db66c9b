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
#include "broker/net/connection.h"
#include "broker/net/request_sink.h"
#include "broker/security/security_protocol.h"
#include "protocol/types/result.h"

namespace ackord::net {

struct ListenerSettings {
  std::string name = "PLAINTEXT";
  security::SecurityProtocol protocol = security::SecurityProtocol::kPlaintext;
  std::string host;                     // empty: all addresses, IPv4 and IPv6
  uint16_t port = 0;                    // 0: any free one
  int backlog = 1024;                   // socket.listen.backlog.size, where it is set
  int64_t max_idle_ms = 600000;         // connections.max.idle.ms; negative: never
  int64_t max_connections = INT32_MAX;  // of this listener
  int64_t max_connections_per_ip = INT32_MAX;
  // A connection is closed whose descriptor's number would be this or more: the rest is for files,
  // without which the logs could not go on. Numbers are given out from below.
  int descriptor_bound = INT32_MAX;
  int send_buffer_bytes = -1;  // -1: the system adjusts it
  int receive_buffer_bytes = -1;
  ConnectionLimits limits;
};

class Listener {
 public:
  // Binds; the port is known then, but refuses connections until listen(). The error says which
  // address and why.
  static Result<std::unique_ptr<Listener>> open(io::AsioCores& cores, io::Environment& environment,
                                                RequestSink& sink, ListenerSettings settings);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  uint16_t port() const;

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

 private:
  class Acceptor;
  class Room;

  Listener();
  // Tasks for on(), which wants a result.
  static io::Task<int> stop_accepting(Acceptor* acceptor);
  static io::Task<int> stop_room(Room* room, int64_t grace_ms);

  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::unique_ptr<Room>> rooms_;  // one per core
};

}  // namespace ackord::net
