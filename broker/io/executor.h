// Executor: one core. Everything that is posted to it runs on its one thread, in order of posting.
// Threads: post() and resume() may be called from any thread; all else on the executor's own.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "broker/io/task.h"

namespace ackord::io {

class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor();

  virtual void post(std::function<void()> work) = 0;
  // Posts the resumption of a suspended coroutine that belongs to this executor.
  virtual void resume(std::coroutine_handle<> coroutine) = 0;

  // The executor whose work runs on this thread now; null on a thread that is no core.
  static Executor* current();

  // Destroys every spawned task that has not ended. Only when nothing runs here any more (shutdown,
  // simulated crash).
  void destroy_spawned();

 protected:
  // Implementations set it around each piece of work.
  class Current {
   public:
    explicit Current(Executor* executor);
    ~Current();

   private:
    Executor* before_;
  };

 private:
  friend void spawn(Executor& executor, Task<void> task);
  struct Spawned;
  struct Unstarted;
  Spawned* spawned_ = nullptr;
};

// Starts a task on `executor` (any thread may call; it begins there, not now). It runs until its
// end; the executor owns it.
void spawn(Executor& executor, Task<void> task);

// Runs `task` on `target` and resumes here with its result. At once, without a hop, when `target`
// is this core.
template <class T>
Task<T> on(Executor& target, Task<T> task) {
  Executor* home = Executor::current();
  if (home == &target) co_return co_await std::move(task);
  struct State {
    std::optional<T> result;
    std::coroutine_handle<> waiting;
  };
  struct Awaiter {
    Executor& target;
    Executor* home;
    Task<T>& task;
    std::shared_ptr<State> state;
    static Task<void> remote(Task<T> task, std::shared_ptr<State> state, Executor* home) {
      state->result.emplace(co_await std::move(task));
      home->resume(state->waiting);
    }
    bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) {
      state->waiting = caller;
      spawn(target, remote(std::move(task), state, home));
    }
    T await_resume() { return std::move(*state->result); }
  };
  auto state = std::make_shared<State>();
  Awaiter awaiter{target, home, task, state};
  co_return co_await awaiter;
}

// Runs all tasks at the same time on this core and resumes when the last has ended; results in the
// order of the tasks.
template <class T>
Task<std::vector<T>> when_all(std::vector<Task<T>> tasks);

// Lets other work of this core run first.
struct Yield {
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) { Executor::current()->resume(caller); }
  void await_resume() noexcept {}
};
inline Yield yield() { return {}; }

// -----------------------------------------------------------------------------------------------

namespace detail {
struct Countdown {
  size_t left;
  std::coroutine_handle<> waiting;
};
template <class T>
Task<void> store(Task<T> task, std::shared_ptr<std::vector<std::optional<T>>> results, size_t at,
                 std::shared_ptr<Countdown> countdown, Executor* home) {
  T value = co_await std::move(task);
  (*results)[at].emplace(std::move(value));
  if (--countdown->left == 0) home->resume(countdown->waiting);
}
struct AwaitCountdown {
  std::shared_ptr<Countdown> countdown;
  bool await_ready() noexcept { return countdown->left == 0; }
  void await_suspend(std::coroutine_handle<> caller) { countdown->waiting = caller; }
  void await_resume() noexcept {}
};
}  // namespace detail

template <class T>
Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  std::vector<T> values;
  values.reserve(tasks.size());
  if (tasks.size() == 1) {
    values.push_back(co_await std::move(tasks.front()));
    co_return values;
  }
  Executor* home = Executor::current();
  auto results = std::make_shared<std::vector<std::optional<T>>>(tasks.size());
  auto countdown = std::make_shared<detail::Countdown>(detail::Countdown{tasks.size(), {}});
  for (size_t i = 0; i < tasks.size(); ++i) {
    spawn(*home, detail::store<T>(std::move(tasks[i]), results, i, countdown, home));
  }
  detail::AwaitCountdown all{countdown};
  co_await all;
  for (auto& result : *results) values.push_back(std::move(*result));
  co_return values;
}

}  // namespace ackord::io
