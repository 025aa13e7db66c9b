// AlterPartitionReassignments (key 45), versions 0-1: on one node a partition can only be where it
// is.
//   v1  a change of the replication factor may be forbidden (KIP-860)
// May: ALTER on the cluster; a denial is said at the top and at each partition.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "broker/metadata/topic_rules.h"
#include "protocol/generated/alter_partition_reassignments_request.h"
#include "protocol/generated/alter_partition_reassignments_response.h"

namespace ackord::api {
namespace {

using protocol::AlterPartitionReassignmentsRequest;
using protocol::AlterPartitionReassignmentsResponse;
using Partition = AlterPartitionReassignmentsRequest::ReassignablePartition;

Result<void> check(const metadata::TopicImage* topic, const TopicName& name,
                   const Partition& partition, BrokerId node) {
  if (topic == nullptr) {
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                 fmt::format("Unable to find a topic named {}.", name.sv()));
  }
  if (partition.partition_index < 0 || partition.partition_index >= topic->partitions) {
    return error(
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        fmt::format("Unable to find partition {}:{}.", name.sv(), partition.partition_index));
  }
  if (!partition.replicas) return error(ErrorCode::NO_REASSIGNMENT_IN_PROGRESS);
  if (std::optional<std::string> fault = metadata::replicas_fault(*partition.replicas, node))
    return error(ErrorCode::INVALID_REPLICA_ASSIGNMENT, std::move(*fault));
  return {};
}

}  // namespace

io::Task<AlterPartitionReassignmentsResponse> handle(RequestContext& context,
                                                     AlterPartitionReassignmentsRequest request) {
  const metadata::MetadataService& service = context.services.metadata;
  AlterPartitionReassignmentsResponse response;
  response.error_message.reset();
  const bool may = Access(context).may_cluster(Operation::kAlter);
  if (!may) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
  }
  response.allow_replication_factor_change = request.allow_replication_factor_change;
  for (const auto& topic : request.topics) {
    const auto known = service.image().topic(topic.name);
    auto& topic_out = response.responses.emplace_back();
    topic_out.name = topic.name;
    for (const Partition& partition : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = partition.partition_index;
      out.error_message.reset();
      const Result<void> checked =
          may ? check(known.get(), topic.name, partition, service.this_node().id)
              : error(response.error_code, std::string(kafka_text(response.error_code)));
      if (checked) continue;
      out.error_code = checked.error().code;
      if (!checked.error().message.empty()) out.error_message = checked.error().message;
    }
  }
  co_return response;
}

}  // namespace ackord::api
