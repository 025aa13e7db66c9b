// SessionWatch: which of a session's share partitions a fetch has to look at: those of which none
// was empty when it was looked at last, or about which a signal came since. So a ShareFetch costs
// what there is to fetch, and not what the session has.
//
// Ownership: the session's; a fetch shares it. Threads: the core of the connection that fetches;
// another connection gets another one.
#pragma once

#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "broker/io/ready_set.h"
#include "protocol/types/ids.h"

namespace ackord::share {

using PartitionList = std::shared_ptr<const std::vector<TopicIdPartition>>;

class SessionWatch {
 public:
  // What the session has now.
  io::ReadySet<TopicIdPartition>& follow(io::Executor& home, const PartitionList& partitions) {
    if (!ready_) ready_ = std::make_shared<io::ReadySet<TopicIdPartition>>(home);
    if (partitions == followed_) return *ready_;
    const PartitionList before = std::exchange(followed_, partitions);
    for (const TopicIdPartition& partition : *partitions) ready_->add(partition);
    if (before && ready_->size() > partitions->size()) {
      const std::unordered_set<TopicIdPartition> kept(partitions->begin(), partitions->end());
      for (const TopicIdPartition& partition : *before) {
        if (!kept.contains(partition)) ready_->remove(partition);
      }
    }
    return *ready_;
  }

 private:
  PartitionList followed_;
  std::shared_ptr<io::ReadySet<TopicIdPartition>> ready_;
};

}  // namespace ackord::share
