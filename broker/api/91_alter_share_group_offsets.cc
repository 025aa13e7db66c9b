// AlterShareGroupOffsets (key 91), version 0 (KIP-932): where a share group without members begins
// in its partitions. Makes the group if need be. NON_EMPTY_GROUP of a partition: a transaction
// holds records of it (docs/PROTOCOL.md 1.5). May: READ on the group and on each topic.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "protocol/generated/alter_share_group_offsets_request.h"
#include "protocol/generated/alter_share_group_offsets_response.h"

namespace ackord::api {
namespace {

using protocol::AlterShareGroupOffsetsRequest;
using protocol::AlterShareGroupOffsetsResponse;

void set_partition_error(
    AlterShareGroupOffsetsResponse::AlterShareGroupOffsetsResponsePartition& out, ErrorCode code) {
  out.error_code = code;
  if (code != ErrorCode::NONE) out.error_message = String(kafka_text(code));
}

}  // namespace

io::Task<AlterShareGroupOffsetsResponse> handle(RequestContext& context,
                                                AlterShareGroupOffsetsRequest request) {
  AlterShareGroupOffsetsResponse response;
  if (share_version(context.services.metadata) < kShareVersionGroups) {
    response.error_code = ErrorCode::UNSUPPORTED_VERSION;
    co_return response;
  }
  const Access access(context);
  if (!access.may_group(Operation::kRead, request.group_id)) {
    response.error_code = ErrorCode::GROUP_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  if (request.group_id.empty()) {
    response.error_code = ErrorCode::INVALID_GROUP_ID;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  std::vector<group::ShareOffset> offsets;
  std::vector<std::pair<size_t, size_t>> places;
  for (const auto& topic : request.topics) {
    auto& topic_out = response.responses.emplace_back();
    topic_out.topic_name = topic.topic_name;
    const bool may = access.may_topic(Operation::kRead, topic.topic_name.sv());
    const auto image = may ? context.services.metadata.image().topic(topic.topic_name) : nullptr;
    if (image) topic_out.topic_id = image->id;
    for (const auto& partition : topic.partitions) {
      const int32_t index = partition.partition_index;
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = index;
      if (!may) {
        set_partition_error(out, ErrorCode::TOPIC_AUTHORIZATION_FAILED);
        continue;
      }
      if (!image || index < 0 || index >= image->partitions) {
        set_partition_error(out, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
        continue;
      }
      places.emplace_back(response.responses.size() - 1, topic_out.partitions.size() - 1);
      offsets.push_back({image->name, {image->id, index}, partition.start_offset});
    }
  }
  auto altering = context.services.group.alter_share_offsets(request.group_id, std::move(offsets));
  const group::AlteredShareOffsets altered = co_await std::move(altering);
  if (altered.error != ErrorCode::NONE) {
    response.responses.clear();
    response.error_code = altered.error;
    set_message(response.error_message, altered.message);
    co_return response;
  }
  for (size_t i = 0; i < altered.partitions.size(); ++i) {
    auto& topic = response.responses[places[i].first];
    set_partition_error(topic.partitions[places[i].second], altered.partitions[i]);
  }
  co_return response;
}

}  // namespace ackord::api
