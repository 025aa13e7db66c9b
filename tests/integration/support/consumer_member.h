// ConsumerMember: one member of a consumer group (KIP-848), with a connection of its own. Errors:
// std::runtime_error for everything that a test does not expect. One thread at a time.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {

class ConsumerMember {
 public:
  // Not a member yet: see join().
  ConsumerMember(uint16_t port, std::string group, std::string id,
                 std::optional<std::string> instance = {});

  // Joins, and heartbeats until it has exactly these partitions of the topic.
  void join(const Topic& topic, const std::set<int32_t>& expected);
  // Joins with a pattern, and heartbeats until it has all partitions of the topic.
  void join_by_pattern(const std::string& pattern, const Topic& topic);
  // Heartbeats until it has exactly these.
  void await(const Topic& topic, const std::set<int32_t>& expected);
  // One heartbeat, owning what it has.
  ErrorCode heartbeat();
  ErrorCode leave(int32_t epoch = -1);
  // To another broker, which has the group from the first.
  void move_to(uint16_t port);

  int32_t epoch() const { return epoch_; }
  const std::set<TopicIdPartition>& assigned() const { return assigned_; }

 private:
  protocol::ConsumerGroupHeartbeatRequest request(int32_t epoch) const;
  ErrorCode send(const protocol::ConsumerGroupHeartbeatRequest& request);
  void enter(protocol::ConsumerGroupHeartbeatRequest request);

  std::string group_;
  std::string id_;
  std::optional<std::string> instance_;
  std::optional<RawClient> client_;
  int32_t epoch_ = 0;
  std::set<TopicIdPartition> assigned_;
};

}  // namespace ackord::integration
