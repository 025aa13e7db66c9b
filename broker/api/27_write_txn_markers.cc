// WriteTxnMarkers (key 27), versions 1-2: ends transactions on partitions of this broker, whoever
// decided it. Within the broker the coordinator does without it; from the wire it is
// kafka-transactions.sh that aborts a hanging transaction.
//   v1 flexible   v2 transaction version of the marker (KIP-1228)
// Each partition answers for itself, when its marker is durable. May: ALTER on the cluster, or
// CLUSTER_ACTION.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/marker_routing.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/write_txn_markers_request.h"
#include "protocol/generated/write_txn_markers_response.h"

namespace ackord::api {
namespace {

using Request = protocol::WriteTxnMarkersRequest;
using Response = protocol::WriteTxnMarkersResponse;

log::EndMarker marker_of(const Request::WritableTxnMarker& asked) {
  log::EndMarker marker;
  marker.producer = {asked.producer_id, asked.producer_epoch};
  marker.commit = asked.transaction_result;
  marker.coordinator_epoch = asked.coordinator_epoch;
  marker.transaction_version = asked.transaction_version;
  return marker;
}

io::Task<ErrorCode> refuse() { co_return ErrorCode::CLUSTER_AUTHORIZATION_FAILED; }

}  // namespace

io::Task<Response> handle(RequestContext& context, Request request) {
  Services& services = context.services;
  MarkerRouting routing(services.log, services.group, services.share);
  Response response;
  const Access access(context);
  const bool may =
      access.may_see(Operation::kAlter, ResourceType::kCluster, metadata::kClusterName) ||
      access.may_cluster(Operation::kClusterAction);
  // One marker after the other, as they may meet on a partition; each goes to all its partitions at
  // once.
  for (const auto& asked : request.markers) {
    const log::EndMarker marker = marker_of(asked);
    std::vector<io::Task<ErrorCode>> writes;
    for (const auto& topic : asked.topics) {
      for (const int32_t index : topic.partition_indexes) {
        writes.push_back(
            may ? routing.write_foreign_marker(services.txn, {topic.name, index}, marker)
                : refuse());
      }
    }
    if (writes.empty()) continue;
    auto all = io::when_all(std::move(writes));
    const std::vector<ErrorCode> codes = co_await std::move(all);

    auto& result = response.markers.emplace_back();
    result.producer_id = asked.producer_id;
    size_t at = 0;
    for (const auto& topic : asked.topics) {
      auto& answered = result.topics.emplace_back();
      answered.name = topic.name;
      for (const int32_t index : topic.partition_indexes)
        answered.partitions.push_back({index, codes[at++]});
    }
  }
  co_return response;
}

}  // namespace ackord::api
