// Kafka's own texts of error codes, where a response carries one and nothing better is known.
#pragma once

#include <string_view>

#include "protocol/types/error_code.h"

namespace ackord::api {

constexpr std::string_view kafka_text(ErrorCode code) {
  switch (code) {
    case ErrorCode::NONE: return "NONE";
    case ErrorCode::INVALID_REQUEST:
      return "This most likely occurs because of a request being malformed by the client library "
             "or the message was "
             "sent to an incompatible broker. See the broker logs for more details.";
    case ErrorCode::INVALID_GROUP_ID: return "The group id is invalid.";
    case ErrorCode::UNKNOWN_TOPIC_OR_PARTITION:
      return "This server does not host this topic-partition.";
    case ErrorCode::NON_EMPTY_GROUP: return "The group is not empty.";
    case ErrorCode::COORDINATOR_NOT_AVAILABLE: return "The coordinator is not available.";
    case ErrorCode::TOPIC_AUTHORIZATION_FAILED: return "Topic authorization failed.";
    case ErrorCode::GROUP_AUTHORIZATION_FAILED: return "Group authorization failed.";
    case ErrorCode::CLUSTER_AUTHORIZATION_FAILED: return "Cluster authorization failed.";
    case ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return "Transactional Id authorization failed.";
    default: return "";
  }
}

}  // namespace ackord::api
