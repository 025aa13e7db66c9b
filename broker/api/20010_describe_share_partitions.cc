// DescribeSharePartitions (key 20010), version 0 (Ackord's; docs/PROTOCOL.md 0): what of a share
// partition is in flight, and who holds it. A topic without partitions: all of its partitions. At
// most MaxRanges ranges per partition. May: DESCRIBE on the group and on each topic.
#include <algorithm>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "protocol/generated/describe_share_partitions_request.h"
#include "protocol/generated/describe_share_partitions_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeSharePartitionsRequest;
using protocol::DescribeSharePartitionsResponse;

// Bounds the answer, whatever is asked for.
constexpr int32_t kMostRanges = 100000;

DescribeSharePartitionsResponse::InFlightRange range_of(const share::InFlightRange& range) {
  DescribeSharePartitionsResponse::InFlightRange out;
  out.first_offset = range.first_offset;
  out.last_offset = range.last_offset;
  out.state = static_cast<int8_t>(range.state);
  out.delivery_count = range.delivery_count;
  if (range.member_id) out.member_id = String(*range.member_id);
  out.lock_expires_in_ms = range.lock_expires_in_ms;
  if (range.owner) {
    out.owner_producer_id = range.owner->producer_id.value;
    out.owner_producer_epoch = range.owner->producer_epoch;
    if (range.owner->transaction_id)
      out.owner_transaction_id = String(range.owner->transaction_id->sv());
  }
  out.staged_for_ms = range.staged_for_ms;
  out.acknowledge_type = range.acknowledge_type;
  out.available_in_ms = range.available_in_ms;
  return out;
}

io::Task<DescribeSharePartitionsResponse::DescribeSharePartitionsPartition> describe(
    RequestContext& context, GroupId group, TopicIdPartition partition, int32_t max_ranges) {
  DescribeSharePartitionsResponse::DescribeSharePartitionsPartition out;
  out.partition_index = partition.partition;
  auto running = context.services.share.describe(std::move(group), partition, max_ranges);
  const Result<share::Describe::Reply> reply = co_await std::move(running);
  if (!reply) {
    out.error_code = reply.error().code;
    set_message(out.error_message, reply.error().message);
    co_return out;
  }
  out.start_offset = reply->start_offset;
  out.end_offset = reply->end_offset;
  for (const share::InFlightRange& range : reply->ranges) out.ranges.push_back(range_of(range));
  co_return out;
}

}  // namespace

io::Task<DescribeSharePartitionsResponse> handle(RequestContext& context,
                                                 DescribeSharePartitionsRequest request) {
  DescribeSharePartitionsResponse response;
  if (share_version(context.services.metadata) < kShareVersionGroups) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  if (request.group_id.empty() || request.max_ranges <= 0) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  const Access access(context);
  if (!access.may_group(Operation::kDescribe, request.group_id)) {
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
  const int32_t max_ranges = std::min(request.max_ranges, kMostRanges);
  for (const auto& topic : request.topics) {
    auto& topic_out = response.topics.emplace_back();
    topic_out.topic_id = topic.topic_id;
    const auto image = context.services.metadata.image().topic(topic.topic_id);
    std::vector<int32_t> partitions = topic.partitions;
    if (partitions.empty()) {
      for (int32_t i = 0; image && i < image->partitions; ++i) partitions.push_back(i);
    }
    const bool may = !image || access.may_topic(Operation::kDescribe, image->name.sv());
    for (const int32_t partition : partitions) {
      if (!may) {
        auto& out = topic_out.partitions.emplace_back();
        out.partition_index = partition;
        out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
        continue;
      }
      auto describing =
          describe(context, request.group_id, {topic.topic_id, partition}, max_ranges);
      auto described = co_await std::move(describing);
      topic_out.partitions.push_back(std::move(described));
    }
  }
  co_return response;
}

}  // namespace ackord::api
