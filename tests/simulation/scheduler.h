// SimScheduler: all executors and all time of one simulated run, on one thread, in an order that
// the seed decides.
//
// Each SimExecutor keeps the order of its posts (as a core does); which executor goes next, how
// long a disk or the network takes, and when a core is held up for a while, is random. Time stands
// still while anything can run and then jumps to the next timer. The same seed gives the same run:
// nothing here looks at a real clock, an address or a hash order.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "broker/io/clock.h"
#include "broker/io/executor.h"
#include "broker/io/random.h"

namespace ackord::simulation {

class SimRandom : public io::Random {
 public:
  explicit SimRandom(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t next() override;
  // Uniform in [0, bound).
  uint64_t below(uint64_t bound) { return next() % bound; }
  bool chance(double probability) {
    return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
  }

 private:
  uint64_t state_;
};

class SimScheduler;

class SimExecutor : public io::Executor {
 public:
  explicit SimExecutor(SimScheduler& scheduler);
  ~SimExecutor() override;

  void post(std::function<void()> work) override;
  void resume(std::coroutine_handle<> coroutine) override;

  bool idle() const { return queue_.empty(); }
  void run_one();
  // A crash: whatever was to run here never does.
  void drop();

 private:
  friend class SimScheduler;
  SimScheduler& scheduler_;
  std::deque<std::function<void()>> queue_;
  int64_t stalled_until_us_ = 0;
};

// The clock of one executor. `wall` may jump; steady time does not.
class SimClock : public io::Clock {
 public:
  SimClock(SimScheduler& scheduler, SimExecutor& executor)
      : scheduler_(scheduler), executor_(executor) {}
  ~SimClock() override;

  io::Now now() const override;
  TimerId call_at(int64_t deadline_ms, std::function<void()> work) override;
  void cancel(TimerId timer) override;

 private:
  SimScheduler& scheduler_;
  SimExecutor& executor_;
  std::map<TimerId, int64_t> timers_;  // deadline in microseconds
};

class SimScheduler {
 public:
  explicit SimScheduler(uint64_t seed);

  // Runs one piece of work, or lets time pass to the next timer; false when nothing will ever
  // happen again.
  bool step();
  uint64_t steps() const { return steps_; }
  int64_t now_us() const { return now_us_; }

  // Runs `work` on `executor` after `delay_us`. The simulated disk and network use it.
  void after(int64_t delay_us, SimExecutor& executor, std::function<void()> work);

  // Of every clock: somebody has set the machine's. Steady time goes on as it did.
  void jump_wall(int64_t by_ms) {
    wall_ms_ += by_ms;
    ++jumps_;
  }
  int jumps() const { return jumps_; }

  SimRandom random;

 private:
  friend class SimExecutor;
  friend class SimClock;
  using TimerKey = std::pair<int64_t, uint64_t>;  // time, then order of making
  struct Timer {
    SimExecutor* executor;
    std::function<void()> work;
  };
  bool ready(const SimExecutor& executor) const {
    return !executor.idle() && executor.stalled_until_us_ <= now_us_;
  }
  void stall(SimExecutor& executor);
  TimerKey add(int64_t at_us, SimExecutor& executor, std::function<void()> work);
  void forget(SimExecutor& executor);

  std::vector<SimExecutor*> executors_;
  std::map<TimerKey, Timer> timers_;
  uint64_t last_timer_ = 0;
  uint64_t steps_ = 0;
  int64_t now_us_ = 1'000'000;
  int64_t wall_ms_ = 1'800'000'000'000;  // when steady time is 0
  int jumps_ = 0;
  double stall_chance_ = 0;
};

}  // namespace ackord::simulation
