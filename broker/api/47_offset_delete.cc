// OffsetDelete (key 47), version 0: a group's committed offsets of some partitions (KIP-496).
// Partitions that do not exist, or that members of the group read, have their error; those without
// an offset have none. An error of the group stands alone, also when no partition exists. May:
// DELETE on the group, READ on each topic.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/offset_delete_request.h"
#include "protocol/generated/offset_delete_response.h"

namespace ackord::api {

using protocol::OffsetDeleteRequest;
using protocol::OffsetDeleteResponse;

io::Task<OffsetDeleteResponse> handle(RequestContext& context, OffsetDeleteRequest request) {
  OffsetDeleteResponse response;
  const Access access(context);
  if (!access.may_group(Operation::kDelete, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return response;
  }
  std::vector<TopicPartition> partitions;
  for (const auto& topic : request.topics) {
    auto& topic_out = response.topics.emplace_back();
    topic_out.name = topic.name;
    const auto known = context.services.metadata.image().topic(topic.name.sv());
    const bool may = access.may_topic(Operation::kRead, topic.name.sv());
    for (const auto& asked : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = asked.partition_index;
      const bool exists = known != nullptr && asked.partition_index >= 0 &&
                          asked.partition_index < known->partitions;
      if (!may) {
        out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
      } else if (exists) {
        partitions.push_back({topic.name, asked.partition_index});
      } else {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
      }
    }
  }
  auto deleting = context.services.group.delete_offsets(request.group_id, std::move(partitions));
  const group::DeletedOffsets deleted = co_await std::move(deleting);
  if (deleted.error != ErrorCode::NONE) {
    OffsetDeleteResponse failed;
    failed.error_code = deleted.error;
    co_return failed;
  }
  for (auto& topic : response.topics) {
    if (!deleted.in_use.contains(TopicName(topic.name))) continue;
    for (auto& out : topic.partitions) {
      if (out.error_code == ErrorCode::NONE) out.error_code = ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC;
    }
  }
  co_return response;
}

}  // namespace ackord::api
