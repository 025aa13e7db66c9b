// The "simple" assignor of share groups (KIP-932; semantics A.3). Pure.
//
// Several members may hold one partition. With M members and P partitions a partition is held by S
// = ceil(M / P) members at most, and the P * S places are spread evenly: no two members differ by
// more than one. Members keep what they held as far as that allows. With differing subscriptions
// the same is done topic by topic.
#pragma once

#include <map>
#include <set>
#include <string>

#include "broker/group/assignment.h"
#include "protocol/types/ids.h"

namespace ackord::group {

struct AssignorMember {
  std::set<Uuid> topics;  // what it subscribes to
  Assignment previous;
};

// One entry per member. Every partition of `assignable` that has a subscriber is held by at least
// one of them.
std::map<std::string, Assignment> assign_share_partitions(
    const std::map<std::string, AssignorMember>& members, const Assignment& assignable);

}  // namespace ackord::group
