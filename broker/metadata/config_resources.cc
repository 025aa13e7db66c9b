#include "broker/metadata/config_resources.h"

#include <fmt/format.h>

#include <charconv>

#include "broker/metadata/topic_rules.h"

namespace ackord::metadata {

Result<std::vector<DescribedConfig>> describe_resource(const ConfigView& view, ResourceType type,
                                                       std::string_view resource) {
  if (type == ResourceType::kTopic) {
    if (std::optional<std::string> fault = topic_name_fault(resource))
      return error(ErrorCode::INVALID_TOPIC_EXCEPTION, std::move(*fault));
    const auto topic = view.image.topic(resource);
    if (topic == nullptr) return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    return describe_topic_configs(topic->configs, view.values);
  }
  if (type == ResourceType::kGroup) {
    if (resource.empty()) return error(ErrorCode::INVALID_REQUEST, "Group name must not be empty");
    const ConfigMap* configs = view.image.group_configs(resource);
    return describe_group_configs(configs == nullptr ? ConfigMap() : *configs, view.values);
  }
  if (type != ResourceType::kBroker) return error(ErrorCode::INVALID_REQUEST);
  if (resource.empty()) return describe_cluster_configs(view.image.broker_configs());
  int32_t id = 0;
  const auto [end, failed] =
      std::from_chars(resource.data(), resource.data() + resource.size(), id);
  if (failed != std::errc() || end != resource.data() + resource.size()) {
    return error(ErrorCode::INVALID_REQUEST,
                 fmt::format("Broker id must be an integer, but it is: {}", resource));
  }
  if (id != view.node.value) {
    return error(ErrorCode::INVALID_REQUEST,
                 fmt::format("Unexpected broker id, expected {} or empty string, but received {}",
                             view.node.value, resource));
  }
  return describe_broker_configs(view.values);
}

std::vector<std::string> list_resources(const ConfigView& view, ResourceType type) {
  std::vector<std::string> names;
  if (type == ResourceType::kTopic) {
    for (const auto& [name, topic] : view.image.topics()) names.push_back(name);
  } else if (type == ResourceType::kGroup) {
    for (const auto& [name, configs] : view.image.all_group_configs()) names.push_back(name);
  } else if (type == ResourceType::kBroker || type == ResourceType::kBrokerLogger) {
    names.push_back(std::to_string(view.node.value));
  }
  return names;
}

}  // namespace ackord::metadata
