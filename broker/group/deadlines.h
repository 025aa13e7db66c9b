// Deadlines by key, with the earliest at hand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ackord::group {

template <class Key>
class Deadlines {
 public:
  void set(const Key& key, int64_t deadline_ms) {
    erase(key);
    by_key_[key] = deadline_ms;
    by_time_.emplace(deadline_ms, key);
  }
  void erase(const Key& key) {
    const auto at = by_key_.find(key);
    if (at == by_key_.end()) return;
    by_time_.erase({at->second, key});
    by_key_.erase(at);
  }
  std::optional<int64_t> at(const Key& key) const {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    return found->second;
  }
  std::optional<int64_t> earliest() const {
    if (by_time_.empty()) return std::nullopt;
    return by_time_.begin()->first;
  }
  std::vector<Key> due(int64_t now_ms) const {
    std::vector<Key> keys;
    for (auto at = by_time_.begin(); at != by_time_.end() && at->first <= now_ms; ++at)
      keys.push_back(at->second);
    return keys;
  }

 private:
  std::map<Key, int64_t> by_key_;
  std::set<std::pair<int64_t, Key>> by_time_;
};

}  // namespace ackord::group
