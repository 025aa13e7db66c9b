#include "broker/net/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "broker/base/logging.h"
#include "broker/net/listen_socket.h"
#include "broker/net/tcp_stream.h"

namespace ackord::net {
namespace {

std::atomic<uint64_t> last_connection_id = 0;

// Accepting has to wait when the process has no descriptor left: the queue stays readable
// meanwhile.
constexpr int64_t kAcceptPauseMs = 100;

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

struct Accepted {
  io::Descriptor descriptor;
  bool ipv6;
  std::string address;
  uint16_t port;
};

}  // namespace

// The connections of one core. All on that core.
class Listener::Room {
 public:
  Room(io::AsioCore& asio, io::Core core, io::Environment& environment, RequestSink& sink,
       const ListenerSettings& settings)
      : asio_(asio),
        settings_(settings),
        place_{core,        environment.files, sink,
               complaints_, settings.limits,   [this](Connection& one) { remove(one); }} {}

  io::Core core() const { return place_.core; }
  // Called with the address of each connection that has ended.
  void on_gone(std::function<void(const std::string&)> gone) { gone_ = std::move(gone); }

  void start() {
    if (settings_.max_idle_ms >= 0) sweep();
  }

  void add(Accepted accepted) {
    if (stopping_) {
      gone_(accepted.address);
      return;
    }
    set_send_buffer(accepted.descriptor.get());
    auto client = std::make_shared<api::Client>();
    client->connection_id = ++last_connection_id;
    client->host = "/" + accepted.address;
    client->port = accepted.port;
    client->listener = settings_.name;
    client->protocol = settings_.protocol;
    client->authenticated = !security::uses_sasl(settings_.protocol);
    auto stream =
        std::make_unique<TcpStream>(asio_.context(), accepted.descriptor.release(), accepted.ipv6);
    auto connection = std::make_shared<Connection>(place_, std::move(stream), std::move(client));
    connections_.emplace(connection.get(), Entry{connection, std::move(accepted.address)});
    connection->start();
  }

  io::Task<void> stop(int64_t grace_ms) {
    stopping_ = true;
    if (sweep_timer_ != 0) place_.core.clock.cancel(std::exchange(sweep_timer_, 0));
    for (const auto& connection : all()) connection->drain();
    const int64_t deadline_ms = place_.core.clock.now().steady_ms + grace_ms;
    while (!connections_.empty()) {
      const auto wakeup = io::Wakeup::make(place_.core.executor, place_.core.clock);
      emptied_.subscribe(wakeup);
      const bool woken = co_await wakeup->wait_until(deadline_ms);
      if (!woken) break;
    }
    for (const auto& connection : all()) connection->disconnect();
  }

 private:
  struct Entry {
    std::shared_ptr<Connection> connection;
    std::string address;
  };

  std::vector<std::shared_ptr<Connection>> all() const {
    std::vector<std::shared_ptr<Connection>> list;
    for (const auto& [key, entry] : connections_) list.push_back(entry.connection);
    return list;
  }

  void remove(Connection& connection) {
    const auto found = connections_.find(&connection);
    if (found == connections_.end()) return;
    gone_(found->second.address);
    connections_.erase(found);
    if (connections_.empty()) emptied_.notify();
  }

  // A connection that waits for an answer is not idle, however long that takes.
  void sweep() {
    const int64_t now_ms = place_.core.clock.now().steady_ms;
    for (const auto& connection : all()) {
      if (!connection->waits_for_peer()) continue;
      if (now_ms - connection->last_activity_ms() < settings_.max_idle_ms) continue;
      base::log_debug("idle connection closed client={} listener={}", connection->client().host,
                      settings_.name);
      connection->disconnect();
    }
    const int64_t pause_ms = std::clamp<int64_t>(settings_.max_idle_ms / 8, 10, 30000);
    sweep_timer_ = place_.core.clock.call_at(now_ms + pause_ms, [this] { sweep(); });
  }

  void set_send_buffer(int descriptor) const {
    const int bytes = settings_.send_buffer_bytes;
    if (bytes >= 0) ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }

  io::AsioCore& asio_;
  const ListenerSettings settings_;
  Connection::Complaints complaints_;
  Connection::Place place_;
  std::unordered_map<Connection*, Entry> connections_;
  std::function<void(const std::string&)> gone_;
  io::Signal emptied_;
  io::Clock::TimerId sweep_timer_ = 0;
  bool stopping_ = false;
};

// Core 0's part.
class Listener::Acceptor {
 public:
  Acceptor(io::AsioCore& asio, io::Core core, ListenerSettings settings,
           std::vector<std::unique_ptr<Room>>& rooms)
      : asio_(asio), core_(core), settings_(std::move(settings)), rooms_(rooms) {}

  void take(std::vector<ListenSocket> sockets) {
    port_ = sockets.front().port;
    for (auto& socket : sockets) {
      sockets_.push_back(std::make_unique<Socket>(Socket{
          boost::asio::posix::stream_descriptor(asio_.context(), socket.descriptor.release()),
          socket.ipv6}));
    }
  }

  uint16_t port() const { return port_; }
  int64_t connections() const { return open_; }

  // Another process may have bound and listened since open(): the address is taken only then.
  Result<void> listen() {
    for (auto& socket : sockets_) {
      if (::listen(socket->descriptor.native_handle(), settings_.backlog) == 0) continue;
      return error(ErrorCode::UNKNOWN_SERVER_ERROR,
                   fmt::format("cannot listen on {}:{}: {}", settings_.host, port_,
                               std::generic_category().message(errno)));
    }
    return {};
  }

  void start() {
    for (auto& socket : sockets_) wait(*socket);
  }

  void stop() {
    stopping_ = true;
    for (auto& socket : sockets_) socket->descriptor.close();
  }

  void gone(const std::string& address) {
    --open_;
    const auto found = by_address_.find(address);
    if (found != by_address_.end() && --found->second == 0) by_address_.erase(found);
  }

 private:
  struct Socket {
    boost::asio::posix::stream_descriptor descriptor;
    bool ipv6;
  };

  void wait(Socket& socket) {
    socket.descriptor.async_wait(boost::asio::posix::descriptor_base::wait_read,
                                 [this, &socket](const boost::system::error_code& failure) {
                                   if (!failure && !stopping_) accept(socket);
                                 });
  }

  void accept(Socket& socket) {
    // A few at a time, so that a flood of them leaves the core to its other work.
    for (int i = 0; i < 16; ++i) {
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      io::Descriptor descriptor(::accept4(socket.descriptor.native_handle(),
                                          reinterpret_cast<sockaddr*>(&address), &size,
                                          SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (descriptor.get() >= 0) {
        admit(
            Accepted{std::move(descriptor), socket.ipv6, address_text(address), port_of(address)});
        continue;
      }
      const int why = errno;
      if (why == EINTR || why == ECONNABORTED) continue;
      if (why == EAGAIN || why == EWOULDBLOCK) break;
      cannot_accept_.warn(now_ms(), "cannot accept a connection listener={}: {}", settings_.name,
                          std::generic_category().message(why));
      core_.clock.call_at(now_ms() + kAcceptPauseMs, [this, &socket] {
        if (!stopping_) accept(socket);
      });
      return;
    }
    wait(socket);
  }

  void admit(Accepted accepted) {
    if (accepted.descriptor.get() >= settings_.descriptor_bound) {
      no_descriptors_.warn(now_ms(),
                           "connection closed, the descriptors left are for files client=/{} "
                           "listener={}",
                           accepted.address, settings_.name);
      return;
    }
    if (open_ >= settings_.max_connections) {
      too_many_.warn(now_ms(),
                     "connection closed, max.connections={} reached client=/{} listener={}",
                     settings_.max_connections, accepted.address, settings_.name);
      return;
    }
    const auto known = by_address_.find(accepted.address);
    if (known != by_address_.end() && known->second >= settings_.max_connections_per_ip) {
      too_many_of_one_.warn(now_ms(),
                            "connection closed, max.connections.per.ip={} reached client=/{}",
                            settings_.max_connections_per_ip, accepted.address);
      return;
    }
    ++open_;
    ++by_address_[accepted.address];
    Room& room = *rooms_[next_room_++ % rooms_.size()];
    // A function must be copyable, and a descriptor is not.
    auto shared = std::make_shared<Accepted>(std::move(accepted));
    room.core().executor.post([&room, shared] { room.add(std::move(*shared)); });
  }

  int64_t now_ms() const { return core_.clock.now().steady_ms; }

  io::AsioCore& asio_;
  io::Core core_;
  const ListenerSettings settings_;
  std::vector<std::unique_ptr<Room>>& rooms_;
  std::vector<std::unique_ptr<Socket>> sockets_;
  uint16_t port_ = 0;
  base::Complaint cannot_accept_;
  base::Complaint no_descriptors_;
  base::Complaint too_many_;
  base::Complaint too_many_of_one_;
  size_t next_room_ = 0;
  int64_t open_ = 0;
  std::unordered_map<std::string, int64_t> by_address_;
  bool stopping_ = false;
};

Listener::Listener() = default;
Listener::~Listener() = default;

Result<std::unique_ptr<Listener>> Listener::open(io::AsioCores& cores, io::Environment& environment,
                                                 RequestSink& sink, ListenerSettings settings) {
  const ListenAddress address{settings.host, settings.port, settings.receive_buffer_bytes};
  auto sockets = bind_listen_sockets(address);
  if (sockets.has_error()) return sockets.error();
  std::unique_ptr<Listener> listener(new Listener());
  listener->acceptor_ =
      std::make_unique<Acceptor>(cores.at(0), environment.core(0), settings, listener->rooms_);
  listener->acceptor_->take(std::move(sockets.value()));
  Acceptor* acceptor = listener->acceptor_.get();
  io::Executor& accepting = environment.core(0).executor;
  for (size_t i = 0; i < cores.size(); ++i) {
    auto room =
        std::make_unique<Room>(cores.at(i), environment.core(i), environment, sink, settings);
    room->on_gone([acceptor, &accepting](const std::string& address) {
      accepting.post([acceptor, address] { acceptor->gone(address); });
    });
    listener->rooms_.push_back(std::move(room));
  }
  return listener;
}

uint16_t Listener::port() const { return acceptor_->port(); }

int64_t Listener::connections() const { return acceptor_->connections(); }

Result<void> Listener::listen() { return acceptor_->listen(); }

void Listener::accept() {
  for (auto& room : rooms_) {
    room->core().executor.post([room = room.get()] { room->start(); });
  }
  rooms_.front()->core().executor.post([acceptor = acceptor_.get()] { acceptor->start(); });
}

io::Task<int> Listener::stop_accepting(Acceptor* acceptor) {
  acceptor->stop();
  co_return 0;
}

io::Task<int> Listener::stop_room(Room* room, int64_t grace_ms) {
  io::Task<void> stopped = room->stop(grace_ms);
  co_await std::move(stopped);
  co_return 0;
}

io::Task<void> Listener::stop(int64_t grace_ms) {
  io::Task<int> no_more = io::on(rooms_.front()->core().executor, stop_accepting(acceptor_.get()));
  co_await std::move(no_more);
  std::vector<io::Task<int>> ends;
  for (auto& room : rooms_) {
    ends.push_back(io::on(room->core().executor, stop_room(room.get(), grace_ms)));
  }
  io::Task<std::vector<int>> all = io::when_all(std::move(ends));
  co_await std::move(all);
}

}  // namespace ackord::net
