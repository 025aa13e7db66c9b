// Share sessions (KIP-932): which share-partitions a member fetches, and in which order its
// requests must come.
//
// One counter per (group, member), shared by ShareFetch and ShareAcknowledge: +1 per accepted
// request; after INT32_MAX comes 1. A session belongs to the connection that opened it and ends
// with it. Errors (top level): SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH,
// SHARE_SESSION_LIMIT_REACHED, INVALID_REQUEST. Pure. Threads: one ShareSessions per core; a
// group's sessions are all on one.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "broker/share/session_watch.h"
#include "broker/share/share_types.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::share {

constexpr int32_t kInitialSessionEpoch = 0;
constexpr int32_t kFinalSessionEpoch = -1;

// One ShareFetch or ShareAcknowledge as far as the session is concerned.
struct SessionRequest {
  GroupId group;
  std::string member;
  int32_t epoch = 0;
  bool fetch = true;  // false: ShareAcknowledge
  bool has_acknowledgements = false;
  std::vector<TopicIdPartition> listed;  // Topics of a ShareFetch: they join the session
  std::vector<TopicIdPartition> forgotten;
  uint64_t connection_id = 0;
};

struct SessionStep {
  SessionNumber number = 0;
  bool final = false;  // the session has ended with this request
  // And it was the group's last one here. Only a connection that goes takes the group's soft state
  // with it; a session that is closed in words does not (as Kafka: what was forgotten stays
  // locked).
  bool last_of_group = false;
  PartitionList partitions;             // to fetch from; when final: what it had
  std::shared_ptr<SessionWatch> watch;  // of a ShareFetch that is not final
};

// A session that its connection took with it.
struct ClosedSession {
  GroupId group;
  std::string member;
  SessionNumber number = 0;
  PartitionList partitions;
  bool last_of_group = false;
};

// How many more sessions the broker may have: group.share.max.share.sessions, over all cores. Any
// thread.
class SessionSlots {
 public:
  explicit SessionSlots(int32_t max_sessions) : left_(max_sessions) {}
  bool take() {
    if (left_.fetch_sub(1) > 0) return true;
    left_.fetch_add(1);
    return false;
  }
  void give_back() { left_.fetch_add(1); }

 private:
  std::atomic<int32_t> left_;
};

class ShareSessions {
 public:
  // `slots` outlives it.
  explicit ShareSessions(SessionSlots& slots) : slots_(slots) {}

  // Checks the epoch and takes the request into the session. An error changes nothing.
  Result<SessionStep> accept(const SessionRequest& request);
  std::vector<ClosedSession> close_connection(uint64_t connection_id);
  size_t size() const { return count_; }

 private:
  struct Session {
    SessionNumber number = 0;
    int32_t next_epoch = 1;
    uint64_t connection_id = 0;
    PartitionList partitions;  // in the order in which they joined
    std::unordered_set<TopicIdPartition> members;
    std::shared_ptr<SessionWatch> watch;
    uint64_t watched_by = 0;  // the connection
  };
  using Members = std::map<std::string, Session, std::less<>>;

  Result<SessionStep> open(const SessionRequest& request);
  static void change(Session& session, const SessionRequest& request);
  // Removes the session and says what it had.
  SessionStep end(std::unordered_map<GroupId, Members>::iterator group, Members::iterator member);

  SessionSlots& slots_;
  size_t count_ = 0;
  SessionNumber opened_ = 0;
  std::unordered_map<GroupId, Members> groups_;
  std::unordered_map<uint64_t, std::vector<std::pair<GroupId, std::string>>> by_connection_;
};

}  // namespace ackord::share
