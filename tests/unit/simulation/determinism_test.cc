// The same seed is the same run; without that no finding could be replayed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "broker/base/logging.h"
#include "tests/simulation/main_job.h"
#include "tests/simulation/scheduler.h"

namespace ackord::simulation {
namespace {

// Which of three cores ran, and when.
std::vector<std::string> trace_of(uint64_t seed) {
  SimScheduler scheduler(seed);
  std::vector<std::string> trace;
  SimExecutor a(scheduler);
  SimExecutor b(scheduler);
  SimExecutor c(scheduler);
  const auto say = [&](const std::string& what) {
    trace.push_back(std::to_string(scheduler.now_us()) + " " + what);
  };
  for (int i = 0; i < 20; ++i) {
    a.post([&, i] { say("a" + std::to_string(i)); });
    b.post([&, i] { say("b" + std::to_string(i)); });
    scheduler.after(static_cast<int64_t>(scheduler.random.below(1000)), c,
                    [&, i] { say("c" + std::to_string(i)); });
  }
  while (scheduler.step()) {
  }
  return trace;
}

TEST(SimScheduler, TheSeedDecidesTheOrder) {
  EXPECT_EQ(trace_of(5), trace_of(5));
  EXPECT_NE(trace_of(5), trace_of(6));
}

TEST(SimScheduler, ACoreKeepsTheOrderOfItsPosts) {
  const std::vector<std::string> trace = trace_of(7);
  int next = 0;
  for (const std::string& line : trace) {
    const size_t at = line.find(" a");
    if (at == std::string::npos) continue;
    EXPECT_EQ(line.substr(at + 2), std::to_string(next++));
  }
  EXPECT_EQ(next, 20);
}

TEST(SimClock, TimersComeInTheOrderOfTheirTimesAndNotAfterCancel) {
  SimScheduler scheduler(1);
  SimExecutor core(scheduler);
  SimClock clock(scheduler, core);
  std::string order;
  const int64_t now = clock.now().steady_ms;
  clock.call_at(now + 20, [&] { order += "b"; });
  clock.call_at(now + 10, [&] { order += "a"; });
  const auto cancelled = clock.call_at(now + 15, [&] { order += "x"; });
  clock.cancel(cancelled);
  while (scheduler.step()) {
  }
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(clock.now().steady_ms, now + 20);
}

TEST(MainJob, TheSameSeedIsTheSameRun) {
  ASSERT_TRUE(base::configure_logging("off"));
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const Report first = run_main_job(seed);
    const Report again = run_main_job(seed);
    EXPECT_FALSE(first.ledger.story().empty());
    EXPECT_EQ(first.ledger.story(), again.ledger.story());
    EXPECT_EQ(first.steps, again.steps);
    EXPECT_EQ(first.crash_steps, again.crash_steps);
  }
}

}  // namespace
}  // namespace ackord::simulation
