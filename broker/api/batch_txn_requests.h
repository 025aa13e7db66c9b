// What the handlers of batch transactions have in common (docs/PROTOCOL.md part 2): who may ask at
// all, and how an answer looks.
#pragma once

#include <string>

#include "broker/api/authorize.h"
#include "broker/api/handler.h"
#include "broker/api/share_requests.h"
#include "broker/share/batch_txn_service.h"

namespace ackord::api {

// UNSUPPORTED_VERSION below share.version 3; INVALID_REQUEST for an id or a group that cannot be;
// TRANSACTIONAL_ID_AUTHORIZATION_FAILED without WRITE on the id. NONE: go on.
template <class Request>
ErrorCode check_batch_request(const RequestContext& context, const Request& request) {
  if (share_version(context.services.metadata) < kShareVersionTransactions)
    return ErrorCode::UNSUPPORTED_VERSION;
  if (request.group_id.empty() || request.transaction_id.empty() ||
      request.transaction_id.sv().size() > share::kMaxBatchTxnIdBytes)
    return ErrorCode::INVALID_REQUEST;
  const Access access(context);
  if (!access.may_transaction(Operation::kWrite, request.transaction_id))
    return ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
  return ErrorCode::NONE;
}

// READ on the group.
template <class Request>
ErrorCode check_batch_group(const RequestContext& context, const Request& request) {
  return Access(context).may_group(Operation::kRead, request.group_id)
             ? ErrorCode::NONE
             : ErrorCode::GROUP_AUTHORIZATION_FAILED;
}

template <class Request>
share::BatchTxnId batch_txn_id(const Request& request) {
  return {GroupId(request.group_id.str()), TransactionalId(request.transaction_id.str())};
}

template <class Response>
void answer(Response& response, const share::BatchTxnReply& reply) {
  response.error_code = reply.error.error_code;
  set_message(response.error_message, reply.error.error_message);
  if (reply.state) response.state = String(std::string(share::name_of(*reply.state)));
  response.staged_records = reply.staged_records;
}

}  // namespace ackord::api
