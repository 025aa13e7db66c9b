#include "tools/ackordctl/transactions.h"

#include <algorithm>
#include <span>

#include "protocol/generated/describe_producers_request.h"
#include "protocol/generated/describe_producers_response.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/list_transactions_request.h"
#include "protocol/generated/list_transactions_response.h"
#include "protocol/generated/write_txn_markers_request.h"
#include "protocol/generated/write_txn_markers_response.h"
#include "tools/ackordctl/asking.h"

namespace ackord::ctl {
namespace {

using client::Cluster;
using client::Connection;
using client::Deadline;

constexpr auto kTransaction = client::CoordinatorType::kTransaction;

// Nothing is ever sent under the epoch that a fence gets.
constexpr int32_t kShortestTimeoutMs = 1;

Error said(ErrorCode code, std::string_view what) {
  return error(code, std::string(what) + ": " + std::string(name_of(code)));
}

protocol::ListTransactionsRequest request_of(const TransactionFilter& filter) {
  protocol::ListTransactionsRequest request;
  for (const std::string& state : filter.states) request.state_filters.emplace_back(state);
  for (const int64_t id : filter.producer_ids) request.producer_id_filters.emplace_back(id);
  request.duration_filter = filter.longer_than_ms;
  if (!filter.pattern.empty()) request.transactional_id_pattern = String(filter.pattern);
  return request;
}

// A filter that the version of a request cannot carry would be left out without a word.
Result<void> check_filter(Cluster& cluster, const TransactionFilter& filter,
                          const Deadline& deadline) {
  Result<Connection*> broker = cluster.any_broker(deadline);
  if (!broker) return broker.error();
  const int16_t version =
      (*broker)->version_of<protocol::ListTransactionsRequest>().value_or(int16_t{-1});
  if (filter.longer_than_ms >= 0 && version < 1)
    return error(ErrorCode::UNSUPPORTED_VERSION, "the broker cannot filter by duration");
  if (!filter.pattern.empty() && version < 2)
    return error(ErrorCode::UNSUPPORTED_VERSION, "the broker cannot filter by a pattern");
  return {};
}

Result<std::vector<ListedTransaction>> try_list(Cluster& cluster, const TransactionFilter& filter,
                                                const Deadline& deadline) {
  if (Result<void> able = check_filter(cluster, filter, deadline); !able) return able.error();
  std::vector<ListedTransaction> all;
  const auto take = [&](const protocol::ListTransactionsResponse& response,
                        BrokerId broker) -> Result<void> {
    if (response.error_code != ErrorCode::NONE)
      return said(response.error_code, "ListTransactions");
    if (!response.unknown_state_filters.empty()) {
      return error(ErrorCode::INVALID_REQUEST,
                   "there is no state " + response.unknown_state_filters.front().str());
    }
    for (const auto& one : response.transaction_states) {
      all.push_back(
          {one.transactional_id.str(), broker, one.producer_id.value, one.transaction_state.str()});
    }
    return {};
  };
  Result<void> done = call_each_broker<protocol::ListTransactionsResponse>(
      cluster, request_of(filter), deadline, take);
  if (!done) return done.error();
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

Result<Transaction> try_describe(Cluster& cluster, const std::string& id,
                                 const Deadline& deadline) {
  protocol::DescribeTransactionsRequest request;
  request.transactional_ids.emplace_back(id);
  auto answer = call_coordinator<protocol::DescribeTransactionsResponse>(cluster, kTransaction, id,
                                                                         request, deadline);
  if (!answer) return answer.error();
  if (answer->message.transaction_states.empty())
    return said(ErrorCode::UNKNOWN_SERVER_ERROR, "DescribeTransactions");
  const auto& state = answer->message.transaction_states.front();
  forget_if_stale(cluster, kTransaction, id, state.error_code);
  if (state.error_code == ErrorCode::TRANSACTIONAL_ID_NOT_FOUND)
    return error(state.error_code, "no producer has used the transactional id " + id);
  if (state.error_code != ErrorCode::NONE) return said(state.error_code, "DescribeTransactions");
  Transaction out;
  out.id = id;
  out.coordinator = cluster.known_coordinator(kTransaction, id);
  out.producer_id = state.producer_id.value;
  out.producer_epoch = state.producer_epoch;
  out.state = state.transaction_state.str();
  out.timeout_ms = state.transaction_timeout_ms;
  out.start_time_ms = state.transaction_start_time_ms;
  for (const auto& topic : state.topics) {
    std::vector<int32_t>& partitions = out.partitions[topic.topic.str()];
    partitions = topic.partitions;
    std::sort(partitions.begin(), partitions.end());
  }
  return out;
}

// The connection to the leader of a partition.
Result<Connection*> leader_of(Cluster& cluster, const std::string& topic, int32_t partition,
                              const Deadline& deadline) {
  const TopicName name(topic);
  if (Result<void> refreshed = cluster.refresh(std::span(&name, 1), deadline); !refreshed)
    return refreshed.error();
  const client::Topic* found = cluster.topic(name);
  if (found == nullptr)
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "there is no topic " + topic);
  const auto index = static_cast<size_t>(partition);
  if (partition < 0 || index >= found->partitions.size()) {
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                 topic + " has no partition " + std::to_string(partition));
  }
  const BrokerId leader = found->partitions[index].leader;
  if (leader.value < 0) return said(ErrorCode::LEADER_NOT_AVAILABLE, topic);
  return cluster.broker(leader, deadline);
}

Result<std::vector<PartitionProducer>> try_producers(Cluster& cluster, const std::string& topic,
                                                     int32_t partition, const Deadline& deadline) {
  Result<Connection*> leader = leader_of(cluster, topic, partition, deadline);
  if (!leader) return leader.error();
  protocol::DescribeProducersRequest request;
  auto& asked = request.topics.emplace_back();
  asked.name = TopicName(topic);
  asked.partition_indexes.push_back(partition);
  auto answer = (*leader)->call<protocol::DescribeProducersResponse>(request, deadline);
  if (!answer) return answer.error();
  std::vector<PartitionProducer> out;
  for (const auto& described : answer->message.topics) {
    for (const auto& found : described.partitions) {
      if (found.error_code != ErrorCode::NONE)
        return answered(found.error_code, found.error_message);
      for (const auto& one : found.active_producers) {
        out.push_back({one.producer_id.value, one.producer_epoch, one.coordinator_epoch,
                       one.last_sequence, one.last_timestamp, one.current_txn_start_offset});
      }
    }
  }
  return out;
}

Result<void> try_fence(Cluster& cluster, const std::string& id, const Deadline& deadline) {
  protocol::InitProducerIdRequest request;
  request.transactional_id = TransactionalId(id);
  request.transaction_timeout_ms = kShortestTimeoutMs;
  auto answer = call_coordinator<protocol::InitProducerIdResponse>(cluster, kTransaction, id,
                                                                   request, deadline);
  if (!answer) return answer.error();
  const ErrorCode code = answer->message.error_code;
  forget_if_stale(cluster, kTransaction, id, code);
  if (code != ErrorCode::NONE) return said(code, "InitProducerId");
  return {};
}

Result<void> try_commit(Cluster& cluster, const Transaction& transaction,
                        const Deadline& deadline) {
  protocol::EndTxnRequest request;
  request.transactional_id = TransactionalId(transaction.id);
  request.producer_id = ProducerId(transaction.producer_id);
  request.producer_epoch = transaction.producer_epoch;
  request.committed = true;
  auto answer = call_coordinator<protocol::EndTxnResponse>(cluster, kTransaction, transaction.id,
                                                           request, deadline);
  if (!answer) return answer.error();
  const ErrorCode code = answer->message.error_code;
  forget_if_stale(cluster, kTransaction, transaction.id, code);
  if (code != ErrorCode::NONE) return said(code, "EndTxn");
  return {};
}

Result<void> try_write_marker(Cluster& cluster, const PartitionAbort& abort,
                              const Deadline& deadline) {
  Result<Connection*> leader = leader_of(cluster, abort.topic, abort.partition, deadline);
  if (!leader) return leader.error();
  protocol::WriteTxnMarkersRequest request;
  auto& marker = request.markers.emplace_back();
  marker.producer_id = ProducerId(abort.producer_id);
  marker.producer_epoch = abort.producer_epoch;
  marker.coordinator_epoch = abort.coordinator_epoch;
  marker.transaction_result = false;
  auto& topic = marker.topics.emplace_back();
  topic.name = TopicName(abort.topic);
  topic.partition_indexes.push_back(abort.partition);
  auto answer = (*leader)->call<protocol::WriteTxnMarkersResponse>(request, deadline);
  if (!answer) return answer.error();
  bool answered_at_all = false;
  for (const auto& written : answer->message.markers) {
    for (const auto& found : written.topics) {
      for (const auto& one : found.partitions) {
        answered_at_all = true;
        if (one.error_code != ErrorCode::NONE) return said(one.error_code, "WriteTxnMarkers");
      }
    }
  }
  if (!answered_at_all) return said(ErrorCode::UNKNOWN_SERVER_ERROR, "WriteTxnMarkers");
  return {};
}

}  // namespace

Result<std::vector<ListedTransaction>> list_transactions(Cluster& cluster,
                                                         const TransactionFilter& filter,
                                                         const Deadline& deadline) {
  return ask(cluster, deadline, [&] { return try_list(cluster, filter, deadline); });
}

Result<Transaction> describe_transaction(Cluster& cluster, const std::string& id,
                                         const Deadline& deadline) {
  return ask(cluster, deadline, [&] { return try_describe(cluster, id, deadline); });
}

Result<std::vector<PartitionProducer>> producers_of(Cluster& cluster, const std::string& topic,
                                                    int32_t partition, const Deadline& deadline) {
  return ask(cluster, deadline, [&] { return try_producers(cluster, topic, partition, deadline); });
}

Result<void> fence(Cluster& cluster, const std::string& id, const Deadline& deadline) {
  return ask(cluster, deadline, [&] { return try_fence(cluster, id, deadline); });
}

Result<void> commit(Cluster& cluster, const Transaction& transaction, const Deadline& deadline) {
  return ask(cluster, deadline, [&] { return try_commit(cluster, transaction, deadline); });
}

Result<void> write_abort_marker(Cluster& cluster, const PartitionAbort& abort,
                                const Deadline& deadline) {
  return ask(cluster, deadline, [&] { return try_write_marker(cluster, abort, deadline); });
}

}  // namespace ackord::ctl
