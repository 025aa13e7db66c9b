// A batch job whose results are files, one for each batch transaction: exactly once, without a
// Kafka producer. docs/TUTORIAL.md goes through it step by step.
//
//   example-batch-job TOPIC DIRECTORY [name=value…]
//
// The options are those of ShareConsumerConfig::set(); `die.after=prepare` and `die.after=results`
// kill the process after that step of the first batch with records, to see what the next start
// makes of it. Ends with SIGTERM or SIGINT; exit status 1 after an error: start it again.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <stdexcept>

#include "client/batch_transactions.h"
#include "client/share_consumer.h"

using namespace ackord::client;
using ackord::TopicName;
namespace fs = std::filesystem;

namespace {

constexpr Millis kTimeout{20000};
constexpr int kExecutors = 2;

volatile std::sig_atomic_t stop_requested = 0;

template <class T>
T must(ackord::Result<T> result, const char* what) {
  if (!result) {
    throw std::runtime_error(std::string(what) + ": " + std::string(name_of(result.error().code)) +
                             ": " + result.error().message);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// [executor]
// One of the job's tasks; in an engine, a process on another machine.
class Executor {
 public:
  Executor(const ShareConsumerConfig& config, const std::string& topic)
      : transactions_(must(BatchTransactionExecutor::create(config.client), "executor")),
        consumer_(must(ShareConsumer::create(config, kTimeout), "consumer")) {
    consumer_->subscribe({TopicName(topic)});
  }

  struct Report {
    StagedOffsets staged;
    std::vector<std::string> results;
  };
  // Works on what comes in this time, and stages its acknowledgements in the transaction.
  Report work(const std::string& id, Millis time) {
    Report report;
    for (const Deadline end = Deadline::in(time); !end.passed();) {
      for (const ShareRecord& record : must(consumer_->poll(Millis(100)), "poll")) {
        report.results.push_back(record.value.value_or(""));
        must(consumer_->acknowledge(record), "acknowledge");
      }
    }
    const auto verdicts = must(consumer_->acknowledgements_for_transaction(), "hand over");
    must(transactions_->acknowledge(id, verdicts, consumer_->share_group_metadata(), kTimeout),
         "stage");
    report.staged = must(transactions_->report(id), "report");
    return report;
  }
  // The consumer's book is told how it ended, before the next one begins.
  void ended(const std::string& id, bool committed) { transactions_->ended(id, committed); }
  void close() { must(consumer_->close(kTimeout), "close"); }

 private:
  std::unique_ptr<BatchTransactionExecutor> transactions_;
  std::unique_ptr<ShareConsumer> consumer_;
};
// [end]

// [sink]
// The job's own commit: a file with the batch's id as its name is there, whole, or it is not.
class Results {
 public:
  // One process at a time: one that has only been stopped for a while would go on, and write the
  // results of a batch that its successor has aborted.
  explicit Results(fs::path directory) : directory_(std::move(directory)) {
    fs::create_directories(directory_);
    lock_ = ::open((directory_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0)
      throw std::runtime_error("another job works in " + directory_.string());
  }
  Results(const Results&) = delete;
  ~Results() { ::close(lock_); }
  bool has(const std::string& id) const { return fs::exists(directory_ / id); }
  void commit(const std::string& id, const std::vector<std::string>& lines) {
    const fs::path temporary = directory_ / (id + ".part");
    std::ofstream out(temporary);
    for (const std::string& line : lines) out << line << "\n";
    out.close();
    if (!out) throw std::runtime_error("cannot write " + temporary.string());
    sync(temporary);
    fs::rename(temporary, directory_ / id);
    sync(directory_);
  }
  // No start before has had this number.
  int next_attempt() {
    for (int attempt = 1;; ++attempt) {
      if (fs::create_directory(directory_ / ("attempt." + std::to_string(attempt)))) return attempt;
    }
  }

 private:
  static void sync(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    if (file < 0 || ::fsync(file) != 0) throw std::runtime_error("cannot sync " + path.string());
    ::close(file);
  }

  fs::path directory_;
  int lock_ = -1;
};
// [end]

// [coordinator]
class Job {
 public:
  Job(const ShareConsumerConfig& config, const std::string& topic, const fs::path& directory,
      std::string die_after)
      : results_(directory),
        transactions_(
            must(BatchTransactionCoordinator::create(config.client, config.group, kTimeout),
                 "coordinator")),
        prefix_(config.group.str() + "-job."),
        die_after_(std::move(die_after)) {
    recover();
    attempt_ = results_.next_attempt();
    for (int i = 0; i < kExecutors; ++i) executors_.emplace_back(config, topic);
  }

  void batch() {
    const std::string id = prefix_ + std::to_string(attempt_) + "-" + std::to_string(++batch_);
    must(transactions_->begin(id, Millis(60000), kTimeout), "begin");
    std::vector<std::future<Executor::Report>> working;
    for (Executor& executor : executors_) {
      working.push_back(std::async(std::launch::async,
                                   [&executor, id] { return executor.work(id, Millis(1000)); }));
    }
    StagedOffsets staged;
    std::vector<std::string> lines;
    for (auto& work : working) {
      Executor::Report report = work.get();
      staged.add(report.staged);
      lines.insert(lines.end(), report.results.begin(), report.results.end());
    }
    // From here on only commit() and abort() end it. It fails when the broker holds other records
    // than the executors have staged, or when two have staged the same one.
    must(transactions_->prepare(id, staged, kTimeout), "prepare");
    die_after("prepare", lines);
    // From here on the batch counts: after a crash it is committed.
    if (!lines.empty()) results_.commit(id, lines);
    die_after("results", lines);
    must(transactions_->commit(id, kTimeout), "commit");
    for (Executor& executor : executors_) executor.ended(id, true);
    if (!lines.empty()) std::printf("%s: %zu records\n", id.c_str(), lines.size());
  }
  void close() {
    for (Executor& executor : executors_) executor.close();
  }

 private:
  // What an earlier start has left: a prepared batch whose file is there is committed, all others
  // are aborted, and their records are delivered again.
  void recover() {
    const auto recovered =
        must(transactions_->recover(
                 prefix_, [this](const std::string& id) { return results_.has(id); }, kTimeout),
             "recover");
    for (const std::string& id : recovered.committed)
      std::printf("recovered %s: committed\n", id.c_str());
    for (const std::string& id : recovered.aborted)
      std::printf("recovered %s: aborted\n", id.c_str());
  }
  void die_after(const char* step, const std::vector<std::string>& lines) const {
    if (die_after_ == step && !lines.empty()) std::raise(SIGKILL);
  }

  Results results_;
  std::unique_ptr<BatchTransactionCoordinator> transactions_;
  std::string prefix_;
  std::string die_after_;
  int attempt_ = 0;
  int batch_ = 0;
  std::vector<Executor> executors_;
};
// [end]

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: example-batch-job TOPIC DIRECTORY [name=value…]\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { stop_requested = 1; });
  std::signal(SIGINT, [](int) { stop_requested = 1; });
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ShareConsumerConfig config;
  config.mode = AcknowledgementMode::kTransactional;
  std::string die_after;
  try {
    for (int i = 3; i < argc; ++i) {
      const std::string option = argv[i];
      const size_t equals = option.find('=');
      const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
      if (option.starts_with("die.after=")) {
        die_after = value;
      } else {
        must(config.set(option.substr(0, equals), value), "option");
      }
    }
    Job job(config, argv[1], argv[2], die_after);
    while (!stop_requested) job.batch();
    job.close();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
