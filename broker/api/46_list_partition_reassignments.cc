// ListPartitionReassignments (key 46), version 0: on one node nothing ever moves. May: DESCRIBE
// on the cluster.
#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "protocol/generated/list_partition_reassignments_request.h"
#include "protocol/generated/list_partition_reassignments_response.h"

namespace ackord::api {

io::Task<protocol::ListPartitionReassignmentsResponse> handle(
    RequestContext& context, protocol::ListPartitionReassignmentsRequest) {
  protocol::ListPartitionReassignmentsResponse response;
  response.error_message.reset();
  if (!Access(context).may_cluster(Operation::kDescribe)) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
  }
  co_return response;
}

}  // namespace ackord::api
