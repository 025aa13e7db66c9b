// AbortBatchTxn (key 20005), version 0 (Ackord's; docs/PROTOCOL.md part 2): what is staged is
// delivered again. Answered when the decision is durable and every record is resolved.
// May: WRITE on the transactional id that TransactionId names, READ on the group.
#include <utility>

#include "broker/api/batch_txn_requests.h"
#include "broker/api/handlers.h"
#include "broker/share/share_service.h"
#include "protocol/generated/abort_batch_txn_request.h"
#include "protocol/generated/abort_batch_txn_response.h"

namespace ackord::api {

io::Task<protocol::AbortBatchTxnResponse> handle(RequestContext& context,
                                                 protocol::AbortBatchTxnRequest request) {
  protocol::AbortBatchTxnResponse response;
  response.error_code = check_batch_request(context, request);
  if (response.error_code == ErrorCode::NONE)
    response.error_code = check_batch_group(context, request);
  if (response.error_code != ErrorCode::NONE) co_return response;
  share::BatchTxnService& service = context.services.share.batch_transactions();
  auto running = service.abort(batch_txn_id(request));
  const share::BatchTxnReply reply = co_await std::move(running);
  answer(response, reply);
  co_return response;
}

}  // namespace ackord::api
