// Task<T>: a lazy coroutine of the broker's own rooms. It starts when it is awaited and resumes its
// caller when it ends; it never leaves the core it runs on (see on() in executor.h for the one way
// to hop).
//
// Why not asio::awaitable: the core must run on one thread under a seeded scheduler, and no room
// below net may know a socket library. Ownership: a Task owns its frame; destroying a suspended
// Task destroys what it was doing (this happens at shutdown and in a simulated crash only). Errors
// are values (Result); an exception ends the process.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace ackord::io {

template <class T>
class [[nodiscard]] Task;

namespace detail {

struct TaskPromiseBase {
  std::coroutine_handle<> continuation;
  // True while the awaiting side is still inside await_suspend: then the end is reported by `done`,
  // not by resuming it, so a loop over tasks that end at once does not grow the stack.
  bool starting = false;
  bool done = false;

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      TaskPromiseBase& promise = self.promise();
      promise.done = true;
      if (promise.starting || !promise.continuation) return std::noop_coroutine();
      return promise.continuation;
    }
    void await_resume() noexcept {}
  };

  std::suspend_always initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() { return std::move(*value); }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      Handle handle;
      bool await_ready() noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> caller) noexcept {
        auto& promise = handle.promise();
        promise.continuation = caller;
        promise.starting = true;
        handle.resume();
        promise.starting = false;
        return !promise.done;
      }
      T await_resume() { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  Handle handle_;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(Task<T>::Handle::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(Task<void>::Handle::from_promise(*this));
}
}  // namespace detail

}  // namespace ackord::io
