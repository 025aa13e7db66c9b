#include "tests/integration/kill_loop/story.h"

#include <thread>

namespace ackord::integration {

void Story::finding(std::string text) {
  const std::lock_guard lock(mutex_);
  findings_.push_back(std::move(text));
}

void Story::hindrance(const std::string& text) {
  const std::lock_guard lock(mutex_);
  ++hindrances_[text];
}

std::vector<std::string> Story::findings() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

std::map<std::string, int64_t> Story::hindrances() const {
  const std::lock_guard lock(mutex_);
  return hindrances_;
}

void pause_before_reconnect() { std::this_thread::sleep_for(Millis(20)); }

}  // namespace ackord::integration
