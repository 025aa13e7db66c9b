// What is looked at of a Produce before any of its partitions is.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/generated/produce_request.h"

namespace ackord::api {

// Whether it has a transactional batch: it needs an id then, and the right to it.
bool has_transactional(const protocol::ProduceRequest& request);
// What the whole request is refused for: CORRUPT_MESSAGE when a batch has a magic that no version
// knows, TRANSACTIONAL_ID_AUTHORIZATION_FAILED for transactional batches without an id.
ErrorCode check_request(const protocol::ProduceRequest& request);

// One partition of the request. One that is named twice is written once, as it was named last.
struct PartitionToWrite {
  const protocol::ProduceRequest::TopicProduceData* topic;
  const protocol::ProduceRequest::PartitionProduceData* partition;
};
std::vector<PartitionToWrite> distinct_partitions(const protocol::ProduceRequest& request);

}  // namespace ackord::api
