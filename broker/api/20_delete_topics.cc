// DeleteTopics (key 20), versions 1-6.
//   v3  TOPIC_DELETION_DISABLED (before: INVALID_REQUEST)   v4  flexible   v5  error texts   v6
//   topics by name or id
// Each topic on its own; a name or an id that comes twice fails once. Internal topics stay
// (INVALID_TOPIC_EXCEPTION; Kafka lets them go, and its coordinators' state with them). May: DELETE
// on the cluster or on the topic; without DESCRIBE a topic is not said to exist.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/api/throttling.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"

namespace ackord::api {
namespace {

constexpr int16_t kFirstWithStrictQuota = 5;

using protocol::DeleteTopicsRequest;
using protocol::DeleteTopicsResponse;
using DeletableTopicResult = DeleteTopicsResponse::DeletableTopicResult;

constexpr int16_t kFirstWithDisabled = 3;
constexpr int16_t kFirstWithIds = 6;

struct Target {
  std::optional<TopicName> name;
  Uuid id;  // zero: by name
  ErrorCode error = ErrorCode::NONE;
  std::string message;
};

void refuse(Target& target, ErrorCode code, std::string message) {
  target.error = code;
  target.message = std::move(message);
}

std::vector<Target> targets_of(const RequestContext& context, const DeleteTopicsRequest& request) {
  std::vector<Target> targets;
  if (context.api_version < kFirstWithIds) {
    for (const TopicName& name : request.topic_names)
      targets.push_back({name, {}, ErrorCode::NONE, {}});
  } else {
    for (const auto& topic : request.topics)
      targets.push_back({topic.name, topic.topic_id, ErrorCode::NONE, {}});
  }
  return targets;
}

// Names and ids by themselves: each target has one of both, and none comes twice.
std::vector<Target> check_form(std::vector<Target> targets) {
  std::map<std::string, int> names;
  std::map<Uuid, int> ids;
  for (const Target& target : targets) {
    if (target.name && target.id.is_zero()) ++names[target.name->str()];
    if (!target.name && !target.id.is_zero()) ++ids[target.id];
  }
  std::vector<Target> kept;
  std::set<std::string> told_names;
  std::set<Uuid> told_ids;
  for (Target& target : targets) {
    if (target.name && !target.id.is_zero()) {
      refuse(target, ErrorCode::INVALID_REQUEST,
             "You may not specify both topic name and topic id.");
    } else if (target.name) {
      if (!told_names.insert(target.name->str()).second) continue;
      if (names[target.name->str()] > 1)
        refuse(target, ErrorCode::INVALID_REQUEST, "Duplicate topic name.");
    } else if (target.id.is_zero()) {
      refuse(target, ErrorCode::INVALID_REQUEST, "Neither topic name nor id were specified.");
    } else {
      if (!told_ids.insert(target.id).second) continue;
      if (ids[target.id] > 1) refuse(target, ErrorCode::INVALID_REQUEST, "Duplicate topic id.");
    }
    kept.push_back(std::move(target));
  }
  return kept;
}

// What the client may do with topics, whatever the cluster lets it.
class Rights {
 public:
  explicit Rights(const RequestContext& context)
      : access_(context),
        all_(access_.may_see(Operation::kDelete, ResourceType::kCluster, metadata::kClusterName)) {}
  bool describe(std::string_view topic) const {
    return all_ || access_.may_topic(Operation::kDescribe, topic);
  }
  bool remove(std::string_view topic) const {
    return all_ || access_.may_topic(Operation::kDelete, topic);
  }

 private:
  Access access_;
  bool all_;
};

void deny(Target& target) {
  refuse(target, ErrorCode::TOPIC_AUTHORIZATION_FAILED,
         std::string(kafka_text(ErrorCode::TOPIC_AUTHORIZATION_FAILED)));
}

// Names become ids and ids get their names, where the client may know them; a topic meant in both
// ways fails once.
std::vector<Target> resolve(std::vector<Target> targets, const metadata::MetadataImage& image,
                            const Rights& rights) {
  std::set<Uuid> given_ids;
  for (const Target& target : targets) {
    if (target.error == ErrorCode::NONE && !target.id.is_zero()) given_ids.insert(target.id);
  }
  std::set<Uuid> named_ids;
  for (Target& target : targets) {
    if (target.error != ErrorCode::NONE || !target.name) continue;
    if (!rights.describe(target.name->sv())) {
      deny(target);
      continue;
    }
    const auto topic = image.topic(target.name->sv());
    if (topic == nullptr) {
      refuse(target, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
             "This server does not host this topic-partition.");
      continue;
    }
    if (!rights.remove(target.name->sv())) {
      deny(target);
      continue;
    }
    target.id = topic->id;
    if (!given_ids.contains(topic->id)) continue;
    named_ids.insert(topic->id);
    refuse(target, ErrorCode::INVALID_REQUEST,
           "The provided topic name maps to an ID that was already supplied.");
  }
  std::vector<Target> kept;
  for (Target& target : targets) {
    if (target.error == ErrorCode::NONE && !target.name) {
      if (named_ids.contains(target.id)) continue;
      if (const auto topic = image.topic(target.id)) {
        if (rights.describe(topic->name.sv())) target.name = topic->name;
        if (!rights.remove(topic->name.sv())) deny(target);
      } else {
        refuse(target, ErrorCode::UNKNOWN_TOPIC_ID, "This server does not host this topic ID.");
      }
    }
    kept.push_back(std::move(target));
  }
  return kept;
}

DeletableTopicResult result_of(Target& target) {
  DeletableTopicResult result;
  result.name.reset();
  if (target.name) result.name = *target.name;
  result.topic_id = target.id;
  result.error_code = target.error;
  if (target.error != ErrorCode::NONE) result.error_message = target.message;
  return result;
}

}  // namespace

io::Task<DeleteTopicsResponse> handle(RequestContext& context, DeleteTopicsRequest request) {
  metadata::MetadataService& service = context.services.metadata;
  std::vector<Target> targets = check_form(targets_of(context, request));
  if (!service.broker_config().delete_topic_enable) {
    const ErrorCode code = context.api_version < kFirstWithDisabled
                               ? ErrorCode::INVALID_REQUEST
                               : ErrorCode::TOPIC_DELETION_DISABLED;
    for (Target& target : targets) refuse(target, code, "Topic deletion is disabled.");
  } else {
    targets = resolve(std::move(targets), service.image(), Rights(context));
  }
  auto counting = mutations_of(context, context.api_version >= kFirstWithStrictQuota);
  Mutations mutations = co_await std::move(counting);
  DeleteTopicsResponse response;
  for (Target& target : targets) {
    const auto topic = service.image().topic(target.id);
    if (target.error == ErrorCode::NONE && topic && !mutations.take(topic->partitions))
      refuse(target, ErrorCode::THROTTLING_QUOTA_EXCEEDED, kMutationsExceeded);
    if (target.error == ErrorCode::NONE) {
      auto deleting = service.delete_topic(target.id);
      target.error = co_await std::move(deleting);
      if (target.error == ErrorCode::UNKNOWN_TOPIC_ID)
        target.message = "This server does not host this topic ID.";
      if (target.error == ErrorCode::INVALID_TOPIC_EXCEPTION)
        target.message = "An internal topic cannot be deleted.";
    }
    response.responses.push_back(result_of(target));
  }
  throttle(context, response, mutations.throttle_ms());
  co_return response;
}

}  // namespace ackord::api
