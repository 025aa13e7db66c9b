// What a member of a group is given: partitions of topics by id; and its form in messages and
// records: a list of topics, each with `topic_id` and `partitions`.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "protocol/types/ids.h"

namespace ackord::group {

using Assignment = std::set<TopicIdPartition>;

template <class TopicList>
Assignment to_assignment(const TopicList& topics) {
  Assignment assignment;
  for (const auto& topic : topics) {
    for (const int32_t partition : topic.partitions) assignment.insert({topic.topic_id, partition});
  }
  return assignment;
}

// In the order of ids and partitions.
template <class Topic>
std::vector<Topic> to_list(const Assignment& assignment) {
  std::vector<Topic> topics;
  for (const TopicIdPartition& partition : assignment) {
    if (topics.empty() || topics.back().topic_id != partition.topic_id)
      topics.emplace_back().topic_id = partition.topic_id;
    topics.back().partitions.push_back(partition.partition);
  }
  return topics;
}

}  // namespace ackord::group
