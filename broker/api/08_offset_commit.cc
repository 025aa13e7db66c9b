// OffsetCommit (key 8), versions 2-10: a group's offsets, outside any transaction.
//   v2-4 retention time (later the group's retention applies: KIP-211)   v6 leader epoch
//   v7   instance id (KIP-345)   v8 flexible   v9 members of KIP-848 groups, GROUP_ID_NOT_FOUND
//   v10  topic ids (KIP-848)
// A partition that cannot be committed has its error, the others are committed together; a group's
// error stands at all partitions that exist. May: READ on the group and on each topic.
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/offsets_to_commit.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"

namespace ackord::api {
namespace {

using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;

constexpr int16_t kFirstWithGroupIdNotFound = 9;
constexpr int16_t kFirstWithTopicIds = 10;
constexpr int64_t kDefaultRetention = -1;

}  // namespace

io::Task<OffsetCommitResponse> handle(RequestContext& context, OffsetCommitRequest request) {
  OffsetCommitResponse response;
  const Access access(context);
  if (!access.may_group(Operation::kRead, request.group_id)) {
    refuse_all(request, ErrorCode::GROUP_AUTHORIZATION_FAILED, response);
    co_return response;
  }
  OffsetPlan plan = plan_offsets(context.services.metadata, access, request,
                                 context.api_version >= kFirstWithTopicIds, response);
  if (plan.places.empty()) co_return response;
  auto commit = commit_of(request, plan, context.api_version >= kFirstWithGroupIdNotFound);
  if (request.retention_time_ms != kDefaultRetention)
    commit.retention_ms = request.retention_time_ms;
  auto committing = context.services.group.commit_offsets(std::move(commit));
  const ErrorCode error = co_await std::move(committing);
  answer_all(plan, error, response);
  co_return response;
}

}  // namespace ackord::api
