#include "broker/io/posix/work_pool.h"

#include <coroutine>
#include <utility>

#include "broker/base/assert.h"
#include "broker/io/posix/thread_signals.h"

namespace ackord::io {

// Shared by the waiting task, the queue and the pool thread, whichever lives longest.
class WorkPool::Call : public std::enable_shared_from_this<Call> {
 public:
  Call(Executor& home, std::function<void()> work) : home_(home), work_(std::move(work)) {}

  // Home core.
  void wait(std::coroutine_handle<> caller) { waiting_ = caller; }
  void abandon() {
    // The usual end: the pool thread may still be about to say so, but touches nothing of the
    // task's any more, and a core does not wait for it to be scheduled.
    if (resumed_) return;
    waiting_ = nullptr;
    std::unique_lock lock(mutex_);
    if (state_ == State::kQueued) state_ = State::kDone;
    done_.wait(lock, [this] { return state_ == State::kDone; });
    work_ = nullptr;
  }

  // Pool thread.
  void execute() {
    {
      const std::lock_guard lock(mutex_);
      if (state_ != State::kQueued) return;
      state_ = State::kRunning;
    }
    work_();
    // Posted before the state changes: an abandon() that sees kDone knows that nothing of this call
    // touches the executor any more.
    home_.post([self = shared_from_this()] {
      const auto caller = std::exchange(self->waiting_, nullptr);
      if (!caller) return;
      self->resumed_ = true;
      self->work_ = nullptr;
      caller.resume();
    });
    const std::lock_guard lock(mutex_);
    state_ = State::kDone;
    done_.notify_all();
  }

 private:
  enum class State { kQueued, kRunning, kDone };

  Executor& home_;
  std::function<void()> work_;
  std::coroutine_handle<> waiting_;
  bool resumed_ = false;  // home core
  std::mutex mutex_;
  std::condition_variable done_;
  State state_ = State::kQueued;
};

struct WorkPool::Await {
  WorkPool& pool;
  std::shared_ptr<Call> call;

  Await(WorkPool& p, std::shared_ptr<Call> c) : pool(p), call(std::move(c)) {}
  Await(const Await&) = delete;
  ~Await() { call->abandon(); }

  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    call->wait(caller);
    {
      const std::lock_guard lock(pool.mutex_);
      pool.queue_.push_back(call);
    }
    pool.wake_.notify_one();
  }
  void await_resume() noexcept {}
};

WorkPool::WorkPool(size_t threads) {
  ACKORD_ASSERT(threads > 0, "a pool has a thread");
  const SignalsBlocked blocked;
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void WorkPool::serve() {
  while (true) {
    std::shared_ptr<Call> call;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (ending_) return;
      call = std::move(queue_.front());
      queue_.pop_front();
    }
    call->execute();
  }
}

Task<void> WorkPool::run(std::function<void()> work) {
  ACKORD_ASSERT(Executor::current() != nullptr, "pool work is awaited on a core");
  Await await(*this, std::make_shared<Call>(*Executor::current(), std::move(work)));
  co_await await;
}

}  // namespace ackord::io
