// What DescribeConfigs and ListConfigResources answer of one image. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "broker/metadata/config_tables.h"
#include "broker/metadata/image.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::metadata {

// Lives for one call.
struct ConfigView {
  const MetadataImage& image;
  BrokerValues values;
  BrokerId node;
};

// Contracts: MetadataService::describe_configs, MetadataService::config_resources.
Result<std::vector<DescribedConfig>> describe_resource(const ConfigView& view, ResourceType type,
                                                       std::string_view resource);
// IncrementalAlterConfigs of broker `resource`'s loggers (KIP-412): all changes or none. Nothing is
// logged: a level lasts as long as the process. INVALID_REQUEST, INVALID_CONFIG.
Result<void> change_loggers(std::string_view resource, BrokerId node,
                            const std::vector<ConfigChange>& changes, bool validate_only);
std::vector<std::string> list_resources(const ConfigView& view, ResourceType type);

}  // namespace ackord::metadata
