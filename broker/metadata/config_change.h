// IncrementalAlterConfigs as a decision: which records a request makes, or why it is refused. Pure;
// codes and texts are Kafka's (ConfigurationControlManager, KIP-339, KIP-1240 for groups).
#pragma once

#include <string_view>
#include <vector>

#include "broker/metadata/metadata_shard.h"

namespace ackord::metadata {

protocol::ConfigRecord config_record(ResourceType type, std::string_view resource,
                                     std::string_view name, std::optional<std::string_view> value);

// One record per setting that changes, in the order of the request.
Result<std::vector<MetadataRecord>> config_changes(const MetadataImage& image,
                                                   const ShardIdentity& identity,
                                                   const AlterConfigs& op);

}  // namespace ackord::metadata
