// InitProducerId (key 22), versions 0-6.
//   v2  flexible   v3 producer id and epoch of who asks (KIP-360)   v4 PRODUCER_FENCED
//   v5  TRANSACTION_ABORTABLE
//   v6  two-phase commit and KeepPreparedTxn (KIP-939): where the broker has
//   transaction.two.phase.commit.enable=true
// Without a transactional id: a new producer id, whatever else the request says. Over an open
// transaction: its abort begins, and the answer is CONCURRENT_TRANSACTIONS; a repeat waits for it.
// May: WRITE on the transactional id, and TWO_PHASE_COMMIT on it for that; without an id
// IDEMPOTENT_WRITE on the cluster, or WRITE on any topic (KIP-679).
#include <optional>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/producer_errors.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"

namespace ackord::api {
namespace {

constexpr int16_t kFirstWithProducerFenced = 4;
constexpr int64_t kNoProducerId = -1;
constexpr int16_t kNoEpoch = -1;

ErrorCode denial(const Access& access, const protocol::InitProducerIdRequest& request) {
  if (const auto& id = request.transactional_id) {
    const bool may =
        access.may_transaction(Operation::kWrite, *id) &&
        (!request.enable2_pc || access.may_transaction(Operation::kTwoPhaseCommit, *id));
    return may ? ErrorCode::NONE : ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
  }
  const bool may = access.may_any(Operation::kWrite, ResourceType::kTopic) ||
                   access.may_cluster(Operation::kIdempotentWrite);
  return may ? ErrorCode::NONE : ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
}

}  // namespace

io::Task<protocol::InitProducerIdResponse> handle(RequestContext& context,
                                                  protocol::InitProducerIdRequest request) {
  protocol::InitProducerIdResponse response;
  response.producer_epoch = kNoEpoch;
  response.error_code = denial(Access(context), request);
  if (response.error_code != ErrorCode::NONE) co_return response;
  const bool has_id = request.producer_id.value != kNoProducerId;
  const bool has_epoch = request.producer_epoch != kNoEpoch;
  if (has_id != has_epoch) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  std::optional<log::ProducerStamp> expected;
  if (has_id) expected = log::ProducerStamp{request.producer_id, request.producer_epoch};
  std::optional<TransactionalId> id = request.transactional_id;
  auto asking =
      context.services.txn.init_producer_id(std::move(id), request.transaction_timeout_ms, expected,
                                            request.enable2_pc, request.keep_prepared_txn);
  const txn::InitProducerIdReply reply = co_await std::move(asking);
  response.error_code = producer_error(reply.error, context.api_version, kFirstWithProducerFenced);
  response.producer_id = reply.producer.id;
  response.producer_epoch = reply.producer.epoch;
  response.ongoing_txn_producer_id = reply.ongoing.id;
  response.ongoing_txn_producer_epoch = reply.ongoing.epoch;
  co_return response;
}

}  // namespace ackord::api
