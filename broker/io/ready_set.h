// ReadySet: of many keys, those that are to be looked at: a new one, one about which a signal came
// since it was looked at last, and one that was put back. So that whoever serves many things, of
// which few have something, works for those few.
//
// Use: take(); subscribe watch(key) to everything that can help; look; put_back() what is to be
// looked at again anyhow. What is signalled between the two comes back by itself. Whoever waits for
// anything subscribes to news() before it looks.
// Threads: belongs to `home`; a Subscriber may be woken on any.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "broker/io/executor.h"
#include "broker/io/signal.h"

namespace ackord::io {

template <class Key>
class ReadySet : public std::enable_shared_from_this<ReadySet<Key>> {
 public:
  explicit ReadySet(Executor& home) : home_(home) {}

  // Nothing when the key is there.
  void add(const Key& key) {
    if (entries_.try_emplace(key).second) mark(key);
  }
  void remove(const Key& key) { entries_.erase(key); }
  size_t size() const { return entries_.size(); }

  // How many take() may give, at most.
  size_t ready() const { return queue_.size(); }
  // The one that has been ready for the longest time; it is not ready any more.
  std::optional<Key> take() {
    while (!queue_.empty()) {
      const Key key = queue_.front();
      queue_.pop_front();
      const auto at = entries_.find(key);
      if (at == entries_.end() || !std::exchange(at->second.queued, false)) continue;
      return key;
    }
    return std::nullopt;
  }
  // It is ready again, after all others.
  void put_back(const Key& key) {
    const auto at = entries_.find(key);
    if (at == entries_.end() || std::exchange(at->second.queued, true)) return;
    queue_.push_back(key);
  }
  // Woken, it makes the key ready. An earlier one of the key is void.
  std::shared_ptr<Subscriber> watch(const Key& key) {
    auto watch = std::make_shared<Watch>(this->weak_from_this(), key, home_);
    const auto at = entries_.find(key);
    if (at != entries_.end()) at->second.watch = watch;
    return watch;
  }
  // Notified when a key becomes ready.
  Signal& news() { return news_; }

 private:
  struct Watch : Subscriber {
    Watch(std::weak_ptr<ReadySet> in_set, const Key& of_key, Executor& set_home)
        : set(std::move(in_set)), key(of_key), home(set_home) {}
    void wake() override {
      if (Executor::current() == &home) {
        if (auto here = set.lock()) here->mark(key);
        return;
      }
      home.post([set = set, key = key] {
        if (auto here = set.lock()) here->mark(key);
      });
    }
    std::weak_ptr<ReadySet> set;
    Key key;
    Executor& home;
  };
  struct Entry {
    bool queued = false;
    std::shared_ptr<Watch> watch;  // the signals know it weakly
  };

  void mark(const Key& key) {
    put_back(key);
    news_.notify();
  }

  Executor& home_;
  std::unordered_map<Key, Entry> entries_;
  // A key that was removed, and added again, may stand here twice: `queued` says which counts.
  std::deque<Key> queue_;
  Signal news_;
};

}  // namespace ackord::io
