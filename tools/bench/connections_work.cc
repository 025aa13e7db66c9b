#include <sys/resource.h>

#include <utility>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

constexpr int kOpeners = 32;

struct Opening {
  Bench& bench;
  int left = 0;
  std::vector<std::shared_ptr<Wire>> wires;
  Histogram latency;

  Task<> open_some();
  Task<> hold(std::chrono::seconds time);
};

Task<> Opening::open_some() {
  while (left > 0) {
    --left;
    const Clock::time_point start = Clock::now();
    auto opening = Wire::open(bench.target());
    auto wire = co_await std::move(opening);
    protocol::ApiVersionsRequest request;
    request.client_software_name = String("ackord-bench");
    request.client_software_version = String("1");
    const auto answer = co_await wire->call<protocol::ApiVersionsResponse>(request);
    latency.record(since_ns(start));
    expect_none(answer.message.error_code, "ApiVersions");
    wires.push_back(std::move(wire));
  }
}

Task<> Opening::hold(std::chrono::seconds time) {
  asio::steady_timer timer(bench.context(), time);
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace

Report connections(Bench& bench) {
  const Options& options = bench.options();
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const uint64_t before = options.pid != 0 ? read_stats(options.pid).rss_bytes : 0;
  Opening work{bench, options.connections, {}, {}};
  std::vector<Task<>> tasks;
  for (int i = 0; i < kOpeners; ++i) tasks.push_back(work.open_some());
  Report report;
  report.work = "connections";
  report.unit = "connections";
  bench.begin();
  bench.run(std::move(tasks));
  report.count = options.connections;
  report.latencies.emplace_back("connect to answer", std::move(work.latency));
  bench.end(report);
  if (options.pid != 0) {
    const ProcessStats held = read_stats(options.pid);
    report.numbers.emplace_back(
        "memory_per_connection_bytes",
        (static_cast<double>(held.rss_bytes) - static_cast<double>(before)) / options.connections);
    if (options.hold_s > 0) {
      tasks.clear();
      tasks.push_back(work.hold(std::chrono::seconds(options.hold_s)));
      bench.run(std::move(tasks));
      report.numbers.emplace_back(
          "idle_cpu_percent_of_a_core",
          100 * (read_stats(options.pid).cpu_s - held.cpu_s) / options.hold_s);
    }
  }
  if (options.stay) {
    for (const auto& wire : work.wires) bench.keep(wire);
  } else {
    for (const auto& wire : work.wires) wire->close();
  }
  return report;
}

}  // namespace ackord::bench
