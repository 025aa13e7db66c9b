// AddOffsetsToTxn (key 25), versions 0-4: the group's partition of `__consumer_offsets` joins the
// transaction.
//   v2 PRODUCER_FENCED   v3 flexible   v4 TRANSACTION_ABORTABLE
// May: WRITE on the transactional id, READ on the group.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/producer_errors.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/add_offsets_to_txn_request.h"
#include "protocol/generated/add_offsets_to_txn_response.h"

namespace ackord::api {
namespace {

constexpr int16_t kFirstWithProducerFenced = 2;

}  // namespace

io::Task<protocol::AddOffsetsToTxnResponse> handle(RequestContext& context,
                                                   protocol::AddOffsetsToTxnRequest request) {
  protocol::AddOffsetsToTxnResponse response;
  Services& services = context.services;
  const Access access(context);
  if (!access.may_transaction(Operation::kWrite, request.transactional_id)) {
    response.error_code = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
  } else if (!access.may_group(Operation::kRead, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
  }
  if (response.error_code != ErrorCode::NONE) co_return response;
  // The group's coordinator takes the offsets and the marker later: it has to be there.
  auto readying = services.group.ensure_ready();
  const Result<void> ready = co_await std::move(readying);
  const auto topic = services.metadata.image().topic(metadata::kOffsetsTopic);
  if (!ready || topic == nullptr) {
    response.error_code = ready ? ErrorCode::COORDINATOR_NOT_AVAILABLE : ready.error().code;
    co_return response;
  }
  std::vector<TopicPartition> partitions;
  partitions.push_back(
      {topic->name, metadata::coordinator_partition(request.group_id.sv(), topic->partitions)});
  txn::TxnIdentity who{request.transactional_id, {request.producer_id, request.producer_epoch}};
  auto adding = services.txn.add_partitions(std::move(who), std::move(partitions),
                                            txn::ClientTransactionVersion::kV0);
  const ErrorCode code = co_await std::move(adding);
  response.error_code = producer_error(code, context.api_version, kFirstWithProducerFenced);
  co_return response;
}

}  // namespace ackord::api
