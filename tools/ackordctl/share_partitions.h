// What a share group has in flight, asked from the leaders of its partitions
// (DescribeSharePartitions), and released there (ReleaseSharePartitions).
//
// Errors: the broker's code and message; those that may pass are tried again until the deadline.
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cluster.h"

namespace ackord::ctl {

struct Offsets {
  Offset first = 0;
  Offset last = 0;
  friend bool operator==(const Offsets&, const Offsets&) = default;
};

// Record states, as on the wire.
enum class State : int8_t {
  kAvailable = 0,
  kAcquired = 1,
  kAcknowledged = 2,
  kArchiving = 3,
  kArchived = 4,
  kStaged = 5,
};

struct InFlight {
  Offsets offsets;
  State state = State::kAvailable;
  int16_t delivery_count = 0;
  std::optional<std::string> member;
  int64_t lock_expires_in_ms = -1;
  int64_t available_in_ms = -1;
  int64_t producer_id = -1;  // of the transaction that has staged it
  int16_t producer_epoch = -1;
  std::optional<std::string> transaction;
  int64_t staged_for_ms = -1;
  int8_t acknowledge_type = -1;
};

struct SharePartition {
  std::string topic;
  int32_t partition = 0;
  Offset start_offset = -1;  // -1: the group has not begun it
  Offset end_offset = -1;
  std::vector<InFlight> ranges;
  bool more = false;  // there are more ranges than were asked for
};

struct Released {
  std::string topic;
  int32_t partition = 0;
  int64_t records = 0;
};

// Topics of which the group has offsets.
Result<std::vector<std::string>> topics_of(client::Cluster& cluster, const std::string& group,
                                           const client::Deadline& deadline);
// All partitions of the topic, or one.
Result<std::vector<SharePartition>> in_flight(client::Cluster& cluster, const std::string& group,
                                              const std::string& topic,
                                              std::optional<int32_t> partition, int32_t max_ranges,
                                              const client::Deadline& deadline);
// `member`: only what it holds.
Result<Released> release(client::Cluster& cluster, const std::string& group,
                         const std::string& topic, int32_t partition,
                         const std::vector<Offsets>& ranges,
                         const std::optional<std::string>& member,
                         const client::Deadline& deadline);

}  // namespace ackord::ctl
