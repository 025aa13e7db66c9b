#include "broker/main/listener_control.h"

#include <atomic>
#include <utility>

#include "broker/main/tls_settings.h"

namespace ackord::main {
ListenerControl::ListenerControl(Config config, io::Environment& environment)
    : config_(std::move(config)), environment_(environment) {}

Result<net::SharedLimits> ListenerControl::shared_limits(size_t cores) {
  auto bounds = connection_bounds(config_);
  if (bounds.has_error()) return bounds.error();
  constexpr int64_t kMsPerSecond = 1000;
  const quota::Windows windows{config_.number("quota.window.num"),
                               config_.number("quota.window.size.seconds") * kMsPerSecond};
  const QueueBounds queue = queue_bounds(config_);
  quotas_ = std::make_shared<net::ConnectionQuotas>(std::move(*bounds), windows);
  budget_ = std::make_shared<net::RequestBudget>(cores, queue.max_bytes, queue.max_requests);
  return net::SharedLimits{quotas_, budget_};
}

Result<void> ListenerControl::open(io::AsioCores& cores, net::RequestSink& sink,
                                   std::vector<ListenerConfig> configs, int descriptor_bound) {
  auto shared = shared_limits(cores.size());
  if (shared.has_error()) return shared.error();
  for (ListenerConfig& one : configs) {
    one.settings.descriptor_bound = descriptor_bound;
    std::shared_ptr<const net::TlsContext> tls;
    if (security::uses_tls(one.settings.protocol)) {
      auto loaded = load_tls(config_, one.settings.name, nullptr);
      if (loaded.has_error()) return loaded.error();
      tls = std::move(loaded.value());
    }
    const auto protocol = one.settings.protocol;
    auto listener = net::Listener::open(cores, environment_, sink, one.settings, *shared);
    if (listener.has_error()) return listener.error();
    if (tls) listener.value()->use_tls(tls);
    const uint16_t port = one.advertised.port != 0 ? one.advertised.port : listener.value()->port();
    advertised_.push_back(
        {one.advertised.name, one.advertised.host, port, static_cast<int16_t>(protocol)});
    listeners_.push_back(std::move(listener.value()));
  }
  return {};
}

void ListenerControl::set_address_rate(net::ConnectionQuotas::AddressRate rate) {
  quotas_->set_address_rate(std::move(rate));
}

Result<void> ListenerControl::listen() {
  for (auto& one : listeners_) {
    auto listening = one->listen();
    if (listening.has_error()) return listening;
  }
  return {};
}

void ListenerControl::accept() {
  for (auto& one : listeners_) one->accept();
}

io::Task<void> ListenerControl::stop(int64_t grace_ms) {
  for (auto& one : listeners_) {
    auto stopping = one->stop(grace_ms);
    co_await std::move(stopping);
  }
}

void ListenerControl::add_metrics(base::MetricsPage& page) const {
  for (const auto& one : listeners_) {
    const std::string& name = one->name();
    page.gauge("ackord_connections", "Open connections.", {{"listener", name}},
               static_cast<double>(one->connections()));
    const auto count = [&](const char* reason, const std::atomic<uint64_t>& value) {
      page.counter("ackord_connections_refused_total",
                   "Connections that were refused, or closed by the broker, by the reason.",
                   {{"listener", name}, {"reason", reason}}, static_cast<double>(value.load()));
    };
    const net::ListenerCounters& counters = one->counters();
    count("failed_handshake", counters.failed_handshakes);
    count("late_authentication", counters.late_authentications);
    count("idle", counters.idle);
    count("holding_memory", counters.holding_memory);
    count("too_many_of_address", counters.too_many_of_address);
    count("too_fast_of_address", counters.too_fast_of_address);
  }
  page.gauge("ackord_request_memory_bytes",
             "What connections hold of requests and answers, or have a place for.", {},
             static_cast<double>(budget_->bytes()));
}

}  // namespace ackord::main
