// RemoveRaftVoter (key 81), version 0: the quorum is the one node, as at kraft.version 0 (KIP-853).
// May: ALTER on the cluster.
#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/api/quorum_voters.h"
#include "protocol/generated/remove_raft_voter_request.h"
#include "protocol/generated/remove_raft_voter_response.h"

namespace ackord::api {

io::Task<protocol::RemoveRaftVoterResponse> handle(RequestContext& context,
                                                   protocol::RemoveRaftVoterRequest request) {
  protocol::RemoveRaftVoterResponse response;
  if (!Access(context).may_cluster(Operation::kAlter)) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  const Error refused = voters_refused(context, request.cluster_id, "removing");
  response.error_code = refused.code;
  response.error_message = String(refused.message);
  co_return response;
}

}  // namespace ackord::api
