// The operations that a client is told it may do, as bits by number of the operation (KIP-430):
// with no authorizer, all that the resource knows.
#pragma once

#include <cstdint>

namespace ackord::api {

// READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
inline constexpr int32_t kTopicOperations = 0x0df8;
// READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
inline constexpr int32_t kGroupOperations = 0x0d48;
// CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE.
inline constexpr int32_t kClusterOperations = 0x1fa0;

}  // namespace ackord::api
