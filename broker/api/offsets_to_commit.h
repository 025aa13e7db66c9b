// What OffsetCommit and TxnOffsetCommit have in common: from a request's offsets to those that a
// group can be asked to commit, and back to a place in the response for each.
//
// A partition whose topic may not be read, that does not exist, or whose metadata is too long, has
// its error in the response and is not committed; the group's own error comes before that of long
// metadata.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handler.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::api {

struct OffsetPlan {
  struct Place {
    size_t topic = 0;
    size_t partition = 0;
  };
  std::vector<group::OffsetToCommit> offsets;
  std::vector<Place> places;  // of all partitions that exist
};

// Fills `response` with a place for every partition of `request`, and for every topic that does not
// exist. `by_id`: topics are named by id.
template <class Request, class Response>
OffsetPlan plan_offsets(const metadata::MetadataService& metadata, const Access& access,
                        const Request& request, bool by_id, Response& response) {
  const auto max_metadata = static_cast<size_t>(metadata.broker_config().offset_metadata_max_bytes);
  OffsetPlan plan;
  for (const auto& topic : request.topics) {
    const auto known =
        by_id ? metadata.image().topic(topic.topic_id) : metadata.image().topic(topic.name);
    if (topic.partitions.empty() && known) continue;
    const bool may = (by_id && !known) ||
                     access.may_topic(Operation::kRead, by_id ? known->name.sv() : topic.name.sv());
    auto& topic_out = response.topics.emplace_back();
    topic_out.name = topic.name;
    topic_out.topic_id = topic.topic_id;
    for (const auto& offset : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = offset.partition_index;
      if (!may) {
        out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
      } else if (!known && by_id) {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_ID;
      } else if (!known || offset.partition_index < 0 ||
                 offset.partition_index >= known->partitions) {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
      }
      if (out.error_code != ErrorCode::NONE) continue;
      plan.places.push_back({response.topics.size() - 1, topic_out.partitions.size() - 1});
      std::string note = offset.committed_metadata ? offset.committed_metadata->str() : "";
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

// The group's part of a request; its offsets are the plan's.
template <class Request>
group::OffsetsToCommit commit_of(const Request& request, OffsetPlan& plan,
                                 bool knows_group_id_not_found) {
  group::OffsetsToCommit commit;
  commit.group = request.group_id;
  commit.committer.generation_or_member_epoch = request.generation_id_or_member_epoch;
  commit.committer.member = request.member_id.str();
  if (request.group_instance_id) commit.committer.instance = request.group_instance_id->str();
  commit.offsets = std::move(plan.offsets);
  commit.knows_group_id_not_found = knows_group_id_not_found;
  return commit;
}

// The same error at every partition of the request.
template <class Request, class Response>
void refuse_all(const Request& request, ErrorCode error, Response& response) {
  for (const auto& topic : request.topics) {
    auto& topic_out = response.topics.emplace_back();
    topic_out.name = topic.name;
    topic_out.topic_id = topic.topic_id;
    for (const auto& offset : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = offset.partition_index;
      out.error_code = error;
    }
  }
}

// The group's answer, at every partition that exists.
template <class Response>
void answer_all(const OffsetPlan& plan, ErrorCode error, Response& response) {
  if (error == ErrorCode::NONE) return;
  for (const OffsetPlan::Place& place : plan.places)
    response.topics[place.topic].partitions[place.partition].error_code = error;
}

}  // namespace ackord::api
