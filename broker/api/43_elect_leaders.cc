// ElectLeaders (key 43), versions 0-2: on one node every partition has its leader.
//   v1  kind of election (0 preferred, 1 unclean), error   v2 flexible
// Of all partitions (null) only those are told that an election was needed for: none. May: ALTER on
// the cluster.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/elect_leaders_request.h"
#include "protocol/generated/elect_leaders_response.h"

namespace ackord::api {
namespace {

constexpr int8_t kUncleanElection = 1;

using protocol::ElectLeadersRequest;
using protocol::ElectLeadersResponse;

// Said at the top, and at each partition.
ElectLeadersResponse denied(const ElectLeadersRequest& request) {
  ElectLeadersResponse response;
  response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
  if (!request.topic_partitions) return response;
  for (const auto& topic : *request.topic_partitions) {
    auto& topic_out = response.replica_election_results.emplace_back();
    topic_out.topic = topic.topic;
    for (const int32_t index : topic.partitions) {
      auto& out = topic_out.partition_result.emplace_back();
      out.partition_id = index;
      out.error_code = response.error_code;
      out.error_message = String(kafka_text(response.error_code));
    }
  }
  return response;
}

}  // namespace

io::Task<ElectLeadersResponse> handle(RequestContext& context, ElectLeadersRequest request) {
  ElectLeadersResponse response;
  if (!Access(context).may_cluster(Operation::kAlter)) co_return denied(request);
  if (request.election_type < 0 || request.election_type > kUncleanElection) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  if (!request.topic_partitions) co_return response;
  for (const auto& topic : *request.topic_partitions) {
    const auto known = context.services.metadata.image().topic(topic.topic);
    auto& topic_out = response.replica_election_results.emplace_back();
    topic_out.topic = topic.topic;
    for (const int32_t index : topic.partitions) {
      auto& out = topic_out.partition_result.emplace_back();
      out.partition_id = index;
      if (known == nullptr) {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
        out.error_message = String("No such topic as " + topic.topic.str());
      } else if (index < 0 || index >= known->partitions) {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
        out.error_message =
            String("No such partition as " + topic.topic.str() + "-" + std::to_string(index));
      } else {
        out.error_code = ErrorCode::ELECTION_NOT_NEEDED;
        out.error_message.reset();
      }
    }
  }
  co_return response;
}

}  // namespace ackord::api
