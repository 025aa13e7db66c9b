// What a ShareGroupHeartbeat does to its group: the decision, as records, and what is to be
// initialised (semantics A.2, A.4). Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "broker/group/group_service.h"
#include "broker/group/share_membership.h"
#include "broker/group/topic_hash.h"
#include "broker/io/clock.h"

namespace ackord::group {

struct ShareGroupLimits {
  int32_t session_timeout_ms = 45000;
  int32_t heartbeat_interval_ms = 5000;
  int32_t assignment_interval_ms = 1000;
  int32_t max_size = 200;
  std::optional<std::string> rack;  // of the node that has all partitions
  int32_t initialize_retry_interval_ms =
      30000;  // how long a share-partition may be without an answer
};

struct ShareInitialization {
  TopicIdPartition partition;
  Offset start_offset = -1;  // -1: by share.auto.offset.reset; 0: nothing of a partition that was
                             // added later is skipped
  friend bool operator==(const ShareInitialization&, const ShareInitialization&) = default;
};

struct ShareHeartbeatDecision {
  ShareHeartbeatReply reply;
  std::vector<GroupRecord> records;
  std::vector<ShareInitialization> initialize;
  int32_t state_epoch = 0;  // the group's epoch, for `initialize`
};

struct ShareHeartbeatInput {
  const ShareHeartbeat& request;
  const std::vector<SubscribedTopic>& topics;  // of all members and of the request
  const ShareGroupLimits& limits;
  const std::set<TopicIdPartition>& in_flight;  // initialisations that wait for their end
  TimeMs now_wall_ms = 0;
};

// Join or heartbeat. `group` is null for a group that does not exist yet; only epoch 0 may create
// it.
ShareHeartbeatDecision decide_heartbeat(const ShareGroup* group, const ShareHeartbeatInput& input);
// Epoch -1. `group` exists.
ShareHeartbeatDecision decide_leave(const ShareGroup& group, const ShareHeartbeatInput& input);

}  // namespace ackord::group
