// Clock: the only source of time. One per core; its timers run on that core's executor.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>

#include "protocol/types/ids.h"

namespace ackord::io {

// One moment on both clocks. What is logged or sent uses wall_ms; deadlines use steady_ms, which
// never jumps.
struct Now {
  TimeMs wall_ms = 0;
  int64_t steady_ms = 0;
};

class Clock {
 public:
  using TimerId = uint64_t;  // 0 is none
  virtual ~Clock() = default;

  virtual Now now() const = 0;
  // Steady time as finely as it is known, for measuring how long something took.
  virtual int64_t steady_ns() const { return now().steady_ms * 1'000'000; }
  // Runs `work` on this core once steady time has reached `deadline_ms`. Never inside this call.
  virtual TimerId call_at(int64_t deadline_ms, std::function<void()> work) = 0;
  // No effect on a timer that has run.
  virtual void cancel(TimerId timer) = 0;
};

// co_await sleep_until(clock, deadline): resumes once steady time has reached it.
class SleepUntil {
 public:
  SleepUntil(Clock& clock, int64_t deadline_ms) : clock_(clock), deadline_ms_(deadline_ms) {}
  SleepUntil(const SleepUntil&) = delete;
  ~SleepUntil() {
    if (timer_ != 0) clock_.cancel(timer_);
  }
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    timer_ = clock_.call_at(deadline_ms_, [this, caller] {
      timer_ = 0;
      caller.resume();
    });
  }
  void await_resume() noexcept {}

 private:
  Clock& clock_;
  int64_t deadline_ms_;
  Clock::TimerId timer_ = 0;
};
inline SleepUntil sleep_until(Clock& clock, int64_t deadline_ms) {
  return SleepUntil(clock, deadline_ms);
}

}  // namespace ackord::io
