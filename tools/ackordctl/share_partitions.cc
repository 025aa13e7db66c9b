#include "tools/ackordctl/share_partitions.h"

#include <map>
#include <span>
#include <utility>

#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"
#include "protocol/generated/describe_share_partitions_request.h"
#include "protocol/generated/describe_share_partitions_response.h"
#include "protocol/generated/release_share_partitions_request.h"
#include "protocol/generated/release_share_partitions_response.h"
#include "tools/ackordctl/asking.h"

namespace ackord::ctl {
namespace {

using client::Cluster;
using client::Connection;
using client::Deadline;

Result<std::vector<std::string>> try_topics(Cluster& cluster, const std::string& group,
                                            const Deadline& deadline) {
  constexpr auto kGroup = client::CoordinatorType::kGroup;
  protocol::DescribeShareGroupOffsetsRequest request;
  request.groups.emplace_back().group_id = GroupId(group);
  request.groups.back().topics.reset();
  auto answer = call_coordinator<protocol::DescribeShareGroupOffsetsResponse>(
      cluster, kGroup, group, request, deadline);
  if (!answer) return answer.error();
  std::vector<std::string> topics;
  for (const auto& described : answer->message.groups) {
    if (described.error_code != ErrorCode::NONE) {
      forget_if_stale(cluster, kGroup, group, described.error_code);
      return answered(described.error_code, described.error_message);
    }
    for (const auto& topic : described.topics) topics.push_back(topic.topic_name.str());
  }
  return topics;
}

struct Place {
  Uuid topic_id;
  std::map<BrokerId, std::vector<int32_t>> by_leader;
};

// Where the partitions are led.
Result<Place> find(Cluster& cluster, const std::string& name, std::optional<int32_t> partition,
                   const Deadline& deadline) {
  const TopicName topic_name(name);
  if (Result<void> refreshed = cluster.refresh(std::span(&topic_name, 1), deadline); !refreshed)
    return refreshed.error();
  const client::Topic* topic = cluster.topic(topic_name);
  if (topic == nullptr)
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "there is no topic " + name);
  const auto count = static_cast<int32_t>(topic->partitions.size());
  if (partition && (*partition < 0 || *partition >= count))
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                 name + " has no partition " + std::to_string(*partition));
  Place place;
  place.topic_id = topic->id;
  for (int32_t i = 0; i < count; ++i) {
    if (partition && *partition != i) continue;
    const BrokerId leader = topic->partitions[static_cast<size_t>(i)].leader;
    if (leader.value < 0) return error(ErrorCode::LEADER_NOT_AVAILABLE, name);
    place.by_leader[leader].push_back(i);
  }
  return place;
}

InFlight range_of(const protocol::DescribeSharePartitionsResponse::InFlightRange& range) {
  InFlight out;
  out.offsets = {range.first_offset, range.last_offset};
  out.state = static_cast<State>(range.state);
  out.delivery_count = range.delivery_count;
  if (range.member_id) out.member = range.member_id->str();
  out.lock_expires_in_ms = range.lock_expires_in_ms;
  out.available_in_ms = range.available_in_ms;
  out.producer_id = range.owner_producer_id;
  out.producer_epoch = range.owner_producer_epoch;
  if (range.owner_transaction_id) out.transaction = range.owner_transaction_id->str();
  out.staged_for_ms = range.staged_for_ms;
  out.acknowledge_type = range.acknowledge_type;
  return out;
}

Result<std::vector<SharePartition>> try_in_flight(Cluster& cluster, const std::string& group,
                                                  const std::string& topic,
                                                  std::optional<int32_t> partition,
                                                  int32_t max_ranges, const Deadline& deadline) {
  Result<Place> place = find(cluster, topic, partition, deadline);
  if (!place) return place.error();
  std::vector<SharePartition> out;
  for (const auto& [leader, partitions] : place->by_leader) {
    Result<Connection*> broker = cluster.broker(leader, deadline);
    if (!broker) return broker.error();
    protocol::DescribeSharePartitionsRequest request;
    request.group_id = GroupId(group);
    request.max_ranges = max_ranges;
    request.topics.push_back({place->topic_id, partitions});
    auto answer = (*broker)->call<protocol::DescribeSharePartitionsResponse>(request, deadline);
    if (!answer) return answer.error();
    const protocol::DescribeSharePartitionsResponse& response = answer->message;
    if (response.error_code != ErrorCode::NONE)
      return answered(response.error_code, response.error_message);
    for (const auto& described : response.topics) {
      for (const auto& found : described.partitions) {
        if (found.error_code != ErrorCode::NONE)
          return answered(found.error_code, found.error_message);
        SharePartition& one = out.emplace_back();
        one.topic = topic;
        one.partition = found.partition_index;
        one.start_offset = found.start_offset;
        one.end_offset = found.end_offset;
        for (const auto& range : found.ranges) one.ranges.push_back(range_of(range));
        one.more = one.ranges.size() == static_cast<size_t>(max_ranges) &&
                   one.ranges.back().offsets.last < one.end_offset;
      }
    }
  }
  return out;
}

Result<Released> try_release(Cluster& cluster, const protocol::ReleaseSharePartitionsRequest& ask,
                             const std::string& topic, int32_t partition,
                             const Deadline& deadline) {
  Result<Place> place = find(cluster, topic, partition, deadline);
  if (!place) return place.error();
  protocol::ReleaseSharePartitionsRequest request = ask;
  request.topics.front().topic_id = place->topic_id;
  Result<Connection*> broker = cluster.broker(place->by_leader.begin()->first, deadline);
  if (!broker) return broker.error();
  auto answer = (*broker)->call<protocol::ReleaseSharePartitionsResponse>(request, deadline);
  if (!answer) return answer.error();
  const protocol::ReleaseSharePartitionsResponse& response = answer->message;
  if (response.error_code != ErrorCode::NONE)
    return answered(response.error_code, response.error_message);
  Released out{topic, partition, 0};
  for (const auto& answered_topic : response.topics) {
    for (const auto& one : answered_topic.partitions) {
      if (one.error_code != ErrorCode::NONE) return answered(one.error_code, one.error_message);
      out.records += one.released_records;
    }
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> topics_of(Cluster& cluster, const std::string& group,
                                           const Deadline& deadline) {
  return ask(cluster, deadline, [&] { return try_topics(cluster, group, deadline); });
}

Result<std::vector<SharePartition>> in_flight(Cluster& cluster, const std::string& group,
                                              const std::string& topic,
                                              std::optional<int32_t> partition, int32_t max_ranges,
                                              const Deadline& deadline) {
  return ask(cluster, deadline,
             [&] { return try_in_flight(cluster, group, topic, partition, max_ranges, deadline); });
}

Result<Released> release(Cluster& cluster, const std::string& group, const std::string& topic,
                         int32_t partition, const std::vector<Offsets>& ranges,
                         const std::optional<std::string>& member, const Deadline& deadline) {
  protocol::ReleaseSharePartitionsRequest request;
  request.group_id = GroupId(group);
  if (member) request.member_id = String(*member);
  auto& named = request.topics.emplace_back().partitions.emplace_back();
  named.partition_index = partition;
  for (const Offsets& range : ranges) named.ranges.push_back({range.first, range.last});
  return ask(cluster, deadline,
             [&] { return try_release(cluster, request, topic, partition, deadline); });
}

}  // namespace ackord::ctl
