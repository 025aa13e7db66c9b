// DeleteShareGroupState (key 86), version 0 (KIP-932): the state of share partitions is gone; none
// is no error. NON_EMPTY_GROUP while a transaction holds records (docs/PROTOCOL.md 1.5).
#include <utility>

#include "broker/api/handlers.h"
#include "broker/api/share_state_requests.h"
#include "protocol/generated/delete_share_group_state_request.h"
#include "protocol/generated/delete_share_group_state_response.h"

namespace ackord::api {
namespace {

using protocol::DeleteShareGroupStateRequest;
using protocol::DeleteShareGroupStateResponse;
using PartitionResult = DeleteShareGroupStateResponse::PartitionResult;

io::Task<PartitionResult> remove(RequestContext& context, share::SharePartitionKey key) {
  auto running = context.services.share.delete_state({std::move(key)});
  const share::PartitionError error = co_await std::move(running);
  PartitionResult out;
  set_error(out, error);
  co_return out;
}

}  // namespace

io::Task<DeleteShareGroupStateResponse> handle(RequestContext& context,
                                               DeleteShareGroupStateRequest request) {
  const auto work = [&context](share::SharePartitionKey key,
                               const DeleteShareGroupStateRequest::PartitionData&) {
    return remove(context, std::move(key));
  };
  auto working = each_share_partition<DeleteShareGroupStateResponse::DeleteStateResult>(
      context, std::move(request), work);
  DeleteShareGroupStateResponse response;
  response.results = co_await std::move(working);
  co_return response;
}

}  // namespace ackord::api
