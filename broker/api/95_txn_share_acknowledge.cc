// TxnShareAcknowledge (key 95), version 0 (KIP-1289; docs/PROTOCOL.md 1.1): stages share
// acknowledgements in a producer's transaction. The comments below number the protocol's steps;
// their order is part of it. A failure for good after step 2 dooms the transaction before it is
// answered, so that a commit cannot leave records out (1.3); a failure that a retry may cure does
// not. May: WRITE on the transactional id, READ on the group and on each topic.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/api/staging_plan.h"
#include "broker/base/planted_bug.h"
#include "broker/group/group_service.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/txn_share_acknowledge_request.h"
#include "protocol/generated/txn_share_acknowledge_response.h"

namespace ackord::api {
namespace {

using protocol::TxnShareAcknowledgeRequest;
using protocol::TxnShareAcknowledgeResponse;

struct Staging {
  txn::TxnIdentity who;
  std::optional<TimeMs> start;
  GroupId group;
  std::string member;
  int32_t member_epoch;
  share::Owner owner;
};

// Steps 5 to 8 for the good partitions. The answer is the top-level error.
io::Task<ErrorCode> stage(RequestContext& context, const Staging& staging, StagingPlan& plan) {
  Services& services = context.services;
  auto placing = services.share.state_partitions(staging.group, plan.names());
  const Result<std::vector<int32_t>> state_partitions = co_await std::move(placing);
  if (!state_partitions) co_return state_partitions.error().code;

  // 5. Ownership is per record, so an older epoch of the same member will do; a retry of what is
  // staged needs no member.
  auto checking =
      services.group.check_share_member(staging.group, staging.member, staging.member_epoch);
  const ErrorCode member = co_await std::move(checking);
  if (member != ErrorCode::NONE) {
    auto asking = services.share.already_staged(staging.group, staging.owner, plan.good);
    const bool staged = co_await std::move(asking);
    if (!staged) {
      if (is_for_good(member)) plan.dooms = true;
      co_return member;
    }
  }
  // 6. Only then the guard: a marker that is still under way must not void it.
  const bool guard_first = base::planted(base::PlantedBug::kGuardBeforeWait);
  auto settling = services.txn.settle(staging.who.id);
  if (!guard_first) co_await std::move(settling);
  auto guarding = services.share.take_guards({staging.who.producer.id, {}, {}}, *state_partitions);
  Result<share::Guards> guards = co_await std::move(guarding);
  if (!guards) co_return guards.error().code;
  if (guard_first) co_await std::move(settling);

  // 7. The state partitions join the transaction; durable before anything is staged.
  std::vector<TopicPartition> participants;
  for (const auto& [index, guard] : *guards) {
    participants.push_back({TopicName(std::string(metadata::kShareStateTopic)), index});
  }
  auto enlisting = services.txn.enlist(staging.who, staging.start, std::move(participants));
  const txn::EnlistReply enlisted = co_await std::move(enlisting);
  if (enlisted.error != ErrorCode::NONE) co_return enlisted.error;

  // 8. A successor may have been told of the transaction meanwhile: then nothing joins it any more.
  share::StageCheck check = [&txn = services.txn, producer = staging.who.producer] {
    return txn.is_sealed(producer) ? ErrorCode::PRODUCER_FENCED : ErrorCode::NONE;
  };
  auto running = services.share.stage(staging.group, staging.owner, staging.member,
                                      std::move(*guards), std::move(plan.good), std::move(check));
  std::vector<share::Stage::PartitionReply> replies = co_await std::move(running);
  plan.take(std::move(replies));
  co_return ErrorCode::NONE;
}

}  // namespace

io::Task<TxnShareAcknowledgeResponse> handle(RequestContext& context,
                                             TxnShareAcknowledgeRequest request) {
  TxnShareAcknowledgeResponse response;
  // 1.
  if (share_version(context.services.metadata) < kShareVersionTransactions) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  // 2.
  if (request.group_id.empty() || !request.transactional_id || request.transactional_id->empty() ||
      !valid_share_member(request.member_id)) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  // 3.
  const Access access(context);
  if (!access.may_transaction(Operation::kWrite, *request.transactional_id)) {
    response.error_code = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    co_return response;
  }
  const bool may_group = access.may_group(Operation::kRead, request.group_id);
  Staging staging;
  staging.who = {*request.transactional_id, {request.producer_id, request.producer_epoch}};
  if (request.transaction_start_time_ms >= 0) staging.start = request.transaction_start_time_ms;
  staging.group = request.group_id;
  staging.member = request.member_id.str();
  staging.member_epoch = request.member_epoch;
  staging.owner = {request.producer_id, request.producer_epoch,
                   TransactionalId(*request.transactional_id), 0};
  // 3, 4.
  StagingPlan plan = StagingPlan::of(context.services.metadata.image(), access, request);
  if (!may_group) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    plan.dooms = true;
  } else if (!plan.good.empty()) {
    auto staging_task = stage(context, staging, plan);
    response.error_code = co_await std::move(staging_task);
  }
  if (plan.dooms && !base::planted(base::PlantedBug::kNothingDooms)) {
    auto dooming = context.services.txn.doom(staging.who, staging.start);
    const ErrorCode doomed = co_await std::move(dooming);
    // Not yet: a retry learns the real error, once the transaction cannot commit any more.
    if (doomed != ErrorCode::NONE) response.error_code = doomed;
  }
  // 9. A top-level error says that nothing is staged; the partitions' own errors only then mean
  // something without it.
  if (response.error_code == ErrorCode::NONE) plan.answer(request, response);
  co_return response;
}

}  // namespace ackord::api
