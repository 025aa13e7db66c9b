// ShareGroupDescribe (key 77), version 1 (KIP-932): share groups with their members and what these
// are assigned. Topics that are gone are left out. May: DESCRIBE on the group, and on all of its
// topics.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/group_rights.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "protocol/generated/share_group_describe_request.h"
#include "protocol/generated/share_group_describe_response.h"

namespace ackord::api {
namespace {

using protocol::ShareGroupDescribeRequest;
using protocol::ShareGroupDescribeResponse;
using GroupOut = ShareGroupDescribeResponse::DescribedGroup;
using MemberOut = ShareGroupDescribeResponse::Member;

// The one assignor for share groups (group.share.assignors).
constexpr std::string_view kAssignor = "simple";

MemberOut member_of(const metadata::MetadataImage& image, group::DescribedShareMember member) {
  MemberOut out;
  out.member_id = String(member.id);
  out.rack_id.reset();
  if (member.rack) out.rack_id = String(*member.rack);
  out.member_epoch = member.epoch;
  out.client_id = String(member.client_id);
  out.client_host = String(member.client_host);
  out.subscribed_topic_names = std::move(member.topics);
  for (group::TopicPartitions& assigned : member.assigned) {
    const auto topic = image.topic(assigned.topic_id);
    if (!topic) continue;
    auto& topic_out = out.assignment.topic_partitions.emplace_back();
    topic_out.topic_id = assigned.topic_id;
    topic_out.topic_name = topic->name;
    topic_out.partitions = std::move(assigned.partitions);
  }
  return out;
}

// All that the answer would name.
std::vector<std::string_view> topics_of(const MemberOut& member) {
  std::vector<std::string_view> names(member.subscribed_topic_names.begin(),
                                      member.subscribed_topic_names.end());
  for (const auto& topic : member.assignment.topic_partitions) names.push_back(topic.topic_name);
  return names;
}

io::Task<GroupOut> describe(RequestContext& context, GroupId group, bool operations) {
  GroupOut out;
  out.group_id = group;
  if (share_version(context.services.metadata) < kShareVersionGroups) {
    out.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return out;
  }
  const Access access(context);
  if (!access.may_group(Operation::kDescribe, group)) {
    out.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return out;
  }
  if (group.empty()) {
    out.error_code = ErrorCode::INVALID_GROUP_ID;
    co_return out;
  }
  auto describing = context.services.group.describe_share_group(std::move(group));
  group::DescribedShareGroup described = co_await std::move(describing);
  out.error_code = described.error;
  set_message(out.error_message, described.message);
  if (described.error != ErrorCode::NONE) co_return out;
  out.group_state = String(described.state);
  out.group_epoch = described.epoch;
  out.assignment_epoch = described.assignment_epoch;
  out.assignor_name = String(kAssignor);
  for (group::DescribedShareMember& member : described.members)
    out.members.push_back(member_of(context.services.metadata.image(), std::move(member)));
  if (hides_topics(access, out.members, topics_of)) {
    out.members.clear();
    out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    out.error_message = String(kHiddenTopics);
  }
  if (operations) out.authorized_operations = access.operations(ResourceType::kGroup, out.group_id);
  co_return out;
}

}  // namespace

io::Task<ShareGroupDescribeResponse> handle(RequestContext& context,
                                            ShareGroupDescribeRequest request) {
  std::vector<io::Task<GroupOut>> tasks;
  for (const GroupId& group : request.group_ids)
    tasks.push_back(describe(context, group, request.include_authorized_operations));
  auto all = io::when_all(std::move(tasks));
  ShareGroupDescribeResponse response;
  response.groups = co_await std::move(all);
  co_return response;
}

}  // namespace ackord::api
