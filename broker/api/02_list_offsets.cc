// ListOffsets (key 2), versions 1-11.
//   v1  one offset per partition          v2  isolation level          v4  leader epoch (KIP-320)
//   v7  -3 max timestamp (KIP-734)        v8  -4 earliest local        v9  -5 latest tiered
//   v10 timeout                           v11 -6 earliest pending upload
// A special timestamp that the version does not know is UNSUPPORTED_VERSION for its partition. With
// no tiered storage, -4 is the log start, -5 and -6 find nothing. A timestamp that no visible
// record reaches: offset -1, no error. What was appended before the question counts: its answer may
// have left already (acks=1), so the end waits until that is durable. May: DESCRIBE on each topic.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/by_core.h"
#include "broker/api/handlers.h"
#include "broker/api/leader_epoch.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"

namespace ackord::api {
namespace {

using protocol::ListOffsetsRequest;
using protocol::ListOffsetsResponse;
using PartitionAnswer = ListOffsetsResponse::ListOffsetsPartitionResponse;

constexpr int64_t kLatest = -1;
constexpr int64_t kEarliest = -2;
constexpr int64_t kMaxTimestamp = -3;
constexpr int64_t kEarliestLocal = -4;
constexpr int64_t kLatestTiered = -5;
constexpr int64_t kEarliestPendingUpload = -6;

struct Question {
  TopicPartition partition;
  int64_t timestamp = 0;
  int32_t current_leader_epoch = kNoLeaderEpoch;
  log::Isolation isolation = log::Isolation::kReadUncommitted;
};

bool knows(int16_t version, int64_t timestamp) {
  if (timestamp >= kEarliest) return true;
  if (timestamp == kMaxTimestamp) return version >= 7;
  if (timestamp == kEarliestLocal) return version >= 8;
  if (timestamp == kLatestTiered) return version >= 9;
  if (timestamp == kEarliestPendingUpload) return version >= 11;
  return false;
}

bool asks_for_the_end(int64_t timestamp) {
  return timestamp >= 0 || timestamp == kLatest || timestamp == kMaxTimestamp;
}

io::Task<PartitionAnswer> answer(log::LogService* logs, Question question) {
  PartitionAnswer out;
  out.partition_index = question.partition.partition;
  const std::shared_ptr<log::Partition> shared = logs->find(question.partition);
  if (!shared) {
    out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    co_return out;
  }
  log::Partition& partition = *shared;
  out.error_code = check_leader_epoch(question.current_leader_epoch, partition.leader_epoch());
  if (out.error_code != ErrorCode::NONE) co_return out;
  const Offset end = partition.log_end_offset();
  if (asks_for_the_end(question.timestamp) && partition.high_watermark() < end) {
    auto waiting = partition.durable(end);
    const Result<void> durable = co_await std::move(waiting);
    if (!durable) {
      out.error_code = durable.error().code;
      co_return out;
    }
  }
  const Offset bound = question.isolation == log::Isolation::kReadCommitted
                           ? partition.last_stable_offset()
                           : partition.high_watermark();
  switch (question.timestamp) {
    case kLatest:
      out.offset = bound;
      out.leader_epoch = partition.leader_epoch();
      co_return out;
    case kEarliest:
    case kEarliestLocal:
      out.offset = partition.log_start_offset();
      out.leader_epoch = partition.leader_epoch();
      co_return out;
    case kLatestTiered:
    case kEarliestPendingUpload: co_return out;
    default: break;
  }
  auto searching = question.timestamp == kMaxTimestamp
                       ? partition.offset_of_max_timestamp()
                       : partition.offset_for_timestamp(question.timestamp, question.isolation);
  Result<log::TimestampedOffset> found = co_await std::move(searching);
  if (!found) {
    out.error_code = found.error().code;
  } else if (found->offset >= 0 && found->offset < bound) {
    out.offset = found->offset;
    out.timestamp = found->timestamp;
    out.leader_epoch = found->leader_epoch;
  }
  co_return out;
}

// At the same time, so that they wait together.
struct Answering {
  log::LogService& logs;
  io::Task<std::vector<PartitionAnswer>> operator()(std::vector<Question> questions) {
    std::vector<io::Task<PartitionAnswer>> tasks;
    for (Question& question : questions) tasks.push_back(answer(&logs, std::move(question)));
    return io::when_all(std::move(tasks));
  }
};

}  // namespace

io::Task<ListOffsetsResponse> handle(RequestContext& context, ListOffsetsRequest request) {
  std::set<TopicPartition> seen, twice;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      TopicPartition name{topic.name, partition.partition_index};
      if (!seen.insert(name).second) twice.insert(std::move(name));
    }
  }
  ListOffsetsResponse response;
  std::vector<Question> questions;
  std::vector<std::pair<size_t, size_t>> places;
  const Access access(context);
  for (const auto& topic : request.topics) {
    if (topic.partitions.empty()) continue;
    const bool may = access.may_topic(Operation::kDescribe, topic.name.sv());
    auto& topic_out = response.topics.emplace_back();
    topic_out.name = topic.name;
    for (const auto& partition : topic.partitions) {
      TopicPartition name{topic.name, partition.partition_index};
      // One that is named twice is refused once.
      if (twice.contains(name) && seen.erase(name) == 0) continue;
      PartitionAnswer& out = topic_out.partitions.emplace_back();
      out.partition_index = partition.partition_index;
      if (!may) {
        out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
      } else if (twice.contains(name)) {
        out.error_code = ErrorCode::INVALID_REQUEST;
      } else if (!knows(context.api_version, partition.timestamp)) {
        out.error_code = ErrorCode::UNSUPPORTED_VERSION;
      } else {
        places.emplace_back(response.topics.size() - 1, topic_out.partitions.size() - 1);
        questions.push_back({std::move(name), partition.timestamp, partition.current_leader_epoch,
                             static_cast<log::Isolation>(request.isolation_level == 1)});
      }
    }
  }
  log::LogService& logs = context.services.log;
  Answering work{logs};
  auto core_of = [&logs](const Question& q) -> const io::Core& {
    return logs.core_of(q.partition);
  };
  auto running = by_core<PartitionAnswer>(std::move(questions), core_of, work);
  std::vector<PartitionAnswer> answers = co_await std::move(running);
  for (size_t i = 0; i < answers.size(); ++i) {
    response.topics[places[i].first].partitions[places[i].second] = std::move(answers[i]);
  }
  co_return response;
}

}  // namespace ackord::api
