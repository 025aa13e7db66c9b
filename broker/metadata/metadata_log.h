// Where the metadata stand: the one partition of `__cluster_metadata`, as Kafka has it. Any thread.
#pragma once

#include <algorithm>

#include "broker/log/types.h"
#include "broker/metadata/topic_rules.h"
#include "protocol/types/ids.h"

namespace ackord::metadata {

// Kafka's fixed id of the metadata topic: the number 1.
inline Uuid metadata_topic_id() {
  Uuid id;
  id.bytes[15] = 1;
  return id;
}

inline TopicPartition metadata_partition() { return {TopicName(kMetadataTopic), 0}; }

// It is never cut by time or size, only behind a snapshot: then its full segments go.
inline log::LogConfig metadata_log_config(int64_t snapshot_bytes) {
  constexpr int64_t kMinMetadataSegment = 1 << 20;
  log::LogConfig config;
  config.retention_ms = -1;
  config.remove = false;
  config.segment_bytes = std::max(snapshot_bytes, kMinMetadataSegment);
  return config;
}

}  // namespace ackord::metadata
