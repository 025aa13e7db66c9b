// ackord-demo-setup: makes the topics and configures the share group. Does nothing to what is there
// already.
#include <fmt/core.h>

#include "client/admin.h"
#include "tools/demo/options.h"

namespace ackord::demo {
namespace {

constexpr int32_t kInputPartitions = 6;
constexpr int32_t kOutputPartitions = 3;

Result<void> set_up(const Options& options, int seconds) {
  const client::Deadline deadline = client::Deadline::in(std::chrono::seconds(seconds));
  client::ClientConfig config;
  config.bootstrap_servers = options.bootstrap;
  Result<std::unique_ptr<client::Cluster>> cluster = client::Cluster::create(config);
  if (!cluster) return cluster.error();
  Result<void> done =
      client::create_topic(**cluster, TopicName(options.input), kInputPartitions, 1, deadline);
  if (!done) return done;
  done = client::create_topic(**cluster, TopicName(options.output), kOutputPartitions, 1, deadline);
  if (!done) return done;
  // The stopped worker's records come back when their locks end; more deliveries than a job with
  // crashes needs.
  return client::set_group_configs(**cluster, GroupId(options.group),
                                   {{"share.auto.offset.reset", "earliest"},
                                    {"share.record.lock.duration.ms", "15000"},
                                    {"share.delivery.count.limit", "10"}},
                                   deadline);
}

}  // namespace
}  // namespace ackord::demo

int main(int argc, char** argv) {
  ackord::demo::Options options;
  int seconds = 30;
  CLI::App app("Makes the topics and the share group of the demo");
  ackord::demo::add_options(app, options);
  app.add_option("--timeout", seconds, "seconds to wait for the broker")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto done = ackord::demo::set_up(options, seconds);
  if (done) return 0;
  fmt::print(stderr, "setup failed: {} {}\n", name_of(done.error().code), done.error().message);
  return 1;
}
