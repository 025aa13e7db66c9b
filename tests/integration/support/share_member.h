// ShareMember: one member of a share group, with a connection and a share session of its own.
// Errors: std::runtime_error for everything that a test does not expect. One thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/generated/share_fetch_request.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {

// As on the wire.
constexpr int8_t kGap = 0;
constexpr int8_t kAccept = 1;
constexpr int8_t kRelease = 2;
constexpr int8_t kReject = 3;
constexpr int8_t kRenew = 4;

struct OffsetRange {
  Offset first = 0;
  Offset last = 0;
  int16_t delivery_count = 0;
  friend bool operator==(const OffsetRange&, const OffsetRange&) = default;
};
std::ostream& operator<<(std::ostream& out, const OffsetRange& range);

class ShareMember {
 public:
  // Not a member yet: see join().
  ShareMember(uint16_t port, std::string group);

  // One heartbeat that joins; what is assigned to it is not waited for, and need not be: any member
  // may fetch any partition.
  ErrorCode enter(const std::vector<Topic>& topics);
  // Joins, and waits until all partitions of the topics are assigned to it.
  void join(const std::vector<Topic>& topics);
  // At its present epoch.
  ErrorCode heartbeat();
  ErrorCode leave();

  // One ShareFetch of one partition; what it acquired.
  std::vector<OffsetRange> fetch(const Topic& topic, int32_t partition = 0,
                                 int32_t max_records = 500, int32_t max_wait_ms = 0);
  // One ShareFetch of all partitions of the topic; what it acquired, by partition.
  std::map<int32_t, std::vector<OffsetRange>> fetch_all(const Topic& topic, int32_t max_records,
                                                        int32_t max_wait_ms);
  // Fetches until `count` offsets are acquired, in the order they were handed out.
  std::vector<OffsetRange> acquire(const Topic& topic, int32_t partition, int64_t count);
  // ShareAcknowledge; the partition's error.
  ErrorCode acknowledge(const Topic& topic, int32_t partition, Offset first, Offset last,
                        int8_t type);
  // An acknowledgement that rides on a ShareFetch; its error.
  ErrorCode acknowledge_by_fetch(const Topic& topic, int32_t partition, Offset first, Offset last,
                                 int8_t type);
  // ShareFetch with the final epoch.
  void close_session();
  // A new connection and a new session, after the old connection went away.
  void reconnect();

  const std::string& group() const { return group_; }
  const std::string& id() const { return id_; }
  int32_t epoch() const { return epoch_; }
  RawClient& client() { return client_; }

 private:
  std::map<int32_t, std::vector<OffsetRange>> acquire_by(const Topic& topic,
                                                         protocol::ShareFetchRequest request);

  uint16_t port_;
  std::string group_;
  std::string id_;
  int32_t epoch_ = 0;
  int32_t session_epoch_ = 0;
  RawClient client_;
};

}  // namespace ackord::integration
