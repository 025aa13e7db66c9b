// Socket: one TCP connection whose every operation ends by a deadline. Move-only; one thread at a
// time. Errors: NETWORK_EXCEPTION, and REQUEST_TIMED_OUT when the deadline passed.
#pragma once

#include <cstddef>
#include <span>

#include "client/config.h"
#include "client/deadline.h"
#include "protocol/types/result.h"

struct addrinfo;

namespace ackord::client {

class Socket {
 public:
  // Tries every address of the host in turn.
  static Result<Socket> connect(const Endpoint& endpoint, const Deadline& deadline);

  Socket(Socket&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  Result<void> send(std::span<const std::byte> bytes, const Deadline& deadline);
  // Fills `out` entirely.
  Result<void> receive(std::span<std::byte> out, const Deadline& deadline);
  int descriptor() const { return descriptor_; }

 private:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Result<void> wait(short events, const Deadline& deadline) const;
  static Result<Socket> connect_address(const ::addrinfo& address, const Deadline& deadline);

  int descriptor_ = -1;
};

}  // namespace ackord::client
