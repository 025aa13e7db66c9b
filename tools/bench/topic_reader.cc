#include "tools/bench/topic_reader.h"

#include <utility>

#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"

namespace ackord::bench {
namespace {

// As Kafka's consumer has it by default.
constexpr int32_t kMaxBytes = 50 << 20;

}  // namespace

TopicReader::TopicReader(Bench& bench, const Topic& topic, std::shared_ptr<Wire> wire,
                         int32_t first, int32_t step, Offset from)
    : bench_(bench),
      topic_(topic),
      wire_(std::move(wire)),
      next_(static_cast<size_t>(topic.partitions), from) {
  for (int32_t index = first; index < topic_.partitions; index += step) to_name_.push_back(index);
}

Task<RecordCounts> TopicReader::fetch() {
  protocol::FetchRequest request;
  request.max_wait_ms = bench_.options().max_wait_ms;
  request.min_bytes = 1;
  request.max_bytes = kMaxBytes;
  request.session_id = session_id_;
  request.session_epoch = session_epoch_;
  if (!to_name_.empty()) {
    auto& asked = request.topics.emplace_back();
    asked.topic = topic_.name;
    asked.topic_id = topic_.id;
    for (const int32_t index : to_name_) {
      auto& partition = asked.partitions.emplace_back();
      partition.partition = index;
      partition.fetch_offset = next_[static_cast<size_t>(index)];
      partition.partition_max_bytes = bench_.options().fetch_bytes;
    }
  }
  const auto answer = co_await wire_->call<protocol::FetchResponse>(request);
  expect_none(answer.message.error_code, "Fetch");
  expect_all_none(answer.message.responses, "Fetch");
  session_id_ = answer.message.session_id;
  if (session_id_ != 0) {
    ++session_epoch_;
    to_name_.clear();
  }
  RecordCounts all;
  for (const auto& part : answer.message.responses) {
    for (const auto& partition : part.partitions) {
      if (!partition.records) continue;
      const RecordCounts counts = count_records(partition.records->bytes());
      all.records += counts.records;
      all.bytes += counts.bytes;
      if (counts.next_offset < 0) continue;
      next_.at(static_cast<size_t>(partition.partition_index)) = counts.next_offset;
      if (session_id_ != 0) to_name_.push_back(partition.partition_index);
    }
  }
  co_return all;
}

}  // namespace ackord::bench
