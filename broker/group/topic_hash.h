// The hash of the topics that a group subscribes to (MetadataHash of ConsumerGroupMetadataValue and
// ShareGroupMetadataValue): by it a coordinator sees that a topic has been made, has grown or has
// gone. Kafka's own, so that a group does not move when its directory changes hands: XXH3 over
// id, name, partitions and racks of each topic, in the order of the names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/types/ids.h"

namespace ackord::group {

// A topic that exists. Topics that a group subscribes to and that are not handed in do not.
struct SubscribedTopic {
  TopicName name;
  Uuid id;
  int32_t partitions = 0;
};

// 0 when there are no topics. `rack`: of the node that has all partitions, in ASCII.
int64_t metadata_hash(const std::vector<SubscribedTopic>& topics,
                      const std::optional<std::string>& rack = {});

}  // namespace ackord::group
