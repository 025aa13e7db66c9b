// AlterReplicaLogDirs (key 34), versions 1-2: a partition can only be moved to the one data
// directory, where it is (KIP-113). May: ALTER on the cluster.
//   v2  flexible
#include <map>
#include <string>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/api/log_directory.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/alter_replica_log_dirs_request.h"
#include "protocol/generated/alter_replica_log_dirs_response.h"

namespace ackord::api {
namespace {

using protocol::AlterReplicaLogDirsRequest;
using protocol::AlterReplicaLogDirsResponse;

ErrorCode move(const metadata::MetadataImage& image, bool may, const TopicName& name,
               int32_t partition, bool is_here) {
  if (!may) return ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
  if (!is_here) return ErrorCode::LOG_DIR_NOT_FOUND;
  const auto topic = image.topic(name);
  const bool there = topic != nullptr && partition >= 0 && partition < topic->partitions;
  return there ? ErrorCode::NONE : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
}

}  // namespace

io::Task<AlterReplicaLogDirsResponse> handle(RequestContext& context,
                                             AlterReplicaLogDirsRequest request) {
  const metadata::MetadataService& service = context.services.metadata;
  const std::string directory = log_directory(service);
  const bool may = Access(context).may_cluster(Operation::kAlter);
  std::map<TopicName, std::vector<AlterReplicaLogDirsResponse::AlterReplicaLogDirPartitionResult>>
      by_topic;
  for (const auto& dir : request.dirs) {
    for (const auto& topic : dir.topics) {
      for (const int32_t partition : topic.partitions) {
        by_topic[topic.name].push_back({partition, move(service.image(), may, topic.name, partition,
                                                        dir.path.sv() == directory)});
      }
    }
  }
  AlterReplicaLogDirsResponse response;
  for (auto& [name, partitions] : by_topic)
    response.results.push_back({name, std::move(partitions)});
  co_return response;
}

}  // namespace ackord::api
