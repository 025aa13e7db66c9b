#include "broker/io/signal.h"

#include <algorithm>
#include <utility>

#include "broker/base/assert.h"

namespace ackord::io {

struct Wakeup::Await {
  Wakeup& wakeup;
  int64_t deadline_ms;
  Clock::TimerId timer = 0;

  Await(Wakeup& w, int64_t deadline) : wakeup(w), deadline_ms(deadline) {}
  Await(const Await&) = delete;
  ~Await() {
    if (timer != 0) wakeup.clock_.cancel(timer);
    wakeup.waiting_ = nullptr;
  }
  bool await_ready() noexcept { return wakeup.woken_; }
  void await_suspend(std::coroutine_handle<> caller) {
    ACKORD_ASSERT(!wakeup.waiting_, "one coroutine waits on a Wakeup");
    wakeup.waiting_ = caller;
    timer = wakeup.clock_.call_at(deadline_ms, [this] {
      timer = 0;
      if (auto waiting = std::exchange(wakeup.waiting_, nullptr)) waiting.resume();
    });
  }
  bool await_resume() noexcept { return std::exchange(wakeup.woken_, false); }
};

void Wakeup::wake() {
  if (Executor::current() == &home_) {
    wake_here();
  } else {
    home_.post([self = shared_from_this()] { self->wake_here(); });
  }
}

void Wakeup::wake_here() {
  if (woken_) return;
  woken_ = true;
  if (auto waiting = std::exchange(waiting_, nullptr)) home_.resume(waiting);
}

Task<bool> Wakeup::wait_until(int64_t deadline_ms) {
  // Keeps the object alive while the coroutine is suspended in it.
  const auto self = shared_from_this();
  Await await(*this, deadline_ms);
  const bool woken = co_await await;
  co_return woken;
}

void Signal::subscribe(const std::shared_ptr<Subscriber>& subscriber) {
  if (subscribers_.size() >= purge_at_) {
    std::erase_if(subscribers_, [](const auto& weak) { return weak.expired(); });
    purge_at_ = std::max<size_t>(16, subscribers_.size() * 2);
  }
  subscribers_.push_back(subscriber);
}

void Signal::notify() {
  if (subscribers_.empty()) return;
  auto subscribers = std::exchange(subscribers_, {});
  for (const auto& weak : subscribers) {
    if (auto subscriber = weak.lock()) subscriber->wake();
  }
}

}  // namespace ackord::io
