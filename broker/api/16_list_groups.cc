// ListGroups (key 16), versions 0-5: groups of every kind.
//   v3  flexible   v4 states, and a filter by them (KIP-518)   v5 types, and a filter (KIP-848)
// A filter takes names in any case; none takes all, and a name that is none matches nothing. May:
// DESCRIBE on the cluster, or only the groups with DESCRIBE are listed.
#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/group/group_service.h"
#include "protocol/generated/list_groups_request.h"
#include "protocol/generated/list_groups_response.h"

namespace ackord::api {
namespace {

using protocol::ListGroupsRequest;
using protocol::ListGroupsResponse;

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

bool passes(const std::vector<String>& filter, std::string_view name) {
  return filter.empty() || std::any_of(filter.begin(), filter.end(), [name](const String& one) {
           return same_name(one.sv(), name);
         });
}

}  // namespace

io::Task<ListGroupsResponse> handle(RequestContext& context, ListGroupsRequest request) {
  auto listing = context.services.group.list_groups();
  const Result<std::vector<group::ListedGroup>> groups = co_await std::move(listing);
  ListGroupsResponse response;
  if (!groups) {
    response.error_code = groups.error().code;
    co_return response;
  }
  const Access access(context);
  const bool all =
      access.may_see(Operation::kDescribe, ResourceType::kCluster, metadata::kClusterName);
  for (const group::ListedGroup& group : *groups) {
    if (!all && !access.may_see(Operation::kDescribe, ResourceType::kGroup, group.group)) continue;
    if (!passes(request.states_filter, group.state)) continue;
    if (!passes(request.types_filter, group.type)) continue;
    auto& out = response.groups.emplace_back();
    out.group_id = group.group;
    out.protocol_type = String(group.protocol_type);
    out.group_state = String(group.state);
    out.group_type = String(group.type);
  }
  co_return response;
}

}  // namespace ackord::api
