#include "tools/checkpoint-engine/coordinator.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <thread>

namespace ackord::engine {
namespace {

using client::Millis;

constexpr Millis kTimeout{20000};
// An executor that has not reported by then is given up.
constexpr Millis kReportLimit{30000};
// A new start may help where trying again does not.
constexpr int kMostAborted = 10;

}  // namespace

Coordinator::Coordinator(CoordinatorOptions options)
    : options_(std::move(options)), sink_(options_.database) {
  client::ClientConfig config;
  config.bootstrap_servers = options_.bootstrap;
  config.client_id = "checkpoint-engine";
  config.request_timeout = config.connection_timeout = Millis(options_.request_timeout_ms);
  auto transactions = client::BatchTransactionCoordinator::create(
      std::move(config), GroupId(options_.group), kTimeout);
  if (!transactions) throw std::runtime_error(transactions.error().message);
  transactions_ = std::move(*transactions);
  // The dot keeps it apart from those of a job whose name begins like this one's.
  prefix_ = options_.group + "-" + options_.job + ".";
  attempt_ = sink_.next_attempt();
}

// Executors end by themselves when their channel closes; they are reaped here.
Coordinator::~Coordinator() {
  std::vector<pid_t> pids;
  for (const Worker& worker : workers_) pids.push_back(worker.pid);
  workers_.clear();
  for (const pid_t pid : pids) {
    ::kill(pid, SIGTERM);
    ::waitpid(pid, nullptr, 0);
  }
}

void Coordinator::reach(std::string_view step, const Reports& reports) const {
  if (reports.results.empty()) return;
  if (options_.die_at == step) ::kill(::getpid(), SIGKILL);
  if (options_.stop_at == step) ::raise(SIGSTOP);
}

void Coordinator::recover() {
  const auto recovered = transactions_->recover(
      prefix_, [this](const std::string& id) { return sink_.has_checkpoint(id); }, kTimeout);
  if (!recovered) throw std::runtime_error("cannot recover: " + recovered.error().message);
  for (const std::string& id : recovered->committed) fmt::print("recovered {}: committed\n", id);
  for (const std::string& id : recovered->aborted) fmt::print("recovered {}: aborted\n", id);
}

void Coordinator::start_executor() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw std::runtime_error("socketpair");
  const std::string descriptor = std::to_string(pair[1]);
  const std::string& bootstrap =
      options_.executor_bootstrap.empty() ? options_.bootstrap : options_.executor_bootstrap;
  std::vector<std::string> words{options_.program,
                                 "executor",
                                 "--channel",
                                 descriptor,
                                 "--bootstrap",
                                 bootstrap,
                                 "--group",
                                 options_.group,
                                 "--topic",
                                 options_.topic,
                                 "--request-timeout-ms",
                                 std::to_string(options_.request_timeout_ms),
                                 "--transaction-timeout-ms",
                                 std::to_string(options_.transaction_timeout_ms)};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid == 0) {
    ::fcntl(pair[1], F_SETFD, 0);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(pair[1]);
  workers_.push_back({pid, Channel(pair[0])});
  fmt::print("executor {}\n", pid);
}

void Coordinator::run() {
  recover();
  for (int i = 0; i < options_.executors; ++i) start_executor();
  int idle = 0;
  while (options_.end_after_idle == 0 || idle < options_.end_after_idle) {
    std::fflush(stdout);
    const std::optional<size_t> results = checkpoint();
    // What was aborted may have had results.
    idle = results && *results == 0 ? idle + 1 : 0;
  }
}

std::optional<size_t> Coordinator::checkpoint() {
  ++checkpoint_;
  const std::string id = fmt::format("{}{}-{}", prefix_, attempt_, checkpoint_);
  auto begun = transactions_->begin(id, Millis(options_.transaction_timeout_ms), kTimeout);
  if (!begun) throw std::runtime_error("cannot begin " + id + ": " + begun.error().message);
  work(id);
  Reports reports = collect();
  reach("acks", reports);
  if (!reports.failure) {
    auto prepared = transactions_->prepare(id, reports.staged, kTimeout);
    if (!prepared) reports.failure = prepared.error().message;
  }
  if (reports.failure) {
    fmt::print("checkpoint {} is aborted: {}\n", id, *reports.failure);
    if (auto aborted = transactions_->abort(id, kTimeout); !aborted)
      throw std::runtime_error("cannot abort " + id + ": " + aborted.error().message);
    tell_all({{"do", "ended"}, {"committed", false}});
    if (++aborted_ == kMostAborted)
      throw std::runtime_error("too many checkpoints are aborted: " + *reports.failure);
    return std::nullopt;
  }
  reach("prepare", reports);
  // From here on the checkpoint counts: a restart commits it, too.
  commit_to_sink(id, reports);
  reach("sink", reports);
  auto committed = transactions_->commit(id, kTimeout);
  if (!committed)
    throw std::runtime_error("cannot commit " + id + ": " + committed.error().message);
  reach("commit", reports);
  tell_all({{"do", "ended"}, {"committed", true}});
  aborted_ = 0;
  if (!reports.results.empty())
    fmt::print("checkpoint {}: {} results\n", id, reports.results.size());
  return reports.results.size();
}

void Coordinator::commit_to_sink(const std::string& id, const Reports& reports) {
  try {
    sink_.commit_checkpoint(id, reports.results);
  } catch (const Superseded&) {
    // Prepared, it would hold its records for ever; the later attempt may have looked before.
    (void)transactions_->abort(id, kTimeout);
    throw;
  }
}

void Coordinator::work(const std::string& id) {
  tell_all({{"do", "work"}, {"id", id}});
  std::this_thread::sleep_for(Millis(options_.checkpoint_ms));
  tell_all({{"do", "checkpoint"}});
}

Coordinator::Reports Coordinator::collect() {
  Reports all;
  for (Worker& worker : workers_) {
    const auto report = worker.channel.receive(kReportLimit);
    if (!report) throw std::runtime_error(fmt::format("executor {} is gone", worker.pid));
    if (const auto* failure = report->if_contains("error")) {
      all.failure = std::string(failure->as_string());
      continue;
    }
    auto staged = client::StagedOffsets::from_text(report->at("staged").as_string());
    if (!staged) throw std::runtime_error("an executor's report: " + staged.error().message);
    all.staged.add(*staged);
    for (const boost::json::value& result : report->at("results").as_array()) {
      all.results.push_back(
          {std::string(result.at(0).as_string()), std::string(result.at(1).as_string())});
    }
  }
  return all;
}

void Coordinator::tell_all(const boost::json::object& message) {
  for (Worker& worker : workers_) {
    if (!worker.channel.send(message))
      throw std::runtime_error(fmt::format("executor {} is gone", worker.pid));
  }
}

}  // namespace ackord::engine
