// WorkPool: threads for what blocks (fdatasync, cold reads, directory syncs), awaited from a core.
// Threads: run() on a core; the pool must outlive no task: work that has not begun when the pool
// ends never does, and the tasks that wait for it stay suspended until their executor destroys
// them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "broker/io/executor.h"
#include "broker/io/task.h"

namespace ackord::io {

class WorkPool {
 public:
  explicit WorkPool(size_t threads);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // Runs `work` on a pool thread and resumes on the calling core. What `work` refers to need not
  // outlive a task that is destroyed meanwhile: the destruction takes work back that has not begun,
  // and waits for the end of work that has.
  Task<void> run(std::function<void()> work);

 private:
  class Call;
  struct Await;
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Call>> queue_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ackord::io
