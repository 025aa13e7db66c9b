// Acceptor: takes the connections of one listener, as far as ConnectionQuotas lets it, and spreads
// them over the rooms. All on core 0, but for take() and listen(), before it runs.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "broker/base/complaint.h"
#include "broker/io/core.h"
#include "broker/io/posix/asio_core.h"
#include "broker/net/connection_quotas.h"
#include "broker/net/listen_socket.h"
#include "broker/net/listener_settings.h"
#include "broker/net/room.h"
#include "protocol/types/result.h"

namespace ackord::net {

class Acceptor {
 public:
  // All but the settings outlive it.
  struct Surroundings {
    io::AsioCore& asio;
    io::Core core;
    ConnectionQuotas& quotas;
    ListenerCounters& counters;
    std::vector<std::unique_ptr<Room>>& rooms;
  };
  Acceptor(Surroundings surroundings, ListenerSettings settings);
  Acceptor(const Acceptor&) = delete;

  void take(std::vector<ListenSocket> sockets);
  // Another process may have bound and listened since: the address is taken only here.
  Result<void> listen();
  uint16_t port() const { return port_; }

  void start();
  void stop();
  void gone(const std::string& address) { quotas_.gone(number_, address); }
  void set_bounds(ListenerBounds bounds) { quotas_.set_bounds(number_, bounds); }
  int64_t connections() const { return quotas_.connections(number_); }

 private:
  struct Socket {
    boost::asio::posix::stream_descriptor descriptor;
    bool ipv6;
    bool waits_for_room = false;
  };

  void wait(Socket& socket);
  void accept(Socket& socket);
  void accept_later(Socket& socket, int64_t pause_ms);
  bool must_wait(Socket& socket);
  void admit(Accepted accepted);
  void hold_back(Accepted accepted, int64_t throttle_ms);
  void on_room();
  int64_t now_ms() const { return core_.clock.now().steady_ms; }

  io::AsioCore& asio_;
  io::Core core_;
  ConnectionQuotas& quotas_;
  ListenerCounters& counters_;
  std::vector<std::unique_ptr<Room>>& rooms_;
  const ListenerSettings settings_;
  const size_t number_;  // at quotas_
  std::vector<std::unique_ptr<Socket>> sockets_;
  uint16_t port_ = 0;
  base::Complaint cannot_accept_;
  base::Complaint no_descriptors_;
  base::Complaint no_room_;
  base::Complaint too_many_of_one_;
  base::Complaint too_fast_of_one_;
  size_t next_room_ = 0;
  size_t held_back_ = 0;
  bool running_ = false;
};

}  // namespace ackord::net
