// Binding the sockets of a listener.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "broker/io/posix/descriptor.h"
#include "protocol/types/result.h"

namespace ackord::net {

struct ListenSocket {
  io::Descriptor descriptor;
  bool ipv6 = false;
  uint16_t port = 0;
};

struct ListenAddress {
  std::string host;  // empty: all addresses
  uint16_t port = 0;
  int receive_buffer_bytes = -1;  // -1: the system adjusts it
};

// Sockets bound to every address that the host has, on the same port, for listen(). Blocks on the
// resolver. Start-up only.
Result<std::vector<ListenSocket>> bind_listen_sockets(const ListenAddress& address);

}  // namespace ackord::net
