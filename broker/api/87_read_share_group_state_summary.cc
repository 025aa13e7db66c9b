// ReadShareGroupStateSummary (key 87), versions 0-1 (KIP-932): epochs and offsets of share
// partitions without their batches. What was never initialised is no error: start offset -1.
//   v1  DeliveryCompleteCount (KIP-1226)
#include <utility>

#include "broker/api/handlers.h"
#include "broker/api/share_state_requests.h"
#include "protocol/generated/read_share_group_state_summary_request.h"
#include "protocol/generated/read_share_group_state_summary_response.h"

namespace ackord::api {
namespace {

using protocol::ReadShareGroupStateSummaryRequest;
using protocol::ReadShareGroupStateSummaryResponse;
using PartitionResult = ReadShareGroupStateSummaryResponse::PartitionResult;

io::Task<PartitionResult> summarize(RequestContext& context, share::SharePartitionKey key) {
  auto running = context.services.share.summarize_state({std::move(key)});
  const share::Summary::Reply reply = co_await std::move(running);
  PartitionResult out;
  set_error(out, reply.error);
  if (!reply.error.ok()) co_return out;
  out.state_epoch = reply.state_epoch;
  out.leader_epoch = reply.leader_epoch;
  out.start_offset = reply.start_offset;
  out.delivery_complete_count = reply.delivery_complete_count;
  co_return out;
}

}  // namespace

io::Task<ReadShareGroupStateSummaryResponse> handle(RequestContext& context,
                                                    ReadShareGroupStateSummaryRequest request) {
  const auto work = [&context](share::SharePartitionKey key,
                               const ReadShareGroupStateSummaryRequest::PartitionData&) {
    return summarize(context, std::move(key));
  };
  auto working = each_share_partition<ReadShareGroupStateSummaryResponse::ReadStateSummaryResult>(
      context, std::move(request), work);
  ReadShareGroupStateSummaryResponse response;
  response.results = co_await std::move(working);
  co_return response;
}

}  // namespace ackord::api
