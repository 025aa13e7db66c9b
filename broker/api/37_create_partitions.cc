// CreatePartitions (key 37), versions 0-3: topics grow, and never shrink (KIP-195).
//   v2  flexible
// Each topic on its own; one that is named twice fails once. May: ALTER on the topic.
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/throttling.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/create_partitions_request.h"
#include "protocol/generated/create_partitions_response.h"

namespace ackord::api {

using protocol::CreatePartitionsRequest;
using protocol::CreatePartitionsResponse;

namespace {

constexpr int16_t kFirstWithStrictQuota = 3;

// Whether the quota of mutations allows it; what cannot be done anyhow does not count.
bool take(const RequestContext& context, Mutations& mutations,
          const CreatePartitionsRequest::CreatePartitionsTopic& asked) {
  const auto topic = context.services.metadata.image().topic(asked.name);
  return !topic || asked.count <= topic->partitions ||
         mutations.take(asked.count - topic->partitions);
}

}  // namespace

io::Task<CreatePartitionsResponse> handle(RequestContext& context,
                                          CreatePartitionsRequest request) {
  std::map<std::string_view, int> count;
  for (const auto& topic : request.topics) ++count[topic.name.sv()];
  auto counting = mutations_of(context, context.api_version >= kFirstWithStrictQuota);
  Mutations mutations = co_await std::move(counting);
  const Access access(context);
  CreatePartitionsResponse response;
  for (const auto& topic : request.topics) {
    int& times = count[topic.name.sv()];
    if (times == 0) continue;
    Result<void> grown = error(ErrorCode::INVALID_REQUEST, "Duplicate topic name.");
    const bool once = std::exchange(times, 0) == 1;
    if (once && !access.may_topic(Operation::kAlter, topic.name.sv())) {
      grown = error(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
    } else if (once && !take(context, mutations, topic)) {
      grown = error(ErrorCode::THROTTLING_QUOTA_EXCEEDED, kMutationsExceeded);
    } else if (once) {
      metadata::GrowTopic grow{topic.name, topic.count, std::nullopt};
      if (topic.assignments) {
        grow.assignments.emplace();
        for (const auto& one : *topic.assignments) grow.assignments->push_back(one.broker_ids);
      }
      auto growing = context.services.metadata.grow_topic(std::move(grow), request.validate_only);
      grown = co_await std::move(growing);
    }
    auto& out = response.results.emplace_back();
    out.name = topic.name;
    out.error_message.reset();
    if (grown) continue;
    out.error_code = grown.error().code;
    if (!grown.error().message.empty()) out.error_message = grown.error().message;
  }
  throttle(context, response, mutations.throttle_ms());
  co_return response;
}

}  // namespace ackord::api
