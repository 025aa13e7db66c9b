// A Produce request for one partition, and its answer.
#pragma once

#include <span>

#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "tools/bench/bench.h"

namespace ackord::bench {

// `batch` is borrowed.
protocol::ProduceRequest produce_request(const Topic& topic, int32_t partition,
                                         std::span<const std::byte> batch, int16_t acks);
// BenchError for an answer that says nothing of the partition.
ErrorCode code_of(const protocol::ProduceResponse& response);

}  // namespace ackord::bench
