// DeleteRecords (key 21), versions 0-2.
//   v1  same      v2  flexible
// Raises the log start of each partition; the answer rests on the durable checkpoint. Offset -1 is
// the high watermark; a lower one than the log start changes nothing. A topic with compaction alone
// keeps its records (POLICY_VIOLATION), internal topics too (INVALID_TOPIC_EXCEPTION). A partition
// that comes twice counts with its last offset. May: DELETE on each topic.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/by_core.h"
#include "broker/api/handlers.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/delete_records_request.h"
#include "protocol/generated/delete_records_response.h"

namespace ackord::api {
namespace {

using protocol::DeleteRecordsRequest;
using protocol::DeleteRecordsResponse;
using PartitionAnswer = DeleteRecordsResponse::DeleteRecordsPartitionResult;

constexpr Offset kNoLowWatermark = -1;

struct Deletion {
  TopicPartition partition;
  Offset before = 0;
};

PartitionAnswer refusal(int32_t partition, ErrorCode code) {
  PartitionAnswer out;
  out.partition_index = partition;
  out.low_watermark = kNoLowWatermark;
  out.error_code = code;
  return out;
}

io::Task<PartitionAnswer> delete_one(log::LogService* logs, Deletion deletion) {
  const int32_t index = deletion.partition.partition;
  const std::shared_ptr<log::Partition> partition = logs->find(deletion.partition);
  if (!partition) co_return refusal(index, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  auto deleting = partition->delete_records(deletion.before);
  Result<Offset> start = co_await std::move(deleting);
  if (!start) co_return refusal(index, start.error().code);
  PartitionAnswer out;
  out.partition_index = index;
  out.low_watermark = *start;
  co_return out;
}

// At the same time, so that they share the writes of the checkpoint.
struct Deleting {
  log::LogService& logs;
  io::Task<std::vector<PartitionAnswer>> operator()(std::vector<Deletion> deletions) {
    std::vector<io::Task<PartitionAnswer>> tasks;
    for (Deletion& deletion : deletions) tasks.push_back(delete_one(&logs, std::move(deletion)));
    return io::when_all(std::move(tasks));
  }
};

// What forbids it for a whole topic.
ErrorCode topic_fault(const metadata::MetadataService& service, const Access& access,
                      std::string_view name) {
  if (!access.may_topic(Operation::kDelete, name)) return ErrorCode::TOPIC_AUTHORIZATION_FAILED;
  if (metadata::is_internal(name)) return ErrorCode::INVALID_TOPIC_EXCEPTION;
  const auto topic = service.image().topic(name);
  if (topic == nullptr) return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  const log::LogConfig config = service.log_config(*topic);
  return config.compact && !config.remove ? ErrorCode::POLICY_VIOLATION : ErrorCode::NONE;
}

}  // namespace

io::Task<DeleteRecordsResponse> handle(RequestContext& context, DeleteRecordsRequest request) {
  std::map<TopicName, std::map<int32_t, Offset>> asked;
  for (const auto& topic : request.topics) {
    auto& partitions = asked[topic.name];
    for (const auto& one : topic.partitions) partitions[one.partition_index] = one.offset;
  }
  const Access access(context);
  DeleteRecordsResponse response;
  std::vector<Deletion> deletions;
  std::vector<std::pair<size_t, size_t>> places;
  for (const auto& [name, partitions] : asked) {
    const ErrorCode fault = topic_fault(context.services.metadata, access, name.sv());
    auto& topic_out = response.topics.emplace_back();
    topic_out.name = name;
    for (const auto& [index, offset] : partitions) {
      topic_out.partitions.push_back(refusal(index, fault));
      if (fault != ErrorCode::NONE) continue;
      places.emplace_back(response.topics.size() - 1, topic_out.partitions.size() - 1);
      deletions.push_back({{name, index}, offset});
    }
  }
  log::LogService& logs = context.services.log;
  Deleting work{logs};
  auto core_of = [&logs](const Deletion& one) -> const io::Core& {
    return logs.core_of(one.partition);
  };
  auto running = by_core<PartitionAnswer>(std::move(deletions), core_of, work);
  std::vector<PartitionAnswer> answers = co_await std::move(running);
  for (size_t i = 0; i < answers.size(); ++i) {
    response.topics[places[i].first].partitions[places[i].second] = std::move(answers[i]);
  }
  co_return response;
}

}  // namespace ackord::api
