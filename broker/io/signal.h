// Waiting for something to happen, without polling.
//   Wakeup  one waiting coroutine, which any number of signals (of any core) can wake;
//   Signal  "something changed here": wakes the subscribers, once each;
//   Subscriber  what a signal can wake: a Wakeup, or a ReadySet's watch (ready_set.h).
// Use: make a Wakeup, subscribe it to everything that can help, look, and if there is nothing yet
// wait_until(); then subscribe and look again. A wake between subscribing and waiting is not lost.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <vector>

#include "broker/io/clock.h"
#include "broker/io/executor.h"

namespace ackord::io {

class Subscriber {
 public:
  virtual ~Subscriber() = default;
  // Any thread.
  virtual void wake() = 0;
};

class Wakeup : public Subscriber, public std::enable_shared_from_this<Wakeup> {
 public:
  // Made on the core that will wait. `clock` is that core's.
  Wakeup(Executor& home, Clock& clock) : home_(home), clock_(clock) {}
  static std::shared_ptr<Wakeup> make(Executor& home, Clock& clock) {
    return std::make_shared<Wakeup>(home, clock);
  }

  void wake() override;

  // Home core only. True when woken (also by a wake that came before), false when the time is over.
  Task<bool> wait_until(int64_t deadline_ms);

 private:
  struct Await;
  void wake_here();

  Executor& home_;
  Clock& clock_;
  std::coroutine_handle<> waiting_;
  bool woken_ = false;
};

// Belongs to one core. Its memory is bounded by the live subscribers.
class Signal {
 public:
  void subscribe(const std::shared_ptr<Subscriber>& subscriber);
  // How many it remembers: the live ones, and as many that are gone at the most.
  size_t size() const { return subscribers_.size(); }
  // Wakes and forgets all subscribers.
  void notify();

 private:
  std::vector<std::weak_ptr<Subscriber>> subscribers_;
  size_t purge_at_ = 16;
};

}  // namespace ackord::io
