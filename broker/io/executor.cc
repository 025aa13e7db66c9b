#include "broker/io/executor.h"

#include "broker/base/assert.h"

namespace ackord::io {
namespace {

thread_local Executor* current_executor = nullptr;

}  // namespace

// A spawned task's outermost frame. It is linked into its executor's list once it runs there, and
// destroys itself at its end.
struct Executor::Spawned {
  struct promise_type {
    Executor* owner = nullptr;
    Spawned* link = nullptr;

    Spawned get_return_object() {
      return Spawned{std::coroutine_handle<promise_type>::from_promise(*this), nullptr, nullptr};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        Spawned* link = self.promise().link;
        Executor* owner = self.promise().owner;
        if (link->before)
          link->before->next = link->next;
        else
          owner->spawned_ = link->next;
        if (link->next) link->next->before = link->before;
        delete link;
        self.destroy();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };

  std::coroutine_handle<promise_type> handle;
  Spawned* before = nullptr;
  Spawned* next = nullptr;

  static Spawned run(Task<void> task) { co_await std::move(task); }
};

// Until it is started the frame belongs to whoever holds this.
struct Executor::Unstarted {
  std::coroutine_handle<Spawned::promise_type> handle;
  explicit Unstarted(std::coroutine_handle<Spawned::promise_type> h) : handle(h) {}
  Unstarted(const Unstarted&) = delete;
  ~Unstarted() {
    if (handle) handle.destroy();
  }
};

Executor::~Executor() {
  ACKORD_ASSERT(spawned_ == nullptr, "destroy_spawned() comes before the executor's end");
}

Executor* Executor::current() { return current_executor; }

Executor::Current::Current(Executor* executor) : before_(current_executor) {
  current_executor = executor;
}
Executor::Current::~Current() { current_executor = before_; }

void Executor::destroy_spawned() {
  Current scope(this);
  while (spawned_ != nullptr) {
    Spawned* first = spawned_;
    spawned_ = first->next;
    if (spawned_) spawned_->before = nullptr;
    auto handle = first->handle;
    delete first;
    handle.destroy();
  }
}

void spawn(Executor& executor, Task<void> task) {
  auto unstarted =
      std::make_shared<Executor::Unstarted>(Executor::Spawned::run(std::move(task)).handle);
  executor.post([&executor, unstarted] {
    const auto handle = std::exchange(unstarted->handle, nullptr);
    auto* link = new Executor::Spawned{handle, nullptr, executor.spawned_};
    if (link->next) link->next->before = link;
    executor.spawned_ = link;
    handle.promise().owner = &executor;
    handle.promise().link = link;
    handle.resume();
  });
}

}  // namespace ackord::io
