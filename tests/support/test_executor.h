// One core for tests: an executor without a thread and a clock that moves only when told.
//   TestCore core;
//   auto result = core.run(some_task());
// Work may be posted from other threads (a real file system's pool); everything runs inside run()
// or run_until_idle(), on the test's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "broker/io/clock.h"
#include "broker/io/core.h"
#include "broker/io/executor.h"
#include "broker/io/random.h"
#include "broker/io/task.h"

namespace ackord::test {

class TestExecutor : public io::Executor {
 public:
  ~TestExecutor() override { destroy_spawned(); }

  void post(std::function<void()> work) override {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    posted_.notify_one();
  }
  void resume(std::coroutine_handle<> coroutine) override {
    post([coroutine] { coroutine.resume(); });
  }

  // Runs one piece of work; false when there is none.
  bool run_one() {
    std::function<void()> work;
    {
      std::lock_guard lock(mutex_);
      if (queue_.empty()) return false;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    Current scope(this);
    work();
    return true;
  }
  // Waits for work of another thread; false when none came in time.
  bool wait_for_work(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return posted_.wait_for(lock, limit, [this] { return !queue_.empty(); });
  }
  // Calls `call` as this core would: Executor::current() is this executor.
  template <class Call>
  decltype(auto) inside(Call&& call) {
    Current scope(this);
    return std::forward<Call>(call)();
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> queue_;
};

class ManualClock : public io::Clock {
 public:
  explicit ManualClock(io::Executor& executor) : executor_(executor) {}

  io::Now now() const override { return now_; }
  TimerId call_at(int64_t deadline_ms, std::function<void()> work) override {
    const TimerId id = ++last_;
    timers_.emplace(std::pair(std::max(deadline_ms, now_.steady_ms), id), std::move(work));
    return id;
  }
  void cancel(TimerId timer) override {
    std::erase_if(timers_, [timer](const auto& entry) { return entry.first.second == timer; });
  }

  // Moves both clocks and posts the timers that are due, in the order of their deadlines.
  void advance(int64_t ms) {
    now_.steady_ms += ms;
    now_.wall_ms += ms;
    while (!timers_.empty() && timers_.begin()->first.first <= now_.steady_ms) {
      const TimerId id = timers_.begin()->first.second;
      // Stays cancellable until it runs.
      auto due = std::make_shared<std::function<void()>>(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
      due_.emplace(id, due);
      executor_.post([this, id] { run_due(id); });
    }
    std::erase_if(due_, [](const auto& entry) { return !entry.second; });
  }
  void set_wall(TimeMs wall_ms) { now_.wall_ms = wall_ms; }
  // The earliest deadline of a timer that has not run.
  std::optional<int64_t> next_deadline() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first.first;
  }

 private:
  void run_due(TimerId id) {
    auto found = due_.find(id);
    if (found == due_.end()) return;
    auto work = std::move(found->second);
    due_.erase(found);
    (*work)();
  }

  io::Executor& executor_;
  io::Now now_{1'700'000'000'000, 1'000};
  TimerId last_ = 0;
  std::map<std::pair<int64_t, TimerId>, std::function<void()>> timers_;
  std::map<TimerId, std::shared_ptr<std::function<void()>>> due_;
};

class SeededRandom : public io::Random {
 public:
  explicit SeededRandom(uint64_t seed = 1) : state_(seed) {}
  uint64_t next() override {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

class TestCore {
 public:
  TestExecutor executor;
  ManualClock clock{executor};

  io::Core core(int index = 0) { return io::Core{index, executor, clock}; }

  void run_until_idle() {
    while (executor.run_one()) {
    }
  }
  void spawn(io::Task<void> task) { io::spawn(executor, std::move(task)); }
  // Moves time and runs what became due, and what that made due at once.
  void advance(int64_t ms) {
    clock.advance(ms);
    run_until_idle();
  }

  // Runs the core until `task` has ended. When nothing else is left to do, time jumps to the next
  // timer; a task that still does not end stops the test program.
  template <class T>
  T run(io::Task<T> task) {
    auto state = std::make_shared<State<T>>();
    io::spawn(executor, store(std::move(task), state));
    int jumps = 0;
    while (!state->done) {
      if (executor.run_one()) continue;
      if (executor.wait_for_work(std::chrono::milliseconds(clock.next_deadline() ? 20 : 5000)))
        continue;
      const auto next = clock.next_deadline();
      if (!next || ++jumps > 1000) {
        std::fputs("TestCore::run: the task waits for something that never happens\n", stderr);
        std::abort();
      }
      clock.advance(std::max<int64_t>(*next - clock.now().steady_ms, 0));
    }
    if constexpr (!std::is_void_v<T>) return std::move(*state->value);
  }

 private:
  template <class T>
  struct State {
    bool done = false;
    std::optional<std::conditional_t<std::is_void_v<T>, std::monostate, T>> value;
  };
  template <class T>
  static io::Task<void> store(io::Task<T> task, std::shared_ptr<State<T>> state) {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(task);
    } else {
      T value = co_await std::move(task);
      state->value.emplace(std::move(value));
    }
    state->done = true;
  }
};

}  // namespace ackord::test
