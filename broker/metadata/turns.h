// Turns: coroutines of one core that must not overlap, though they wait in between.
#pragma once

#include <coroutine>
#include <deque>
#include <utility>

#include "broker/io/executor.h"

namespace ackord::metadata {

// Changes take turns, in the order in which they came. One core.
class Turns {
 public:
  struct Take {
    Turns& turns;
    bool await_ready() noexcept { return !std::exchange(turns.taken_, true); }
    void await_suspend(std::coroutine_handle<> caller) { turns.waiting_.push_back(caller); }
    void await_resume() noexcept {}
  };
  // Keeps the turn until it is destroyed.
  class Hold {
   public:
    Hold(Turns& turns, io::Executor& home) : turns_(turns), home_(home) {}
    Hold(const Hold&) = delete;
    ~Hold() {
      if (turns_.waiting_.empty()) {
        turns_.taken_ = false;
      } else {
        home_.resume(turns_.waiting_.front());
        turns_.waiting_.pop_front();
      }
    }

   private:
    Turns& turns_;
    io::Executor& home_;
  };

 private:
  bool taken_ = false;
  std::deque<std::coroutine_handle<>> waiting_;
};

}  // namespace ackord::metadata
