// `ackordctl share in-flight` and `ackordctl share release`: what to ask, in which order. Results
// go to `out`. Errors: the broker's. Target and offsets are well-formed (share_text.h).
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "client/cluster.h"

namespace ackord::ctl {

struct ShareOptions {
  std::string group;
  std::string target;   // TOPIC or TOPIC:PARTITION; empty: all topics of the group
  std::string member;   // release: empty for whoever holds the records
  std::string offsets;  // release: A-B; empty for all
  int32_t max_ranges = 1000;
  bool json = false;
};

Result<void> show_in_flight(client::Cluster& cluster, const ShareOptions& options,
                            const client::Deadline& deadline, std::ostream& out);

// Without offsets: what is acquired at the moment, so that records which a transaction holds do not
// stand in the way.
Result<void> release_records(client::Cluster& cluster, const ShareOptions& options,
                             const client::Deadline& deadline, std::ostream& out);

}  // namespace ackord::ctl
