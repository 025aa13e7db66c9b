// Core: what one thread of the broker has: its executor and its clock. Cores: all of them.
// Everything that has state belongs to one core; `on(core.executor, …)` is the way to it.
#pragma once

#include <memory>
#include <vector>

#include "broker/io/clock.h"
#include "broker/io/executor.h"
#include "broker/io/file_system.h"
#include "broker/io/random.h"

namespace ackord::io {

struct Core {
  int index;
  Executor& executor;
  Clock& clock;
};

// Built once at start-up, then read by all threads.
struct Environment {
  std::vector<Core> cores;
  FileSystem& files;
  Random& random;

  const Core& core(size_t at) const { return cores[at % cores.size()]; }
  // The core that runs on this thread. Only on a core.
  const Core& here() const {
    Executor* current = Executor::current();
    for (const Core& core : cores) {
      if (&core.executor == current) return core;
    }
    return cores.front();
  }
};

}  // namespace ackord::io
