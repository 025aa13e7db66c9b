#include "broker/metadata/config_resources.h"

#include <fmt/format.h>

#include <charconv>

#include "broker/base/logging.h"
#include "broker/metadata/topic_rules.h"

namespace ackord::metadata {
namespace {

std::vector<DescribedConfig> describe_loggers() {
  std::vector<DescribedConfig> all;
  for (const base::Logger& logger : base::loggers()) {
    DescribedConfig config;
    config.name = std::string(logger.name);
    config.value = std::string(logger.level);
    config.source = ConfigSource::kBrokerLogger;
    config.documentation =
        "The level at which this part of the broker logs; root is that of all parts which have "
        "none of their own.";
    all.push_back(std::move(config));
  }
  return all;
}

}  // namespace

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
  if (type == ResourceType::kClientMetrics) {
    if (resource.empty())
      return error(ErrorCode::INVALID_REQUEST,
                   "Client metrics subscription name must not be empty");
    const ConfigMap* configs = view.image.metrics_configs(resource);
    return describe_metrics_configs(configs == nullptr ? ConfigMap() : *configs);
  }
  const bool logger = type == ResourceType::kBrokerLogger;
  if (type != ResourceType::kBroker && !logger) return error(ErrorCode::INVALID_REQUEST);
  if (logger && resource.empty())
    return error(ErrorCode::INVALID_REQUEST, "Broker id must not be empty");
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
  return logger ? describe_loggers() : describe_broker_configs(view.values);
}

Result<void> change_loggers(std::string_view resource, BrokerId node,
                            const std::vector<ConfigChange>& changes, bool validate_only) {
  using Op = ConfigChange::Op;
  if (resource != std::to_string(node.value)) {
    return error(
        ErrorCode::INVALID_REQUEST,
        fmt::format("Unexpected broker id, expected {} but received {}", node.value, resource));
  }
  for (const ConfigChange& change : changes) {
    const std::string& name = change.name;
    if (change.op != Op::kSet && change.op != Op::kDelete) {
      return error(ErrorCode::INVALID_REQUEST,
                   fmt::format("{} operation is not allowed for the BROKER_LOGGER resource",
                               change.op == Op::kAppend ? "APPEND" : "SUBTRACT"));
    }
    if (!base::is_logger(name))
      return error(ErrorCode::INVALID_CONFIG, fmt::format("Logger {} does not exist!", name));
    if (change.op == Op::kDelete && name == base::kLoggers.front()) {
      return error(ErrorCode::INVALID_REQUEST,
                   "Removing the log level of the root logger is not allowed");
    }
    if (change.op == Op::kSet && !base::is_log_level(change.value.value_or(""))) {
      return error(ErrorCode::INVALID_CONFIG,
                   fmt::format("Cannot set the log level of {} to {} as it is not a supported log "
                               "level. Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN",
                               name, change.value.value_or("null")));
    }
  }
  if (validate_only) return {};
  for (const ConfigChange& change : changes) {
    base::set_log_level(change.name, change.op == Op::kSet
                                         ? std::optional<std::string_view>(*change.value)
                                         : std::nullopt);
  }
  return {};
}

std::vector<std::string> list_resources(const ConfigView& view, ResourceType type) {
  std::vector<std::string> names;
  if (type == ResourceType::kTopic) {
    for (const auto& [name, topic] : view.image.topics()) names.push_back(name);
  } else if (type == ResourceType::kGroup) {
    for (const auto& [name, configs] : view.image.all_group_configs()) names.push_back(name);
  } else if (type == ResourceType::kClientMetrics) {
    for (const auto& [name, configs] : view.image.all_metrics_configs()) names.push_back(name);
  } else if (type == ResourceType::kBroker || type == ResourceType::kBrokerLogger) {
    names.push_back(std::to_string(view.node.value));
  }
  return names;
}

}  // namespace ackord::metadata
