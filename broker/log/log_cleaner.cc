#include "broker/log/log_cleaner.h"

#include <algorithm>

namespace ackord::log {
namespace {

// How long to wait for a request when nothing is due. Not for ever, since the arithmetic of clocks
// would overflow.
constexpr int64_t kLongWaitMs = 86'400'000;

}  // namespace

void LogCleaner::configure(int32_t workers, int64_t backoff_ms) {
  home_.executor.post([this, workers, backoff_ms] {
    backoff_ms_ = backoff_ms;
    wanted_workers_ = workers;
    for (; workers_ < wanted_workers_; ++workers_) io::spawn(home_.executor, work(this));
    changed_.notify();
  });
}

void LogCleaner::request(TopicPartition partition) {
  home_.executor.post([this, partition = std::move(partition)] {
    schedule(partition, home_.clock.now().steady_ms + backoff_ms_);
  });
}

void LogCleaner::stop() {
  home_.executor.post([this] {
    stopping_ = true;
    changed_.notify();
  });
}

// The earlier of two times counts.
void LogCleaner::schedule(const TopicPartition& partition, int64_t due_ms) {
  const auto [known, added] = due_.try_emplace(partition, due_ms);
  if (!added) {
    if (known->second <= due_ms) return;
    order_.erase(Due{known->second, partition});
    known->second = due_ms;
  }
  order_.emplace(due_ms, partition);
  changed_.notify();
}

std::optional<TopicPartition> LogCleaner::take() {
  const int64_t now_ms = home_.clock.now().steady_ms;
  for (auto at = order_.begin(); at != order_.end() && at->first <= now_ms; ++at) {
    if (running_.contains(at->second)) continue;
    TopicPartition partition = at->second;
    due_.erase(partition);
    order_.erase(at);
    return partition;
  }
  return std::nullopt;
}

io::Task<void> LogCleaner::work(LogCleaner* self) {
  const auto wakeup = io::Wakeup::make(self->home_.executor, self->home_.clock);
  for (;;) {
    if (self->stopping_ || self->workers_ > self->wanted_workers_) {
      --self->workers_;
      co_return;
    }
    const std::optional<TopicPartition> next = self->take();
    if (!next) {
      self->changed_.subscribe(wakeup);
      int64_t until = self->home_.clock.now().steady_ms + kLongWaitMs;
      for (const auto& [due_ms, partition] : self->order_) {
        // One that runs ends with a notification.
        if (self->running_.contains(partition)) continue;
        until = std::min(until, due_ms);
        break;
      }
      auto waiting = wakeup->wait_until(until);
      (void)co_await std::move(waiting);
      continue;
    }
    self->running_.insert(*next);
    auto looking = self->look_(*next);
    const std::optional<int64_t> again = co_await std::move(looking);
    self->running_.erase(*next);
    if (again)
      self->schedule(*next, self->home_.clock.now().steady_ms + std::min(*again, kLongWaitMs));
    self->changed_.notify();
  }
}

}  // namespace ackord::log
