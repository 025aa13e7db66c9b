// DeleteShareGroupOffsets (key 92), version 0 (KIP-932): a share group without members forgets
// topics, and begins there anew when it subscribes again. A topic that is named twice has one
// result. NON_EMPTY_GROUP of a topic: a transaction holds records of it (docs/PROTOCOL.md 1.5).
// May: DELETE on the group, READ on each topic.
#include <set>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "protocol/generated/delete_share_group_offsets_request.h"
#include "protocol/generated/delete_share_group_offsets_response.h"

namespace ackord::api {

using protocol::DeleteShareGroupOffsetsRequest;
using protocol::DeleteShareGroupOffsetsResponse;

io::Task<DeleteShareGroupOffsetsResponse> handle(RequestContext& context,
                                                 DeleteShareGroupOffsetsRequest request) {
  DeleteShareGroupOffsetsResponse response;
  if (share_version(context.services.metadata) < kShareVersionGroups) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  const Access access(context);
  if (!access.may_group(Operation::kDelete, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  if (request.group_id.empty()) {
    response.error_code = ErrorCode::INVALID_GROUP_ID;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  std::vector<Uuid> ids;       // zero, which no group holds, for a topic that is not there
  std::vector<size_t> places;  // of the ids in the response
  std::set<std::string_view> seen;
  for (const auto& topic : request.topics) {
    if (!seen.insert(topic.topic_name.sv()).second) continue;
    auto& out = response.responses.emplace_back();
    out.topic_name = topic.topic_name;
    if (!access.may_topic(Operation::kRead, topic.topic_name.sv())) {
      out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
      out.error_message = String(kafka_text(out.error_code));
      continue;
    }
    const auto image = context.services.metadata.image().topic(topic.topic_name);
    ids.push_back(image ? image->id : Uuid());
    places.push_back(response.responses.size() - 1);
  }
  if (ids.empty() && !response.responses.empty()) co_return response;
  auto deleting = context.services.group.delete_share_offsets(request.group_id, ids);
  const group::DeletedShareOffsets deleted = co_await std::move(deleting);
  if (deleted.error != ErrorCode::NONE) {
    response.responses.clear();
    response.error_code = deleted.error;
    set_message(response.error_message, deleted.message);
    co_return response;
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    auto& out = response.responses[places[i]];
    out.error_code = deleted.topics[i];
    if (out.error_code == ErrorCode::NONE) {
      out.topic_id = ids[i];
    } else {
      out.error_message = String(kafka_text(out.error_code));
    }
  }
  co_return response;
}

}  // namespace ackord::api
