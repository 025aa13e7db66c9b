#include "broker/api/log_directory.h"

#include <filesystem>

#include "broker/metadata/metadata_service.h"

namespace ackord::api {

std::string log_directory(const metadata::MetadataService& service) {
  const auto configs = service.describe_configs(metadata::ResourceType::kBroker,
                                                std::to_string(service.this_node().id.value));
  std::string dir;
  std::string dirs;
  for (const metadata::DescribedConfig& config : *configs) {
    if (config.name == "log.dir") dir = config.value.value_or("");
    if (config.name == "log.dirs") dirs = config.value.value_or("");
  }
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::absolute(dirs.empty() ? dir : dirs, failure);
  return failure ? dirs : path.lexically_normal().string();
}

}  // namespace ackord::api
