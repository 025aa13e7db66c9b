#include "client/batch_transactions.h"

#include <utility>

#include "client/retry.h"
#include "client/staging.h"
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

namespace ackord::client {
namespace {

constexpr int16_t kShareVersionTransactions = 3;

template <class Message>
Error answered(ErrorCode code, const std::optional<Message>& message, std::string_view what) {
  return error(code,
               std::string(what) + ": " + (message ? message->str() : std::string(name_of(code))));
}

PartitionAcknowledgements pending_of(const protocol::ListBatchTxnsResponse::BatchTxn& transaction) {
  PartitionAcknowledgements pending;
  for (const auto& topic : transaction.pending_acks) {
    for (const auto& partition : topic.partitions) {
      auto& batches = pending[{topic.topic_id, partition.partition_index}];
      for (const auto& batch : partition.acknowledgement_batches)
        batches.push_back({batch.first_offset, batch.last_offset, {batch.acknowledge_type}});
    }
  }
  return pending;
}

std::map<Uuid, TopicName> topics_of(const protocol::ListBatchTxnsResponse::BatchTxn& transaction) {
  std::map<Uuid, TopicName> topics;
  for (const auto& topic : transaction.pending_acks) {
    if (!topic.topic_name.empty()) topics[topic.topic_id] = TopicName(topic.topic_name.str());
  }
  return topics;
}

}  // namespace

const char* name_of(BatchTransactionState state) {
  switch (state) {
    case BatchTransactionState::kOngoing: return "ONGOING";
    case BatchTransactionState::kPrepare: return "PREPARE";
    case BatchTransactionState::kCommitted: return "COMMITTED";
    case BatchTransactionState::kAborted: return "ABORTED";
  }
  return "UNKNOWN";
}

std::optional<BatchTransactionState> batch_transaction_state(std::string_view name) {
  for (const auto state : {BatchTransactionState::kOngoing, BatchTransactionState::kPrepare,
                           BatchTransactionState::kCommitted, BatchTransactionState::kAborted}) {
    if (name == name_of(state)) return state;
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- coordinator

Result<std::unique_ptr<BatchTransactionCoordinator>> BatchTransactionCoordinator::create(
    ClientConfig config, GroupId group, Millis timeout) {
  Result<std::unique_ptr<Cluster>> cluster = Cluster::create(std::move(config));
  if (!cluster) return cluster.error();
  const Deadline deadline = Deadline::in(timeout);
  Result<Connection*> broker =
      retry((*cluster)->config(), deadline, [&] { return (*cluster)->any_broker(deadline); });
  if (!broker) return broker.error();
  const BrokerAbilities& abilities = (*broker)->abilities();
  if (!abilities.has(protocol::BeginBatchTxnRequest::kApiKey) ||
      abilities.feature("share.version") < kShareVersionTransactions) {
    return error(ErrorCode::UNSUPPORTED_VERSION, "the broker has no batch transactions");
  }
  return std::unique_ptr<BatchTransactionCoordinator>(
      new BatchTransactionCoordinator(std::move(*cluster), std::move(group)));
}

template <class Request>
Request BatchTransactionCoordinator::request_of(const std::string& id) const {
  Request request;
  request.transaction_id = TransactionalId(id);
  request.group_id = group_;
  return request;
}

// One request to the group's coordinator, tried again until it is answered for good.
template <class Response, class Request>
Result<Answer<Response>> BatchTransactionCoordinator::ask(const Request& request,
                                                          const Deadline& deadline) {
  const std::string key = group_.str();
  return retry(cluster_->config(), deadline, [&]() -> Result<Answer<Response>> {
    Result<Connection*> coordinator = cluster_->coordinator(CoordinatorType::kGroup, key, deadline);
    if (!coordinator) {
      cluster_->forget_coordinator(CoordinatorType::kGroup, key);
      return coordinator.error();
    }
    auto answer =
        (*coordinator)
            ->template call<Response>(request, deadline.within(cluster_->config().request_timeout));
    if (!answer) return answer.error();
    const ErrorCode code = answer->message.error_code;
    if (is_stale(code)) cluster_->forget_coordinator(CoordinatorType::kGroup, key);
    if (is_stale(code) || is_retriable(code))
      return answered(code, answer->message.error_message, Response::kName);
    return answer;
  });
}

template <class Response, class Request>
Result<BatchTransactionCoordinator::Answered> BatchTransactionCoordinator::call(
    const Request& request, const Deadline& deadline) {
  Result<Answer<Response>> answer = ask<Response>(request, deadline);
  if (!answer) return answer.error();
  const Response& response = answer->message;
  if (response.error_code != ErrorCode::NONE)
    return answered(response.error_code, response.error_message, Response::kName);
  return Answered{response.state.str(), response.staged_records};
}

Result<void> BatchTransactionCoordinator::begin(const std::string& id, Millis transaction_timeout,
                                                Millis timeout) {
  const Deadline deadline = Deadline::in(timeout);
  auto request = request_of<protocol::BeginBatchTxnRequest>(id);
  request.timeout_ms = static_cast<int32_t>(transaction_timeout.count());
  Result<Answered> begun = call<protocol::BeginBatchTxnResponse>(request, deadline);
  if (!begun) return begun.error();
  if (begun->staged_records == 0) return {};
  return give_up(id, ErrorCode::INVALID_TXN_STATE,
                 "an earlier attempt had left " + std::to_string(begun->staged_records) +
                     " records in " + id + "; they are delivered again, use another id",
                 deadline);
}

Error BatchTransactionCoordinator::give_up(const std::string& id, ErrorCode code, std::string why,
                                           const Deadline& deadline) {
  const auto request = request_of<protocol::AbortBatchTxnRequest>(id);
  Result<Answered> aborted = call<protocol::AbortBatchTxnResponse>(request, deadline);
  return aborted ? error(code, std::move(why)) : aborted.error();
}

Result<void> BatchTransactionCoordinator::prepare(const std::string& id,
                                                  const StagedOffsets& expected, Millis timeout) {
  const Deadline deadline = Deadline::in(timeout);
  if (expected.overlaps()) {
    return give_up(id, ErrorCode::TRANSACTION_ABORTABLE,
                   "two executors have staged the same record in " + id + "; it is aborted",
                   deadline);
  }
  const auto request = request_of<protocol::PrepareBatchTxnRequest>(id);
  Result<Answered> prepared = call<protocol::PrepareBatchTxnResponse>(request, deadline);
  if (!prepared) return prepared.error();
  if (prepared->staged_records == expected.size()) return {};
  return give_up(id, ErrorCode::TRANSACTION_ABORTABLE,
                 "the executors have staged " + std::to_string(expected.size()) + " records, but " +
                     id + " holds " + std::to_string(prepared->staged_records) + "; it is aborted",
                 deadline);
}

Result<void> BatchTransactionCoordinator::commit(const std::string& id, Millis timeout) {
  const auto request = request_of<protocol::CommitBatchTxnRequest>(id);
  Result<Answered> done = call<protocol::CommitBatchTxnResponse>(request, Deadline::in(timeout));
  return done ? Result<void>() : Result<void>(done.error());
}

Result<void> BatchTransactionCoordinator::abort(const std::string& id, Millis timeout) {
  const auto request = request_of<protocol::AbortBatchTxnRequest>(id);
  Result<Answered> done = call<protocol::AbortBatchTxnResponse>(request, Deadline::in(timeout));
  return done ? Result<void>() : Result<void>(done.error());
}

Result<std::vector<BatchTransaction>> BatchTransactionCoordinator::list(
    const std::string& prefix, const std::vector<BatchTransactionState>& states, Millis timeout) {
  protocol::ListBatchTxnsRequest request;
  request.group_id = group_;
  request.transaction_id_prefix = String(prefix);
  for (const BatchTransactionState state : states)
    request.state_filters.emplace_back(name_of(state));
  auto answer = ask<protocol::ListBatchTxnsResponse>(request, Deadline::in(timeout));
  if (!answer) return answer.error();
  const protocol::ListBatchTxnsResponse& response = answer->message;
  if (response.error_code != ErrorCode::NONE)
    return answered(response.error_code, response.error_message, response.kName);
  std::vector<BatchTransaction> out;
  for (const auto& one : response.transactions) {
    const auto state = batch_transaction_state(one.state.sv());
    if (!state) return error(ErrorCode::UNKNOWN_SERVER_ERROR, "state " + one.state.str());
    out.push_back({one.transaction_id.str(), *state, one.create_time_ms, one.prepare_time_ms,
                   Millis(one.timeout_ms), pending_of(one), topics_of(one)});
  }
  return out;
}

Result<std::vector<BatchTransaction>> BatchTransactionCoordinator::list_pending(
    const std::string& prefix, Millis timeout) {
  return list(prefix, {BatchTransactionState::kOngoing, BatchTransactionState::kPrepare}, timeout);
}

Result<BatchTransactionCoordinator::Recovered> BatchTransactionCoordinator::recover(
    const std::string& prefix, const std::function<bool(const std::string&)>& should_commit,
    Millis timeout) {
  const Deadline deadline = Deadline::in(timeout);
  Result<std::vector<BatchTransaction>> pending = list_pending(prefix, deadline.left());
  if (!pending) return pending.error();
  Recovered recovered;
  for (const BatchTransaction& one : *pending) {
    const bool commits = one.state == BatchTransactionState::kPrepare && should_commit(one.id);
    Result<void> done = commits ? commit(one.id, deadline.left()) : abort(one.id, deadline.left());
    if (!done) return done.error();
    (commits ? recovered.committed : recovered.aborted).push_back(one.id);
  }
  return recovered;
}

// ---------------------------------------------------------------- executor

Result<std::unique_ptr<BatchTransactionExecutor>> BatchTransactionExecutor::create(
    ClientConfig config) {
  Result<std::unique_ptr<Cluster>> cluster = Cluster::create(std::move(config));
  if (!cluster) return cluster.error();
  return std::unique_ptr<BatchTransactionExecutor>(
      new BatchTransactionExecutor(std::move(*cluster)));
}

Result<void> BatchTransactionExecutor::acknowledge(const std::string& id,
                                                   const ShareAcknowledgements& acknowledgements,
                                                   const ShareGroupMetadata& metadata,
                                                   Millis timeout) {
  Open& transaction = open_[id];
  if (transaction.token == 0) transaction.token = next_transaction_token();
  if (acknowledgements.empty()) return {};
  if (acknowledgements.origin) {
    transaction.books.insert(acknowledgements.origin);
    acknowledgements.origin->joined(acknowledgements.partitions, transaction.token);
  }
  if (transaction.failed) {
    transaction.not_staged.push_back(acknowledgements);
    return *transaction.failed;
  }
  const auto stage_at = [&](Connection& leader, const std::vector<TopicIdPartition>& partitions,
                            PartitionAcknowledgements& left,
                            const Deadline& deadline) -> Result<void> {
    protocol::BatchTxnAcknowledgeRequest request;
    request.transaction_id = TransactionalId(id);
    request.group_id = metadata.group;
    request.member_id = String(metadata.member_id);
    request.member_epoch = metadata.member_epoch;
    fill_topics(partitions, left, request);
    auto answer = leader.call<protocol::BatchTxnAcknowledgeResponse>(
        request, deadline.within(cluster_->config().request_timeout));
    if (!answer) return answer.error();
    const protocol::BatchTxnAcknowledgeResponse& response = answer->message;
    if (response.error_code != ErrorCode::NONE)
      return answered(response.error_code, response.error_message, response.kName);
    return take_answers(response, partitions, left);
  };
  PartitionAcknowledgements left;
  Result<void> staged =
      stage_everywhere(*cluster_, acknowledgements, left, stage_at, Deadline::in(timeout));
  if (!staged) {
    transaction.failed = staged.error();
    if (!may_stage_again(staged.error().code))
      transaction.not_staged.push_back(
          {std::move(left), acknowledgements.topics, acknowledgements.origin});
    return staged;
  }
  transaction.staged.add(acknowledgements.partitions);
  return {};
}

Result<StagedOffsets> BatchTransactionExecutor::report(const std::string& id) const {
  const auto at = open_.find(id);
  if (at == open_.end()) return StagedOffsets();
  if (at->second.failed) {
    return error(ErrorCode::TRANSACTION_ABORTABLE,
                 "an acknowledgement was not staged: " + at->second.failed->message);
  }
  for (const std::shared_ptr<InFlight>& book : at->second.books) {
    if (book->refuses_commit(at->second.token)) {
      return error(ErrorCode::TRANSACTION_ABORTABLE,
                   "a record that the consumer holds was handed out again");
    }
  }
  if (at->second.staged.overlaps())
    return error(ErrorCode::TRANSACTION_ABORTABLE, "a record was staged twice");
  return at->second.staged;
}

void BatchTransactionExecutor::ended(const std::string& id, bool committed) {
  const auto at = open_.find(id);
  if (at == open_.end()) return;
  for (const std::shared_ptr<InFlight>& book : at->second.books) {
    if (committed) {
      book->committed(at->second.token);
    } else {
      book->aborted(at->second.token);
    }
  }
  for (const ShareAcknowledgements& acknowledgements : at->second.not_staged) {
    if (acknowledgements.origin)
      acknowledgements.origin->send_plainly(releases_of(acknowledgements.partitions));
  }
  open_.erase(at);
}

}  // namespace ackord::client
