// What is looked at of a Produce before any partition is: its shape, in Kafka's order.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/generated/produce_request.h"

namespace ackord::api {

// What the whole request is refused for: CORRUPT_MESSAGE when a batch has a magic that no version
// knows, TRANSACTIONAL_ID_AUTHORIZATION_FAILED for transactional batches without an id.
ErrorCode check_request(const protocol::ProduceRequest& request);

// What a partition's records are refused for, whatever partition it is: INVALID_RECORD unless they
// are exactly one whole batch of magic 2, UNSUPPORTED_COMPRESSION_TYPE for zstd before version 7.
ErrorCode check_records(const protocol::ProduceRequest::PartitionProduceData& partition,
                        int16_t version);

// One partition of the request. One that is named twice is written once, as it was named last.
struct PartitionToWrite {
  const protocol::ProduceRequest::TopicProduceData* topic;
  const protocol::ProduceRequest::PartitionProduceData* partition;
};
std::vector<PartitionToWrite> distinct_partitions(const protocol::ProduceRequest& request);

}  // namespace ackord::api
