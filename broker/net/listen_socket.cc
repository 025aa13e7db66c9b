#include "broker/net/listen_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace ackord::net {
namespace {

Error listen_error(const ListenAddress& address, const std::string& why) {
  return error(ErrorCode::UNKNOWN_SERVER_ERROR,
               fmt::format("cannot listen on {}:{}: {}", address.host, address.port, why));
}

std::string text_of(int error_number) { return std::generic_category().message(error_number); }

void set_port(sockaddr* address, uint16_t port) {
  if (address->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
  }
}

uint16_t bound_port(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// The socket, or the errno.
std::pair<std::optional<ListenSocket>, int> bind_to(const addrinfo& info, bool both_families,
                                                    const ListenAddress& wanted) {
  const int type = info.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC;
  io::Descriptor descriptor(::socket(info.ai_family, type, info.ai_protocol));
  if (descriptor.get() < 0) return {std::nullopt, errno};
  const int on = 1;
  const int only_ipv6 = both_families ? 0 : 1;
  ::setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (wanted.receive_buffer_bytes >= 0) {
    // Before listen(): connections inherit it, and only so it sets the window they offer.
    ::setsockopt(descriptor.get(), SOL_SOCKET, SO_RCVBUF, &wanted.receive_buffer_bytes,
                 sizeof(int));
  }
  if (info.ai_family == AF_INET6) {
    ::setsockopt(descriptor.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, sizeof only_ipv6);
  }
  sockaddr_storage address{};
  std::memcpy(&address, info.ai_addr, info.ai_addrlen);
  set_port(reinterpret_cast<sockaddr*>(&address), wanted.port);
  if (::bind(descriptor.get(), reinterpret_cast<sockaddr*>(&address), info.ai_addrlen) != 0) {
    return {std::nullopt, errno};
  }
  const uint16_t bound = bound_port(descriptor.get());
  return {ListenSocket{std::move(descriptor), info.ai_family == AF_INET6, bound}, 0};
}

}  // namespace

Result<std::vector<ListenSocket>> bind_listen_sockets(const ListenAddress& address) {
  ListenAddress wanted = address;
  const bool everywhere = address.host.empty();
  addrinfo hints{};
  hints.ai_family = everywhere ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const char* host = everywhere ? nullptr : address.host.c_str();
  const int failure = ::getaddrinfo(host, "0", &hints, &list);
  if (failure != 0) return listen_error(address, ::gai_strerror(failure));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, ::freeaddrinfo);

  std::vector<ListenSocket> sockets;
  int last_failure = EADDRNOTAVAIL;
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
    auto [socket, why] = bind_to(*info, everywhere, wanted);
    if (socket) {
      // All sockets listen on one port, also when the system chose it.
      wanted.port = socket->port;
      sockets.push_back(std::move(*socket));
      continue;
    }
    last_failure = why;
    // "localhost" resolves to ::1 on machines without IPv6 too.
    if (why != EADDRNOTAVAIL && why != EAFNOSUPPORT) return listen_error(wanted, text_of(why));
  }
  if (sockets.empty() && everywhere) {
    wanted.host = "0.0.0.0";
    return bind_listen_sockets(wanted);
  }
  if (sockets.empty()) return listen_error(address, text_of(last_failure));
  return sockets;
}

}  // namespace ackord::net
