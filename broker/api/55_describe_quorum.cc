// DescribeQuorum (key 55), versions 0-2: the one voter of the metadata log (KIP-595).
//   v1  times of the voters   v2 texts of errors, directory ids, nodes
// May: DESCRIBE on the cluster.
#include <memory>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/metadata/topic_rules.h"
#include "protocol/generated/describe_quorum_request.h"
#include "protocol/generated/describe_quorum_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeQuorumRequest;
using protocol::DescribeQuorumResponse;

struct MetadataLog {
  int32_t leader_epoch = 0;
  Offset high_watermark = 0;
  Offset end = 0;
};

io::Task<MetadataLog> look(log::LogService* logs, TopicPartition name) {
  const std::shared_ptr<log::Partition> log = logs->find(name);
  if (log == nullptr) co_return MetadataLog{};
  co_return MetadataLog{log->leader_epoch(), log->high_watermark(), log->log_end_offset()};
}

DescribeQuorumResponse::PartitionData described(const MetadataLog& log, BrokerId node,
                                                TimeMs now_ms) {
  DescribeQuorumResponse::PartitionData out;
  out.error_message.reset();
  out.leader_id = node;
  out.leader_epoch = log.leader_epoch;
  out.high_watermark = log.high_watermark;
  auto& voter = out.current_voters.emplace_back();
  voter.replica_id = node;
  voter.log_end_offset = log.end;
  voter.last_fetch_timestamp = now_ms;
  voter.last_caught_up_timestamp = now_ms;
  return out;
}

}  // namespace

io::Task<DescribeQuorumResponse> handle(RequestContext& context, DescribeQuorumRequest request) {
  if (!Access(context).may_cluster(Operation::kDescribe)) {
    DescribeQuorumResponse denied;
    denied.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    denied.error_message = String(kafka_text(denied.error_code));
    co_return denied;
  }
  const metadata::MetadataService& service = context.services.metadata;
  const metadata::Node node = service.node_for_listener(context.client->listener);
  log::LogService& logs = context.services.log;
  const TopicPartition name{TopicName(metadata::kMetadataTopic), 0};
  auto looking = io::on(logs.core_of(name).executor, look(&logs, name));
  const MetadataLog log = co_await std::move(looking);
  DescribeQuorumResponse response;
  response.error_message.reset();
  for (const auto& topic : request.topics) {
    auto& topic_out = response.topics.emplace_back();
    topic_out.topic_name = topic.topic_name;
    for (const auto& partition : topic.partitions) {
      if (topic.topic_name == metadata::kMetadataTopic && partition.partition_index == 0) {
        topic_out.partitions.push_back(described(log, node.id, context.core.clock.now().wall_ms));
        continue;
      }
      auto& out = topic_out.partitions.emplace_back();
      out.partition_index = partition.partition_index;
      out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    }
  }
  auto& node_out = response.nodes.emplace_back();
  node_out.node_id = node.id;
  auto& listener = node_out.listeners.emplace_back();
  listener.name = String(context.client->listener);
  listener.host = String(node.host);
  listener.port = static_cast<uint16_t>(node.port);
  co_return response;
}

}  // namespace ackord::api
