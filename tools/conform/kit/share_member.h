// ShareMember: one consumer of a share group, with a connection, a member id and a share session of
// its own: ShareGroupHeartbeat, ShareFetch, ShareAcknowledge and short forms of them.
//
//   const Topic topic = create_topic(kit);
//   produce(kit, topic, numbered(10));
//   ShareMember member(kit, earliest_group(kit));
//   member.join({topic});
//   expect_equal(member.acquire(topic), Ranges{{0, 9, 1}}, "acquired");
//   member.acknowledge(topic, 0, 4).is_none();
//
// Errors: Failure. One thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/conform/kit/records.h"

namespace ackord::conform {

// Acknowledge types.
constexpr int8_t kGap = 0;
constexpr int8_t kAccept = 1;
constexpr int8_t kRelease = 2;
constexpr int8_t kReject = 3;
constexpr int8_t kRenew = 4;

// ShareAcquireMode.
constexpr int8_t kBatchOptimized = 0;
constexpr int8_t kRecordLimit = 1;

// Acquired records: first offset, last offset, delivery count.
using Ranges = std::vector<std::tuple<int64_t, int64_t, int64_t>>;
std::vector<int64_t> offsets_of(const Ranges& ranges);

struct SharePart {
  Topic topic;
  int32_t partition = 0;
};

struct ShareAck {
  Topic topic;
  int32_t partition = 0;
  int64_t first = 0;
  int64_t last = 0;
  std::vector<int8_t> types = {kAccept};  // one for all, or one an offset
};

// Of one partition, each wrong in its shape: reversed, overlapping or unordered ranges, no type, or
// too few or too many of them.
std::vector<std::vector<ShareAck>> malformed_acks(const Topic& topic);

struct ShareFetchOptions {
  int16_t version = 2;
  int32_t max_wait_ms = 500;
  int32_t min_bytes = 1;
  int32_t max_bytes = 50 << 20;
  int32_t max_records = 500;
  int32_t batch_size = 500;
  int8_t acquire_mode = kBatchOptimized;
  bool renew = false;
  std::vector<ShareAck> acks;
  std::vector<SharePart> forgotten;
  std::optional<int32_t> epoch;      // nothing: the one that the session has come to
  Connection* connection = nullptr;  // nothing: the member's
};

struct ShareAckOptions {
  int16_t version = 2;
  bool renew = false;
  std::optional<int32_t> epoch;
  Connection* connection = nullptr;
};

struct ShareHeartbeatOptions {
  std::optional<std::vector<std::string>> names;  // nothing: null, as before
  std::optional<int32_t> epoch;                   // nothing: the member's
  std::optional<std::string> rack;
};

// A partition's part of a ShareFetch answer.
struct ShareFetched {
  bool present = false;  // the answer names the partition
  ErrorCode error = ErrorCode::NONE;
  ErrorCode acknowledge_error = ErrorCode::NONE;
  Ranges acquired;
  std::vector<BatchRead> batches;
};
ShareFetched fetched_of(const Value& answer, const Topic& topic, int32_t partition = 0);

class ShareMember {
 public:
  // `id`: nothing for one of its own. Waits for the group's coordinator.
  ShareMember(Kit& kit, std::string group, std::string id = {});

  const std::string& group() const { return group_; }
  const std::string& id() const { return id_; }
  Connection& connection() { return *connection_; }
  int32_t member_epoch() const { return member_epoch_; }
  // What the next request of the share session carries; 0 when there is none.
  int32_t session_epoch() const { return session_epoch_; }
  // Topic ids and partitions, as the last assignment had them.
  const std::set<std::pair<std::string, int64_t>>& assigned() const { return assigned_; }

  // ShareGroupHeartbeat; takes epoch and assignment from a good answer.
  Value heartbeat(const ShareHeartbeatOptions& options = {});
  // Joins, and waits until exactly all partitions of these topics are assigned: so that they are
  // initialised.
  void join(const std::vector<Topic>& topics);
  // Joins, and does not wait for an assignment. The good answer.
  Value start_joining(const std::vector<Topic>& topics);
  // Heartbeats until the assignment fulfils it.
  template <class Good>
  void until_assigned(std::string_view what, Good good) {
    kit_.until(what, [&] { return good(heartbeat_once()); });
  }

  // ShareFetch; the whole answer. A good one moves the session's epoch.
  Value share_fetch(const std::vector<SharePart>& parts, const ShareFetchOptions& options = {});
  // In two steps, for what happens in between.
  Sent send_share_fetch(const std::vector<SharePart>& parts, const ShareFetchOptions& options = {});
  Value receive_share_fetch(const Sent& sent, Millis limit = kAnswerLimit);
  // Of one partition; an error at the top is a Failure.
  ShareFetched fetch(const Topic& topic, const ShareFetchOptions& options = {},
                     int32_t partition = 0);
  // The same, until something is acquired; nothing when nothing comes in some tries. An error of
  // the partition is a Failure.
  Ranges acquire(const Topic& topic, const ShareFetchOptions& options = {}, int32_t partition = 0);
  // Until this many records are acquired, which is a Failure when it does not happen. By offset,
  // in whatever order they came.
  Ranges acquire_count(const Topic& topic, size_t count, const ShareFetchOptions& options = {},
                       int32_t partition = 0);

  // ShareAcknowledge; the whole answer. A good one moves the session's epoch.
  Value share_acknowledge(const std::vector<ShareAck>& acks, const ShareAckOptions& options = {});
  // Of one range of partition 0: the error code of the partition. An error at the top is a Failure.
  Value acknowledge(const Topic& topic, int64_t first, int64_t last,
                    const std::vector<int8_t>& types = {kAccept},
                    const ShareAckOptions& options = {});

  // Ends the share session by a ShareFetch with epoch -1, which must succeed.
  void close_session();
  // Leaves the group; the session stays.
  void leave();
  // Closes the connection: the broker ends the session with it.
  void disconnect() { connection_->close(); }
  // A new connection; the member believes its session to live on.
  void reconnect();

 private:
  const std::set<std::pair<std::string, int64_t>>& heartbeat_once();
  void note_session(const Value& answer, int32_t used_epoch);

  Kit& kit_;
  std::string group_;
  std::string id_;
  Connection* connection_;
  int32_t member_epoch_ = 0;
  int32_t session_epoch_ = 0;
  int32_t sent_epoch_ = 0;
  std::set<std::pair<std::string, int64_t>> assigned_;
};

// A new group that reads its topics from their start, with these group configs besides.
std::string earliest_group(Kit& kit, const Configs& configs = {});
// A group, its topic of one partition, and a member that has acquired all of its records: `count`
// of them in batches of `per_batch`.
struct Acquired {
  Topic topic;
  ShareMember member;
};
Acquired acquired_records(Kit& kit, int count = 10, int per_batch = 10,
                          const Configs& configs = {});

}  // namespace ackord::conform
