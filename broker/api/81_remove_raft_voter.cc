// RemoveRaftVoter (key 81), version 0: the quorum is the one node, as at kraft.version 0 (KIP-853).
#include "broker/api/handlers.h"
#include "broker/api/quorum_voters.h"
#include "protocol/generated/remove_raft_voter_request.h"
#include "protocol/generated/remove_raft_voter_response.h"

namespace ackord::api {

io::Task<protocol::RemoveRaftVoterResponse> handle(RequestContext& context,
                                                   protocol::RemoveRaftVoterRequest request) {
  protocol::RemoveRaftVoterResponse response;
  const Error refused = voters_refused(context, request.cluster_id, "removing");
  response.error_code = refused.code;
  response.error_message = String(refused.message);
  co_return response;
}

}  // namespace ackord::api
