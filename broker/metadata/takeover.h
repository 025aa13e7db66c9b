// Taking over a directory as it is found: another broker's, a single-node Kafka, or one of ours
// after an unclean stop. Start-up, on the core of the metadata log.
#pragma once

#include "broker/io/core.h"
#include "broker/io/task.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_shard.h"
#include "broker/metadata/metadata_snapshot.h"

namespace ackord::metadata {

// Refuses what cannot be served as it was: partitions with replicas on other nodes, and feature
// levels that change what records mean and are not known here. KAFKA_STORAGE_ERROR names the first.
Result<void> check_takeover(const MetadataShard& shard, BrokerId node);
Result<void> check_features(const FeatureLevels& levels);

// One log line for each setting and feature that is set or finalized but has no effect here. They
// stay as they are.
void name_unserved(const MetadataImage& image);

// The leader epochs that clients are told, that batches carry and that the metadata log has are to
// be the same; an unclean stop raises that of a log, another broker may have raised that of the
// metadata. Raises those of the logs where they are behind, and answers what the metadata log has
// to be told. `hard` does not change meanwhile.
io::Task<LeadPartitions> lead_partitions(io::Environment& environment, log::LogService& logs,
                                         const HardState& hard, BrokerId node);

}  // namespace ackord::metadata
