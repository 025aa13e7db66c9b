// TxnOffsetCommit (key 28), versions 0-6: stages a group's offsets in a producer's transaction
// (KIP-98).
//   v2  leader epoch   v3  generation, member, instance (KIP-447); flexible   v4
//   TRANSACTION_ABORTABLE (KIP-890) v5  the broker adds the group's partition to the transaction
//   itself (transaction.version 2) v6  topic ids (KIP-1319), GROUP_ID_NOT_FOUND
// A partition that cannot be committed has its error, the others are staged together; a group's or
// a transaction's error stands at all of them. A fenced producer is INVALID_PRODUCER_EPOCH in all
// versions.
#include <utility>
#include <vector>

#include "broker/api/handlers.h"
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

// Where in the response an offset's error goes.
struct Place {
  size_t topic = 0;
  size_t partition = 0;
};
struct Plan {
  std::vector<group::OffsetToCommit> offsets;
  std::vector<Place> places;  // of the offsets, in order
};

ErrorCode check(const metadata::TopicImage& topic,
                const TxnOffsetCommitRequest::TxnOffsetCommitRequestPartition& offset,
                int32_t max_metadata_bytes) {
  if (offset.partition_index < 0 || offset.partition_index >= topic.partitions) {
    return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  }
  const bool too_large = offset.committed_metadata && offset.committed_metadata->size() >
                                                          static_cast<size_t>(max_metadata_bytes);
  return too_large ? ErrorCode::OFFSET_METADATA_TOO_LARGE : ErrorCode::NONE;
}

Plan plan(const RequestContext& context, const TxnOffsetCommitRequest& request,
          TxnOffsetCommitResponse& response) {
  const metadata::MetadataService& metadata = context.services.metadata;
  const bool by_id = context.api_version >= kFirstWithTopicIds;
  Plan plan;
  for (const auto& topic : request.topics) {
    if (topic.partitions.empty()) continue;
    auto& topic_out = response.topics.emplace_back();
    topic_out.name = topic.name;
    topic_out.topic_id = topic.topic_id;
    const auto known =
        by_id ? metadata.image().topic(topic.topic_id) : metadata.image().topic(topic.name);
    for (const auto& offset : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = offset.partition_index;
      if (!known) {
        out.error_code =
            by_id ? ErrorCode::UNKNOWN_TOPIC_ID : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
        continue;
      }
      out.error_code = check(*known, offset, metadata.broker_config().offset_metadata_max_bytes);
      if (out.error_code != ErrorCode::NONE) continue;
      plan.offsets.push_back(
          {known->name, known->id, offset.partition_index, offset.committed_offset,
           offset.committed_leader_epoch,
           offset.committed_metadata ? offset.committed_metadata->str() : std::string()});
      plan.places.push_back({response.topics.size() - 1, topic_out.partitions.size() - 1});
    }
  }
  return plan;
}

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
                          std::vector<group::OffsetToCommit> offsets) {
  // Only offsets outside transactions can be nobody's.
  if (request.group_id.empty()) co_return ErrorCode::INVALID_GROUP_ID;
  group::GroupService& groups = context.services.group;
  const log::ProducerStamp producer{request.producer_id, request.producer_epoch};
  if (context.services.txn.is_sealed(producer)) co_return ErrorCode::INVALID_PRODUCER_EPOCH;
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
  commit.commit.group = request.group_id;
  commit.commit.committer.generation_or_member_epoch = request.generation_id_or_member_epoch;
  commit.commit.committer.member = request.member_id.str();
  if (request.group_instance_id)
    commit.commit.committer.instance = request.group_instance_id->str();
  commit.commit.offsets = std::move(offsets);
  commit.commit.knows_group_id_not_found = context.api_version >= kFirstWithTopicIds;
  auto committing = groups.txn_offset_commit(std::move(commit), *guard);
  const ErrorCode committed = co_await std::move(committing);
  co_return committed;
}

}  // namespace

io::Task<TxnOffsetCommitResponse> handle(RequestContext& context, TxnOffsetCommitRequest request) {
  TxnOffsetCommitResponse response;
  Plan planned = plan(context, request, response);
  if (planned.offsets.empty()) co_return response;
  auto staging = stage(context, request, std::move(planned.offsets));
  const ErrorCode error = co_await std::move(staging);
  for (const Place& place : planned.places)
    response.topics[place.topic].partitions[place.partition].error_code = error;
  co_return response;
}

}  // namespace ackord::api
