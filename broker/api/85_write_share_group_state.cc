// WriteShareGroupState (key 85), versions 0-1 (KIP-932): what has changed in the state of share
// partitions. FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH; INVALID_REQUEST for what a transaction holds
// (docs/PROTOCOL.md 1.5).
//   v1  DeliveryCompleteCount (KIP-1226)
#include <utility>

#include "broker/api/handlers.h"
#include "broker/api/share_state_requests.h"
#include "protocol/generated/write_share_group_state_request.h"
#include "protocol/generated/write_share_group_state_response.h"

namespace ackord::api {
namespace {

using protocol::WriteShareGroupStateRequest;
using protocol::WriteShareGroupStateResponse;
using PartitionResult = WriteShareGroupStateResponse::PartitionResult;

io::Task<PartitionResult> write(RequestContext& context, share::SharePartitionKey key,
                                const WriteShareGroupStateRequest::PartitionData& asked) {
  share::Write op;
  op.key = std::move(key);
  op.state_epoch = asked.state_epoch;
  op.leader_epoch = asked.leader_epoch;
  op.start_offset = asked.start_offset;
  op.delivery_complete_count = asked.delivery_complete_count;
  for (const auto& batch : asked.state_batches) {
    op.state_batches.push_back({batch.first_offset, batch.last_offset,
                                static_cast<share::RecordState>(batch.delivery_state),
                                batch.delivery_count});
  }
  auto running = context.services.share.write_state(std::move(op));
  const share::PartitionError error = co_await std::move(running);
  PartitionResult out;
  set_error(out, error);
  co_return out;
}

}  // namespace

io::Task<WriteShareGroupStateResponse> handle(RequestContext& context,
                                              WriteShareGroupStateRequest request) {
  const auto work = [&context](share::SharePartitionKey key,
                               const WriteShareGroupStateRequest::PartitionData& asked) {
    return write(context, std::move(key), asked);
  };
  auto working = each_share_partition<WriteShareGroupStateResponse::WriteStateResult>(
      context, std::move(request), work);
  WriteShareGroupStateResponse response;
  response.results = co_await std::move(working);
  co_return response;
}

}  // namespace ackord::api
