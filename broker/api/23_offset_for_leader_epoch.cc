// OffsetForLeaderEpoch (key 23), versions 2-4 (KIP-101, KIP-320).
//   v3  replica id, which is ignored      v4  flexible
// The largest epoch up to the one asked for, and where it ends: the current epoch at the high
// watermark. An epoch that is not known yet: -1 and -1, no error. May: CLUSTER_ACTION, or DESCRIBE
// on each topic.
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/by_core.h"
#include "broker/api/handlers.h"
#include "broker/api/leader_epoch.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/offset_for_leader_epoch_request.h"
#include "protocol/generated/offset_for_leader_epoch_response.h"

namespace ackord::api {
namespace {

using protocol::OffsetForLeaderEpochRequest;
using protocol::OffsetForLeaderEpochResponse;
using PartitionAnswer = OffsetForLeaderEpochResponse::EpochEndOffset;

struct Question {
  TopicPartition partition;
  int32_t current_leader_epoch = kNoLeaderEpoch;
  int32_t leader_epoch = -1;
};

PartitionAnswer refusal(int32_t partition, ErrorCode code) {
  PartitionAnswer out;
  out.partition = partition;
  out.error_code = code;
  return out;
}

PartitionAnswer answer(log::LogService& logs, const Question& question) {
  const int32_t index = question.partition.partition;
  const std::shared_ptr<log::Partition> partition = logs.find(question.partition);
  if (!partition) return refusal(index, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  const ErrorCode fault =
      check_leader_epoch(question.current_leader_epoch, partition->leader_epoch());
  if (fault != ErrorCode::NONE) return refusal(index, fault);
  PartitionAnswer out;
  out.partition = index;
  const auto [epoch, end] = partition->end_offset_for_epoch(question.leader_epoch);
  out.leader_epoch = epoch;
  out.end_offset = end;
  return out;
}

struct Answering {
  log::LogService& logs;
  io::Task<std::vector<PartitionAnswer>> operator()(std::vector<Question> questions) {
    std::vector<PartitionAnswer> answers;
    answers.reserve(questions.size());
    for (const Question& question : questions) answers.push_back(answer(logs, question));
    co_return answers;
  }
};

}  // namespace

io::Task<OffsetForLeaderEpochResponse> handle(RequestContext& context,
                                              OffsetForLeaderEpochRequest request) {
  OffsetForLeaderEpochResponse response;
  std::vector<Question> questions;
  std::vector<std::pair<size_t, size_t>> places;
  const Access access(context);
  const bool all =
      access.may_see(Operation::kClusterAction, ResourceType::kCluster, metadata::kClusterName);
  for (const auto& topic : request.topics) {
    const bool may = all || access.may_topic(Operation::kDescribe, topic.topic.sv());
    const bool known = context.services.metadata.image().topic(topic.topic.sv()) != nullptr;
    auto& topic_out = response.topics.emplace_back();
    topic_out.topic = topic.topic;
    for (const auto& one : topic.partitions) {
      topic_out.partitions.push_back(
          refusal(one.partition, may ? ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
                                     : ErrorCode::TOPIC_AUTHORIZATION_FAILED));
      if (!known || !may) continue;
      places.emplace_back(response.topics.size() - 1, topic_out.partitions.size() - 1);
      questions.push_back(
          {{topic.topic, one.partition}, one.current_leader_epoch, one.leader_epoch});
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
