// ReleaseSharePartitions (key 20011), version 0 (Ackord's; docs/PROTOCOL.md 0): an operator makes
// records available that members hold, or one member when MemberId names it. A partition is done as
// a whole or not at all: INVALID_RECORD_STATE when a transaction holds one of the offsets;
// INVALID_REQUEST for ill-formed ranges. Offsets that nobody holds are passed over. May:
// ALTER_CONFIGS on the group, READ on each topic.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "protocol/generated/release_share_partitions_request.h"
#include "protocol/generated/release_share_partitions_response.h"

namespace ackord::api {
namespace {

using protocol::ReleaseSharePartitionsRequest;
using protocol::ReleaseSharePartitionsResponse;

io::Task<ReleaseSharePartitionsResponse::ReleaseSharePartitionsPartitionResult> release(
    RequestContext& context, share::SharePartitionKey key, std::vector<share::OffsetRange> ranges,
    std::optional<std::string> member) {
  ReleaseSharePartitionsResponse::ReleaseSharePartitionsPartitionResult out;
  out.partition_index = key.partition;
  auto running =
      context.services.share.release_ranges(std::move(key), std::move(ranges), std::move(member));
  const Result<share::ReleaseRanges::Reply> reply = co_await std::move(running);
  out.error_code = reply ? reply->error.error_code : reply.error().code;
  set_message(out.error_message, reply ? reply->error.error_message : reply.error().message);
  if (reply) out.released_records = reply->released_records;
  co_return out;
}

}  // namespace

io::Task<ReleaseSharePartitionsResponse> handle(RequestContext& context,
                                                ReleaseSharePartitionsRequest request) {
  ReleaseSharePartitionsResponse response;
  if (share_version(context.services.metadata) < kShareVersionGroups) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  if (request.group_id.empty()) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  const Access access(context);
  if (!access.may_group(Operation::kAlterConfigs, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return response;
  }
  auto asking = context.services.group.share_group_partitions(request.group_id);
  const group::ShareGroupPartitions known = co_await std::move(asking);
  if (known.error != ErrorCode::NONE) {
    response.error_code = known.error;
    set_message(response.error_message, known.message);
    co_return response;
  }
  std::optional<std::string> member;
  if (request.member_id) member = request.member_id->str();
  for (const auto& topic : request.topics) {
    auto& topic_out = response.topics.emplace_back();
    topic_out.topic_id = topic.topic_id;
    const auto image = context.services.metadata.image().topic(topic.topic_id);
    const bool may = !image || access.may_topic(Operation::kRead, image->name.sv());
    for (const auto& partition : topic.partitions) {
      if (!may) {
        auto& out = topic_out.partitions.emplace_back();
        out.partition_index = partition.partition_index;
        out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
        continue;
      }
      std::vector<share::OffsetRange> ranges;
      ranges.reserve(partition.ranges.size());
      for (const auto& range : partition.ranges)
        ranges.push_back({range.first_offset, range.last_offset});
      share::SharePartitionKey key{request.group_id, topic.topic_id, partition.partition_index};
      auto releasing = release(context, std::move(key), std::move(ranges), member);
      auto released = co_await std::move(releasing);
      topic_out.partitions.push_back(std::move(released));
    }
  }
  co_return response;
}

}  // namespace ackord::api
