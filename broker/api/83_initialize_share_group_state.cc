// InitializeShareGroupState (key 83), version 0 (KIP-932): a new state of share partitions in place
// of an earlier one. FENCED_STATE_EPOCH; NON_EMPTY_GROUP while a transaction holds records
// (docs/PROTOCOL.md 1.5).
#include <utility>

#include "broker/api/handlers.h"
#include "broker/api/share_state_requests.h"
#include "protocol/generated/initialize_share_group_state_request.h"
#include "protocol/generated/initialize_share_group_state_response.h"

namespace ackord::api {
namespace {

using protocol::InitializeShareGroupStateRequest;
using protocol::InitializeShareGroupStateResponse;
using PartitionResult = InitializeShareGroupStateResponse::PartitionResult;

io::Task<PartitionResult> initialize(RequestContext& context, share::SharePartitionKey key,
                                     const InitializeShareGroupStateRequest::PartitionData& asked) {
  share::Initialize op;
  op.key = std::move(key);
  op.state_epoch = asked.state_epoch;
  op.start_offset = asked.start_offset;
  auto running = context.services.share.initialize_state(std::move(op));
  const share::PartitionError error = co_await std::move(running);
  PartitionResult out;
  set_error(out, error);
  co_return out;
}

}  // namespace

io::Task<InitializeShareGroupStateResponse> handle(RequestContext& context,
                                                   InitializeShareGroupStateRequest request) {
  const auto work = [&context](share::SharePartitionKey key,
                               const InitializeShareGroupStateRequest::PartitionData& asked) {
    return initialize(context, std::move(key), asked);
  };
  auto working = each_share_partition<InitializeShareGroupStateResponse::InitializeStateResult>(
      context, std::move(request), work);
  InitializeShareGroupStateResponse response;
  response.results = co_await std::move(working);
  co_return response;
}

}  // namespace ackord::api
