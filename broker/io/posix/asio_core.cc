#include "broker/io/posix/asio_core.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <chrono>

#include "broker/base/assert.h"
#include "broker/io/posix/thread_signals.h"

namespace ackord::io {
namespace {

int64_t steady_ms_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

}  // namespace

AsioCore::AsioCore() : bell_(context_), timer_(context_) {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ACKORD_ASSERT(descriptor >= 0, "a descriptor for a core's bell");
  bell_.assign(descriptor);
  wait_for_bell();
}

AsioCore::~AsioCore() = default;

void AsioCore::run() {
  const Current scope(this);
  context_.run();
}

void AsioCore::stop() { context_.stop(); }

void AsioCore::post(std::function<void()> work) { push(Work{{}, std::move(work)}); }

void AsioCore::resume(std::coroutine_handle<> coroutine) { push(Work{coroutine, {}}); }

void AsioCore::push(Work work) {
  if (current() == this) {
    ready_.push_back(std::move(work));
    schedule_drain();
    return;
  }
  bool first;
  {
    const std::lock_guard lock(inbox_mutex_);
    first = inbox_.empty();
    inbox_.push_back(std::move(work));
  }
  if (!first) return;
  constexpr uint64_t kOnce = 1;
  // It fails only when it has been rung 2^64 - 2 times without being heard.
  (void)!::write(bell_.native_handle(), &kOnce, sizeof kOnce);
}

// Always waiting, so that run() does not return for want of work.
void AsioCore::wait_for_bell() {
  bell_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                   [this](const boost::system::error_code& error) {
                     if (error) return;
                     uint64_t rings = 0;
                     (void)!::read(bell_.native_handle(), &rings, sizeof rings);
                     wait_for_bell();
                     take_inbox();
                   });
}

void AsioCore::take_inbox() {
  {
    const std::lock_guard lock(inbox_mutex_);
    if (ready_.empty()) {
      ready_.swap(inbox_);
    } else {
      ready_.insert(ready_.end(), std::make_move_iterator(inbox_.begin()),
                    std::make_move_iterator(inbox_.end()));
      inbox_.clear();
    }
  }
  if (drain_scheduled_) return;
  drain_scheduled_ = true;
  drain();
}

void AsioCore::schedule_drain() {
  if (drain_scheduled_) return;
  drain_scheduled_ = true;
  boost::asio::post(context_, [this] { drain(); });
}

// Runs what is there now; what that adds waits for the next handler, so sockets and timers get
// their turn between.
void AsioCore::drain() {
  running_.swap(ready_);
  for (Work& work : running_) {
    if (work.coroutine) {
      work.coroutine.resume();
    } else {
      work.function();
      work.function = nullptr;  // What it holds ends with it, not with the whole round.
    }
  }
  running_.clear();
  drain_scheduled_ = false;
  if (!ready_.empty()) schedule_drain();
}

Now AsioCore::now() const {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return Now{std::chrono::duration_cast<std::chrono::milliseconds>(wall).count(), steady_ms_now()};
}

int64_t AsioCore::steady_ns() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

Clock::TimerId AsioCore::call_at(int64_t deadline_ms, std::function<void()> work) {
  const TimerId timer = ++last_timer_;
  timers_.emplace(std::pair(deadline_ms, timer), std::move(work));
  deadlines_.emplace(timer, deadline_ms);
  arm();
  return timer;
}

void AsioCore::cancel(TimerId timer) {
  const auto found = deadlines_.find(timer);
  if (found == deadlines_.end()) return;
  timers_.erase(std::pair(found->second, timer));
  deadlines_.erase(found);
  // An armed timer is left to fire for nothing: most timers are cancelled, and a system call each
  // would cost more.
}

void AsioCore::arm() {
  if (timers_.empty()) return;
  const int64_t first_ms = timers_.begin()->first.first;
  if (armed_ && armed_for_ms_ <= first_ms) return;
  armed_ = true;
  armed_for_ms_ = first_ms;
  // A deadline that means "never" must not overflow the clock's nanoseconds.
  const int64_t latest_ms = steady_ms_now() + int64_t{1000} * 60 * 60 * 24 * 365;
  const std::chrono::milliseconds at(std::min(first_ms, latest_ms));
  timer_.expires_at(std::chrono::steady_clock::time_point(at));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) fire();
  });
}

void AsioCore::fire() {
  armed_ = false;
  const int64_t now_ms = steady_ms_now();
  // A timer that is set by this round's work waits for the next round, even when it is due.
  const TimerId newest = last_timer_;
  while (!timers_.empty()) {
    const auto first = timers_.begin();
    if (first->first.first > now_ms || first->first.second > newest) break;
    const auto work = std::move(first->second);
    deadlines_.erase(first->first.second);
    timers_.erase(first);
    work();
  }
  arm();
}

AsioCores::AsioCores(size_t count) {
  ACKORD_ASSERT(count > 0, "a broker has a core");
  for (size_t i = 0; i < count; ++i) cores_.push_back(std::make_unique<AsioCore>());
}

AsioCores::~AsioCores() { stop(); }

std::vector<Core> AsioCores::cores() {
  std::vector<Core> all;
  for (auto& core : cores_) all.push_back(Core{static_cast<int>(all.size()), *core, *core});
  return all;
}

void AsioCores::start() {
  const SignalsBlocked blocked;
  for (auto& core : cores_) threads_.emplace_back([&core = *core] { core.run(); });
}

void AsioCores::stop() {
  for (auto& core : cores_) core->stop();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  for (auto& core : cores_) core->destroy_spawned();
}

}  // namespace ackord::io
