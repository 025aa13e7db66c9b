// bench-durability: how fast small acknowledged writes to many logs become durable, in the ways of
// durability.h, on the disk of a directory. Closed loop: each client has one write under way, to a
// log chosen at random, and begins the next when it is acknowledged.

#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <random>

#include "tools/bench-durability/durability.h"

namespace ackord::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string directory = ".";
  std::vector<std::string> ways;
  std::vector<size_t> clients{1, 8, 64, 512};
  std::vector<size_t> pool_threads{16};
  size_t logs = 56;
  size_t bytes = 256;
  double seconds = 3;
  int rounds = 3;
};

// A folder of its own in the measured directory, removed with the object.
class Workspace {
 public:
  explicit Workspace(const std::string& parent) : path_(parent + "/bench-durability.XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
  }
  ~Workspace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Measured {
  double per_second = 0;
  double writes_per_sync = 0;
  std::vector<double> latencies_ms;  // sorted

  double percentile(double share) const {
    if (latencies_ms.empty()) return 0;
    const auto index = static_cast<size_t>(share * static_cast<double>(latencies_ms.size()));
    return latencies_ms[std::min(index, latencies_ms.size() - 1)];
  }
};

Measured measure(const std::string& way, size_t clients, size_t threads, const Options& options) {
  const Workspace workspace(options.directory);
  const auto durability = make_durability(way, {workspace.path(), options.logs, threads});
  const std::vector<std::byte> bytes(options.bytes, std::byte{0x5a});
  std::mt19937_64 random(1);
  std::vector<Clock::time_point> began(clients);
  const auto begin = [&](ClientId client) {
    began[client] = Clock::now();
    durability->write(client, random() % options.logs, bytes);
  };
  Measured result;
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration<double>(options.seconds);
  for (ClientId client = 0; client < clients; ++client) begin(client);
  size_t under_way = clients;
  std::vector<ClientId> done;
  while (under_way > 0) {
    done.clear();
    durability->await(done);
    const auto now = Clock::now();
    for (const ClientId client : done) {
      result.latencies_ms.push_back(
          std::chrono::duration<double, std::milli>(now - began[client]).count());
      if (now < end) {
        begin(client);
      } else {
        --under_way;
      }
    }
  }
  const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  const auto writes = static_cast<double>(result.latencies_ms.size());
  result.per_second = writes / elapsed;
  result.writes_per_sync = writes / static_cast<double>(durability->syncs());
  std::sort(result.latencies_ms.begin(), result.latencies_ms.end());
  return result;
}

// Of several rounds the one with the middle rate: other users of the machine disturb some.
Measured middle(std::vector<Measured> rounds) {
  std::sort(rounds.begin(), rounds.end(),
            [](const Measured& a, const Measured& b) { return a.per_second < b.per_second; });
  return std::move(rounds[rounds.size() / 2]);
}

void compare(const Options& options) {
  fmt::print("{} logs, writes of {} bytes, median of {} rounds of {} s\n", options.logs,
             options.bytes, options.rounds, options.seconds);
  fmt::print("{:>7} {:>14} {:>4} {:>9} {:>8} {:>8} {:>8} {:>9}\n", "clients", "way", "pool",
             "writes/s", "p50 ms", "p99 ms", "p99.9 ms", "per sync");
  struct Setup {
    std::string way;
    size_t threads;
    std::vector<Measured> rounds;
  };
  for (const size_t clients : options.clients) {
    std::vector<Setup> setups;
    for (const std::string& way : options.ways) {
      const bool pooled = way.starts_with("files");
      for (const size_t threads : options.pool_threads) {
        if (pooled || threads == options.pool_threads.front())
          setups.push_back({way, pooled ? threads : 1, {}});
      }
    }
    // In turn, so that what disturbs the machine disturbs all of them.
    for (int round = 0; round < options.rounds; ++round) {
      for (Setup& one : setups)
        one.rounds.push_back(measure(one.way, clients, one.threads, options));
    }
    for (Setup& one : setups) {
      const Measured result = middle(std::move(one.rounds));
      fmt::print("{:>7} {:>14} {:>4} {:>9.0f} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.1f}\n", clients,
                 one.way, one.threads, result.per_second, result.percentile(0.5),
                 result.percentile(0.99), result.percentile(0.999), result.writes_per_sync);
    }
    std::fflush(stdout);
  }
}

int run(int count, char** arguments) {
  Options options;
  CLI::App app("How fast small acknowledged writes to many logs become durable");
  app.add_option("--directory", options.directory, "Where; its disk is what is measured");
  app.add_option("--ways", options.ways, "files, files-zeroed, syncfs, journal, journal-zeroed");
  app.add_option("--clients", options.clients, "Writes under way at a time");
  app.add_option("--pool", options.pool_threads, "Threads that sync, where files are synced");
  app.add_option("--logs", options.logs)->check(CLI::PositiveNumber);
  app.add_option("--bytes", options.bytes)->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem);
  }
  if (options.ways.empty()) {
    for (const std::string_view way : ways()) options.ways.emplace_back(way);
  }
  compare(options);
  return 0;
}

}  // namespace
}  // namespace ackord::bench

int main(int count, char** arguments) {
  try {
    return ackord::bench::run(count, arguments);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "bench-durability: {}\n", failure.what());
    return 1;
  }
}
