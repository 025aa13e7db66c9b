// The `ackord` process: command line, signals, exit codes.
//   0  stopped by SIGTERM or SIGINT, everything is durable     1  could not start
//   2  the command line or the configuration is wrong
//   3  stopped, but the log directory was offline: what was acknowledged is durable

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "broker/base/logging.h"
#include "broker/main/authorizer_config.h"
#include "broker/main/broker.h"
#include "broker/main/config.h"
#include "broker/main/first_users.h"
#include "broker/main/listeners.h"
#include "broker/main/sasl_config.h"
#include "broker/main/tls_settings.h"

namespace ackord::main {
namespace {

constexpr int kCannotStart = 1;
constexpr int kBadConfiguration = 2;
constexpr int kWasOffline = 3;

struct Options {
  std::string file;
  std::vector<std::string> assignments;
  std::vector<std::string> users;
  std::string cores;
  std::string log_level = "info";
  bool check_only = false;
};

int fail(int status, const std::string& why) {
  fmt::print(stderr, "ackord: {}\n", why);
  return status;
}

Result<Config> read_config(const Options& options) {
  std::vector<Property> properties;
  if (!options.file.empty()) {
    std::ifstream file(options.file, std::ios::binary);
    std::ostringstream text;
    if (file) text << file.rdbuf();
    if (!file) {
      return error(ErrorCode::INVALID_CONFIG, fmt::format("cannot read {}", options.file));
    }
    auto parsed = parse_properties(text.str(), options.file);
    if (parsed.has_error()) return parsed.error();
    properties = std::move(parsed.value());
  }
  for (const std::string& assignment : options.assignments) {
    auto property = parse_assignment(assignment);
    if (property.has_error()) return property.error();
    properties.push_back(std::move(property.value()));
  }
  if (!options.cores.empty()) properties.push_back({"cores", options.cores, "--cores"});
  auto config = Config::make(properties);
  if (config.has_error()) return config;
  auto listeners = listener_configs(config.value());
  if (listeners.has_error()) return listeners.error();
  auto logins = sasl_listeners(config.value(), listeners.value());
  if (logins.has_error()) return logins.error();
  for (const ListenerConfig& one : listeners.value()) {
    if (!security::uses_tls(one.settings.protocol)) continue;
    auto tls = load_tls(config.value(), one.settings.name, one.settings.protocol, nullptr);
    if (tls.has_error()) return tls.error();
  }
  auto authorizer = authorizer_config(config.value());
  if (authorizer.has_error()) return authorizer.error();
  return config;
}

// Each connection and each open segment is a descriptor; the soft limit is made for other programs.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int run(const Config& config, std::vector<metadata::ScramUpsertion> users) {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // A file at the size limit is an error of write(), as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  raise_descriptor_limit();

  auto broker = Broker::start(config, std::move(users));
  if (broker.has_error()) return fail(kCannotStart, broker.error().message);
  int received = 0;
  sigwait(&stops, &received);
  // A second one ends the process at once, should the stop take too long for somebody.
  pthread_sigmask(SIG_UNBLOCK, &stops, nullptr);
  return broker.value()->stop() ? 0 : kWasOffline;
}

int start(int count, char** arguments) {
  Options options;
  CLI::App app("Ackord: a Kafka-compatible broker for exactly-once work queues");
  app.add_option("--config", options.file, "Kafka's server.properties");
  app.add_option("--set", options.assignments, "name=value, over the file; may be repeated")
      ->take_all();
  app.add_option("--add-scram", options.users,
                 "A user to make before clients are served, unless there is one of the name: "
                 "SCRAM-SHA-512=[name=alice,password=secret], or @FILE with such lines")
      ->take_all();
  app.add_option("--cores", options.cores, "How many threads serve; 0: one per processor");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warn or error");
  app.add_flag("--check-config", options.check_only, "Check the configuration and end");
  app.set_version_flag("--version", "ackord " ACKORD_VERSION);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kBadConfiguration;
  }
  if (!base::configure_logging(options.log_level)) {
    return fail(kBadConfiguration, fmt::format("--log-level: {} is no level", options.log_level));
  }
  const auto config = read_config(options);
  if (config.has_error()) return fail(kBadConfiguration, config.error().message);
  auto users = parse_first_users(options.users);
  if (users.has_error()) return fail(kBadConfiguration, users.error().message);
  if (options.check_only) {
    fmt::print("the configuration is valid\n");
    return 0;
  }
  return run(config.value(), std::move(users.value()));
}

}  // namespace
}  // namespace ackord::main

int main(int count, char** arguments) { return ackord::main::start(count, arguments); }
