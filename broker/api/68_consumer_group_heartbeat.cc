// ConsumerGroupHeartbeat (key 68), versions 0-1 (KIP-848): join (epoch 0), stay, leave (epoch -1),
// or leave for a while as a static member (epoch -2) a consumer group.
//   v1  pattern; the member's id is always the client's (KIP-1082)
// Assignment is null where nothing has changed since the last answer. May: READ on the group,
// DESCRIBE on every topic of the subscription; topics without it are not among those of a pattern.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/group_heartbeats.h"
#include "broker/api/group_rights.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"

namespace ackord::api {
namespace {

using protocol::ConsumerGroupHeartbeatRequest;
using protocol::ConsumerGroupHeartbeatResponse;

constexpr int16_t kFirstWithClientIds = 1;
constexpr int16_t kGroupVersionConsumers = 1;
constexpr int32_t kJoin = 0;
constexpr int32_t kLeave = -1;
constexpr int32_t kStaticLeave = -2;

// In Kafka's order. Null when the request is well-formed.
const char* wrong_field(const ConsumerGroupHeartbeatRequest& request, int16_t version) {
  const int32_t epoch = request.member_epoch;
  const bool needs_id = version >= kFirstWithClientIds || epoch > kJoin || epoch == kLeave;
  if (needs_id && blank(request.member_id)) return "MemberId can't be empty.";
  if (blank(request.group_id)) return "GroupId can't be empty.";
  if (request.instance_id && blank(*request.instance_id)) return "InstanceId can't be empty.";
  if (request.rack_id && blank(*request.rack_id)) return "RackId can't be empty.";
  if (epoch == kJoin) {
    if (request.rebalance_timeout_ms == -1)
      return "RebalanceTimeoutMs must be provided in first request.";
    if (!request.topic_partitions || !request.topic_partitions->empty())
      return "TopicPartitions must be empty when (re-)joining.";
    if (!request.subscribed_topic_names && !request.subscribed_topic_regex) {
      return "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
             "(re-)joining.";
    }
  } else if (epoch == kStaticLeave) {
    if (!request.instance_id) return "InstanceId can't be null.";
  } else if (epoch < kStaticLeave) {
    return "MemberEpoch is invalid.";
  }
  return nullptr;
}

std::string unsupported_assignor(std::string_view assignor,
                                 const std::vector<std::string>& supported) {
  std::string text =
      "ServerAssignor " + std::string(assignor) + " is not supported. Supported assignors: ";
  for (size_t i = 0; i < supported.size(); ++i) text += (i == 0 ? "" : ", ") + supported[i];
  return text + ".";
}

std::optional<std::string> owned(const std::optional<String>& text) {
  if (!text) return std::nullopt;
  return text->str();
}

group::ConsumerHeartbeat heartbeat_of(const RequestContext& context,
                                      ConsumerGroupHeartbeatRequest& request) {
  group::ConsumerHeartbeat heartbeat;
  heartbeat.group = request.group_id;
  heartbeat.member = request.member_id.str();
  if (heartbeat.member.empty())
    heartbeat.member = context.services.environment.random.uuid().to_string();
  heartbeat.epoch = request.member_epoch;
  heartbeat.instance = owned(request.instance_id);
  heartbeat.rack = owned(request.rack_id);
  heartbeat.rebalance_timeout_ms = request.rebalance_timeout_ms;
  if (request.subscribed_topic_names) heartbeat.topics = *request.subscribed_topic_names;
  heartbeat.regex = owned(request.subscribed_topic_regex);
  heartbeat.assignor = owned(request.server_assignor);
  if (request.topic_partitions) {
    auto& topics = heartbeat.owned.emplace();
    for (auto& topic : *request.topic_partitions)
      topics.push_back({topic.topic_id, std::move(topic.partitions)});
  }
  heartbeat.client_id = context.client_id;
  heartbeat.client_host = context.client->host;
  return heartbeat;
}

}  // namespace

io::Task<ConsumerGroupHeartbeatResponse> handle(RequestContext& context,
                                                ConsumerGroupHeartbeatRequest request) {
  ConsumerGroupHeartbeatResponse response;
  const metadata::MetadataService& metadata = context.services.metadata;
  if (metadata.image().features().level("group.version") < kGroupVersionConsumers) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  const Access access(context);
  response.error_code = heartbeat_denial(access, request.group_id, request.subscribed_topic_names);
  if (response.error_code != ErrorCode::NONE) co_return response;
  if (const char* wrong = wrong_field(request, context.api_version)) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    set_message(response.error_message, wrong);
    co_return response;
  }
  const std::vector<std::string>& assignors = metadata.broker_config().group_consumer_assignors;
  if (request.server_assignor && std::find(assignors.begin(), assignors.end(),
                                           request.server_assignor->sv()) == assignors.end()) {
    response.error_code = ErrorCode::UNSUPPORTED_ASSIGNOR;
    set_message(response.error_message, unsupported_assignor(*request.server_assignor, assignors));
    co_return response;
  }
  group::ConsumerHeartbeat heartbeat = heartbeat_of(context, request);
  heartbeat.may_see = access.describable();
  auto beating = context.services.group.consumer_heartbeat(std::move(heartbeat));
  group::ConsumerHeartbeatReply reply = co_await std::move(beating);
  answer_heartbeat(std::move(reply), response);
  co_return response;
}

}  // namespace ackord::api
