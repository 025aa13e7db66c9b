#include "client/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

namespace ackord::client {
namespace {

Error network_error(const char* what, int number) {
  return error(ErrorCode::NETWORK_EXCEPTION, std::string(what) + ": " + std::strerror(number));
}

}  // namespace

bool Backoff::sleep(const Deadline& deadline) {
  const Millis wait = next();
  if (wait >= deadline.left()) return false;
  std::this_thread::sleep_for(wait);
  return true;
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Socket::wait(short events, const Deadline& deadline) const {
  while (true) {
    struct pollfd entry{descriptor_, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(deadline.left().count()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return network_error("poll", errno);
    if (deadline.passed()) return error(ErrorCode::REQUEST_TIMED_OUT, "no answer in time");
  }
}

Result<Socket> Socket::connect_address(const ::addrinfo& address, const Deadline& deadline) {
  const int descriptor = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return network_error("socket", errno);
  Socket socket(descriptor);
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return network_error("connect", errno);
  if (Result<void> ready = socket.wait(POLLOUT, deadline); !ready) return ready.error();
  int problem = 0;
  socklen_t size = sizeof problem;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &size);
  if (problem != 0) return network_error("connect", problem);
  return socket;
}

Result<Socket> Socket::connect(const Endpoint& endpoint, const Deadline& deadline) {
  ::addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  ::addrinfo* found = nullptr;
  const std::string port = std::to_string(endpoint.port);
  const int status = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  if (status != 0) {
    return error(ErrorCode::NETWORK_EXCEPTION, endpoint.host + ": " + ::gai_strerror(status));
  }
  const std::unique_ptr<::addrinfo, void (*)(::addrinfo*)> addresses(found, ::freeaddrinfo);
  Error last = error(ErrorCode::NETWORK_EXCEPTION, endpoint.host + ": no address");
  for (const ::addrinfo* address = found; address != nullptr; address = address->ai_next) {
    Result<Socket> socket = connect_address(*address, deadline);
    if (socket) return socket;
    last = socket.error();
  }
  last.message = endpoint.host + ":" + port + ": " + last.message;
  return last;
}

Result<void> Socket::send(std::span<const std::byte> bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return network_error("send", errno);
    if (Result<void> ready = wait(POLLOUT, deadline); !ready) return ready;
  }
  return {};
}

Result<void> Socket::receive(std::span<std::byte> out, const Deadline& deadline) {
  while (!out.empty()) {
    const ssize_t received = ::recv(descriptor_, out.data(), out.size(), 0);
    if (received > 0) {
      out = out.subspan(static_cast<size_t>(received));
      continue;
    }
    if (received == 0)
      return error(ErrorCode::NETWORK_EXCEPTION, "the broker closed the connection");
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return network_error("receive", errno);
    if (Result<void> ready = wait(POLLIN, deadline); !ready) return ready;
  }
  return {};
}

}  // namespace ackord::client
