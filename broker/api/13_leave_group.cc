// LeaveGroup (key 13), versions 0-5: members of a classic group go.
//   v1  throttle time   v3 several members, by id or by instance (KIP-345)   v4 flexible
//   v5  reason (KIP-800)
// Before version 3 the one member's error is the request's. May: READ on the group.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"

namespace ackord::api {
namespace {

using protocol::LeaveGroupRequest;
using protocol::LeaveGroupResponse;

constexpr int16_t kFirstWithMembers = 3;

}  // namespace

io::Task<LeaveGroupResponse> handle(RequestContext& context, LeaveGroupRequest request) {
  LeaveGroupResponse response;
  if (!Access(context).may_group(Operation::kRead, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return response;
  }
  if (request.group_id.empty()) {
    response.error_code = ErrorCode::INVALID_GROUP_ID;
    co_return response;
  }
  const bool several = context.api_version >= kFirstWithMembers;
  group::ClassicLeave leave;
  leave.group = request.group_id;
  if (!several) leave.members.push_back({request.member_id.str(), std::nullopt});
  for (const auto& member : request.members) {
    auto& out = leave.members.emplace_back();
    out.id = member.member_id.str();
    if (member.group_instance_id) out.instance = member.group_instance_id->str();
  }
  auto leaving = context.services.group.leave_classic_group(std::move(leave));
  const Result<std::vector<ErrorCode>> left = co_await std::move(leaving);
  if (!left) {
    response.error_code = left.error().code;
  } else if (!several) {
    response.error_code = left->front();
  } else {
    for (size_t i = 0; i < request.members.size(); ++i) {
      auto& out = response.members.emplace_back();
      out.member_id = request.members[i].member_id;
      out.group_instance_id = request.members[i].group_instance_id;
      out.error_code = (*left)[i];
    }
  }
  co_return response;
}

}  // namespace ackord::api
