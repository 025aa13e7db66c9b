#include "tools/ackordctl/share_groups.h"

#include <algorithm>
#include <utility>

#include "protocol/generated/describe_share_partitions_request.h"
#include "protocol/generated/list_groups_request.h"
#include "protocol/generated/list_groups_response.h"
#include "tools/ackordctl/asking.h"

namespace ackord::ctl {
namespace {

using client::Cluster;
using client::Deadline;

constexpr int16_t kTypesFilterVersion = 5;
constexpr int32_t kMostRanges = 100000;  // the broker answers no more

Result<std::vector<std::string>> try_share_groups(Cluster& cluster, const Deadline& deadline) {
  Result<client::Connection*> broker = cluster.any_broker(deadline);
  if (!broker) return broker.error();
  std::vector<std::string> groups;
  const auto version = (*broker)->version_of<protocol::ListGroupsRequest>();
  if (!version || *version < kTypesFilterVersion) return groups;
  protocol::ListGroupsRequest request;
  request.types_filter.emplace_back("share");
  const auto take = [&](const protocol::ListGroupsResponse& response, BrokerId) -> Result<void> {
    if (response.error_code != ErrorCode::NONE) return error(response.error_code, "ListGroups");
    for (const auto& group : response.groups) groups.push_back(group.group_id.str());
    return {};
  };
  Result<void> done =
      call_each_broker<protocol::ListGroupsResponse>(cluster, request, deadline, take);
  if (!done) return done.error();
  std::sort(groups.begin(), groups.end());
  return groups;
}

// What is gone since it was listed holds nothing.
bool is_gone(ErrorCode code) {
  return code == ErrorCode::GROUP_ID_NOT_FOUND || code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION ||
         code == ErrorCode::UNKNOWN_TOPIC_ID;
}

}  // namespace

Result<std::vector<std::string>> share_groups(Cluster& cluster, const Deadline& deadline) {
  return ask(cluster, deadline, [&] { return try_share_groups(cluster, deadline); });
}

Result<std::vector<StagedRange>> staged_ranges(Cluster& cluster,
                                               const std::function<bool(const InFlight&)>& wanted,
                                               const Deadline& deadline) {
  std::vector<StagedRange> out;
  Result<client::Connection*> broker =
      ask(cluster, deadline, [&] { return cluster.any_broker(deadline); });
  if (!broker) return broker.error();
  if (!(*broker)->version_of<protocol::DescribeSharePartitionsRequest>()) return out;
  Result<std::vector<std::string>> groups = share_groups(cluster, deadline);
  if (!groups) return groups.error();
  for (const std::string& group : *groups) {
    Result<std::vector<std::string>> topics = topics_of(cluster, group, deadline);
    if (!topics && is_gone(topics.error().code)) continue;
    if (!topics) return topics.error();
    for (const std::string& topic : *topics) {
      Result<std::vector<SharePartition>> partitions =
          in_flight(cluster, group, topic, std::nullopt, kMostRanges, deadline);
      if (!partitions && is_gone(partitions.error().code)) continue;
      if (!partitions) return partitions.error();
      for (SharePartition& partition : *partitions) {
        for (InFlight& range : partition.ranges) {
          if (range.state == State::kStaged && wanted(range))
            out.push_back({group, topic, partition.partition, std::move(range)});
        }
      }
    }
  }
  return out;
}

}  // namespace ackord::ctl
