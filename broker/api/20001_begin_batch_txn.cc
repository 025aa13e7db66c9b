// BeginBatchTxn (key 20001), version 0 (Ackord's; docs/PROTOCOL.md part 2): opens a batch
// transaction of a group. Of one that is ONGOING nothing changes, and StagedRecords says what an
// earlier attempt has left in it.
// May: WRITE on the transactional id that TransactionId names, READ on the group.
#include <utility>

#include "broker/api/batch_txn_requests.h"
#include "broker/api/handlers.h"
#include "broker/share/share_service.h"
#include "protocol/generated/begin_batch_txn_request.h"
#include "protocol/generated/begin_batch_txn_response.h"

namespace ackord::api {

io::Task<protocol::BeginBatchTxnResponse> handle(RequestContext& context,
                                                 protocol::BeginBatchTxnRequest request) {
  protocol::BeginBatchTxnResponse response;
  response.error_code = check_batch_request(context, request);
  if (response.error_code == ErrorCode::NONE)
    response.error_code = check_batch_group(context, request);
  if (response.error_code != ErrorCode::NONE) co_return response;
  const int32_t most = context.services.metadata.broker_config().transaction_max_timeout_ms;
  if (request.timeout_ms < 1 || request.timeout_ms > most) {
    response.error_code = ErrorCode::INVALID_TRANSACTION_TIMEOUT;
    co_return response;
  }
  share::BatchTxnService& service = context.services.share.batch_transactions();
  auto running = service.begin(batch_txn_id(request), request.timeout_ms);
  const share::BatchTxnReply reply = co_await std::move(running);
  answer(response, reply);
  co_return response;
}

}  // namespace ackord::api
