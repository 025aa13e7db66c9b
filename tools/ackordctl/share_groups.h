// The share groups of a cluster (ListGroups), and what their records are staged in.
// Errors and threads as in share_partitions.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/cluster.h"
#include "tools/ackordctl/share_partitions.h"

namespace ackord::ctl {

// By name. None on a broker that has no share groups.
Result<std::vector<std::string>> share_groups(client::Cluster& cluster,
                                              const client::Deadline& deadline);

struct StagedRange {
  std::string group;
  std::string topic;
  int32_t partition = 0;
  InFlight range;
};

// What all groups hold staged that the caller looks for. None on a broker that cannot say it
// (DescribeSharePartitions).
Result<std::vector<StagedRange>> staged_ranges(client::Cluster& cluster,
                                               const std::function<bool(const InFlight&)>& wanted,
                                               const client::Deadline& deadline);

}  // namespace ackord::ctl
