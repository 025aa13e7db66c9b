// TxnOffsetCommit (key 28), versions 0-6: stages a group's offsets in a producer's transaction
// (KIP-98).
//   v2  leader epoch   v3  generation, member, instance (KIP-447); flexible   v4
//   TRANSACTION_ABORTABLE (KIP-890) v5  the broker adds the group's partition to the transaction
//   itself (transaction.version 2) v6  topic ids (KIP-1319), GROUP_ID_NOT_FOUND
// A partition that cannot be committed has its error, the others are staged together; a group's or
// a transaction's error stands at all of them. A fenced producer is INVALID_PRODUCER_EPOCH in all
// versions. May: WRITE on the transactional id, READ on the group and on each topic.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/offsets_to_commit.h"
#include "broker/group/group_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"

namespace ackord::api {
namespace {

using protocol::TxnOffsetCommitRequest;
using protocol::TxnOffsetCommitResponse;

constexpr int16_t kFirstWithTransactionAbortable = 4;
constexpr int16_t kFirstThatAddsPartitions = 5;
constexpr int16_t kFirstWithTopicIds = 6;

// What a transaction's refusal becomes here (semantics C.4).
ErrorCode transaction_error(ErrorCode error, int16_t version) {
  switch (error) {
    case ErrorCode::PRODUCER_FENCED: return ErrorCode::INVALID_PRODUCER_EPOCH;
    case ErrorCode::TRANSACTION_ABORTABLE:
      return version >= kFirstWithTransactionAbortable ? error : ErrorCode::INVALID_TXN_STATE;
    default: return error;
  }
}

// Sees to it that the group's partition is in the producer's open transaction: adds it (v5) or asks
// (older).
io::Task<ErrorCode> join_transaction(RequestContext& context, txn::TxnIdentity who,
                                     TopicPartition partition) {
  const metadata::MetadataService& metadata = context.services.metadata;
  std::vector<TopicPartition> partitions{std::move(partition)};
  ErrorCode error = ErrorCode::NONE;
  if (context.api_version >= kFirstThatAddsPartitions &&
      metadata.image().features().level("transaction.version") >= 2) {
    auto adding = context.services.txn.add_partitions(std::move(who), std::move(partitions),
                                                      txn::ClientTransactionVersion::kV2);
    error = co_await std::move(adding);
  } else if (metadata.broker_config().transaction_partition_verification_enable) {
    auto verifying = context.services.txn.verify(std::move(who), std::move(partitions));
    const std::vector<std::pair<TopicPartition, ErrorCode>> verified =
        co_await std::move(verifying);
    for (const auto& [unused, code] : verified) error = code;
  }
  co_return transaction_error(error, context.api_version);
}

io::Task<ErrorCode> stage(RequestContext& context, const TxnOffsetCommitRequest& request,
                          group::OffsetsToCommit offsets) {
  // Only offsets outside transactions can be nobody's.
  if (request.group_id.empty()) co_return ErrorCode::INVALID_GROUP_ID;
  group::GroupService& groups = context.services.group;
  const log::ProducerStamp producer{request.producer_id, request.producer_epoch};
  // The guard comes before the look at the transaction: a marker after that look voids it.
  auto beginning = groups.begin_txn_offset_commit(request.group_id, producer);
  const Result<std::optional<uint64_t>> guard = co_await std::move(beginning);
  if (!guard) co_return guard.error().code;
  if (*guard) {
    auto placing = groups.partition_of(request.group_id);
    const Result<int32_t> at = co_await std::move(placing);
    if (!at) co_return at.error().code;
    auto joining = join_transaction(context, txn::TxnIdentity{request.transactional_id, producer},
                                    TopicPartition{TopicName(metadata::kOffsetsTopic), *at});
    const ErrorCode joined = co_await std::move(joining);
    if (joined != ErrorCode::NONE) co_return joined;
  }
  group::TxnOffsetCommit commit;
  commit.transactional_id = request.transactional_id;
  commit.producer = producer;
  commit.commit = std::move(offsets);
  // A successor may have been told of the transaction meanwhile: then nothing joins it any more.
  group::CommitCheck check = [&txn = context.services.txn, producer] {
    return txn.is_sealed(producer) ? ErrorCode::INVALID_PRODUCER_EPOCH : ErrorCode::NONE;
  };
  auto committing = groups.txn_offset_commit(std::move(commit), *guard, std::move(check));
  const ErrorCode committed = co_await std::move(committing);
  co_return committed;
}

}  // namespace

io::Task<TxnOffsetCommitResponse> handle(RequestContext& context, TxnOffsetCommitRequest request) {
  TxnOffsetCommitResponse response;
  const bool by_id = context.api_version >= kFirstWithTopicIds;
  const Access access(context);
  if (!access.may_transaction(Operation::kWrite, request.transactional_id)) {
    refuse_all(request, ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED, response);
    co_return response;
  }
  if (!access.may_group(Operation::kRead, request.group_id)) {
    refuse_all(request, ErrorCode::GROUP_AUTHORIZATION_FAILED, response);
    co_return response;
  }
  OffsetPlan plan = plan_offsets(context.services.metadata, access, request, by_id, response);
  if (plan.places.empty()) co_return response;
  // The version that brought topic ids brought GROUP_ID_NOT_FOUND, too.
  auto staging = stage(context, request, commit_of(request, plan, by_id));
  const ErrorCode error = co_await std::move(staging);
  answer_all(plan, error, response);
  co_return response;
}

}  // namespace ackord::api
