#include "broker/io/posix/asio_core.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "broker/io/posix/block_on.h"
#include "broker/io/signal.h"

namespace ackord::io {
namespace {

using namespace std::chrono_literals;

class AsioCoreTest : public testing::Test {
 protected:
  AsioCoreTest() : cores_(2), all_(cores_.cores()) { cores_.start(); }

  AsioCores cores_;
  std::vector<Core> all_;
};

Task<int> add(int a, int b) { co_return a + b; }

Task<bool> runs_on(Executor* expected) { co_return Executor::current() == expected; }

TEST_F(AsioCoreTest, RunsATaskOnItsCore) {
  EXPECT_EQ(block_on(all_[0].executor, add(2, 3)), 5);
  EXPECT_TRUE(block_on(all_[1].executor, runs_on(&all_[1].executor)));
  EXPECT_EQ(Executor::current(), nullptr);
}

Task<int> hop_many(Executor* other, Executor* home, int hops) {
  int sum = 0;
  for (int i = 0; i < hops; ++i) {
    const int one = co_await on(*other, add(i, 0));
    EXPECT_EQ(Executor::current(), home);
    sum += one;
  }
  co_return sum;
}

TEST_F(AsioCoreTest, HopsBetweenCores) {
  EXPECT_EQ(block_on(all_[0].executor, hop_many(&all_[1].executor, &all_[0].executor, 1000)),
            499500);
}

TEST_F(AsioCoreTest, KeepsTheOrderOfOnePoster) {
  std::vector<int> seen;  // touched by core 0 only, until `last` is set
  std::promise<void> last;
  for (int i = 0; i < 10000; ++i) {
    cores_.at(0).post([&, i] {
      seen.push_back(i);
      if (i == 9999) last.set_value();
    });
  }
  last.get_future().wait();
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(seen[i], i);
}

TEST_F(AsioCoreTest, TakesWorkFromManyThreads) {
  int done = 0;  // core 0 only
  std::promise<void> all_done;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        cores_.at(0).post([&] {
          if (++done == 20000) all_done.set_value();
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  all_done.get_future().wait();
}

Task<std::vector<int>> timers_in_order(Clock* clock, Executor* home) {
  std::vector<int> order;
  const int64_t now_ms = clock->now().steady_ms;
  const auto wakeup = std::make_shared<Wakeup>(*home, *clock);
  clock->call_at(now_ms + 30, [&] {
    order.push_back(30);
    wakeup->wake();
  });
  clock->call_at(now_ms + 10, [&] { order.push_back(10); });
  const auto never = clock->call_at(now_ms + 20, [&] { order.push_back(20); });
  clock->call_at(now_ms - 5, [&] { order.push_back(-5); });
  clock->call_at(INT64_MAX, [&] { order.push_back(99); });
  clock->cancel(never);
  const bool woken = co_await wakeup->wait_until(INT64_MAX);
  EXPECT_TRUE(woken);
  EXPECT_GE(clock->now().steady_ms, now_ms + 30);
  co_return order;
}

TEST_F(AsioCoreTest, RunsTimersInOrderOfTheirDeadlines) {
  const auto order = block_on(all_[0].executor, timers_in_order(&all_[0].clock, &all_[0].executor));
  EXPECT_EQ(order, (std::vector<int>{-5, 10, 30}));
}

Task<bool> cancelled_by_another_due(Clock* clock) {
  const int64_t now_ms = clock->now().steady_ms;
  bool ran = false;
  Clock::TimerId second = 0;
  clock->call_at(now_ms + 1, [&] { clock->cancel(second); });
  second = clock->call_at(now_ms + 1, [&] { ran = true; });
  SleepUntil later(*clock, now_ms + 20);
  co_await later;
  co_return ran;
}

TEST_F(AsioCoreTest, ADueTimerCanStillBeCancelledByAnother) {
  EXPECT_FALSE(block_on(all_[0].executor, cancelled_by_another_due(&all_[0].clock)));
}

TEST_F(AsioCoreTest, AnEarlierTimerRearms) {
  std::promise<void> early;
  cores_.at(0).post([&] {
    Clock& clock = cores_.at(0);
    const int64_t now_ms = clock.now().steady_ms;
    clock.call_at(now_ms + 3'600'000, [] {});
    clock.call_at(now_ms + 5, [&] { early.set_value(); });
  });
  EXPECT_EQ(early.get_future().wait_for(20s), std::future_status::ready);
}

struct Destroyed {
  std::atomic<bool>* flag;
  explicit Destroyed(std::atomic<bool>* f) : flag(f) {}
  ~Destroyed() { *flag = true; }
};

Task<void> sleeps_forever(Clock* clock, std::atomic<bool>* destroyed, std::promise<void>* started) {
  const Destroyed mark(destroyed);
  started->set_value();
  SleepUntil never(*clock, INT64_MAX);
  co_await never;
}

TEST_F(AsioCoreTest, StopDestroysUnfinishedTasks) {
  std::atomic<bool> destroyed = false;
  std::promise<void> started;
  spawn(all_[0].executor, sleeps_forever(&all_[0].clock, &destroyed, &started));
  started.get_future().wait();
  EXPECT_FALSE(destroyed);
  cores_.stop();
  EXPECT_TRUE(destroyed);
}

Task<int> yields(int times) {
  for (int i = 0; i < times; ++i) co_await yield();
  co_return times;
}

TEST_F(AsioCoreTest, YieldingTasksDoNotStarveTimers) {
  std::promise<void> fired;
  cores_.at(0).post(
      [&] { cores_.at(0).call_at(cores_.at(0).now().steady_ms + 1, [&] { fired.set_value(); }); });
  auto future = fired.get_future();
  while (future.wait_for(0s) != std::future_status::ready) {
    EXPECT_EQ(block_on(all_[0].executor, yields(1000)), 1000);
  }
}

}  // namespace
}  // namespace ackord::io
