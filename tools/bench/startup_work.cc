#include <unistd.h>

#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "client/admin.h"
#include "client/connection.h"
#include "tools/bench/child.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

constexpr std::chrono::seconds kStartLimit{120};
constexpr std::chrono::microseconds kTryPause{500};
// How long a broker that has started is left alone before its memory is looked at.
constexpr std::chrono::seconds kSettle{2};
constexpr int kPartitionsOfATopic = 100;

class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "ackord-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw BenchError("no directory can be made: " + name);
    path_ = name;
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string data() const { return (path_ / "data").string(); }
  std::string output() const { return (path_ / "output").string(); }

 private:
  std::filesystem::path path_;
};

std::string filled_in(std::string text, const Directory& directory, int port) {
  boost::replace_all(text, "{directory}", directory.data());
  boost::replace_all(text, "{port}", std::to_string(port));
  return text;
}

void prepare(const Options& options, const Directory& directory, int port) {
  if (options.prepare.empty()) return;
  Child shell({"/bin/sh", "-c", filled_in(options.prepare, directory, port)}, directory.output());
  while (!shell.ended()) std::this_thread::sleep_for(kTryPause);
}

struct Started {
  std::unique_ptr<Child> child;
  double seconds = 0;
};

Started start(const Options& options, const Directory& directory, int port) {
  std::vector<std::string> command;
  for (const std::string& word : options.command)
    command.push_back(filled_in(word, directory, port));
  const Clock::time_point begin = Clock::now();
  Started started{std::make_unique<Child>(command, directory.output()), 0};
  const client::ClientConfig config;
  const client::Endpoint endpoint{"127.0.0.1", static_cast<uint16_t>(port)};
  const auto deadline = client::Deadline::in(kStartLimit);
  while (!client::Connection::open(endpoint, config, deadline)) {
    if (deadline.passed() || started.child->ended()) {
      std::ifstream in(directory.output());
      std::stringstream said;
      said << in.rdbuf();
      throw BenchError("the broker does not start:\n" + said.str());
    }
    std::this_thread::sleep_for(kTryPause);
  }
  started.seconds = static_cast<double>(since_ns(begin)) / 1e9;
  return started;
}

void make_partitions(int count, int port) {
  client::ClientConfig config;
  config.bootstrap_servers = "127.0.0.1:" + std::to_string(port);
  auto cluster = client::Cluster::create(config);
  if (!cluster) throw BenchError(cluster.error().message);
  for (int made = 0; made < count; made += kPartitionsOfATopic) {
    const auto done = client::create_topic(**cluster, TopicName("topic-" + std::to_string(made)),
                                           std::min(kPartitionsOfATopic, count - made), 1,
                                           client::Deadline::in(kStartLimit));
    if (!done) throw BenchError("a topic: " + done.error().message);
  }
}

}  // namespace

Report startup(const Options& options) {
  Report report;
  report.work = "startup";
  report.unit = "starts";
  Histogram times;
  double idle_rss = 0;
  std::unique_ptr<Directory> directory;
  int port = 0;  // the directory's own: what prepares it may write the port into it
  for (int run = 0; run < options.runs; ++run) {
    if (!directory || options.partitions == 0) {
      directory = std::make_unique<Directory>();
      port = free_port();
      prepare(options, *directory, port);
      if (options.partitions > 0) {
        const Started first = start(options, *directory, port);
        make_partitions(options.partitions, port);
      }
    }
    const Started started = start(options, *directory, port);
    times.record(static_cast<int64_t>(started.seconds * 1e9));
    report.seconds += started.seconds;
    if (run + 1 == options.runs) {
      std::this_thread::sleep_for(kSettle);
      idle_rss = static_cast<double>(read_stats(started.child->pid()).rss_bytes);
    }
  }
  report.count = options.runs;
  report.latencies.emplace_back("exec to answer", std::move(times));
  report.numbers.emplace_back("idle_rss_bytes", idle_rss);
  return report;
}

}  // namespace ackord::bench
