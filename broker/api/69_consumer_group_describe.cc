// ConsumerGroupDescribe (key 69), versions 0-1 (KIP-848): consumer groups and their members.
//   v1  the protocol that a member speaks (KIP-1099)
// A group that is not there, or of another kind, is GROUP_ID_NOT_FOUND. Topics that have gone are
// left out of assignments. May: DESCRIBE on the group, and on all of its topics.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/group_rights.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/consumer_group_describe_request.h"
#include "protocol/generated/consumer_group_describe_response.h"

namespace ackord::api {
namespace {

using protocol::ConsumerGroupDescribeRequest;
using protocol::ConsumerGroupDescribeResponse;
using Group = ConsumerGroupDescribeResponse::DescribedGroup;
using Member = ConsumerGroupDescribeResponse::Member;
using Topics = std::vector<ConsumerGroupDescribeResponse::TopicPartitions>;

constexpr int16_t kGroupVersionConsumers = 1;
constexpr int8_t kClassicMember = 0;
constexpr int8_t kConsumerMember = 1;

Topics named(const metadata::MetadataImage& image, std::vector<group::TopicPartitions> partitions) {
  Topics out;
  for (group::TopicPartitions& topic : partitions) {
    const auto known = image.topic(topic.topic_id);
    if (known == nullptr) continue;
    auto& place = out.emplace_back();
    place.topic_id = topic.topic_id;
    place.topic_name = known->name;
    place.partitions = std::move(topic.partitions);
  }
  return out;
}

Member member_of(const metadata::MetadataImage& image, group::DescribedConsumerMember& described) {
  Member out;
  out.member_id = String(described.id);
  if (described.instance) out.instance_id = String(*described.instance);
  if (described.rack) out.rack_id = String(*described.rack);
  out.member_epoch = described.epoch;
  out.client_id = String(described.client_id);
  out.client_host = String(described.client_host);
  for (const std::string& topic : described.topics) out.subscribed_topic_names.emplace_back(topic);
  out.subscribed_topic_regex = String(described.regex);
  out.assignment.topic_partitions = named(image, std::move(described.assigned));
  out.target_assignment.topic_partitions = named(image, std::move(described.target));
  out.member_type = described.classic ? kClassicMember : kConsumerMember;
  return out;
}

// All that the answer would name.
std::vector<std::string_view> topics_of(const Member& member) {
  std::vector<std::string_view> names(member.subscribed_topic_names.begin(),
                                      member.subscribed_topic_names.end());
  for (const auto& topic : member.assignment.topic_partitions) names.push_back(topic.topic_name);
  for (const auto& topic : member.target_assignment.topic_partitions)
    names.push_back(topic.topic_name);
  return names;
}

io::Task<Group> describe(RequestContext& context, GroupId id, bool with_operations) {
  Group out;
  out.group_id = id;
  const Access access(context);
  if (!access.may_group(Operation::kDescribe, id)) {
    out.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return out;
  }
  if (id.empty()) {
    out.error_code = ErrorCode::INVALID_GROUP_ID;
    co_return out;
  }
  auto asking = context.services.group.describe_consumer_group(std::move(id));
  group::DescribedConsumerGroup described = co_await std::move(asking);
  out.error_code = described.error;
  set_message(out.error_message, described.message);
  if (described.error != ErrorCode::NONE) co_return out;
  out.group_state = String(described.state);
  out.group_epoch = described.epoch;
  out.assignment_epoch = described.assignment_epoch;
  out.assignor_name = String(described.assignor);
  const metadata::MetadataImage& image = context.services.metadata.image();
  for (group::DescribedConsumerMember& member : described.members)
    out.members.push_back(member_of(image, member));
  if (hides_topics(access, out.members, topics_of)) {
    out.members.clear();
    out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    out.error_message = String(kHiddenTopics);
  }
  if (with_operations)
    out.authorized_operations = access.operations(ResourceType::kGroup, out.group_id);
  co_return out;
}

}  // namespace

io::Task<ConsumerGroupDescribeResponse> handle(RequestContext& context,
                                               ConsumerGroupDescribeRequest request) {
  ConsumerGroupDescribeResponse response;
  const auto& features = context.services.metadata.image().features();
  if (features.level("group.version") < kGroupVersionConsumers) {
    for (const GroupId& group : request.group_ids) {
      auto& out = response.groups.emplace_back();
      out.group_id = group;
      out.error_code = ErrorCode::UNSUPPORTED_VERSION;
    }
    co_return response;
  }
  std::vector<io::Task<Group>> tasks;
  for (const GroupId& group : request.group_ids)
    tasks.push_back(describe(context, group, request.include_authorized_operations));
  auto all = io::when_all(std::move(tasks));
  response.groups = co_await std::move(all);
  co_return response;
}

}  // namespace ackord::api
