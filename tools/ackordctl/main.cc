// ackordctl: looks at a running broker, and steps in. Exit status: 0 done; 1 refused or not
// reachable, with the reason on standard error; 2 wrong usage.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

#include "tools/ackordctl/share_commands.h"
#include "tools/ackordctl/share_text.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr const char* kExamples = R"(
Examples:
  ackordctl share in-flight workers
  ackordctl share in-flight workers orders:3 --json
  ackordctl share release workers orders --member 0f8e6a2c
  ackordctl share release workers orders:3 --offsets 17-20)";

using ackord::ctl::ShareOptions;

int fail(const ackord::Error& error, int status) {
  std::cerr << "ackordctl: " << name_of(error.code) << ": " << error.message << "\n";
  return status;
}

std::string check_target(const std::string& text) {
  return ackord::ctl::parse_target(text) ? "" : "not TOPIC or TOPIC:PARTITION: " + text;
}
std::string check_offsets(const std::string& text) {
  return ackord::ctl::parse_offsets(text) ? "" : "not offsets A-B: " + text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Looks at a running Ackord broker, and steps in");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.fallthrough();
  ackord::client::ClientConfig config;
  config.client_id = "ackordctl";
  int timeout_s = 30;
  ShareOptions options;
  app.add_option("--bootstrap-server", config.bootstrap_servers, "brokers, HOST:PORT,…")
      ->capture_default_str();
  app.add_option("--timeout", timeout_s, "seconds, for everything")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  app.add_flag("--json", options.json, "JSON instead of a table");

  CLI::App* share = app.add_subcommand("share", "share groups");
  share->require_subcommand(1);
  share->footer(kExamples);
  CLI::App* in_flight = share->add_subcommand(
      "in-flight", "what is in flight: offsets, state, deliveries, and who holds them");
  in_flight->add_option("group", options.group, "the share group")->required();
  in_flight->add_option("topic", options.target, "TOPIC or TOPIC:PARTITION; all when left out")
      ->check(check_target);
  in_flight->add_option("--max-ranges", options.max_ranges, "ranges shown of each partition")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  CLI::App* release = share->add_subcommand(
      "release",
      "makes records available that members hold; what a transaction holds is not released");
  release->add_option("group", options.group, "the share group")->required();
  release->add_option("topic", options.target, "TOPIC or TOPIC:PARTITION")
      ->required()
      ->check(check_target);
  release->add_option("--member", options.member, "only what this member holds");
  release
      ->add_option("--offsets", options.offsets, "only these offsets of one partition: A-B, or A")
      ->check(check_offsets);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kWrongUsage;
  }

  if (!options.offsets.empty() && !ackord::ctl::parse_target(options.target)->partition) {
    std::cerr << "ackordctl: --offsets needs TOPIC:PARTITION\n";
    return kWrongUsage;
  }
  auto cluster = ackord::client::Cluster::create(config);
  if (!cluster) return fail(cluster.error(), kWrongUsage);
  const auto deadline = ackord::client::Deadline::in(std::chrono::seconds(timeout_s));
  const ackord::Result<void> done =
      *in_flight ? ackord::ctl::show_in_flight(**cluster, options, deadline, std::cout)
                 : ackord::ctl::release_records(**cluster, options, deadline, std::cout);
  return done ? 0 : fail(done.error(), kFailed);
}
