// ShareFetch (key 78), versions 1-2 (KIP-932).
//   v1  MaxRecords, BatchSize   v2  ShareAcquireMode (KIP-1206), IsRenewAck (KIP-1222)
// Order of checks: feature level, ids, renew limits, session, then per partition. The session's
// counter moves with each accepted request. Membership and assignment are not looked at: a record
// belongs to the member id that acquired it. May: READ on the group and on each topic of the
// session.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_fetch_response.h"

namespace ackord::api {
namespace {

using protocol::ShareFetchRequest;
using protocol::ShareFetchResponse;

constexpr int16_t kFirstWithRenew = 2;

constexpr auto kBatchOptimized = static_cast<int8_t>(share::ShareAcquireMode::BATCH_OPTIMIZED);
constexpr auto kRecordLimit = static_cast<int8_t>(share::ShareAcquireMode::RECORD_LIMIT);

ErrorCode check(const RequestContext& context, const Access& access,
                const ShareFetchRequest& request) {
  if (share_version(context.services.metadata) < kShareVersionGroups)
    return ErrorCode::UNSUPPORTED_VERSION;
  if (!request.group_id) return ErrorCode::INVALID_REQUEST;
  if (!access.may_group(Operation::kRead, *request.group_id))
    return ErrorCode::GROUP_AUTHORIZATION_FAILED;
  if (!request.member_id || !valid_share_member(*request.member_id))
    return ErrorCode::INVALID_REQUEST;
  if (request.is_renew_ack && (request.max_bytes != 0 || request.min_bytes != 0 ||
                               request.max_records != 0 || request.max_wait_ms != 0)) {
    return ErrorCode::INVALID_REQUEST;
  }
  if (request.share_acquire_mode != kBatchOptimized && request.share_acquire_mode != kRecordLimit)
    return ErrorCode::INVALID_REQUEST;
  return ErrorCode::NONE;
}

share::ShareFetch call_of(RequestContext& context, ShareFetchRequest& request) {
  share::ShareFetch call;
  call.group = *request.group_id;
  call.member = request.member_id->str();
  call.session_epoch = request.share_session_epoch;
  call.max_wait_ms = request.max_wait_ms;
  call.min_bytes = request.min_bytes;
  call.max_bytes = request.max_bytes;
  call.max_records = request.max_records;
  call.batch_size = request.batch_size;
  call.mode = static_cast<share::ShareAcquireMode>(request.share_acquire_mode);
  call.renew = request.is_renew_ack;
  call.max_acknowledge_type =
      context.api_version >= kFirstWithRenew && request.is_renew_ack ? 4 : 3;
  for (auto& topic : request.topics) {
    for (auto& partition : topic.partitions) {
      call.listed.push_back({{topic.topic_id, partition.partition_index},
                             acknowledgement_batches(partition.acknowledgement_batches)});
    }
  }
  for (const auto& topic : request.forgotten_topics_data) {
    for (const int32_t partition : topic.partitions)
      call.forgotten.push_back({topic.topic_id, partition});
  }
  call.connection_id = context.client->connection_id;
  call.gone = &context.client->gone;
  call.on_gone = &context.client->on_gone;
  return call;
}

}  // namespace

io::Task<ShareFetchResponse> handle(RequestContext& context, ShareFetchRequest request) {
  ShareFetchResponse response;
  const Access access(context);
  response.error_code = check(context, access, request);
  if (response.error_code != ErrorCode::NONE) co_return response;
  share::ShareFetch call = call_of(context, request);
  call.may_read = may_read(access);
  auto fetching = context.services.share.fetch(std::move(call));
  share::ShareFetchReply reply = co_await std::move(fetching);
  response.error_code = reply.error_code;
  if (reply.error_code != ErrorCode::NONE) co_return response;
  response.acquisition_lock_timeout_ms = reply.acquisition_lock_timeout_ms;
  for (share::ShareFetchPartition& partition : reply.partitions) {
    auto topic = response.responses.begin();
    while (topic != response.responses.end() && topic->topic_id != partition.partition.topic_id)
      ++topic;
    if (topic == response.responses.end()) {
      topic = response.responses.emplace(topic);
      topic->topic_id = partition.partition.topic_id;
    }
    auto& out = topic->partitions.emplace_back();
    out.partition_index = partition.partition.partition;
    out.error_code = partition.error_code;
    out.acknowledge_error_code = partition.acknowledge_error.error_code;
    set_message(out.acknowledge_error_message, partition.acknowledge_error.error_message);
    out.records = std::move(partition.records);
    for (const share::AcquiredRecords& range : partition.acquired) {
      out.acquired_records.push_back({range.first_offset, range.last_offset, range.delivery_count});
    }
  }
  co_return response;
}

}  // namespace ackord::api
