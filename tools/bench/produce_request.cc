#include "tools/bench/produce_request.h"

namespace ackord::bench {
namespace {

constexpr int32_t kTimeoutMs = 30000;

}  // namespace

protocol::ProduceRequest produce_request(const Topic& topic, int32_t partition,
                                         std::span<const std::byte> batch, int16_t acks) {
  protocol::ProduceRequest request;
  request.acks = acks;
  request.timeout_ms = kTimeoutMs;
  auto& part = request.topic_data.emplace_back();
  part.name = topic.name;
  part.topic_id = topic.id;
  auto& target = part.partition_data.emplace_back();
  target.index = partition;
  target.records = Records::view(batch);
  return request;
}

ErrorCode code_of(const protocol::ProduceResponse& response) {
  if (response.responses.size() != 1 || response.responses[0].partition_responses.size() != 1)
    throw BenchError("Produce: an answer about another partition");
  return response.responses[0].partition_responses[0].error_code;
}

}  // namespace ackord::bench
