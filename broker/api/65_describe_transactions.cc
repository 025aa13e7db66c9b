// DescribeTransactions (key 65), version 0 (KIP-664): where each transactional id stands, in the
// order asked. May: DESCRIBE on the transactional id; topics without DESCRIBE are left out.
#include <string_view>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"

namespace ackord::api {
namespace {

using State = protocol::DescribeTransactionsResponse::TransactionState;

State state_of(const Access& access, const TransactionalId& id,
               const txn::TransactionDescription& description) {
  State state;
  state.transactional_id = id;
  state.error_code = description.error;
  if (description.error != ErrorCode::NONE) return state;
  state.transaction_state = description.state;
  state.transaction_timeout_ms = description.timeout_ms;
  state.transaction_start_time_ms = description.start_time_ms;
  state.producer_id = description.producer.id;
  state.producer_epoch = description.producer.epoch;
  for (const TopicPartition& partition : description.partitions) {
    if (!access.may_see(Operation::kDescribe, ResourceType::kTopic, partition.topic.sv())) continue;
    if (state.topics.empty() || state.topics.back().topic != partition.topic) {
      state.topics.emplace_back().topic = partition.topic;
    }
    state.topics.back().partitions.push_back(partition.partition);
  }
  return state;
}

io::Task<txn::TransactionDescription> describe(RequestContext& context, TransactionalId id) {
  if (!Access(context).may_transaction(Operation::kDescribe, id)) {
    txn::TransactionDescription denied;
    denied.error = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    co_return denied;
  }
  auto describing = context.services.txn.describe(std::move(id));
  txn::TransactionDescription described = co_await std::move(describing);
  co_return described;
}

}  // namespace

io::Task<protocol::DescribeTransactionsResponse> handle(
    RequestContext& context, protocol::DescribeTransactionsRequest request) {
  protocol::DescribeTransactionsResponse response;
  if (request.transactional_ids.empty()) co_return response;
  std::vector<io::Task<txn::TransactionDescription>> asking;
  asking.reserve(request.transactional_ids.size());
  for (const TransactionalId& id : request.transactional_ids)
    asking.push_back(describe(context, id));
  auto all = io::when_all(std::move(asking));
  const std::vector<txn::TransactionDescription> descriptions = co_await std::move(all);
  const Access access(context);
  for (size_t i = 0; i < descriptions.size(); ++i) {
    response.transaction_states.push_back(
        state_of(access, request.transactional_ids[i], descriptions[i]));
  }
  co_return response;
}

}  // namespace ackord::api
