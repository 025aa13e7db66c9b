// Heartbeat (key 12), versions 0-4: a member of a classic group is still there.
//   v1  throttle time   v3 instance id (KIP-345)   v4 flexible
// REBALANCE_IN_PROGRESS tells it to join again; its session is renewed all the same. May: READ on
// the group.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"

namespace ackord::api {

using protocol::HeartbeatRequest;
using protocol::HeartbeatResponse;

io::Task<HeartbeatResponse> handle(RequestContext& context, HeartbeatRequest request) {
  HeartbeatResponse response;
  if (!Access(context).may_group(Operation::kRead, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return response;
  }
  if (request.group_id.empty()) {
    response.error_code = ErrorCode::INVALID_GROUP_ID;
    co_return response;
  }
  group::ClassicMemberName who;
  who.group = request.group_id;
  who.member = request.member_id.str();
  if (request.group_instance_id) who.instance = request.group_instance_id->str();
  who.generation = request.generation_id;
  auto beating = context.services.group.classic_heartbeat(std::move(who));
  response.error_code = co_await std::move(beating);
  co_return response;
}

}  // namespace ackord::api
