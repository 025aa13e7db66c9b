// What a crash has left half done: a partition's folder is made before the records that name it,
// and removed after the record that drops it. Start-up, on the core of the metadata log.
#pragma once

#include <vector>

#include "broker/io/task.h"
#include "broker/log/log_service.h"
#include "broker/metadata/config_tables.h"
#include "broker/metadata/image.h"

namespace ackord::metadata {

// Removes partitions that no topic has, makes those that a topic lacks, and tells all others their
// configs. `image`, and what `values` refers to, do not change meanwhile.
io::Task<Result<void>> reconcile(log::LogService& logs, const MetadataImage& image,
                                 BrokerValues values, std::vector<log::FoundPartition> found);

}  // namespace ackord::metadata
