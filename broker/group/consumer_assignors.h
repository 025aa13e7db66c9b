// The server-side assignors of consumer groups (KIP-848): who is to have which partition. Pure;
// what they give depends on their arguments alone.
//
// uniform: all partitions spread evenly over the members, who keep what they had as far as that
//   allows. With equal subscriptions no two members differ by more than one; else as even as the
//   subscriptions let it be.
// range: of each topic a range of partitions for each of its subscribers, in the order of the
//   members; static members come first. Nobody keeps what he had.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "broker/group/assignment.h"

namespace ackord::group {

struct Subscriber {
  std::optional<std::string> instance;
  std::set<Uuid> topics;  // all of them exist
  Assignment previous;
};
using Subscribers = std::map<std::string, Subscriber>;
// How many partitions a topic has; all topics of the subscribers are there.
using PartitionCounts = std::map<Uuid, int32_t>;
// One entry per subscriber. Every partition of a topic that somebody subscribes to has one owner.
using Assignments = std::map<std::string, Assignment>;

Assignments assign_uniform(const Subscribers& subscribers, const PartitionCounts& counts);
Assignments assign_range(const Subscribers& subscribers, const PartitionCounts& counts);

using Assignor = Assignments (*)(const Subscribers&, const PartitionCounts&);
inline constexpr std::string_view kUniformAssignor = "uniform";
inline constexpr std::string_view kRangeAssignor = "range";
// Null for a name that is not known.
Assignor assignor_of(std::string_view name);

}  // namespace ackord::group
