// EndTxn (key 26), versions 0-5: the producer's decision. Answered when the decision is durable;
// the markers follow.
//   v2 PRODUCER_FENCED   v3 flexible   v4 TRANSACTION_ABORTABLE
//   v5 each end moves the epoch on; the answer says what to go on with (KIP-890)
// An abort-only transaction answers a commit with TRANSACTION_ABORTABLE, in every version. May:
// WRITE on the transactional id.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/producer_errors.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"

namespace ackord::api {
namespace {

constexpr int16_t kFirstWithProducerFenced = 2;
constexpr int16_t kFirstThatMovesEpoch = 5;

}  // namespace

io::Task<protocol::EndTxnResponse> handle(RequestContext& context,
                                          protocol::EndTxnRequest request) {
  protocol::EndTxnResponse response;
  if (!Access(context).may_transaction(Operation::kWrite, request.transactional_id)) {
    response.error_code = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    co_return response;
  }
  const auto client_version = context.api_version >= kFirstThatMovesEpoch
                                  ? txn::ClientTransactionVersion::kV2
                                  : txn::ClientTransactionVersion::kV0;
  txn::TxnIdentity who{request.transactional_id, {request.producer_id, request.producer_epoch}};
  auto ending = context.services.txn.end_txn(std::move(who), request.committed, client_version);
  const txn::EndTxnReply reply = co_await std::move(ending);
  response.error_code = producer_error(reply.error, context.api_version, kFirstWithProducerFenced);
  response.producer_id = reply.next.id;
  response.producer_epoch = reply.next.epoch;
  co_return response;
}

}  // namespace ackord::api
