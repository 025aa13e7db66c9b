// AddShareAcksToTxn (key 20000), version 0 (Ackord's; docs/PROTOCOL.md 0 and 1.1 step 7): the state
// partitions of these source partitions join the producer's transaction, as AddOffsetsToTxn does
// for a group's offsets. Answers the start of the transaction, which a client repeats with each
// stage, so that a delayed one cannot join the next transaction.
#include <set>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/add_share_acks_to_txn_request.h"
#include "protocol/generated/add_share_acks_to_txn_response.h"

namespace ackord::api {
namespace {

using protocol::AddShareAcksToTxnRequest;
using protocol::AddShareAcksToTxnResponse;

// Answers each partition, and collects those that exist.
std::vector<TopicIdPartition> check_partitions(RequestContext& context,
                                               const AddShareAcksToTxnRequest& request,
                                               AddShareAcksToTxnResponse& response) {
  const metadata::MetadataImage& image = context.services.metadata.image();
  const Access access(context);
  std::vector<TopicIdPartition> good;
  for (const auto& topic : request.topics) {
    auto& topic_out = response.topics.emplace_back();
    topic_out.topic_id = topic.topic_id;
    const auto known = image.topic(topic.topic_id);
    const bool may = !known || access.may_topic(Operation::kRead, known->name.sv());
    for (const int32_t partition : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = partition;
      if (!known) {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_ID;
      } else if (!may) {
        out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
      } else if (partition < 0 || partition >= known->partitions) {
        out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
      } else {
        good.push_back({topic.topic_id, partition});
      }
    }
  }
  return good;
}

}  // namespace

io::Task<AddShareAcksToTxnResponse> handle(RequestContext& context,
                                           AddShareAcksToTxnRequest request) {
  AddShareAcksToTxnResponse response;
  if (share_version(context.services.metadata) < kShareVersionTransactions) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  if (request.group_id.empty() || request.transactional_id.empty()) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  const Access access(context);
  if (!access.may_transaction(Operation::kWrite, request.transactional_id)) {
    response.error_code = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
  } else if (!access.may_group(Operation::kRead, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
  }
  if (response.error_code != ErrorCode::NONE) co_return response;
  std::vector<TopicIdPartition> good = check_partitions(context, request, response);
  if (good.empty()) co_return response;
  auto placing = context.services.share.state_partitions(request.group_id, std::move(good));
  const Result<std::vector<int32_t>> placed = co_await std::move(placing);
  if (!placed) {
    response.error_code = placed.error().code;
    co_return response;
  }
  std::vector<TopicPartition> participants;
  for (const int32_t index : std::set<int32_t>(placed->begin(), placed->end())) {
    participants.push_back({TopicName(std::string(metadata::kShareStateTopic)), index});
  }
  auto settling = context.services.txn.settle(request.transactional_id);
  co_await std::move(settling);
  std::optional<TimeMs> start;
  if (request.transaction_start_time_ms >= 0) start = request.transaction_start_time_ms;
  txn::TxnIdentity who{request.transactional_id, {request.producer_id, request.producer_epoch}};
  auto enlisting = context.services.txn.enlist(std::move(who), start, std::move(participants));
  const txn::EnlistReply reply = co_await std::move(enlisting);
  response.error_code = reply.error;
  set_message(response.error_message, reply.message);
  response.transaction_start_time_ms = reply.start_time_ms;
  co_return response;
}

}  // namespace ackord::api
