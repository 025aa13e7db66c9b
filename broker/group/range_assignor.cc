#include <algorithm>
#include <vector>

#include "broker/group/consumer_assignors.h"

namespace ackord::group {
namespace {

using Entry = Subscribers::value_type;

bool comes_before(const Entry* a, const Entry* b) {
  const auto& left = a->second.instance;
  const auto& right = b->second.instance;
  if (left && right) return *left < *right;
  if (left || right) return left.has_value();
  return a->first < b->first;
}

}  // namespace

Assignments assign_range(const Subscribers& subscribers, const PartitionCounts& counts) {
  Assignments out;
  std::vector<const Entry*> order;
  for (const Entry& entry : subscribers) {
    order.push_back(&entry);
    out[entry.first];
  }
  std::stable_sort(order.begin(), order.end(), comes_before);
  std::map<Uuid, std::vector<const std::string*>> by_topic;
  for (const Entry* entry : order) {
    for (const Uuid& topic : entry->second.topics) by_topic[topic].push_back(&entry->first);
  }
  for (const auto& [topic, members] : by_topic) {
    const int32_t partitions = counts.at(topic);
    const auto shares = static_cast<int32_t>(members.size());
    int32_t next = 0;
    for (int32_t i = 0; i < shares; ++i) {
      const int32_t end = next + partitions / shares + (i < partitions % shares ? 1 : 0);
      Assignment& given = out[*members[static_cast<size_t>(i)]];
      for (; next < end; ++next) given.insert({topic, next});
    }
  }
  return out;
}

}  // namespace ackord::group
