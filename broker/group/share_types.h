// Share-partitions as groups name them. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/types/ids.h"

namespace ackord::group {

struct TopicPartitions {
  Uuid topic_id;
  std::vector<int32_t> partitions;  // ascending
  friend bool operator==(const TopicPartitions&, const TopicPartitions&) = default;
};

// The share-partitions that a group holds state for.
struct ShareGroupTopic {
  Uuid topic_id;
  TopicName name;
  std::vector<int32_t> partitions;  // ascending
  friend bool operator==(const ShareGroupTopic&, const ShareGroupTopic&) = default;
};

}  // namespace ackord::group
