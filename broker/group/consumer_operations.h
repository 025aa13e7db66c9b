// The operations of GroupShard on consumer groups, each with its reply. What a TopicView shows is
// looked at while the operation is decided, on the shard's core.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "broker/group/consumer_heartbeat.h"
#include "broker/group/group_service.h"

namespace ackord::group {

// What a group is looked at with.
struct ConsumerContext {
  TopicView topics;
  ConsumerGroupLimits limits;
};

struct ConsumerHeartbeatOp {
  using Reply = ConsumerHeartbeatDecision;  // its records have been taken out
  ConsumerHeartbeat heartbeat;
  TopicView topics;
  ConsumerGroupLimits limits;
};
// The topics that a group's patterns stand for have been looked for; `found` is empty when that
// could not be done.
struct PatternsResolved {
  struct Reply {};
  GroupId group;
  std::map<std::string, ResolvedRegex> found;
  TopicView topics;
};
// Members whose time is over, as a Tick said.
struct FenceConsumers {
  struct Reply {};
  std::string group;
  std::vector<std::string> members;
  ConsumerContext context;
};
struct DescribeConsumerGroup {
  using Reply = DescribedConsumerGroup;
  GroupId group;
  std::string default_assignor;
};

}  // namespace ackord::group
