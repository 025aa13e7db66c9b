#include "broker/main/broker.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "broker/base/assert.h"
#include "broker/base/logging.h"
#include "broker/io/posix/block_on.h"
#include "broker/main/authorizer_config.h"
#include "broker/main/first_users.h"
#include "broker/main/sasl_config.h"
#include "broker/metadata/address_limits.h"

namespace ackord::main {
namespace {

// How many fdatasyncs and cold reads are in progress at a time (docs/ARCHITECTURE.md, "Durability
// by measurement").
constexpr size_t kPoolThreads = 32;
// How long requests that are being served may take after SIGTERM.
constexpr int64_t kStopGraceMs = 10000;
// The share of the process's descriptors that connections leave to files.
constexpr rlim_t kForFiles = 8;

// Connections have those below it.
int descriptor_bound() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= INT32_MAX) return INT32_MAX;
  return static_cast<int>(limit.rlim_cur - limit.rlim_cur / kForFiles);
}

size_t core_count(const Config& config) {
  const int64_t wished = config.number("cores");
  return wished > 0 ? static_cast<size_t>(wished)
                    : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

// net knows nothing of the API's services, and the API nothing of sockets.
class Broker::DispatchSink final : public net::RequestSink {
 public:
  // Only once the services are loaded can requests come.
  void connect(api::Dispatch& dispatch) { dispatch_ = &dispatch; }

  io::Task<api::Answer> handle(api::Call call) override {
    return dispatch_->handle(std::move(call));
  }
  void connection_closed(api::Client& client) override { dispatch_->connection_closed(client); }

 private:
  api::Dispatch* dispatch_ = nullptr;
};

Broker::Broker(const Config& config)
    : cores_(core_count(config)),
      files_(kPoolThreads),
      environment_{cores_.cores(), files_, random_},
      sink_(std::make_unique<DispatchSink>()),
      listeners_(config, environment_),
      pages_(cores_.at(0), [this](base::MetricsPage& page) { listeners_.add_metrics(page); }) {}

Broker::~Broker() {
  http_.reset();
  cores_.stop();
}

Result<std::unique_ptr<Broker>> Broker::start(const Config& config,
                                              std::vector<metadata::ScramUpsertion> users) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<Broker> broker(new Broker(config));
  auto bound = broker->bind(config);
  if (bound.has_error()) return bound.error();
  bound = broker->bind_http(config);
  if (bound.has_error()) return bound.error();
  auto loaded = broker->load(config, std::move(users));
  if (loaded.has_error()) return loaded.error();
  auto serving = broker->serve();
  if (serving.has_error()) return serving.error();

  const auto elapsed = std::chrono::steady_clock::now() - begin;
  std::string addresses;
  for (const auto& one : broker->listeners_.advertised()) {
    addresses +=
        fmt::format("{}{}://{}:{}", addresses.empty() ? "" : ",", one.name, one.host, one.port);
  }
  base::log_info(
      "ackord ready listeners={} node_id={} cluster_id={} cores={} directory={} elapsed_ms={}",
      addresses, config.node_id(), broker->assembly_->log().cluster_id(), broker->cores_.size(),
      config.directory(), std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count());
  return broker;
}

Result<void> Broker::bind(const Config& config) {
  auto configs = listener_configs(config);
  if (configs.has_error()) return configs.error();
  auto logins = sasl_listeners(config, configs.value());
  if (logins.has_error()) return logins.error();
  logins_ = std::move(logins.value());
  const std::string open = listeners_beyond_loopback(configs.value());
  if (config.text("authorizer.class.name").empty() && !open.empty()) {
    base::log_warn("everybody may do everything, see authorizer.class.name listeners={}", open);
  }
  return listeners_.open(cores_, *sink_, std::move(configs.value()), descriptor_bound());
}

Result<void> Broker::bind_http(const Config& config) {
  const std::string address = config.text("http.listener");
  if (address.empty()) return {};
  auto server =
      http::HttpServer::open(address, [this](const std::string& target, http::HttpReply reply) {
        pages_.handle(target, std::move(reply));
      });
  if (server) {
    http_ = std::move(*server);
    return {};
  }
  if (config.is_given("http.listener"))
    return error(server.error().code, "http.listener: " + server.error().message);
  // The default is taken where a second broker runs on the machine.
  base::log_warn("there are no pages for metrics and health, see http.listener: {}",
                 server.error().message);
  return {};
}

AssemblySettings Broker::assembly_settings(const Config& config) {
  AssemblySettings settings;
  settings.log = log_settings(config);
  settings.metadata.broker = broker_config(config);
  settings.metadata.node_id = BrokerId(config.node_id());
  settings.metadata.rack = config.find("broker.rack");
  settings.metadata.listeners = listeners_.advertised();
  settings.logins = std::move(logins_);
  settings.metadata.config_user = &listeners_;
  settings.metadata.properties = config.given();
  settings.metadata.properties.emplace("node.id", std::to_string(config.node_id()));
  auto authorizer = authorizer_config(config);
  ACKORD_ASSERT(authorizer.has_value(), "the configuration has been checked");
  settings.authorizer = std::move(authorizer.value());
  return settings;
}

Result<void> Broker::load(const Config& config, std::vector<metadata::ScramUpsertion> users) {
  assembly_ = std::make_unique<Assembly>(environment_, assembly_settings(config));
  cores_.start();
  auto started = io::block_on(cores_.at(0), assembly_->start());
  if (started.has_error() || users.empty()) return started;
  return io::block_on(cores_.at(0), add_first_users(assembly_->metadata(), std::move(users)));
}

Result<void> Broker::serve() {
  sink_->connect(assembly_->dispatch());
  listeners_.set_address_rate([this](const std::string& address) {
    return metadata::find_address_limit(assembly_->metadata().image().quotas(),
                                        metadata::kConnectionCreationRate, address);
  });
  io::block_on(cores_.at(0), use_dynamic_configs());
  auto listening = listeners_.listen();
  if (listening.has_error()) return listening;
  listeners_.accept();
  pages_.serving(*assembly_);
  return {};
}

// What was set while an earlier process ran.
io::Task<void> Broker::use_dynamic_configs() {
  const metadata::MetadataImage& image = assembly_->metadata().image();
  metadata::BrokerConfigChange change{image.broker_configs(), image.node_configs(), {}};
  for (const auto* values : {&change.cluster, &change.node}) {
    for (const auto& [name, value] : *values) change.names.push_back(name);
  }
  if (change.names.empty()) co_return;
  auto applying = listeners_.apply(std::move(change));
  co_await std::move(applying);
}

bool Broker::stop() {
  base::log_info("stopping");
  pages_.stopping();
  io::block_on(cores_.at(0), listeners_.stop(kStopGraceMs));
  io::block_on(cores_.at(0), assembly_->stop());
  const bool online = assembly_->log().online();
  http_.reset();
  cores_.stop();
  base::log_info("ackord stopped");
  return online;
}

}  // namespace ackord::main
