#include "broker/net/acceptor.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ackord::net {
namespace {

// Accepting has to wait when the process has no descriptor left: the queue stays readable
// meanwhile.
constexpr int64_t kAcceptPauseMs = 100;
// Of connections that are only kept open, so that their peers do not try again at once.
constexpr size_t kMostHeldBack = 256;

std::string address_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text,
                sizeof text);
    return text;
  }
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&ipv6)) {
    ::inet_ntop(AF_INET, ipv6.s6_addr + 12, text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, &ipv6, text, sizeof text);
  }
  return text;
}

uint16_t port_of(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                   : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

}  // namespace

Acceptor::Acceptor(Surroundings surroundings, ListenerSettings settings)
    : asio_(surroundings.asio),
      core_(surroundings.core),
      quotas_(surroundings.quotas),
      counters_(surroundings.counters),
      rooms_(surroundings.rooms),
      settings_(std::move(settings)),
      number_(quotas_.add_listener(settings_.bounds, [this] { on_room(); })) {}

void Acceptor::take(std::vector<ListenSocket> sockets) {
  port_ = sockets.front().port;
  for (auto& socket : sockets) {
    sockets_.push_back(std::make_unique<Socket>(
        Socket{boost::asio::posix::stream_descriptor(asio_.context(), socket.descriptor.release()),
               socket.ipv6}));
  }
}

Result<void> Acceptor::listen() {
  for (auto& socket : sockets_) {
    if (::listen(socket->descriptor.native_handle(), settings_.backlog) == 0) continue;
    return error(ErrorCode::UNKNOWN_SERVER_ERROR,
                 fmt::format("cannot listen on {}:{}: {}", settings_.host, port_,
                             std::generic_category().message(errno)));
  }
  return {};
}

void Acceptor::start() {
  running_ = true;
  for (auto& socket : sockets_) wait(*socket);
}

void Acceptor::stop() {
  running_ = false;
  for (auto& socket : sockets_) socket->descriptor.close();
}

void Acceptor::wait(Socket& socket) {
  socket.descriptor.async_wait(boost::asio::posix::descriptor_base::wait_read,
                               [this, &socket](const boost::system::error_code& failure) {
                                 if (!failure && running_) accept(socket);
                               });
}

void Acceptor::accept_later(Socket& socket, int64_t pause_ms) {
  core_.clock.call_at(now_ms() + pause_ms, [this, &socket] {
    if (running_) accept(socket);
  });
}

// What nobody accepts waits in the system's queue, as with Kafka.
bool Acceptor::must_wait(Socket& socket) {
  if (!quotas_.has_room(number_)) {
    socket.waits_for_room = true;
    no_room_.warn(now_ms(), "no new connections are taken, max.connections reached listener={}",
                  settings_.name);
    return true;
  }
  const int64_t pause_ms = quotas_.pause_ms(number_, now_ms());
  if (pause_ms > 0) accept_later(socket, pause_ms);
  return pause_ms > 0;
}

void Acceptor::on_room() {
  for (auto& socket : sockets_) {
    if (!running_ || !socket->waits_for_room || !quotas_.has_room(number_)) continue;
    socket->waits_for_room = false;
    wait(*socket);
  }
}

void Acceptor::accept(Socket& socket) {
  // A few at a time, so that a flood of them leaves the core to its other work.
  for (int i = 0; i < 16; ++i) {
    if (must_wait(socket)) return;
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    io::Descriptor descriptor(::accept4(socket.descriptor.native_handle(),
                                        reinterpret_cast<sockaddr*>(&address), &size,
                                        SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (descriptor.get() >= 0) {
      admit(Accepted{std::move(descriptor), socket.ipv6, address_text(address), port_of(address)});
      continue;
    }
    const int why = errno;
    if (why == EINTR || why == ECONNABORTED) continue;
    if (why == EAGAIN || why == EWOULDBLOCK) break;
    cannot_accept_.warn(now_ms(), "cannot accept a connection listener={}: {}", settings_.name,
                        std::generic_category().message(why));
    accept_later(socket, kAcceptPauseMs);
    return;
  }
  wait(socket);
}

void Acceptor::admit(Accepted accepted) {
  if (accepted.descriptor.get() >= settings_.descriptor_bound) {
    no_descriptors_.warn(now_ms(),
                         "connection closed, the descriptors left are for files client=/{} "
                         "listener={}",
                         accepted.address, settings_.name);
    return;
  }
  const auto taking = quotas_.take(number_, accepted.address, now_ms());
  switch (taking.verdict) {
    case ConnectionQuotas::Verdict::kTaken: break;
    case ConnectionQuotas::Verdict::kTooMany:
      ++counters_.too_many_of_address;
      too_many_of_one_.warn(
          now_ms(), "connection closed, max.connections.per.ip={} reached client=/{} listener={}",
          quotas_.max_of(accepted.address), accepted.address, settings_.name);
      return;
    case ConnectionQuotas::Verdict::kTooFast:
      ++counters_.too_fast_of_address;
      too_fast_of_one_.warn(
          now_ms(), "connection refused, connection_creation_rate exceeded client=/{} listener={}",
          accepted.address, settings_.name);
      hold_back(std::move(accepted), taking.throttle_ms);
      return;
  }
  Room& room = *rooms_[next_room_++ % rooms_.size()];
  // A function must be copyable, and a descriptor is not.
  auto shared = std::make_shared<Accepted>(std::move(accepted));
  room.core().executor.post([&room, shared] { room.add(std::move(*shared)); });
}

// It is closed only after that time: a peer whose connection ends tries again at once.
void Acceptor::hold_back(Accepted accepted, int64_t throttle_ms) {
  if (held_back_ >= kMostHeldBack) return;
  ++held_back_;
  auto shared = std::make_shared<Accepted>(std::move(accepted));
  core_.clock.call_at(now_ms() + throttle_ms, [this, shared] {
    --held_back_;
    shared->descriptor = io::Descriptor();
  });
}

}  // namespace ackord::net
