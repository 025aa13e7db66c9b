// ackord-checkpoint-engine: the coordinator; with "executor" one of its executors; with "results"
// what it has made. Exit status: 0 when it has ended as asked, 1 when the job has failed: start it
// again.

#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>

#include "tools/checkpoint-engine/coordinator.h"
#include "tools/checkpoint-engine/executor.h"
#include "tools/checkpoint-engine/sink.h"

namespace ackord::engine {
namespace {

void add_coordinator_options(CLI::App& app, CoordinatorOptions& options) {
  app.add_option("--bootstrap", options.bootstrap, "The broker")->capture_default_str();
  app.add_option("--executor-bootstrap", options.executor_bootstrap,
                 "The broker as executors reach it, where that differs");
  app.add_option("--group", options.group, "The share group");
  app.add_option("--topic", options.topic, "Its topic");
  app.add_option("--database", options.database, "The SQLite file that takes the results");
  app.add_option("--job", options.job, "Part of the transactions' ids")->capture_default_str();
  app.add_option("--executors", options.executors, "How many")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--checkpoint-ms", options.checkpoint_ms, "The time between two checkpoints")
      ->capture_default_str()
      ->check(CLI::Range(1, 60000));
  app.add_option("--transaction-timeout-ms", options.transaction_timeout_ms,
                 "After how long the broker aborts a checkpoint that is not prepared")
      ->capture_default_str()
      ->check(CLI::Range(1, 900000));
  app.add_option("--request-timeout-ms", options.request_timeout_ms,
                 "How long one request may take before it is sent again")
      ->capture_default_str()
      ->check(CLI::Range(1, 60000));
  app.add_option("--end-after-idle", options.end_after_idle,
                 "End after so many checkpoints without a result; 0: never");
  const CLI::IsMember step({"acks", "prepare", "sink", "commit"});
  app.add_option("--die-at", options.die_at,
                 "For tests: be killed after this step of the first checkpoint with results")
      ->check(step);
  app.add_option("--stop-at", options.stop_at,
                 "For tests: be stopped after this step of each checkpoint with results")
      ->check(step);
}

int start(int count, char** arguments) {
  CoordinatorOptions options;
  options.program = "/proc/self/exe";
  ExecutorOptions executor;
  int channel = -1;
  CLI::App app("Exactly-once results in SQLite from a share group, by batch transactions");
  add_coordinator_options(app, options);
  std::string shown;
  CLI::App* results = app.add_subcommand("results", "Prints the results in a file, one a line");
  results->add_option("--database", shown)->required()->check(CLI::ExistingFile);
  CLI::App* as_executor = app.add_subcommand("executor", "Started by the coordinator");
  as_executor->add_option("--channel", channel)->required();
  as_executor->add_option("--bootstrap", executor.bootstrap)->required();
  as_executor->add_option("--group", executor.group)->required();
  as_executor->add_option("--topic", executor.topic)->required();
  as_executor->add_option("--request-timeout-ms", executor.request_timeout_ms)->required();
  as_executor->add_option("--transaction-timeout-ms", executor.transaction_timeout_ms)->required();
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem);
  }
  if (results->parsed()) {
    Sink(shown).for_each_result([](const std::string& value) { fmt::print("{}\n", value); });
    return 0;
  }
  if (as_executor->parsed()) {
    Executor(executor, Channel(channel)).run();
    return 0;
  }
  if (options.group.empty() || options.topic.empty() || options.database.empty()) {
    fmt::print(stderr, "--group, --topic and --database are needed\n");
    return 2;
  }
  Coordinator(std::move(options)).run();
  return 0;
}

}  // namespace
}  // namespace ackord::engine

int main(int count, char** arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  try {
    return ackord::engine::start(count, arguments);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "checkpoint-engine: {}\n", failure.what());
    return 1;
  }
}
