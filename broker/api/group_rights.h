// What heartbeats and descriptions of groups ask of topics (keys 68, 69, 76, 77).
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::api {

// READ on the group, and DESCRIBE on every topic that a member subscribes to.
template <class Names>
ErrorCode heartbeat_denial(const Access& access, std::string_view group,
                           const std::optional<Names>& topics) {
  if (!access.may_group(Operation::kRead, group)) return ErrorCode::GROUP_AUTHORIZATION_FAILED;
  if (!topics) return ErrorCode::NONE;
  const bool all = std::all_of(topics->begin(), topics->end(), [&access](const auto& topic) {
    return access.may_topic(Operation::kDescribe, topic.sv());
  });
  return all ? ErrorCode::NONE : ErrorCode::TOPIC_AUTHORIZATION_FAILED;
}

// A group that has to do with a topic that the client may not describe is not described (KIP-848).
inline constexpr std::string_view kHiddenTopics =
    "The group has described topic(s) that the client is not authorized to describe.";

// `members`: of the response, or of a description; each with `topics_of(member)`, names of topics.
template <class Members, class TopicsOf>
bool hides_topics(const Access& access, const Members& members, TopicsOf topics_of) {
  if (!access.limited()) return false;
  for (const auto& member : members) {
    for (const std::string_view topic : topics_of(member)) {
      if (!access.may_topic(Operation::kDescribe, topic)) return true;
    }
  }
  return false;
}

}  // namespace ackord::api
