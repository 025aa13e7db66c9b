// ReadShareGroupState (key 84), version 0 (KIP-932): the state of share partitions, as a leader
// asks for it. Whoever asks with a higher leader epoch fences the leaders before it:
// FENCED_LEADER_EPOCH.
#include <utility>

#include "broker/api/handlers.h"
#include "broker/api/share_state_requests.h"
#include "protocol/generated/read_share_group_state_request.h"
#include "protocol/generated/read_share_group_state_response.h"

namespace ackord::api {
namespace {

using protocol::ReadShareGroupStateRequest;
using protocol::ReadShareGroupStateResponse;
using PartitionResult = ReadShareGroupStateResponse::PartitionResult;

io::Task<PartitionResult> read(RequestContext& context, share::SharePartitionKey key,
                               const ReadShareGroupStateRequest::PartitionData& asked) {
  share::Read op;
  op.key = std::move(key);
  op.leader_epoch = asked.leader_epoch;
  auto running = context.services.share.read_state(std::move(op));
  const share::Read::Reply reply = co_await std::move(running);
  PartitionResult out;
  set_error(out, reply.error);
  if (!reply.error.ok()) co_return out;
  out.state_epoch = reply.state_epoch;
  out.start_offset = reply.start_offset;
  for (const share::StateBatch& batch : reply.state_batches) {
    auto& range = out.state_batches.emplace_back();
    range.first_offset = batch.first_offset;
    range.last_offset = batch.last_offset;
    range.delivery_state = static_cast<int8_t>(batch.delivery_state);
    range.delivery_count = batch.delivery_count;
    range.owner_index = batch.owner_index;
    range.staged_ack_type = batch.staged_ack_type;
    range.staged_delivery_state = batch.staged_delivery_state;
  }
  co_return out;
}

}  // namespace

io::Task<ReadShareGroupStateResponse> handle(RequestContext& context,
                                             ReadShareGroupStateRequest request) {
  const auto work = [&context](share::SharePartitionKey key,
                               const ReadShareGroupStateRequest::PartitionData& asked) {
    return read(context, std::move(key), asked);
  };
  auto working = each_share_partition<ReadShareGroupStateResponse::ReadStateResult>(
      context, std::move(request), work);
  ReadShareGroupStateResponse response;
  response.results = co_await std::move(working);
  co_return response;
}

}  // namespace ackord::api
