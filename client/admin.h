// The few administrative calls that programs on this library need. Each finds the right broker and
// tries again, until the deadline, while the cluster is changing. Errors: the broker's code and
// message.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/cluster.h"

namespace ackord::client {

// Succeeds too when the topic is there already. `replication`: -1 is the broker's default.
Result<void> create_topic(Cluster& cluster, const TopicName& name, int32_t partitions,
                          int16_t replication, const Deadline& deadline);

// Sets configs of a group (IncrementalAlterConfigs of a GROUP resource), for example
// share.auto.offset.reset.
Result<void> set_group_configs(Cluster& cluster, const GroupId& group,
                               const std::vector<std::pair<std::string, std::string>>& configs,
                               const Deadline& deadline);

struct ShareGroupOffset {
  Offset start_offset = -1;  // -1: the group has none
  int64_t lag = -1;          // -1: unknown
};

// Of one topic, by partition (DescribeShareGroupOffsets). Empty when the group has never held the
// topic.
Result<std::map<int32_t, ShareGroupOffset>> share_group_offsets(Cluster& cluster,
                                                                const GroupId& group,
                                                                const TopicName& topic,
                                                                const Deadline& deadline);

// Record states, as DescribeSharePartitions gives them.
enum class RecordState : int8_t {
  kAvailable = 0,
  kAcquired = 1,
  kAcknowledged = 2,
  kArchiving = 3,
  kArchived = 4,
  kTxPending = 5,
};

struct InFlightRange {
  int32_t partition = 0;
  Offset first = 0;
  Offset last = 0;
  RecordState state = RecordState::kAvailable;
};

// What is in flight in all partitions of a topic (DescribeSharePartitions, at most 1000 ranges
// each).
Result<std::vector<InFlightRange>> in_flight_ranges(Cluster& cluster, const GroupId& group,
                                                    const TopicName& topic,
                                                    const Deadline& deadline);

}  // namespace ackord::client
