// OffsetFetch (key 9), versions 1-10: what groups have committed.
//   v2  all topics (null), error of the group   v3 throttle time   v5 leader epoch   v6 flexible
//   v7  require_stable (KIP-447)   v8 several groups   v9 member and epoch (KIP-848)
//   v10 topic ids
// Nothing committed is offset -1 without an error; so is a group, and up to v9 a topic, that does
// not exist. With require_stable an offset that an open transaction may change is
// UNSTABLE_OFFSET_COMMIT. May: DESCRIBE on the group and on each topic; of all topics the others
// are left out.
#include <map>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"

namespace ackord::api {
namespace {

using protocol::OffsetFetchRequest;
using protocol::OffsetFetchResponse;
using Group = OffsetFetchResponse::OffsetFetchResponseGroup;
using Partition = OffsetFetchResponse::OffsetFetchResponsePartitions;
using Topics = std::vector<OffsetFetchRequest::OffsetFetchRequestTopics>;

constexpr int16_t kFirstWithGroups = 8;
constexpr int16_t kFirstWithTopicIds = 10;
constexpr int16_t kFirstWithGroupError = 2;

Partition nothing(int32_t index, ErrorCode error) {
  Partition out;
  out.partition_index = index;
  out.committed_offset = -1;
  out.error_code = error;
  return out;
}

Partition answer(int32_t index, const group::CommittedOffset& offset, bool require_stable) {
  if (offset.unstable && require_stable) return nothing(index, ErrorCode::UNSTABLE_OFFSET_COMMIT);
  Partition out;
  out.partition_index = index;
  out.committed_offset = offset.offset;
  out.committed_leader_epoch = offset.leader_epoch;
  out.metadata = String(offset.metadata);
  return out;
}

// The topics that were asked for, with a place for every partition; and the partitions to look up,
// in that order. Names stand for ids, where ids were given.
struct Plan {
  Group out;
  std::vector<TopicPartition> partitions;
  std::vector<Partition*> places;
};

void plan(const metadata::MetadataService& metadata, const Access& access, const Topics& topics,
          bool by_id, Plan& plan) {
  plan.out.topics.resize(topics.size());
  for (size_t i = 0; i < topics.size(); ++i) {
    auto& out = plan.out.topics[i];
    out.name = topics[i].name;
    out.topic_id = topics[i].topic_id;
    const auto known = by_id ? metadata.image().topic(topics[i].topic_id) : nullptr;
    ErrorCode error = by_id && !known ? ErrorCode::UNKNOWN_TOPIC_ID : ErrorCode::NONE;
    const std::string_view name = by_id && known ? known->name.sv() : topics[i].name.sv();
    if (error == ErrorCode::NONE && !access.may_topic(Operation::kDescribe, name))
      error = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    for (const int32_t index : topics[i].partition_indexes)
      out.partitions.push_back(nothing(index, error));
    if (error != ErrorCode::NONE) continue;
    for (Partition& partition : out.partitions) {
      plan.partitions.push_back({TopicName(name), partition.partition_index});
      plan.places.push_back(&partition);
    }
  }
}

// Every topic that has something committed; by id only those that exist.
void add_all(const metadata::MetadataService& metadata, const Access& access,
             const group::FetchedOffsets& offsets, bool require_stable, bool by_id, Group& out) {
  for (const auto& [partition, offset] : offsets) {
    const auto known = metadata.image().topic(partition.topic.sv());
    if (by_id && !known) continue;
    if (!access.may_see(Operation::kDescribe, ResourceType::kTopic, partition.topic.sv())) continue;
    if (out.topics.empty() || out.topics.back().name != partition.topic) {
      auto& topic = out.topics.emplace_back();
      topic.name = partition.topic;
      if (known) topic.topic_id = known->id;
    }
    out.topics.back().partitions.push_back(answer(partition.partition, offset, require_stable));
  }
}

// On whose behalf (version 9).
struct Fetcher {
  std::optional<std::string> member;
  int32_t epoch = -1;
};

io::Task<Group> fetch(RequestContext& context, GroupId group, std::optional<Topics> topics,
                      Fetcher fetcher, bool require_stable) {
  const metadata::MetadataService& metadata = context.services.metadata;
  const bool by_id = context.api_version >= kFirstWithTopicIds;
  const Access access(context);
  Plan planned;
  planned.out.group_id = group;
  if (!access.may_group(Operation::kDescribe, group)) {
    // The first version says it at each partition.
    if (topics && context.api_version < kFirstWithGroupError)
      plan(metadata, access, *topics, by_id, planned);
    planned.out.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return std::move(planned.out);
  }
  group::OffsetsToFetch ask;
  ask.group = std::move(group);
  ask.member = std::move(fetcher.member);
  ask.member_epoch = fetcher.epoch;
  if (topics) {
    plan(metadata, access, *topics, by_id, planned);
    ask.partitions = std::move(planned.partitions);
  }
  auto fetching = context.services.group.fetch_offsets(std::move(ask));
  const Result<group::FetchedOffsets> offsets = co_await std::move(fetching);
  if (!offsets) {
    planned.out.error_code = offsets.error().code;
    if (context.api_version >= kFirstWithGroups) planned.out.topics.clear();
    co_return std::move(planned.out);
  }
  if (!topics) add_all(metadata, access, *offsets, require_stable, by_id, planned.out);
  for (size_t i = 0; i < planned.places.size(); ++i) {
    *planned.places[i] =
        answer((*offsets)[i].first.partition, (*offsets)[i].second, require_stable);
  }
  co_return std::move(planned.out);
}

// One group, as the versions before 8 have it.
OffsetFetchResponse single(Group group, int16_t version) {
  OffsetFetchResponse response;
  response.error_code = group.error_code;
  for (auto& topic : group.topics) {
    auto& out = response.topics.emplace_back();
    out.name = topic.name;
    for (auto& partition : topic.partitions) {
      auto& place = out.partitions.emplace_back();
      place.partition_index = partition.partition_index;
      place.committed_offset = partition.committed_offset;
      place.committed_leader_epoch = partition.committed_leader_epoch;
      place.metadata = partition.metadata;
      place.error_code = partition.error_code;
      if (version < kFirstWithGroupError && group.error_code != ErrorCode::NONE)
        place.error_code = group.error_code;
    }
  }
  return response;
}

Topics modern(const std::vector<OffsetFetchRequest::OffsetFetchRequestTopic>& topics) {
  Topics out;
  for (const auto& topic : topics) {
    auto& added = out.emplace_back();
    added.name = topic.name;
    added.partition_indexes = topic.partition_indexes;
  }
  return out;
}

}  // namespace

io::Task<OffsetFetchResponse> handle(RequestContext& context, OffsetFetchRequest request) {
  if (context.api_version < kFirstWithGroups) {
    std::optional<Topics> topics;
    if (request.topics) topics = modern(*request.topics);
    auto fetching = fetch(context, request.group_id, std::move(topics), {}, request.require_stable);
    Group group = co_await std::move(fetching);
    co_return single(std::move(group), context.api_version);
  }
  std::vector<io::Task<Group>> tasks;
  for (const auto& group : request.groups) {
    Fetcher fetcher{std::nullopt, group.member_epoch};
    if (group.member_id) fetcher.member = group.member_id->str();
    tasks.push_back(
        fetch(context, group.group_id, group.topics, std::move(fetcher), request.require_stable));
  }
  auto all = io::when_all(std::move(tasks));
  OffsetFetchResponse response;
  response.groups = co_await std::move(all);
  co_return response;
}

}  // namespace ackord::api
