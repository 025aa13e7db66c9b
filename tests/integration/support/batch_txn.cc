#include "tests/integration/support/batch_txn.h"

#include "protocol/generated/abort_batch_txn_request.h"
#include "protocol/generated/abort_batch_txn_response.h"
#include "protocol/generated/batch_txn_acknowledge_request.h"
#include "protocol/generated/batch_txn_acknowledge_response.h"
#include "protocol/generated/begin_batch_txn_request.h"
#include "protocol/generated/begin_batch_txn_response.h"
#include "protocol/generated/commit_batch_txn_request.h"
#include "protocol/generated/commit_batch_txn_response.h"
#include "protocol/generated/list_batch_txns_request.h"
#include "protocol/generated/list_batch_txns_response.h"
#include "protocol/generated/prepare_batch_txn_request.h"
#include "protocol/generated/prepare_batch_txn_response.h"

namespace ackord::integration {

BatchTxn::BatchTxn(uint16_t port, std::string group, std::string id)
    : port_(port), group_(std::move(group)), id_(std::move(id)), client_(port) {}

void BatchTxn::reconnect() { client_ = RawClient(port_); }

template <class Response, class Request>
BatchTxn::Answer BatchTxn::ask(Request request) {
  request.transaction_id = TransactionalId(id_);
  request.group_id = GroupId(group_);
  Answer out;
  poll_until(std::string(Response::kName), [&] {
    const auto answer = client_.call<Response>(request, 0);
    out = {answer.message.error_code, answer.message.state.str(), answer.message.staged_records};
    return !is_starting(out.error);
  });
  return out;
}

BatchTxn::Answer BatchTxn::begin(int32_t timeout_ms) {
  protocol::BeginBatchTxnRequest request;
  request.timeout_ms = timeout_ms;
  return ask<protocol::BeginBatchTxnResponse>(std::move(request));
}

BatchTxn::Answer BatchTxn::prepare() {
  return ask<protocol::PrepareBatchTxnResponse>(protocol::PrepareBatchTxnRequest());
}

BatchTxn::Answer BatchTxn::commit() {
  return ask<protocol::CommitBatchTxnResponse>(protocol::CommitBatchTxnRequest());
}

BatchTxn::Answer BatchTxn::abort() {
  return ask<protocol::AbortBatchTxnResponse>(protocol::AbortBatchTxnRequest());
}

Staged BatchTxn::stage(const ShareMember& member, const std::vector<Staging>& what) {
  protocol::BatchTxnAcknowledgeRequest request;
  request.transaction_id = TransactionalId(id_);
  request.group_id = GroupId(group_);
  request.member_id = String(member.id());
  request.member_epoch = member.epoch();
  for (const Staging& one : what) {
    if (request.topics.empty() || request.topics.back().topic_id != one.topic.id)
      request.topics.emplace_back().topic_id = one.topic.id;
    auto& partition = request.topics.back().partitions.emplace_back();
    partition.partition_index = one.partition;
    auto& batch = partition.acknowledgement_batches.emplace_back();
    batch.first_offset = one.first;
    batch.last_offset = one.last;
    batch.acknowledge_types = {one.type};
  }
  Staged staged;
  poll_until("BatchTxnAcknowledge", [&] {
    const auto answer = client_.call<protocol::BatchTxnAcknowledgeResponse>(request, 0);
    staged = {answer.message.error_code, {}};
    for (const auto& topic : answer.message.responses) {
      for (const auto& partition : topic.partitions)
        staged.partitions.push_back(partition.error_code);
    }
    return !is_starting(staged.error);
  });
  return staged;
}

std::string BatchTxn::state() {
  protocol::ListBatchTxnsRequest request;
  request.group_id = GroupId(group_);
  request.transaction_id_prefix = String(id_);
  std::string state;
  poll_until("ListBatchTxns", [&] {
    const auto answer = client_.call<protocol::ListBatchTxnsResponse>(request, 0);
    if (is_starting(answer.message.error_code)) return false;
    require_none(answer.message.error_code, "ListBatchTxns");
    for (const auto& one : answer.message.transactions) {
      if (one.transaction_id.str() == id_) state = one.state.str();
    }
    return true;
  });
  return state;
}

}  // namespace ackord::integration
