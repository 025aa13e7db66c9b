// AddPartitionsToTxn (key 24), versions 0-5.
//   v0-3 from clients: one transaction. v2 PRODUCER_FENCED   v3 flexible
//   v4   from brokers: many transactions, each to be added to or only to be verified (KIP-890)   v5
//   TRANSACTION_ABORTABLE
// All partitions of a transaction or none: next to one that is refused, the good ones are
// OPERATION_NOT_ATTEMPTED. Clients may not add state topics; brokers do (`__consumer_offsets`).
// May: WRITE on the transactional id and on each topic; brokers CLUSTER_ACTION.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/producer_errors.h"
#include "broker/metadata/metadata_service.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_response.h"

namespace ackord::api {
namespace {

using Request = protocol::AddPartitionsToTxnRequest;
using Response = protocol::AddPartitionsToTxnResponse;

constexpr int16_t kFirstWithProducerFenced = 2;
constexpr int16_t kFirstFromBrokers = 4;

enum class Caller { kClient, kBroker };

// The partitions of one transaction in the order of the request, and what each is answered.
struct Partitions {
  std::vector<TopicPartition> names;
  std::vector<ErrorCode> errors;
  bool refused = false;  // before the coordinator was asked

  void answer_all(ErrorCode code) { std::fill(errors.begin(), errors.end(), code); }
  void refuse_all(ErrorCode code) {
    answer_all(code);
    refused = true;
  }
};

ErrorCode check(const metadata::MetadataImage& image, const Access& access,
                const TopicPartition& partition, Caller caller) {
  if (caller == Caller::kClient && (metadata::is_internal(partition.topic) ||
                                    !access.may_topic(Operation::kWrite, partition.topic.sv()))) {
    return ErrorCode::TOPIC_AUTHORIZATION_FAILED;
  }
  const auto topic = image.topic(partition.topic.sv());
  const bool known = topic && partition.partition >= 0 && partition.partition < topic->partitions;
  return known ? ErrorCode::NONE : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
}

Partitions collect(const std::vector<Request::AddPartitionsToTxnTopic>& topics,
                   const RequestContext& context, Caller caller) {
  const metadata::MetadataImage& image = context.services.metadata.image();
  const Access access(context);
  Partitions partitions;
  for (const auto& topic : topics) {
    for (const int32_t index : topic.partitions) {
      partitions.names.push_back({topic.name, index});
      partitions.errors.push_back(check(image, access, partitions.names.back(), caller));
    }
  }
  return partitions;
}

// False when one of them is refused; the others are answered then.
bool all_good(Partitions& partitions) {
  const auto good = [](ErrorCode code) { return code == ErrorCode::NONE; };
  if (std::all_of(partitions.errors.begin(), partitions.errors.end(), good)) return true;
  std::replace(partitions.errors.begin(), partitions.errors.end(), ErrorCode::NONE,
               ErrorCode::OPERATION_NOT_ATTEMPTED);
  partitions.refused = true;
  return false;
}

// Where a partition was refused, each is named once, whatever the request did; what has none is not
// named (as Kafka).
std::vector<Response::AddPartitionsToTxnTopicResult> refusals(const Partitions& partitions) {
  std::map<std::string_view, std::map<int32_t, ErrorCode>> by_topic;
  for (size_t i = 0; i < partitions.names.size(); ++i) {
    by_topic[partitions.names[i].topic.sv()][partitions.names[i].partition] = partitions.errors[i];
  }
  std::vector<Response::AddPartitionsToTxnTopicResult> answered;
  for (const auto& [name, errors] : by_topic) {
    auto& result = answered.emplace_back();
    result.name = TopicName(name);
    for (const auto& [index, code] : errors) result.results_by_partition.push_back({index, code});
  }
  return answered;
}

std::vector<Response::AddPartitionsToTxnTopicResult> results(
    const std::vector<Request::AddPartitionsToTxnTopic>& topics, const Partitions& partitions) {
  if (partitions.refused) return refusals(partitions);
  std::vector<Response::AddPartitionsToTxnTopicResult> answered;
  size_t at = 0;
  for (const auto& topic : topics) {
    auto& result = answered.emplace_back();
    result.name = topic.name;
    for (const int32_t index : topic.partitions) {
      result.results_by_partition.push_back({index, partitions.errors[at++]});
    }
  }
  return answered;
}

io::Task<Response::AddPartitionsToTxnResult> from_broker(
    RequestContext& context, Request::AddPartitionsToTxnTransaction transaction) {
  Response::AddPartitionsToTxnResult result;
  result.transactional_id = transaction.transactional_id;
  Partitions partitions = collect(transaction.topics, context, Caller::kBroker);
  if (all_good(partitions)) {
    txn::TxnIdentity who{transaction.transactional_id,
                         {transaction.producer_id, transaction.producer_epoch}};
    if (transaction.verify_only) {
      auto verifying = context.services.txn.verify(std::move(who), partitions.names);
      const auto verified = co_await std::move(verifying);
      for (size_t i = 0; i < verified.size(); ++i) partitions.errors[i] = verified[i].second;
    } else {
      auto adding = context.services.txn.add_partitions(std::move(who), partitions.names,
                                                        txn::ClientTransactionVersion::kV2);
      const ErrorCode code = co_await std::move(adding);
      partitions.answer_all(code);
    }
  }
  result.topic_results = results(transaction.topics, partitions);
  co_return result;
}

}  // namespace

io::Task<Response> handle(RequestContext& context, Request request) {
  Response response;
  const Access access(context);
  if (context.api_version >= kFirstFromBrokers) {
    if (!access.may_cluster(Operation::kClusterAction)) {
      response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
      co_return response;
    }
    if (request.transactions.empty()) co_return response;
    std::vector<io::Task<Response::AddPartitionsToTxnResult>> tasks;
    tasks.reserve(request.transactions.size());
    for (auto& transaction : request.transactions)
      tasks.push_back(from_broker(context, std::move(transaction)));
    auto all = io::when_all(std::move(tasks));
    response.results_by_transaction = co_await std::move(all);
    co_return response;
  }
  const auto& topics = request.v3_and_below_topics;
  Partitions partitions = collect(topics, context, Caller::kClient);
  if (!access.may_transaction(Operation::kWrite, request.v3_and_below_transactional_id)) {
    partitions.refuse_all(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
  } else if (all_good(partitions)) {
    txn::TxnIdentity who{request.v3_and_below_transactional_id,
                         {request.v3_and_below_producer_id, request.v3_and_below_producer_epoch}};
    auto adding = context.services.txn.add_partitions(std::move(who), partitions.names,
                                                      txn::ClientTransactionVersion::kV0);
    const ErrorCode code = co_await std::move(adding);
    partitions.answer_all(producer_error(code, context.api_version, kFirstWithProducerFenced));
  }
  response.results_by_topic_v3_and_below = results(topics, partitions);
  co_return response;
}

}  // namespace ackord::api
