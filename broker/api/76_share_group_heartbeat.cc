// ShareGroupHeartbeat (key 76), version 1 (KIP-932): join (epoch 0), stay, or leave (epoch -1) a
// share group. The client makes its own member id. Assignment is null where nothing has changed
// since the last answer. May: READ on the group, DESCRIBE on every topic of the subscription.
#include <string>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/group_heartbeats.h"
#include "broker/api/group_rights.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"

namespace ackord::api {
namespace {

using protocol::ShareGroupHeartbeatRequest;
using protocol::ShareGroupHeartbeatResponse;

constexpr int32_t kLeave = -1;

// In Kafka's order. Null when the request is well-formed.
const char* wrong_field(const ShareGroupHeartbeatRequest& request) {
  if (!valid_share_member(request.member_id) || blank(request.member_id)) return "";
  if (blank(request.group_id)) return "GroupId can't be empty.";
  if (request.rack_id && blank(*request.rack_id)) return "RackId can't be empty.";
  if (request.member_epoch < kLeave) return "MemberEpoch is invalid.";
  const bool subscribes =
      request.subscribed_topic_names && !request.subscribed_topic_names->empty();
  if (request.member_epoch == 0 && !subscribes)
    return "SubscribedTopicNames must be set in first request.";
  return nullptr;
}

group::ShareHeartbeat heartbeat_of(const RequestContext& context,
                                   ShareGroupHeartbeatRequest& request) {
  group::ShareHeartbeat heartbeat;
  heartbeat.group = request.group_id;
  heartbeat.member = request.member_id.str();
  heartbeat.epoch = request.member_epoch;
  if (request.rack_id) heartbeat.rack = request.rack_id->str();
  if (request.subscribed_topic_names) heartbeat.topics = *request.subscribed_topic_names;
  heartbeat.client_id = context.client_id;
  heartbeat.client_host = context.client->host;
  return heartbeat;
}

}  // namespace

io::Task<ShareGroupHeartbeatResponse> handle(RequestContext& context,
                                             ShareGroupHeartbeatRequest request) {
  ShareGroupHeartbeatResponse response;
  if (share_version(context.services.metadata) < kShareVersionGroups) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  response.error_code =
      heartbeat_denial(Access(context), request.group_id, request.subscribed_topic_names);
  if (response.error_code != ErrorCode::NONE) co_return response;
  if (const char* wrong = wrong_field(request)) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    set_message(response.error_message, wrong);
    co_return response;
  }
  auto beating = context.services.group.share_heartbeat(heartbeat_of(context, request));
  group::ShareHeartbeatReply reply = co_await std::move(beating);
  answer_heartbeat(std::move(reply), response);
  co_return response;
}

}  // namespace ackord::api
