// Deadline: how long something may take, on the steady clock. Backoff: the wait before the next
// try.
#pragma once

#include <algorithm>
#include <chrono>

#include "client/config.h"

namespace ackord::client {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline in(Millis time) { return Deadline(Clock::now() + time); }
  Millis left() const { return std::max(Millis(0), std::chrono::ceil<Millis>(at_ - Clock::now())); }
  bool passed() const { return Clock::now() >= at_; }
  Clock::time_point at() const { return at_; }
  // The nearer of this one and one in `time`.
  Deadline within(Millis time) const { return Deadline(std::min(at_, Clock::now() + time)); }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

// Doubles from retry.backoff.ms to retry.backoff.max.ms.
class Backoff {
 public:
  explicit Backoff(const ClientConfig& config)
      : first_(config.retry_backoff), most_(config.retry_backoff_max), next_(first_) {}
  Millis next() {
    const Millis wait = next_;
    next_ = std::min(most_, next_ * 2);
    return wait;
  }
  void reset() { next_ = first_; }
  // Sleeps; false, at once, when the deadline would pass meanwhile.
  bool sleep(const Deadline& deadline);

 private:
  Millis first_;
  Millis most_;
  Millis next_;
};

}  // namespace ackord::client
