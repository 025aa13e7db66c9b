// What the heartbeats of consumer groups and share groups have in common (keys 68 and 76).
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"

namespace ackord::api {

// As Java's String.isBlank().
inline bool blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

// Assignment stays null where nothing has changed since the last answer.
template <class Response, class Reply>
void answer_heartbeat(Reply reply, Response& response) {
  response.error_code = reply.error;
  set_message(response.error_message, reply.message);
  if (reply.error != ErrorCode::NONE) return;
  response.member_id = String(reply.member);
  response.member_epoch = reply.member_epoch;
  response.heartbeat_interval_ms = reply.heartbeat_interval_ms;
  if (!reply.assignment) return;
  auto& assignment = response.assignment.emplace();
  for (group::TopicPartitions& topic : *reply.assignment)
    assignment.topic_partitions.push_back({topic.topic_id, std::move(topic.partitions)});
}

}  // namespace ackord::api
