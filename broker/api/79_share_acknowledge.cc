// ShareAcknowledge (key 79), versions 1-2 (KIP-932). v2: IsRenewAck (KIP-1222),
// AcquisitionLockTimeoutMs. Counts in the share session like a ShareFetch. Per partition all or
// nothing; answered when the state is durable. May: READ on the group and on each topic.
#include <map>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"

namespace ackord::api {
namespace {

using protocol::ShareAcknowledgeRequest;
using protocol::ShareAcknowledgeResponse;

// A partition that is named again counts as it was named last, in its first place (as Kafka).
template <class Partitions>
void keep_last_of_each(Partitions& partitions) {
  std::map<int32_t, size_t> places;
  size_t kept = 0;
  for (auto& partition : partitions) {
    const auto [at, is_new] = places.emplace(partition.partition_index, kept);
    if (is_new) ++kept;
    if (&partitions[at->second] != &partition) partitions[at->second] = std::move(partition);
  }
  partitions.resize(kept);
}

}  // namespace

io::Task<ShareAcknowledgeResponse> handle(RequestContext& context,
                                          ShareAcknowledgeRequest request) {
  ShareAcknowledgeResponse response;
  if (share_version(context.services.metadata) < kShareVersionGroups) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  const Access access(context);
  if (request.group_id && !access.may_group(Operation::kRead, *request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return response;
  }
  if (!request.group_id || !request.member_id || !valid_share_member(*request.member_id)) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  share::ShareAcknowledgeCall call;
  call.may_read = may_read(access);
  call.group = *request.group_id;
  call.member = request.member_id->str();
  call.session_epoch = request.share_session_epoch;
  call.max_acknowledge_type = request.is_renew_ack ? 4 : 3;
  for (auto& topic : request.topics) {
    keep_last_of_each(topic.partitions);
    // What names no ranges is not answered either (as Kafka).
    std::erase_if(topic.partitions,
                  [](const auto& partition) { return partition.acknowledgement_batches.empty(); });
    for (auto& partition : topic.partitions) {
      call.partitions.push_back({{topic.topic_id, partition.partition_index},
                                 acknowledgement_batches(partition.acknowledgement_batches)});
    }
  }
  auto acknowledging = context.services.share.acknowledge(std::move(call));
  const share::ShareAcknowledgeReply reply = co_await std::move(acknowledging);
  response.error_code = reply.error_code;
  if (reply.error_code != ErrorCode::NONE) co_return response;
  response.acquisition_lock_timeout_ms = reply.acquisition_lock_timeout_ms;
  size_t at = 0;
  for (const auto& topic : request.topics) {
    if (topic.partitions.empty()) continue;
    auto& topic_out = response.responses.emplace_back();
    topic_out.topic_id = topic.topic_id;
    for (const auto& partition : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = partition.partition_index;
      out.error_code = reply.partitions[at].error_code;
      set_message(out.error_message, reply.partitions[at].error_message);
      ++at;
    }
  }
  co_return response;
}

}  // namespace ackord::api
