// ListBatchTxns (key 20006), version 0 (Ackord's; docs/PROTOCOL.md part 2, "Recovery"): a group's
// batch transactions by state and prefix of their id, with what the undecided ones hold. May:
// DESCRIBE on the group; the ids with DESCRIBE on the transactional id are listed.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/share_service.h"
#include "protocol/generated/list_batch_txns_request.h"
#include "protocol/generated/list_batch_txns_response.h"

namespace ackord::api {
namespace {

using protocol::ListBatchTxnsRequest;
using protocol::ListBatchTxnsResponse;

void add_pending(const metadata::MetadataImage& image, const share::BatchTxnListing& listing,
                 ListBatchTxnsResponse::BatchTxn& out) {
  for (const share::DescribeBatchTxnHere::Partition& partition : listing.pending) {
    if (out.pending_acks.empty() || out.pending_acks.back().topic_id != partition.key.topic_id) {
      auto& topic = out.pending_acks.emplace_back();
      topic.topic_id = partition.key.topic_id;
      if (const auto known = image.topic(partition.key.topic_id)) topic.topic_name = known->name;
    }
    auto& part = out.pending_acks.back().partitions.emplace_back();
    part.partition_index = partition.key.partition;
    for (const auto& range : partition.ranges) {
      auto& batch = part.acknowledgement_batches.emplace_back();
      batch.first_offset = range.offsets.first_offset;
      batch.last_offset = range.offsets.last_offset;
      batch.acknowledge_type = range.acknowledge_type;
    }
  }
}

}  // namespace

io::Task<ListBatchTxnsResponse> handle(RequestContext& context, ListBatchTxnsRequest request) {
  ListBatchTxnsResponse response;
  if (share_version(context.services.metadata) < kShareVersionTransactions) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  std::vector<share::BatchTxnState> states;
  for (const String& filter : request.state_filters) {
    const auto state = share::batch_txn_state_named(filter.sv());
    if (!state) {
      response.error_code = ErrorCode::INVALID_REQUEST;
      set_message(response.error_message, "There is no state " + filter.str() + ".");
      co_return response;
    }
    states.push_back(*state);
  }
  if (request.group_id.empty()) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  const Access access(context);
  if (!access.may_group(Operation::kDescribe, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return response;
  }
  std::string prefix = request.transaction_id_prefix ? request.transaction_id_prefix->str() : "";
  auto listing = context.services.share.batch_transactions().list(
      GroupId(request.group_id.str()), std::move(states), std::move(prefix));
  const Result<std::vector<share::BatchTxnListing>> listed = co_await std::move(listing);
  if (!listed) {
    response.error_code = listed.error().code;
    set_message(response.error_message, listed.error().message);
    co_return response;
  }
  for (const share::BatchTxnListing& one : *listed) {
    if (!access.may_see(Operation::kDescribe, ResourceType::kTransactionalId,
                        one.id.transaction_id.sv()))
      continue;
    auto& out = response.transactions.emplace_back();
    out.transaction_id = one.id.transaction_id;
    out.state = String(std::string(share::name_of(one.value.state)));
    out.create_time_ms = one.value.create_time_ms;
    out.prepare_time_ms = one.value.prepare_time_ms;
    out.timeout_ms = one.value.timeout_ms;
    add_pending(context.services.metadata.image(), one, out);
  }
  co_return response;
}

}  // namespace ackord::api
