// DescribeLogDirs (key 35), versions 1-5: the one data directory, and how large partitions are.
//   v2  flexible   v3 error   v4 size and free space of the volume
//   v5  cordoned
// No list of topics (null) means all; what does not exist is left out. May: DESCRIBE on the
// cluster.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/by_core.h"
#include "broker/api/handlers.h"
#include "broker/api/log_directory.h"
#include "broker/io/file_system.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/describe_log_dirs_request.h"
#include "protocol/generated/describe_log_dirs_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeLogDirsRequest;
using protocol::DescribeLogDirsResponse;

std::vector<TopicPartition> asked_partitions(const metadata::MetadataImage& image,
                                             const DescribeLogDirsRequest& request) {
  std::vector<TopicPartition> partitions;
  if (!request.topics) {
    for (const auto& [name, topic] : image.topics()) {
      for (int32_t index = 0; index < topic->partitions; ++index)
        partitions.push_back({topic->name, index});
    }
    return partitions;
  }
  for (const auto& topic : *request.topics) {
    for (const int32_t index : topic.partitions) partitions.push_back({topic.topic, index});
  }
  return partitions;
}

// Of a volume that does not say: what the schema has for unknown.
io::Task<io::VolumeSpace> volume_of(io::FileSystem& files, std::string path) {
  Result<io::VolumeSpace> space = io::VolumeSpace{};
  auto asking = files.blocking([&] { space = files.space(path); });
  co_await std::move(asking);
  co_return space ? *space : io::VolumeSpace{};
}

struct Measuring {
  log::LogService& logs;
  io::Task<std::vector<std::optional<uint64_t>>> operator()(
      std::vector<TopicPartition> partitions) {
    std::vector<std::optional<uint64_t>> sizes;
    for (const TopicPartition& name : partitions) {
      const std::shared_ptr<log::Partition> partition = logs.find(name);
      sizes.push_back(partition ? std::optional(partition->size_bytes()) : std::nullopt);
    }
    co_return sizes;
  }
};

}  // namespace

io::Task<DescribeLogDirsResponse> handle(RequestContext& context, DescribeLogDirsRequest request) {
  const metadata::MetadataService& service = context.services.metadata;
  if (!Access(context).may_cluster(Operation::kDescribe)) {
    DescribeLogDirsResponse denied;
    denied.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    co_return denied;
  }
  const std::vector<TopicPartition> partitions = asked_partitions(service.image(), request);
  log::LogService& logs = context.services.log;
  Measuring work{logs};
  auto core_of = [&logs](const TopicPartition& name) -> const io::Core& {
    return logs.core_of(name);
  };
  auto measuring = by_core<std::optional<uint64_t>>(partitions, core_of, work);
  const std::vector<std::optional<uint64_t>> sizes = co_await std::move(measuring);
  std::map<TopicName, std::map<int32_t, uint64_t>> by_topic;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i]) by_topic[partitions[i].topic][partitions[i].partition] = *sizes[i];
  }
  DescribeLogDirsResponse response;
  auto& result = response.results.emplace_back();
  const std::string directory = log_directory(service);
  result.log_dir = String(directory);
  auto asking = volume_of(context.services.environment.files, directory);
  const io::VolumeSpace space = co_await std::move(asking);
  if (space.total > 0) {
    result.total_bytes = static_cast<int64_t>(space.total);
    result.usable_bytes = static_cast<int64_t>(space.usable);
  }
  for (const auto& [name, found] : by_topic) {
    auto& topic = result.topics.emplace_back();
    topic.name = name;
    for (const auto& [index, size] : found) {
      auto& partition = topic.partitions.emplace_back();
      partition.partition_index = index;
      partition.partition_size = static_cast<int64_t>(size);
    }
  }
  co_return response;
}

}  // namespace ackord::api
