// Whose rights the configs of a resource need: the topic's, the group's, else the cluster's. That a
// kind is none is said to everybody.
#pragma once

#include <string_view>

#include "broker/api/authorize.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::api {

inline ErrorCode config_denial(const Access& access, Operation operation,
                               metadata::ResourceType type, std::string_view name) {
  switch (type) {
    case metadata::ResourceType::kTopic:
      return access.may_topic(operation, name) ? ErrorCode::NONE
                                               : ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    case metadata::ResourceType::kGroup:
      return access.may_group(operation, name) ? ErrorCode::NONE
                                               : ErrorCode::GROUP_AUTHORIZATION_FAILED;
    case metadata::ResourceType::kBroker:
    case metadata::ResourceType::kBrokerLogger:
    case metadata::ResourceType::kClientMetrics:
      return access.may_cluster(operation) ? ErrorCode::NONE
                                           : ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    default: return ErrorCode::NONE;
  }
}

}  // namespace ackord::api
