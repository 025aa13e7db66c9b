#include "tests/simulation/scheduler.h"

#include <algorithm>

namespace ackord::simulation {
namespace {

// How often, in a calm run and in a wild one, a core is held up before its next piece of work, and
// for how long at most.
constexpr double kStallChances[] = {0, 0.005, 0.05};
constexpr uint64_t kLongestStallUs = 30'000;

}  // namespace

SimScheduler::SimScheduler(uint64_t seed) : random(seed) {
  stall_chance_ = kStallChances[random.below(std::size(kStallChances))];
}

uint64_t SimRandom::next() {
  // splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

SimExecutor::SimExecutor(SimScheduler& scheduler) : scheduler_(scheduler) {
  scheduler_.executors_.push_back(this);
}

SimExecutor::~SimExecutor() {
  drop();
  destroy_spawned();
  scheduler_.forget(*this);
}

void SimExecutor::post(std::function<void()> work) { queue_.push_back(std::move(work)); }

void SimExecutor::resume(std::coroutine_handle<> coroutine) {
  queue_.push_back([coroutine] { coroutine.resume(); });
}

void SimExecutor::run_one() {
  auto work = std::move(queue_.front());
  queue_.pop_front();
  Current scope(this);
  work();
}

void SimExecutor::drop() { queue_.clear(); }

SimClock::~SimClock() {
  for (const auto& [id, at] : timers_) scheduler_.timers_.erase({at, id});
}

io::Now SimClock::now() const {
  const int64_t ms = scheduler_.now_us() / 1000;
  return {scheduler_.wall_ms_ + ms, ms};
}

io::Clock::TimerId SimClock::call_at(int64_t deadline_ms, std::function<void()> work) {
  // The id is known only once the timer is in the table, and the timer must find itself by it.
  auto id = std::make_shared<TimerId>(0);
  const auto key = scheduler_.add(std::max(deadline_ms * 1000, scheduler_.now_us()), executor_,
                                  [this, id, work = std::move(work)] {
                                    if (timers_.erase(*id) != 0) work();
                                  });
  *id = key.second;
  timers_.emplace(key.second, key.first);
  return key.second;
}

void SimClock::cancel(TimerId timer) {
  const auto at = timers_.find(timer);
  if (at == timers_.end()) return;
  scheduler_.timers_.erase({at->second, timer});
  timers_.erase(at);
}

SimScheduler::TimerKey SimScheduler::add(int64_t at_us, SimExecutor& executor,
                                         std::function<void()> work) {
  const TimerKey key{at_us, ++last_timer_};
  timers_.emplace(key, Timer{&executor, std::move(work)});
  return key;
}

void SimScheduler::after(int64_t delay_us, SimExecutor& executor, std::function<void()> work) {
  add(now_us_ + delay_us, executor, std::move(work));
}

void SimScheduler::forget(SimExecutor& executor) {
  std::erase(executors_, &executor);
  std::erase_if(timers_,
                [&executor](const auto& timer) { return timer.second.executor == &executor; });
}

// The timer is only there to let time pass.
void SimScheduler::stall(SimExecutor& executor) {
  const auto delay_us = static_cast<int64_t>(1 + random.below(kLongestStallUs));
  executor.stalled_until_us_ = now_us_ + delay_us;
  after(delay_us, executor, [] {});
}

bool SimScheduler::step() {
  ++steps_;
  std::vector<SimExecutor*> ready;
  for (SimExecutor* executor : executors_) {
    if (this->ready(*executor)) ready.push_back(executor);
  }
  if (!ready.empty()) {
    SimExecutor& next = *ready[random.below(ready.size())];
    if (random.chance(stall_chance_)) {
      stall(next);
    } else {
      next.run_one();
    }
    return true;
  }
  if (timers_.empty()) return false;
  now_us_ = std::max(now_us_, timers_.begin()->first.first);
  while (!timers_.empty() && timers_.begin()->first.first <= now_us_) {
    Timer timer = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    timer.executor->post(std::move(timer.work));
  }
  return true;
}

}  // namespace ackord::simulation
