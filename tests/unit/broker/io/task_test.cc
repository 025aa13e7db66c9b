#include "broker/io/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "broker/io/executor.h"
#include "broker/io/position_gate.h"
#include "broker/io/signal.h"
#include "tests/support/test_executor.h"

namespace ackord::io {
namespace {

using test::TestCore;

Task<int> answer(int value) { co_return value; }

Task<int> sum_of_many(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    auto task = answer(1);
    const int one = co_await std::move(task);
    sum += one;
  }
  co_return sum;
}

// A loop over tasks that end at once must not grow the stack, whatever the optimiser does.
TEST(Task, AMillionThatEndAtOnce) {
  TestCore core;
  EXPECT_EQ(core.run(sum_of_many(1'000'000)), 1'000'000);
}

struct Witness {
  std::vector<std::string>& log;
  std::string name;
  ~Witness() { log.push_back("end of " + name); }
};

Task<void> wait_inside(PositionGate& gate, std::vector<std::string>& log) {
  const Witness inner{log, "inner"};
  auto waiting = gate.reached(1);
  (void)co_await std::move(waiting);
  log.push_back("never");
}
Task<void> wait_outside(PositionGate& gate, std::vector<std::string>& log) {
  const Witness outer{log, "outer"};
  auto inside = wait_inside(gate, log);
  co_await std::move(inside);
}

// Shutdown and a simulated crash: a suspended chain of tasks is destroyed from the inside out, its
// locals with it.
TEST(Task, DestroyedWhileItWaits) {
  std::vector<std::string> log;
  {
    TestCore core;
    PositionGate gate(0);
    core.spawn(wait_outside(gate, log));
    core.run_until_idle();
    core.executor.destroy_spawned();
    EXPECT_EQ(log, (std::vector<std::string>{"end of inner", "end of outer"}));
    gate.advance(5);
  }
  EXPECT_EQ(log.size(), 2u);
}

Task<std::vector<int>> all_of(std::vector<Task<int>> tasks) {
  auto running = when_all(std::move(tasks));
  std::vector<int> values = co_await std::move(running);
  co_return values;
}

TEST(WhenAll, ResultsInTheOrderOfTheTasks) {
  TestCore core;
  for (const int count : {0, 1, 7}) {
    std::vector<Task<int>> tasks;
    std::vector<int> expected;
    for (int i = 0; i < count; ++i) {
      tasks.push_back(answer(i));
      expected.push_back(i);
    }
    EXPECT_EQ(core.run(all_of(std::move(tasks))), expected) << count;
  }
}

Task<Executor*> where() { co_return Executor::current(); }
Task<std::pair<Executor*, Executor*>> hop(Executor& target) {
  auto there = on(target, where());
  Executor* far = co_await std::move(there);
  co_return std::pair(far, Executor::current());
}

TEST(On, RunsThereAndComesBack) {
  TestCore here;
  test::TestExecutor there;
  std::pair<Executor*, Executor*> seen;
  bool done = false;
  struct Store {
    static Task<void> into(std::pair<Executor*, Executor*>& seen, bool& done, Executor& target) {
      auto hopping = hop(target);
      seen = co_await std::move(hopping);
      done = true;
    }
  };
  here.spawn(Store::into(seen, done, there));
  while (!done) {
    here.run_until_idle();
    while (there.run_one()) {
    }
  }
  EXPECT_EQ(seen.first, &there);
  EXPECT_EQ(seen.second, &here.executor);
}

TEST(PositionGate, OneAdvanceWakesAllThatItSatisfies) {
  TestCore core;
  PositionGate gate(10);
  std::vector<int64_t> woken;
  struct Wait {
    static Task<void> until(PositionGate& gate, int64_t position, std::vector<int64_t>& woken) {
      auto waiting = gate.reached(position);
      const Result<void> done = co_await std::move(waiting);
      woken.push_back(done ? position : -position);
    }
  };
  for (const int64_t position : {30, 9, 20, 11, 21}) core.spawn(Wait::until(gate, position, woken));
  core.run_until_idle();
  EXPECT_EQ(woken, (std::vector<int64_t>{9}));
  core.executor.inside([&] { gate.advance(20); });
  core.run_until_idle();
  EXPECT_EQ(woken, (std::vector<int64_t>{9, 11, 20}));
  core.executor.inside([&] { gate.fail(error(ErrorCode::KAFKA_STORAGE_ERROR)); });
  core.run_until_idle();
  EXPECT_EQ(woken, (std::vector<int64_t>{9, 11, 20, -21, -30}));
  // What was durable before the failure stays so.
  core.spawn(Wait::until(gate, 15, woken));
  core.spawn(Wait::until(gate, 22, woken));
  core.run_until_idle();
  EXPECT_EQ(woken.back(), -22);
  EXPECT_EQ(woken[5], 15);
}

Task<bool> wait(std::shared_ptr<Wakeup> wakeup, int64_t deadline_ms) {
  auto waiting = wakeup->wait_until(deadline_ms);
  const bool woken = co_await std::move(waiting);
  co_return woken;
}

TEST(Signal, AWakeBeforeTheWaitIsNotLost) {
  TestCore core;
  Signal signal;
  const auto wakeup = Wakeup::make(core.executor, core.clock);
  signal.subscribe(wakeup);
  core.executor.inside([&] { signal.notify(); });
  EXPECT_TRUE(core.run(wait(wakeup, core.clock.now().steady_ms + 1000)));
  // It was used up; and a signal forgets whom it has woken.
  core.executor.inside([&] { signal.notify(); });
  EXPECT_FALSE(core.run(wait(wakeup, core.clock.now().steady_ms + 1000)));
}

TEST(Signal, ForgetsSubscribersThatAreGone) {
  TestCore core;
  Signal signal;
  const auto kept = Wakeup::make(core.executor, core.clock);
  signal.subscribe(kept);
  for (int i = 0; i < 100'000; ++i) signal.subscribe(Wakeup::make(core.executor, core.clock));
  EXPECT_LE(signal.size(), 64u);
  core.executor.inside([&] { signal.notify(); });
  EXPECT_TRUE(core.run(wait(kept, core.clock.now().steady_ms)));
}

}  // namespace
}  // namespace ackord::io
