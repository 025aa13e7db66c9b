// Running the same work on all cores.
#pragma once

#include <atomic>
#include <coroutine>
#include <functional>
#include <memory>

#include "broker/io/core.h"

namespace ackord::metadata {

// Runs `work` once on each core, with the core's number, and resumes here when all have done it.
struct OnEveryCore {
  const io::Environment& environment;
  std::function<void(size_t)> work;

  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    io::Executor* home = io::Executor::current();
    auto left = std::make_shared<std::atomic<size_t>>(environment.cores.size());
    for (size_t core = 0; core < environment.cores.size(); ++core) {
      environment.cores[core].executor.post([work = work, core, left, home, caller] {
        work(core);
        if (left->fetch_sub(1) == 1) home->resume(caller);
      });
    }
  }
  void await_resume() noexcept {}
};

}  // namespace ackord::metadata
