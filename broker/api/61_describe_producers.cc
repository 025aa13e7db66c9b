// DescribeProducers (key 61), version 0 (KIP-664): the producers that each partition remembers, and
// where their open transactions begin: how kafka-transactions.sh finds one that hangs. By producer
// id. May: READ on each topic.
#include <algorithm>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/by_core.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/log/log_service.h"
#include "protocol/generated/describe_producers_request.h"
#include "protocol/generated/describe_producers_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeProducersRequest;
using protocol::DescribeProducersResponse;
using PartitionAnswer = DescribeProducersResponse::PartitionResponse;

PartitionAnswer describe(log::LogService& logs, const TopicPartition& name) {
  PartitionAnswer out;
  out.partition_index = name.partition;
  const std::shared_ptr<log::Partition> partition = logs.find(name);
  if (!partition) {
    out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    return out;
  }
  std::vector<log::ProducerView> producers = partition->producers();
  std::sort(producers.begin(), producers.end(),
            [](const auto& a, const auto& b) { return a.producer.id.value < b.producer.id.value; });
  out.active_producers.reserve(producers.size());
  for (const log::ProducerView& one : producers) {
    auto& state = out.active_producers.emplace_back();
    state.producer_id = one.producer.id;
    state.producer_epoch = one.producer.epoch;
    state.last_sequence = one.last_sequence;
    state.last_timestamp = one.last_timestamp;
    state.coordinator_epoch = one.coordinator_epoch;
    state.current_txn_start_offset = one.current_txn_start_offset;
  }
  return out;
}

PartitionAnswer denied(int32_t index) {
  PartitionAnswer out;
  out.partition_index = index;
  out.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
  out.error_message = String(kafka_text(out.error_code));
  return out;
}

struct Describing {
  log::LogService& logs;
  io::Task<std::vector<PartitionAnswer>> operator()(std::vector<TopicPartition> names) {
    std::vector<PartitionAnswer> answers;
    answers.reserve(names.size());
    for (const TopicPartition& name : names) answers.push_back(describe(logs, name));
    co_return answers;
  }
};

}  // namespace

io::Task<DescribeProducersResponse> handle(RequestContext& context,
                                           DescribeProducersRequest request) {
  log::LogService& logs = context.services.log;
  const Access access(context);
  std::vector<TopicPartition> names;
  std::vector<bool> may;  // by topic
  for (const auto& topic : request.topics) {
    may.push_back(access.may_topic(Operation::kRead, topic.name.sv()));
    if (!may.back()) continue;
    for (const int32_t index : topic.partition_indexes) names.push_back({topic.name, index});
  }
  Describing work{logs};
  auto core_of = [&logs](const TopicPartition& name) -> const io::Core& {
    return logs.core_of(name);
  };
  auto running = by_core<PartitionAnswer>(std::move(names), core_of, work);
  std::vector<PartitionAnswer> answers = co_await std::move(running);
  DescribeProducersResponse response;
  size_t at = 0;
  for (size_t i = 0; i < request.topics.size(); ++i) {
    auto& out = response.topics.emplace_back();
    out.name = request.topics[i].name;
    for (const int32_t index : request.topics[i].partition_indexes)
      out.partitions.push_back(may[i] ? std::move(answers[at++]) : denied(index));
  }
  co_return response;
}

}  // namespace ackord::api
