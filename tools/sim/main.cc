// ackord-sim: runs the main job in simulation, one run per seed. A seed that fails is printed with
// its findings, and `ackord-sim --seed N` replays it exactly. Closing line: "N passed, N failed".
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

#include "broker/base/logging.h"
#include "broker/base/planted_bug.h"
#include "tests/simulation/main_job.h"

namespace {

struct Options {
  uint64_t seed = 1;
  uint64_t count = 1;
  uint64_t progress = 0;
  bool first = false;
  bool verbose = false;
  std::string log_level = "off";
};

void print(const ackord::simulation::Report& report, bool with_story) {
  const auto& ledger = report.ledger;
  std::printf(
      "seed %llu: %s, %zu records, %d commits, %d aborts, %d fenced, %d + %d batches, "
      "%d redeliveries, %zu crashes, %llu steps, %lld s simulated\n",
      static_cast<unsigned long long>(report.seed), report.failed() ? "FAILED" : "ok",
      ledger.produced_count(), ledger.commits, ledger.aborts, ledger.fenced, ledger.batch_commits,
      ledger.batch_aborts, ledger.redeliveries, report.crash_steps.size(),
      static_cast<unsigned long long>(report.steps),
      static_cast<long long>(report.simulated_ms / 1000));
  if (with_story) {
    for (const std::string& line : ledger.story()) std::printf("  %s\n", line.c_str());
  }
  for (const std::string& finding : ledger.findings()) std::printf("  %s\n", finding.c_str());
}

// What an assertion of the broker leaves behind: which seed it was.
volatile std::sig_atomic_t running_seed = 0;

void on_abort(int) {
  std::fprintf(stderr, "seed %lld: FAILED\n  an assertion stopped the broker\n",
               static_cast<long long>(running_seed));
}

#ifdef ACKORD_PLANTED_BUGS
void add_planted_bugs(CLI::App& app) {
  app.add_option_function<std::string>(
         "--plant",
         [](const std::string& name) {
           if (!ackord::base::plant(name))
             throw CLI::ValidationError("--plant", "there is no planted bug " + name);
         },
         "plants one bug by its name")
      ->option_text("NAME");
  app.add_flag_callback(
      "--plants",
      [] {
        for (const auto& bug : ackord::base::planted_bugs())
          std::printf("%-30s %s\n", std::string(bug.name).c_str(), std::string(bug.what).c_str());
        throw CLI::Success();
      },
      "lists the bugs that can be planted");
}
#else
void add_planted_bugs(CLI::App&) {}
#endif

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Runs Ackord's main job on a simulated machine, with crashes at random moments.",
               "ackord-sim"};
  app.add_option("--seed", options.seed, "first seed")->capture_default_str();
  app.add_option("--count", options.count, "how many seeds, one after the other")
      ->capture_default_str();
  app.add_flag("--first", options.first, "ends at the first seed that fails");
  app.add_option("--progress", options.progress, "a line after every so many seeds; 0: none");
  add_planted_bugs(app);
  app.add_flag(
      "--verbose", options.verbose,
      "a line for each seed, not only for those that fail; of a single seed the whole story");
  app.add_option("--log-level", options.log_level,
                 "the broker's own log: trace, debug, info, warn, error, off")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (!ackord::base::configure_logging(options.log_level)) {
    std::fprintf(stderr, "ackord-sim: unknown log level %s\n", options.log_level.c_str());
    return 2;
  }
  const auto began = std::chrono::steady_clock::now();
  std::signal(SIGABRT, on_abort);
  uint64_t failed = 0;
  uint64_t run = 0;
  while (run < options.count && !(options.first && failed != 0)) {
    const uint64_t seed = options.seed + run++;
    running_seed = static_cast<std::sig_atomic_t>(seed);
    const ackord::simulation::Report report = ackord::simulation::run_main_job(seed);
    if (report.failed()) ++failed;
    if (report.failed() || options.verbose || options.count == 1)
      print(report, options.count == 1 && options.verbose);
    if (options.progress != 0 && run % options.progress == 0)
      std::printf("up to seed %llu: %llu failed\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(failed));
    std::fflush(stdout);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%llu seeds in %.1f s\n", static_cast<unsigned long long>(run), seconds);
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(run - failed),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
