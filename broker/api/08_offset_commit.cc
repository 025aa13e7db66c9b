// OffsetCommit (key 8), versions 2-10: a group's offsets, outside any transaction.
//   v2-4 retention time (later the group's retention applies: KIP-211)   v6 leader epoch
//   v7   instance id (KIP-345)   v8 flexible   v9 members of KIP-848 groups, GROUP_ID_NOT_FOUND
//   v10  topic ids (KIP-848)
// A partition that cannot be committed has its error, the others are committed together; a group's
// error stands at all partitions that exist.
#include <utility>
#include <vector>

#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"

namespace ackord::api {
namespace {

using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;

constexpr int16_t kFirstWithGroupIdNotFound = 9;
constexpr int16_t kFirstWithTopicIds = 10;
constexpr int64_t kDefaultRetention = -1;

// Where in the response an offset's error goes.
struct Place {
  size_t topic = 0;
  size_t partition = 0;
};
struct Plan {
  std::vector<group::OffsetToCommit> offsets;
  std::vector<Place> places;  // of partitions that exist: their group's error comes first
};

std::string metadata_of(const OffsetCommitRequest::OffsetCommitRequestPartition& offset) {
  return offset.committed_metadata ? offset.committed_metadata->str() : std::string();
}

Plan plan(const RequestContext& context, const OffsetCommitRequest& request,
          OffsetCommitResponse& response) {
  const metadata::MetadataService& metadata = context.services.metadata;
  const auto max_metadata = static_cast<size_t>(metadata.broker_config().offset_metadata_max_bytes);
  const bool by_id = context.api_version >= kFirstWithTopicIds;
  Plan plan;
  for (const auto& topic : request.topics) {
    auto& topic_out = response.topics.emplace_back();
    topic_out.name = topic.name;
    topic_out.topic_id = topic.topic_id;
    const auto known =
        by_id ? metadata.image().topic(topic.topic_id) : metadata.image().topic(topic.name);
    for (const auto& offset : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = offset.partition_index;
      if (!known && by_id) {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_ID;
      } else if (!known || offset.partition_index < 0 ||
                 offset.partition_index >= known->partitions) {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
      }
      if (out.error_code != ErrorCode::NONE) continue;
      plan.places.push_back({response.topics.size() - 1, topic_out.partitions.size() - 1});
      std::string note = metadata_of(offset);
      if (note.size() > max_metadata) {
        out.error_code = ErrorCode::OFFSET_METADATA_TOO_LARGE;
        continue;
      }
      plan.offsets.push_back({known->name, known->id, offset.partition_index,
                              offset.committed_offset, offset.committed_leader_epoch,
                              std::move(note)});
    }
  }
  return plan;
}

}  // namespace

io::Task<OffsetCommitResponse> handle(RequestContext& context, OffsetCommitRequest request) {
  OffsetCommitResponse response;
  Plan planned = plan(context, request, response);
  if (planned.places.empty()) co_return response;
  group::OffsetsToCommit commit;
  commit.group = request.group_id;
  commit.committer.generation_or_member_epoch = request.generation_id_or_member_epoch;
  commit.committer.member = request.member_id.str();
  if (request.group_instance_id) commit.committer.instance = request.group_instance_id->str();
  commit.offsets = std::move(planned.offsets);
  if (request.retention_time_ms != kDefaultRetention)
    commit.retention_ms = request.retention_time_ms;
  commit.knows_group_id_not_found = context.api_version >= kFirstWithGroupIdNotFound;
  auto committing = context.services.group.commit_offsets(std::move(commit));
  const ErrorCode error = co_await std::move(committing);
  if (error == ErrorCode::NONE) co_return response;
  for (const Place& place : planned.places)
    response.topics[place.topic].partitions[place.partition].error_code = error;
  co_return response;
}

}  // namespace ackord::api
