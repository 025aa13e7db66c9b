// How a member of a consumer group comes from what it has to what it is to have (KIP-848): it first
// gives up what is not in its target, then moves to the target's epoch, and then gets what others
// have let go. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "broker/group/consumer_group.h"
#include "broker/group/group_service.h"

namespace ackord::group {

struct Reconciliation {
  const ConsumerGroup& group;  // who has which partition
  int32_t target_epoch = 0;
  const Assignment& target;
  const std::set<Uuid>& subscribed;  // topics that the member subscribes to and that exist
  bool subscription_changed = false;
  // What the member says it owns; absent when it said nothing, which is taken for everything.
  const std::optional<std::vector<TopicPartitions>>& owned;
};

// The member after this heartbeat; equal to `member` when nothing moves.
ConsumerMember reconciled(const ConsumerMember& member, const Reconciliation& with);

}  // namespace ackord::group
