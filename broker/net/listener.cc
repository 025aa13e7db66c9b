#include "broker/net/listener.h"

#include <utility>

#include "broker/net/acceptor.h"
#include "broker/net/listen_socket.h"

namespace ackord::net {

Listener::Listener(ListenerSettings settings, SharedLimits shared)
    : settings_(std::move(settings)), shared_(std::move(shared)) {}
Listener::~Listener() = default;

Result<std::unique_ptr<Listener>> Listener::open(io::AsioCores& cores, io::Environment& environment,
                                                 RequestSink& sink, ListenerSettings settings,
                                                 SharedLimits shared) {
  const ListenAddress address{settings.host, settings.port, settings.receive_buffer_bytes};
  auto sockets = bind_listen_sockets(address);
  if (sockets.has_error()) return sockets.error();
  if (!shared.quotas)
    shared.quotas = std::make_shared<ConnectionQuotas>(ConnectionBounds(), quota::Windows());
  if (!shared.budget)
    shared.budget = std::make_shared<RequestBudget>(cores.size(), INT64_MAX / 2, INT64_MAX / 2);
  std::unique_ptr<Listener> listener(new Listener(std::move(settings), std::move(shared)));
  listener->acceptor_ = std::make_unique<Acceptor>(
      Acceptor::Surroundings{cores.at(0), environment.core(0), *listener->shared_.quotas,
                             listener->counters_, listener->rooms_},
      listener->settings_);
  listener->acceptor_->take(std::move(sockets.value()));
  Acceptor* acceptor = listener->acceptor_.get();
  io::Executor& accepting = environment.core(0).executor;
  for (size_t i = 0; i < cores.size(); ++i) {
    auto room = std::make_unique<Room>(
        Room::Surroundings{cores.at(i), environment.core(i), environment.files, sink,
                           *listener->shared_.budget, listener->counters_, listener->complaints_},
        listener->settings_);
    room->on_gone([acceptor, &accepting](const std::string& address) {
      accepting.post([acceptor, address] { acceptor->gone(address); });
    });
    listener->rooms_.push_back(std::move(room));
  }
  return listener;
}

void Listener::use_tls(std::shared_ptr<const TlsContext> tls) {
  for (auto& room : rooms_)
    room->core().executor.post([room = room.get(), tls] { room->use_tls(tls); });
}

void Listener::set_bounds(ListenerBounds bounds) {
  rooms_.front()->core().executor.post(
      [acceptor = acceptor_.get(), bounds] { acceptor->set_bounds(bounds); });
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
