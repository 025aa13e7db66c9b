// DeleteGroups (key 42), versions 0-3: groups without members, each with all that it holds.
//   v2  flexible   v3 a text of the error
// A group that is named twice is deleted once and answered once. May: DELETE on the group.
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "broker/share/share_service.h"
#include "protocol/generated/delete_groups_request.h"
#include "protocol/generated/delete_groups_response.h"

namespace ackord::api {
namespace {

using protocol::DeleteGroupsRequest;
using protocol::DeleteGroupsResponse;
using GroupResult = DeleteGroupsResponse::DeletableGroupResult;

// A batch transaction that is not decided yet may still acknowledge (docs/PROTOCOL.md 1.5).
io::Task<Result<void>> check_no_batch_transaction(RequestContext& context, GroupId group) {
  auto counting = context.services.share.batch_transactions().live(std::move(group));
  const Result<int64_t> live = co_await std::move(counting);
  if (!live) co_return live.error();
  if (*live == 0) co_return Result<void>();
  co_return error(ErrorCode::NON_EMPTY_GROUP,
                  "The group has batch transactions that are neither committed nor aborted.");
}

io::Task<GroupResult> delete_one(RequestContext& context, GroupId group) {
  GroupResult out;
  out.group_id = group;
  out.error_message.reset();
  if (!Access(context).may_group(Operation::kDelete, group)) {
    out.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    co_return out;
  }
  auto checking = check_no_batch_transaction(context, group);
  const Result<void> checked = co_await std::move(checking);
  if (!checked) {
    out.error_code = checked.error().code;
    if (!checked.error().message.empty()) out.error_message = checked.error().message;
    co_return out;
  }
  auto deleting = context.services.group.delete_group(std::move(group));
  const Result<void> deleted = co_await std::move(deleting);
  if (deleted) co_return out;
  out.error_code = deleted.error().code;
  if (!deleted.error().message.empty()) out.error_message = deleted.error().message;
  co_return out;
}

}  // namespace

io::Task<DeleteGroupsResponse> handle(RequestContext& context, DeleteGroupsRequest request) {
  std::set<std::string_view> seen;
  std::vector<io::Task<GroupResult>> tasks;
  for (const GroupId& group : request.groups_names) {
    if (seen.insert(group.sv()).second) tasks.push_back(delete_one(context, group));
  }
  auto all = io::when_all(std::move(tasks));
  DeleteGroupsResponse response;
  response.results = co_await std::move(all);
  co_return response;
}

}  // namespace ackord::api
