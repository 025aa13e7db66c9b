// DescribeGroups (key 15), versions 0-6: classic groups.
//   v3  authorized operations   v4 instance ids   v5 flexible   v6 GROUP_ID_NOT_FOUND with a text
// A group that is not there, or of another kind, is a dead one; before v6 without an error. May:
// DESCRIBE on the group.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "protocol/generated/describe_groups_request.h"
#include "protocol/generated/describe_groups_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeGroupsRequest;
using protocol::DescribeGroupsResponse;
using Group = DescribeGroupsResponse::DescribedGroup;

constexpr int16_t kFirstWithGroupIdNotFound = 6;

io::Task<Group> describe(RequestContext& context, GroupId id, bool with_operations) {
  Group out;
  out.group_id = id;
  out.error_message.reset();
  const Access access(context);
  if (!access.may_group(Operation::kDescribe, id)) {
    out.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return out;
  }
  auto asking = context.services.group.describe_classic_group(std::move(id));
  Result<group::DescribedClassicGroup> described = co_await std::move(asking);
  if (!described) {
    out.error_code = described.error().code;
    co_return out;
  }
  out.group_state = String(described->state);
  out.protocol_type = String(described->protocol_type);
  out.protocol_data = String(described->protocol);
  for (const group::DescribedClassicGroup::Member& member : described->members) {
    auto& shown = out.members.emplace_back();
    shown.member_id = String(member.id);
    if (member.instance) shown.group_instance_id = String(*member.instance);
    shown.client_id = String(member.client_id);
    shown.client_host = String(member.client_host);
    shown.member_metadata = Bytes(member.metadata.sv());
    shown.member_assignment = Bytes(member.assignment.sv());
  }
  const bool tells = context.api_version >= kFirstWithGroupIdNotFound;
  if (tells && described->error != ErrorCode::NONE) {
    out.error_code = described->error;
    out.error_message = String(described->message);
  }
  if (with_operations)
    out.authorized_operations = access.operations(ResourceType::kGroup, out.group_id);
  co_return out;
}

}  // namespace

io::Task<DescribeGroupsResponse> handle(RequestContext& context, DescribeGroupsRequest request) {
  std::vector<io::Task<Group>> tasks;
  for (const GroupId& group : request.groups)
    tasks.push_back(describe(context, group, request.include_authorized_operations));
  auto all = io::when_all(std::move(tasks));
  DescribeGroupsResponse response;
  response.groups = co_await std::move(all);
  co_return response;
}

}  // namespace ackord::api
