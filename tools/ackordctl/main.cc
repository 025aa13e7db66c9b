// ackordctl: looks at a running broker, and steps in. Exit status: 0 done; 1 refused or not
// reachable, with the reason on standard error; 2 wrong usage. It never asks back.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <iostream>

#include "tools/ackordctl/commands.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr const char* kExamples = R"(
Examples:
  ackordctl share in-flight workers
  ackordctl txn list --state Ongoing --duration 60000
  ackordctl txn describe payments-7
  ackordctl batch list --state PREPARE
Exit status: 0 done, 1 refused or not reachable, 2 wrong usage.)";

int fail(const ackord::Error& error, int status) {
  std::cerr << "ackordctl: " << name_of(error.code);
  if (!error.message.empty()) std::cerr << ": " << error.message;
  std::cerr << "\n";
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Looks at a running Ackord broker, and steps in");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.fallthrough();
  ackord::client::ClientConfig config;
  config.client_id = "ackordctl";
  int timeout_s = 30;
  bool json = false;
  ackord::ctl::Command command;
  app.add_option("--bootstrap-server", config.bootstrap_servers, "brokers, HOST:PORT,…")
      ->capture_default_str();
  app.add_option("--timeout", timeout_s, "seconds, for everything")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  app.add_flag("--json", json, "JSON instead of a table");
  ackord::ctl::add_share_commands(app, json, command);
  ackord::ctl::add_txn_commands(app, json, command);
  ackord::ctl::add_batch_commands(app, json, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kWrongUsage;
  }

  auto cluster = ackord::client::Cluster::create(config);
  if (!cluster) return fail(cluster.error(), kWrongUsage);
  const auto deadline = ackord::client::Deadline::in(std::chrono::seconds(timeout_s));
  const ackord::Result<void> done = command(**cluster, deadline, std::cout);
  return done ? 0 : fail(done.error(), kFailed);
}
