#include "broker/main/listener_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "broker/base/logging.h"
#include "broker/main/tls_settings.h"

namespace ackord::main {
namespace {

// Whether one of the settings is about the listener's TLS.
bool concerns_tls(const std::vector<std::string>& names, std::string_view listener) {
  std::string prefix = fmt::format("listener.name.{}.ssl.", listener);
  std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(names.begin(), names.end(), [&prefix](const std::string& name) {
    return name.starts_with(prefix) || name.starts_with("ssl.");
  });
}

// Or about connections: their bounds may name hosts, which are looked up.
bool concerns_connections(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find("max.connection") != std::string::npos;
  });
}

}  // namespace

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
      auto loaded = load_tls(config_, one.settings.name, one.settings.protocol, nullptr);
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
    listeners_.push_back({std::move(listener.value()), protocol, std::move(tls)});
  }
  return {};
}

void ListenerControl::set_address_rate(net::ConnectionQuotas::AddressRate rate) {
  quotas_->set_address_rate(std::move(rate));
}

Result<void> ListenerControl::listen() {
  for (One& one : listeners_) {
    auto listening = one.listener->listen();
    if (listening.has_error()) return listening;
  }
  return {};
}

void ListenerControl::accept() {
  serving_ = true;
  for (One& one : listeners_) one.listener->accept();
}

io::Task<void> ListenerControl::stop(int64_t grace_ms) {
  for (One& one : listeners_) {
    auto stopping = one.listener->stop(grace_ms);
    co_await std::move(stopping);
  }
}

// What may block, files and the resolver, is done on the pool.
io::Task<ListenerControl::Loaded> ListenerControl::load(metadata::BrokerConfigChange change) {
  Loaded loaded;
  loaded.tls.resize(listeners_.size());
  std::function<void()> work = [this, &change, &loaded] {
    const Config config = config_.with(change.cluster, change.node);
    if (concerns_connections(change.names)) {
      auto bounds = connection_bounds(config);
      if (bounds) {
        loaded.bounds = std::move(*bounds);
      } else {
        loaded.failed = bounds.error();
      }
    }
    for (size_t i = 0; i < listeners_.size(); ++i) {
      const One& one = listeners_[i];
      const std::string& name = one.listener->name();
      if (one.tls == nullptr || !concerns_tls(change.names, name)) continue;
      // Nobody has seen the names of what was never served.
      auto tls = load_tls(config, name, one.protocol, serving_ ? one.tls : nullptr);
      if (tls) {
        loaded.tls[i] = std::move(*tls);
      } else {
        loaded.failed = tls.error();
      }
    }
  };
  auto working = environment_.files.blocking(std::move(work));
  co_await std::move(working);
  co_return loaded;
}

io::Task<Result<void>> ListenerControl::check(metadata::BrokerConfigChange change) {
  auto hop = io::on(environment_.core(0).executor, check_here(std::move(change)));
  Result<void> good = co_await std::move(hop);
  co_return good;
}

io::Task<Result<void>> ListenerControl::check_here(metadata::BrokerConfigChange change) {
  auto loading = load(std::move(change));
  const Loaded loaded = co_await std::move(loading);
  if (loaded.failed) co_return error(ErrorCode::INVALID_REQUEST, loaded.failed->message);
  co_return Result<void>();
}

io::Task<void> ListenerControl::apply(metadata::BrokerConfigChange change) {
  auto hop = io::on(environment_.core(0).executor, apply_here(std::move(change)));
  co_await std::move(hop);
}

io::Task<int> ListenerControl::apply_here(metadata::BrokerConfigChange change) {
  const Config config = config_.with(change.cluster, change.node);
  auto loading = load(std::move(change));
  Loaded loaded = co_await std::move(loading);
  if (loaded.failed)
    base::log_error("a listener keeps the settings it has: {}", loaded.failed->message);
  if (loaded.bounds) quotas_->set_bounds(std::move(*loaded.bounds));
  for (size_t i = 0; i < listeners_.size(); ++i) {
    One& one = listeners_[i];
    one.listener->set_bounds(listener_bounds(config, one.listener->name()));
    if (loaded.tls[i] == nullptr) continue;
    one.tls = loaded.tls[i];
    one.listener->use_tls(one.tls);
    base::log_info("keys and certificates read again listener={} subject={}", one.listener->name(),
                   one.tls->subject());
  }
  co_return 0;
}

void ListenerControl::add_metrics(base::MetricsPage& page) const {
  for (const One& one : listeners_) {
    const std::string& name = one.listener->name();
    page.gauge("ackord_connections", "Open connections.", {{"listener", name}},
               static_cast<double>(one.listener->connections()));
    const auto count = [&](const char* reason, const std::atomic<uint64_t>& value) {
      page.counter("ackord_connections_refused_total",
                   "Connections that were refused, or closed by the broker, by the reason.",
                   {{"listener", name}, {"reason", reason}}, static_cast<double>(value.load()));
    };
    const net::ListenerCounters& counters = one.listener->counters();
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
