// Fetch sessions (KIP-227): what a consumer fetches, remembered, so that requests and answers carry
// only changes, and so that a fetch costs what there is to fetch, not what the session has: it
// looks at the partitions that are *ready*, those that are new or asked for anew, about which a
// signal came, or that come again anyhow (they have more records, or an error).
//
// Ownership: FetchSessions holds the sessions of one core; a session belongs to the core that its
// id names (id % cores). A request takes its session out, works on it, and puts it back: nobody
// else can use it meanwhile. Errors: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH,
// FETCH_SESSION_TOPIC_ID_ERROR, all top level. Time and random numbers come in.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "broker/io/ready_set.h"
#include "broker/log/types.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::api {

// One partition as the client asked for it, and what it was last told.
struct FetchTarget {
  TopicName topic;  // empty when asked by id and the id is unknown
  Uuid topic_id;    // zero when asked by name
  int32_t partition = 0;
  int32_t current_leader_epoch = -1;
  Offset fetch_offset = 0;
  int32_t last_fetched_epoch = -1;
  int32_t max_bytes = 0;

  Offset told_high_watermark = -1;
  Offset told_last_stable_offset = -1;
  Offset told_log_start_offset = -1;
  bool told = false;
  uint64_t turn = 0;  // fetch order: the lowest first
};

class FetchSession {
 public:
  FetchSession(int32_t id, bool by_id) : id_(id), by_id_(by_id) {}

  int32_t id() const { return id_; }
  int32_t epoch() const { return epoch_; }
  // Topics by id (version 13 and later) or by name; a session never changes from one to the other.
  bool by_id() const { return by_id_; }
  void advance_epoch() { epoch_ = epoch_ == INT32_MAX ? 1 : epoch_ + 1; }

  // `home` is the core that uses it from now on. First of all of a request: another connection may
  // have another core, and begins with all targets ready.
  void follow(io::Executor& home);

  // In the order in which they came. Adding one that is there updates it in place.
  std::list<FetchTarget>& targets() { return targets_; }
  void add(FetchTarget target);
  void forget(const TopicName& topic, const Uuid& topic_id, int32_t partition);
  // To the end of the fetch order, so that partitions with much data do not starve the others.
  void move_to_end(FetchTarget& target) { target.turn = ++last_turn_; }
  size_t size() const { return targets_.size(); }

  // What decides, beside the target itself, what is read of it. A change makes all ready.
  struct View {
    log::Isolation isolation = log::Isolation::kReadUncommitted;
    bool from_replica = false;
    uint64_t acls_version = 0;
    friend bool operator==(const View&, const View&) = default;
  };
  void look_as(View view);
  // At most so many that are ready, in fetch order; they are not ready any more.
  std::vector<FetchTarget*> take_ready(size_t most);
  // Woken, it makes the target ready. Subscribed before looking.
  std::shared_ptr<io::Subscriber> watch(FetchTarget& target) { return ready_->watch(&target); }
  // It is ready again, whatever happens.
  void look_again(FetchTarget& target) { ready_->put_back(&target); }
  // Notified when a target becomes ready by a signal.
  io::Signal& news() { return ready_->news(); }

 private:
  struct Key {
    TopicName topic;
    Uuid topic_id;
    int32_t partition;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<TopicName>()(key.topic) ^ std::hash<Uuid>()(key.topic_id) ^
             (static_cast<size_t>(key.partition) * 0x9e3779b97f4a7c15u);
    }
  };
  Key key_of(const TopicName& topic, const Uuid& topic_id, int32_t partition) const;

  int32_t id_;
  int32_t epoch_ = 1;
  bool by_id_;
  uint64_t last_turn_ = 0;
  std::list<FetchTarget> targets_;
  std::unordered_map<Key, std::list<FetchTarget>::iterator, KeyHash> index_;
  View view_;
  io::Executor* home_ = nullptr;
  std::shared_ptr<io::ReadySet<FetchTarget*>> ready_;
};

class FetchSessions {
 public:
  // `slots`: at most so many sessions (max.incremental.fetch.session.cache.slots, this core's share
  // of it).
  FetchSessions(int core, int cores, int32_t slots) : core_(core), cores_(cores), slots_(slots) {}

  // A new session whose id is none of another's; null when the cache is full of sessions that were
  // used within the last two minutes (min.incremental.fetch.session.eviction.ms). It is taken out
  // from the beginning.
  std::unique_ptr<FetchSession> create(bool by_id, uint64_t random, int64_t now_ms);
  // Takes the session out. `epoch` must be the one that is expected next.
  Result<std::unique_ptr<FetchSession>> take(int32_t id, int32_t epoch, bool by_id);
  void put_back(std::unique_ptr<FetchSession> session, int64_t now_ms);
  // Ends a session; false when there is none.
  bool remove(int32_t id);
  size_t size() const { return sessions_.size(); }

 private:
  struct Slot {
    std::unique_ptr<FetchSession> session;  // null while it is taken out
    std::list<int32_t>::iterator used;
    int64_t used_at_ms = 0;
  };

  int core_;
  int cores_;
  int32_t slots_;
  std::unordered_map<int32_t, Slot> sessions_;
  std::list<int32_t> by_use_;  // least recently used first
};

}  // namespace ackord::api
