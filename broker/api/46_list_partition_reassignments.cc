// ListPartitionReassignments (key 46), version 0: on one node nothing ever moves.
#include "broker/api/handlers.h"
#include "protocol/generated/list_partition_reassignments_request.h"
#include "protocol/generated/list_partition_reassignments_response.h"

namespace ackord::api {

io::Task<protocol::ListPartitionReassignmentsResponse> handle(
    RequestContext&, protocol::ListPartitionReassignmentsRequest) {
  protocol::ListPartitionReassignmentsResponse response;
  response.error_message.reset();
  co_return response;
}

}  // namespace ackord::api
