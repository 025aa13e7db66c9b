// kill-loop: idempotent writers, transactional writers and job workers against a broker that is
// killed (SIGKILL) at random moments, while it serves and while it starts, and stopped at some.
// At the end every promise is checked: nothing acknowledged is lost or there twice, nothing that a
// reader saw is gone, no transaction hangs, read_committed sees exactly what was committed, each
// input has exactly one output. The seed decides the moments and what the clients do; the rest is
// the machine's. Exit status: 0 when all holds.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/integration/kill_loop/checks.h"
#include "tests/integration/support/broker_process.h"

namespace ackord::integration {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  double minutes = 0;
  double seconds = 0;
  uint64_t seed = 1;
  int most_ms = 6000;  // between a start and the next kill
};

struct Kills {
  int serving = 0;
  int starting = 0;
  int stops = 0;
  int64_t slowest_start_ms = 0;
};

// Small segments, and a cleaner that is always at work: they are rolled, compacted and swapped in
// the middle of it all.
Settings settings() {
  return {{"group.share.max.delivery.count.limit", "25"},
          {"log.cleaner.backoff.ms", "500"},
          {"offsets.topic.segment.bytes", "65536"},
          {"transaction.state.log.segment.bytes", "65536"},
          {"share.coordinator.state.topic.segment.bytes", "65536"},
          {"transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000"}};
}

void create_topics(Run& run) {
  RawClient client(run.port);
  const std::vector<std::pair<std::string, std::string>> small{{"segment.bytes", "1048576"}};
  run.plain = create_topic(client, "plain", 3, small);
  run.ledger = create_topic(client, "ledger", 2, small);
  run.inputs = create_topic(client, "inputs", 1, small);
  run.output = create_topic(client, "output", 2, small);
  run.group = "jobs";
  set_group_configs(
      client, run.group,
      {{"share.auto.offset.reset", "earliest"}, {"share.delivery.count.limit", "25"}});
}

class KillLoop {
 public:
  explicit KillLoop(const Options& options);
  // False when a promise was broken.
  bool run();

 private:
  void start_clients();
  void kill_until(Clock::time_point end);
  void start_broker();
  void drain_jobs();
  void check();
  void report(double seconds) const;
  std::chrono::milliseconds random_ms(int most) {
    return std::chrono::milliseconds(random_() % static_cast<uint64_t>(most));
  }

  Options options_;
  std::mt19937_64 random_;
  BrokerProcess broker_;
  Run run_;
  Kills kills_;
  std::vector<IdempotentWriter> plain_writers_;
  std::vector<IdempotentWriter> input_writers_;
  std::vector<TxnWriter> txn_writers_;
  std::vector<JobWorker> workers_;
  std::vector<Follower> followers_;
  std::vector<std::thread> writing_;
  std::vector<std::thread> working_;
};

KillLoop::KillLoop(const Options& options)
    : options_(options), random_(options.seed), broker_(settings()) {
  run_.port = broker_.port();
  run_.seed = options.seed;
  create_topics(run_);
  for (int32_t partition = 0; partition < run_.plain.partitions; ++partition) {
    plain_writers_.emplace_back(run_, run_.plain, partition, Millis(2));
    followers_.emplace_back(run_, run_.plain, partition);
  }
  input_writers_.emplace_back(run_, run_.inputs, 0, Millis(30));
  txn_writers_.emplace_back(run_, "writer-1", TxnVersion::k1);
  txn_writers_.emplace_back(run_, "writer-2", TxnVersion::k2);
  workers_.emplace_back(run_, "worker-1");
  workers_.emplace_back(run_, "worker-2");
}

void KillLoop::start_clients() {
  for (auto& writer : plain_writers_) writing_.emplace_back([&writer] { writer.run(); });
  for (auto& writer : input_writers_) writing_.emplace_back([&writer] { writer.run(); });
  for (auto& writer : txn_writers_) writing_.emplace_back([&writer] { writer.run(); });
  for (auto& follower : followers_) writing_.emplace_back([&follower] { follower.run(); });
  for (auto& worker : workers_) working_.emplace_back([&worker] { worker.run(); });
}

void KillLoop::start_broker() {
  const auto begin = Clock::now();
  broker_.start();
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
  kills_.slowest_start_ms = std::max<int64_t>(kills_.slowest_start_ms, took);
}

void KillLoop::kill_until(Clock::time_point end) {
  // As often right after a start as in the middle of long work.
  while (Clock::now() < end) {
    std::this_thread::sleep_for(random_() % 3 == 0 ? random_ms(options_.most_ms / 10)
                                                   : random_ms(options_.most_ms));
    switch (random_() % 8) {
      case 0:
        if (const int status = broker_.stop(); status != 0)
          run_.story.finding("exit status " + std::to_string(status) + " after SIGTERM");
        ++kills_.stops;
        break;
      case 1:
        broker_.kill9();
        ++kills_.serving;
        broker_.launch();
        std::this_thread::sleep_for(random_ms(100));
        broker_.kill9();
        ++kills_.starting;
        break;
      default: broker_.kill9(); ++kills_.serving;
    }
    start_broker();
  }
}

void KillLoop::drain_jobs() {
  RawClient client(run_.port);
  const auto end = std::to_string(end_offset(client, run_.inputs, 0, Isolation::kReadUncommitted));
  std::string state;
  try {
    poll_until(
        "all inputs taken",
        [&] {
          state = share_state(client, run_.group, run_.inputs);
          return state == end + ".." + end + ":";
        },
        Millis(120000));
  } catch (const std::exception& late) {
    run_.story.finding(std::string(late.what()) + " of " + end + "; " + state);
  }
}

void KillLoop::check() {
  RawClient client(run_.port);
  std::vector<std::string> ids;
  for (const TxnWriter& writer : txn_writers_) ids.push_back(writer.id());
  for (const JobWorker& worker : workers_) {
    // What the worker may have begun when it was told to end.
    TxnProducer(run_.port, worker.id(), TxnVersion::k2).init();
    ids.push_back(worker.id());
  }
  check_nothing_hangs(run_, client, ids);
  for (const IdempotentWriter& writer : plain_writers_) check_idempotent(run_, client, writer);
  for (const IdempotentWriter& writer : input_writers_) check_idempotent(run_, client, writer);
  for (const Follower& follower : followers_) follower.check(client);
  check_ledger(run_, client, txn_writers_);
  check_jobs(run_, client);
}

void KillLoop::report(double seconds) const {
  const Story& story = run_.story;
  fmt::print("seed {}: {} kills ({} while it started), {} stops in {:.0f} s, slowest start {} ms\n",
             options_.seed, kills_.serving + kills_.starting, kills_.starting, kills_.stops,
             seconds, kills_.slowest_start_ms);
  fmt::print("idempotent batches {}, sent again {}; commits {}, aborts {}, EndTxn repeated {}\n",
             story.batches.load(), story.repeated.load(), story.commits.load(), story.aborts.load(),
             story.ends_repeated.load());
  fmt::print("inputs in committed jobs {}, most deliveries of one {}\n", story.jobs.load(),
             story.most_deliveries.load());
  for (const auto& [text, count] : story.hindrances()) fmt::print("  {:>6} x {}\n", count, text);
  const auto findings = story.findings();
  constexpr size_t kShown = 40;
  for (size_t i = 0; i < findings.size() && i < kShown; ++i)
    fmt::print("FINDING {}\n", findings[i]);
  fmt::print("{} findings\n", findings.size());
  if (!findings.empty()) fmt::print("--- output of the broker:\n{}---\n", broker_.output());
}

bool KillLoop::run() {
  const auto begin = Clock::now();
  const auto limit = std::chrono::duration<double>(options_.minutes * 60 + options_.seconds);
  start_clients();
  try {
    kill_until(begin + std::chrono::duration_cast<Clock::duration>(limit));
  } catch (const std::exception& failure) {
    run_.story.finding(failure.what());
  }
  run_.writers_stop = true;
  if (!broker_.running()) {
    // Clients would wait for it for ever.
    report(std::chrono::duration<double>(Clock::now() - begin).count());
    std::fflush(stdout);
    std::_Exit(1);
  }
  for (std::thread& thread : writing_) thread.join();
  try {
    drain_jobs();
    run_.workers_stop = true;
    for (std::thread& thread : working_) thread.join();
    check();
    if (broker_.stop() != 0) run_.story.finding("no clean stop at the end");
  } catch (const std::exception& failure) {
    run_.story.finding(failure.what());
  }
  run_.workers_stop = true;
  for (std::thread& thread : working_) {
    if (thread.joinable()) thread.join();
  }
  report(std::chrono::duration<double>(Clock::now() - begin).count());
  return run_.story.findings().empty();
}

int start(int count, char** arguments) {
  Options options;
  CLI::App app("Clients of every kind against a broker that is killed at random moments");
  app.add_option("--minutes", options.minutes, "How long it is killed");
  app.add_option("--seconds", options.seconds, "More of it");
  app.add_option("--seed", options.seed, "Of the moments and of what the clients do");
  app.add_option("--most-ms", options.most_ms, "The longest time between a start and a kill")
      ->check(CLI::Range(10, 600000));
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem);
  }
  return KillLoop(options).run() ? 0 : 1;
}

}  // namespace
}  // namespace ackord::integration

int main(int count, char** arguments) {
  try {
    return ackord::integration::start(count, arguments);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "kill-loop: {}\n", failure.what());
    return 2;
  }
}
