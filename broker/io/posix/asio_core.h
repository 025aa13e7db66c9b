// AsioCore: an Executor and its Clock on a boost::asio::io_context that one thread runs.
//
// Work that the core hands to itself goes through a plain vector that one Asio handler drains, so
// resuming a coroutine costs no lock and no Asio operation of its own. Other threads leave their
// work in a locked inbox, and ring an eventfd after they have let go of the lock: through
// io_context's own queue the core would wake up while the ringer still holds its mutex, and sleep
// again. Threads: post(), resume(), stop() from any; all else on the core's own, or while none runs
// it.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/io/clock.h"
#include "broker/io/core.h"
#include "broker/io/executor.h"

namespace ackord::io {

class AsioCore final : public Executor, public Clock {
 public:
  AsioCore();
  ~AsioCore() override;

  // For sockets of this core. Completion handlers run with Executor::current() set to this core.
  boost::asio::io_context& context() { return context_; }

  // Runs the core on this thread until stop().
  void run();
  void stop();

  // Executor.
  void post(std::function<void()> work) override;
  void resume(std::coroutine_handle<> coroutine) override;

  // Clock.
  Now now() const override;
  int64_t steady_ns() const override;
  TimerId call_at(int64_t deadline_ms, std::function<void()> work) override;
  void cancel(TimerId timer) override;

 private:
  // One of the two is set.
  struct Work {
    std::coroutine_handle<> coroutine;
    std::function<void()> function;
  };

  void push(Work work);
  void schedule_drain();
  void drain();
  void wait_for_bell();
  void take_inbox();
  void arm();
  void fire();

  boost::asio::io_context context_{1};
  // Own thread. `running_` is kept to reuse its memory.
  std::vector<Work> ready_;
  std::vector<Work> running_;
  bool drain_scheduled_ = false;

  std::mutex inbox_mutex_;
  std::vector<Work> inbox_;
  boost::asio::posix::stream_descriptor bell_;  // an eventfd

  boost::asio::steady_timer timer_;
  std::map<std::pair<int64_t, TimerId>, std::function<void()>> timers_;
  std::unordered_map<TimerId, int64_t> deadlines_;
  TimerId last_timer_ = 0;
  int64_t armed_for_ms_ = 0;
  bool armed_ = false;
};

// All cores and their threads. What its tasks use (files, sockets) must be destroyed or stopped
// before this object is, and after stop().
class AsioCores {
 public:
  explicit AsioCores(size_t count);
  // stop().
  ~AsioCores();

  size_t size() const { return cores_.size(); }
  AsioCore& at(size_t index) { return *cores_[index % cores_.size()]; }
  // For Environment.
  std::vector<Core> cores();

  void start();
  // Ends the threads and destroys the tasks that have not ended. May be called again; there is no
  // second start().
  void stop();

 private:
  std::vector<std::unique_ptr<AsioCore>> cores_;
  std::vector<std::thread> threads_;
};

}  // namespace ackord::io
