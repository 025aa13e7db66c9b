// SyncGroup (key 14), versions 0-5: the leader of a classic group brings the assignment of its
// generation, every member gets its own. Answered when the leader's is on disk.
//   v1  throttle time   v3 instance id (KIP-345)   v4 flexible
//   v5  protocol type and name, which must be there (KIP-559)
// May: READ on the group.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"

namespace ackord::api {
namespace {

using protocol::SyncGroupRequest;
using protocol::SyncGroupResponse;

constexpr int16_t kFirstWithProtocol = 5;

group::ClassicSync sync_of(const SyncGroupRequest& request) {
  group::ClassicSync sync;
  sync.who.group = request.group_id;
  sync.who.member = request.member_id.str();
  if (request.group_instance_id) sync.who.instance = request.group_instance_id->str();
  sync.who.generation = request.generation_id;
  if (request.protocol_type) sync.protocol_type = request.protocol_type->str();
  if (request.protocol_name) sync.protocol = request.protocol_name->str();
  for (const auto& one : request.assignments)
    sync.assignments.emplace_back(one.member_id.str(), group::SharedBytes(one.assignment.sv()));
  return sync;
}

}  // namespace

io::Task<SyncGroupResponse> handle(RequestContext& context, SyncGroupRequest request) {
  SyncGroupResponse response;
  const bool left_out = context.api_version >= kFirstWithProtocol &&
                        (!request.protocol_type || !request.protocol_name);
  if (left_out) {
    response.error_code = ErrorCode::INCONSISTENT_GROUP_PROTOCOL;
  } else if (!Access(context).may_group(Operation::kRead, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
  } else if (request.group_id.empty()) {
    response.error_code = ErrorCode::INVALID_GROUP_ID;
  }
  if (response.error_code != ErrorCode::NONE) co_return response;
  const group::Caller caller{&context.client->gone, &context.client->on_gone};
  auto syncing = context.services.group.sync_classic_group(sync_of(request), caller);
  const group::ClassicSyncReply reply = co_await std::move(syncing);
  response.error_code = reply.error;
  if (reply.protocol_type) response.protocol_type = String(*reply.protocol_type);
  if (reply.protocol) response.protocol_name = String(*reply.protocol);
  response.assignment = Bytes(reply.assignment.sv());
  co_return response;
}

}  // namespace ackord::api
