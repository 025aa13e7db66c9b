// JoinGroup (key 11), versions 0-9: become a member of a classic group, or a member of its next
// generation. Answered when all members have joined, or the time for it is over.
//   v1  rebalance timeout (before: the session's)   v2 throttle time
//   v4  a new member is given an id first (KIP-394)   v5 instance id (KIP-345)   v6 flexible
//   v7  protocol type (KIP-559)   v8 reason (KIP-800)   v9 skip assignment (KIP-814)
// May: READ on the group.
#include <set>
#include <string_view>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"

namespace ackord::api {
namespace {

using protocol::JoinGroupRequest;
using protocol::JoinGroupResponse;

constexpr int16_t kFirstWithRebalanceTimeout = 1;
constexpr int16_t kFirstWithIdFirst = 4;
constexpr int16_t kFirstWithProtocolType = 7;
constexpr int16_t kFirstWithSkipAssignment = 9;

ErrorCode check(const RequestContext& context, const JoinGroupRequest& request) {
  if (!Access(context).may_group(Operation::kRead, request.group_id))
    return ErrorCode::GROUP_AUTHORIZATION_FAILED;
  if (request.group_id.empty()) return ErrorCode::INVALID_GROUP_ID;
  const metadata::BrokerConfig& config = context.services.metadata.broker_config();
  const bool in_bounds = request.session_timeout_ms >= config.group_min_session_timeout_ms &&
                         request.session_timeout_ms <= config.group_max_session_timeout_ms;
  return in_bounds ? ErrorCode::NONE : ErrorCode::INVALID_SESSION_TIMEOUT;
}

group::ClassicJoin join_of(const RequestContext& context, const JoinGroupRequest& request) {
  group::ClassicJoin join;
  join.group = request.group_id;
  join.member = request.member_id.str();
  if (request.group_instance_id) join.instance = request.group_instance_id->str();
  join.session_timeout_ms = request.session_timeout_ms;
  join.rebalance_timeout_ms = context.api_version < kFirstWithRebalanceTimeout
                                  ? request.session_timeout_ms
                                  : request.rebalance_timeout_ms;
  join.protocol_type = request.protocol_type.str();
  std::set<std::string_view> names;  // a protocol counts once
  for (const auto& protocol : request.protocols) {
    if (names.insert(protocol.name.sv()).second)
      join.protocols.push_back({protocol.name.str(), group::SharedBytes(protocol.metadata.sv())});
  }
  join.wants_id_first = context.api_version >= kFirstWithIdFirst;
  join.knows_skip_assignment = context.api_version >= kFirstWithSkipAssignment;
  join.client_id = context.client_id;
  join.client_host = context.client->host;
  return join;
}

JoinGroupResponse response_of(const group::ClassicJoinReply& reply, int16_t version) {
  JoinGroupResponse response;
  response.error_code = reply.error;
  response.generation_id = reply.generation;
  if (reply.protocol_type) response.protocol_type = String(*reply.protocol_type);
  // Without a null there is the empty name.
  response.protocol_name = String(reply.protocol.value_or(""));
  if (!reply.protocol && version >= kFirstWithProtocolType) response.protocol_name.reset();
  response.leader = String(reply.leader);
  response.skip_assignment = reply.skip_assignment;
  response.member_id = String(reply.member);
  for (const auto& member : reply.members) {
    auto& out = response.members.emplace_back();
    out.member_id = String(member.id);
    if (member.instance) out.group_instance_id = String(*member.instance);
    out.metadata = Bytes(member.metadata.sv());
  }
  return response;
}

}  // namespace

io::Task<JoinGroupResponse> handle(RequestContext& context, JoinGroupRequest request) {
  group::ClassicJoinReply reply;
  reply.error = check(context, request);
  if (reply.error == ErrorCode::GROUP_AUTHORIZATION_FAILED) {
    reply.protocol.reset();
  } else {
    reply.member = request.member_id.str();
  }
  if (reply.error == ErrorCode::NONE) {
    const group::Caller caller{&context.client->gone, &context.client->on_gone};
    auto joining = context.services.group.join_classic_group(join_of(context, request), caller);
    reply = co_await std::move(joining);
  }
  co_return response_of(reply, context.api_version);
}

}  // namespace ackord::api
