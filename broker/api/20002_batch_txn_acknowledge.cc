// BatchTxnAcknowledge (key 20002), version 0 (Ackord's; docs/PROTOCOL.md part 2, "Stage"): stages
// share acknowledgements in a batch transaction. The steps and their order are those of
// TxnShareAcknowledge (95_txn_share_acknowledge.cc), with the group's coordinator of batch
// transactions in place of the transaction coordinator.
#include <set>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/batch_txn_requests.h"
#include "broker/api/handlers.h"
#include "broker/api/staging_plan.h"
#include "broker/base/planted_bug.h"
#include "broker/group/group_service.h"
#include "broker/share/share_service.h"
#include "protocol/generated/batch_txn_acknowledge_request.h"
#include "protocol/generated/batch_txn_acknowledge_response.h"

namespace ackord::api {
namespace {

using protocol::BatchTxnAcknowledgeRequest;
using protocol::BatchTxnAcknowledgeResponse;

struct Staging {
  share::BatchTxnId id;
  std::string member;
  int32_t member_epoch = 0;
};

share::PartitionError top_level(const Error& error) { return {error.code, error.message}; }

// Steps 5 to 8 for the good partitions. The answer is the top-level error.
io::Task<share::PartitionError> stage(RequestContext& context, const Staging& staging,
                                      StagingPlan& plan) {
  Services& services = context.services;
  const GroupId& group = staging.id.group_id;
  auto placing = services.share.state_partitions(group, plan.names());
  const Result<std::vector<int32_t>> placed = co_await std::move(placing);
  if (!placed) co_return top_level(placed.error());

  auto checking = services.group.check_share_member(group, staging.member, staging.member_epoch);
  const ErrorCode member = co_await std::move(checking);
  if (member != ErrorCode::NONE) {
    auto asking = services.share.already_staged(group, staging.id.owner(), plan.good);
    const bool staged = co_await std::move(asking);
    if (!staged) {
      if (is_for_good(member)) plan.dooms = true;
      co_return share::PartitionError{member, {}};
    }
  }
  // The guards first: a closing after them voids them, one before them refuses the enlisting.
  share::OwnerId owner{ProducerId(-1), group, staging.id.transaction_id};
  auto guarding = services.share.take_guards(std::move(owner), *placed);
  Result<share::Guards> guards = co_await std::move(guarding);
  if (!guards) co_return top_level(guards.error());

  const std::set<int32_t> participants(placed->begin(), placed->end());
  auto enlisting = services.share.batch_transactions().enlist(
      staging.id, std::vector<int32_t>(participants.begin(), participants.end()));
  share::PartitionError enlisted = co_await std::move(enlisting);
  if (!enlisted.ok()) co_return enlisted;

  auto running = services.share.stage(group, staging.id.owner(), staging.member, std::move(*guards),
                                      std::move(plan.good), share::StageCheck());
  std::vector<share::Stage::PartitionReply> replies = co_await std::move(running);
  plan.take(std::move(replies));
  co_return share::PartitionError();
}

}  // namespace

io::Task<BatchTxnAcknowledgeResponse> handle(RequestContext& context,
                                             BatchTxnAcknowledgeRequest request) {
  BatchTxnAcknowledgeResponse response;
  response.error_code = check_batch_request(context, request);
  if (response.error_code == ErrorCode::NONE && !valid_share_member(request.member_id))
    response.error_code = ErrorCode::INVALID_REQUEST;
  if (response.error_code != ErrorCode::NONE) co_return response;
  Staging staging;
  staging.id = batch_txn_id(request);
  staging.member = request.member_id.str();
  staging.member_epoch = request.member_epoch;
  const Access access(context);
  StagingPlan plan = StagingPlan::of(context.services.metadata.image(), access, request);
  share::PartitionError error{check_batch_group(context, request), {}};
  if (!error.ok()) {
    plan.dooms = true;
  } else if (!plan.good.empty()) {
    auto staging_task = stage(context, staging, plan);
    error = co_await std::move(staging_task);
  }
  if (plan.dooms && !base::planted(base::PlantedBug::kNothingDooms)) {
    auto dooming = context.services.share.batch_transactions().doom(staging.id);
    const ErrorCode doomed = co_await std::move(dooming);
    // Not yet: a retry learns the real error, once the transaction cannot be prepared any more.
    if (doomed != ErrorCode::NONE) error = {doomed, {}};
  }
  response.error_code = error.error_code;
  set_message(response.error_message, error.error_message);
  if (error.ok()) plan.answer(request, response);
  co_return response;
}

}  // namespace ackord::api
