#include "broker/metadata/config_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "broker/metadata/config_tables.h"
#include "broker/metadata/topic_rules.h"

namespace ackord::metadata {
namespace {

Result<void> check_form(const AlterConfigs& op) {
  std::set<std::string_view> names;
  std::vector<std::string_view> without_value;
  for (const ConfigChange& change : op.changes) {
    if (!names.insert(change.name).second)
      return error(ErrorCode::INVALID_REQUEST, "Error due to duplicate config keys");
    if (!change.value && change.op != ConfigChange::Op::kDelete)
      without_value.push_back(change.name);
  }
  if (without_value.empty()) return {};
  return error(ErrorCode::INVALID_REQUEST,
               fmt::format("Null value not supported for : {}", fmt::join(without_value, ", ")));
}

Result<void> check_broker_name(std::string_view resource, BrokerId node) {
  if (resource.empty()) return {};
  int32_t id = 0;
  const auto [end, failed] =
      std::from_chars(resource.data(), resource.data() + resource.size(), id);
  if (failed != std::errc() || end != resource.data() + resource.size()) {
    return error(ErrorCode::INVALID_REQUEST,
                 fmt::format("Node id must be an integer, but it is: {}", resource));
  }
  if (id == node.value) return {};
  return error(ErrorCode::INVALID_REQUEST,
               fmt::format("Unexpected broker id, expected {}, but received {}", node.value, id));
}

// Of the name alone: whether there is such a topic is asked after the values have been looked at.
Result<void> check_resource(BrokerId node, const AlterConfigs& op) {
  const auto needs_name = [&](std::string_view kind) -> Result<void> {
    if (!op.resource.empty()) return {};
    return error(ErrorCode::INVALID_REQUEST,
                 fmt::format("Default {} resources are not allowed.", kind));
  };
  switch (op.type) {
    case ResourceType::kTopic:
      if (Result<void> named = needs_name("topic"); !named) return named;
      if (std::optional<std::string> fault = topic_name_fault(op.resource))
        return error(ErrorCode::INVALID_TOPIC_EXCEPTION, std::move(*fault));
      return {};
    case ResourceType::kGroup: return needs_name("group");
    case ResourceType::kClientMetrics: return needs_name("client-metrics");
    case ResourceType::kBroker: return check_broker_name(op.resource, node);
    default:
      return error(ErrorCode::INVALID_REQUEST,
                   fmt::format("Unknown resource type {}", static_cast<int>(op.type)));
  }
}

Result<void> check_exists(const MetadataImage& image, const AlterConfigs& op) {
  if (op.type != ResourceType::kTopic || image.topic(op.resource) != nullptr) return {};
  return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
               fmt::format("The topic '{}' does not exist.", op.resource));
}

ConfigMap current_configs(const MetadataImage& image, const AlterConfigs& op) {
  if (op.type == ResourceType::kTopic) {
    const auto topic = image.topic(op.resource);
    return topic == nullptr ? ConfigMap() : topic->configs;
  }
  if (op.type == ResourceType::kBroker)
    return op.resource.empty() ? image.broker_configs() : image.node_configs();
  const ConfigMap* set = op.type == ResourceType::kClientMetrics
                             ? image.metrics_configs(op.resource)
                             : image.group_configs(op.resource);
  return set == nullptr ? ConfigMap() : *set;
}

std::span<const ConfigDef> table_of(ResourceType type) {
  if (type == ResourceType::kTopic) return topic_config_defs();
  if (type == ResourceType::kClientMetrics) return metrics_config_defs();
  return type == ResourceType::kGroup ? group_config_defs() : broker_config_defs();
}

// The list with the items of `value` added or taken away; what is unset starts from its default.
std::string changed_list(const ConfigDef& def, const std::string* current, ConfigChange::Op op,
                         std::string_view value) {
  std::vector<std::string> items = split_list(current != nullptr             ? *current
                                              : def.default_value == nullptr ? ""
                                                                             : def.default_value);
  for (std::string& item : split_list(value)) {
    const auto at = std::find(items.begin(), items.end(), item);
    if (op == ConfigChange::Op::kAppend && at == items.end()) items.push_back(std::move(item));
    if (op == ConfigChange::Op::kSubtract && at != items.end()) items.erase(at);
  }
  return fmt::format("{}", fmt::join(items, ","));
}

Result<void> check_configs(const AlterConfigs& op, const ConfigMap& configs,
                           const ConfigMap& changed, const BrokerConfig& broker,
                           const BrokerValues& values) {
  const ResourceType type = op.type;
  if (type == ResourceType::kTopic) return check_topic_configs(configs);
  if (type == ResourceType::kClientMetrics) return check_metrics_configs(configs);
  if (type == ResourceType::kBroker)
    return check_broker_configs(changed, values, op.resource.empty());
  // Settings of group types that are not served here may come with a directory that another broker
  // wrote.
  ConfigMap known = changed;
  for (const auto& [name, value] : configs) {
    if (find_config(group_config_defs(), name) != nullptr) known.emplace(name, value);
  }
  return check_group_configs(known, broker);
}

}  // namespace

protocol::ConfigRecord config_record(ResourceType type, std::string_view resource,
                                     std::string_view name, std::optional<std::string_view> value) {
  protocol::ConfigRecord record;
  record.resource_type = static_cast<int8_t>(type);
  record.resource_name = String(resource);
  record.name = String(name);
  record.value.reset();
  if (value) record.value = String(*value);
  return record;
}

namespace {

void drop_unnamed(const AlterConfigs& op, ConfigMap& configs,
                  std::vector<MetadataRecord>& records) {
  std::set<std::string_view> named;
  for (const ConfigChange& change : op.changes) named.insert(change.name);
  std::erase_if(configs, [&](const auto& entry) {
    if (named.contains(entry.first)) return false;
    records.emplace_back(config_record(op.type, op.resource, entry.first, std::nullopt));
    return true;
  });
}

}  // namespace

Result<std::vector<MetadataRecord>> config_changes(const MetadataImage& image,
                                                   const ShardIdentity& identity,
                                                   const AlterConfigs& op) {
  if (Result<void> form = check_form(op); !form) return form.error();
  if (Result<void> resource = check_resource(identity.node, op); !resource) return resource.error();
  ConfigMap configs = current_configs(image, op);
  ConfigMap changed;
  std::vector<MetadataRecord> records;
  if (op.replace) drop_unnamed(op, configs, records);
  for (const ConfigChange& change : op.changes) {
    const ConfigDef* def = find_config(table_of(op.type), change.name);
    const auto at = configs.find(change.name);
    if (change.op == ConfigChange::Op::kDelete) {
      if (at == configs.end()) continue;
      configs.erase(at);
      records.emplace_back(config_record(op.type, op.resource, change.name, std::nullopt));
      continue;
    }
    std::string value = *change.value;
    if (change.op != ConfigChange::Op::kSet) {
      if (def == nullptr || def->type != ConfigType::kList) {
        return error(ErrorCode::INVALID_CONFIG,
                     fmt::format("Can't {} to key {} because its type is not LIST.",
                                 change.op == ConfigChange::Op::kAppend ? "APPEND" : "SUBTRACT",
                                 change.name));
      }
      value = changed_list(*def, at == configs.end() ? nullptr : &at->second, change.op, value);
    }
    changed[change.name] = value;
    if (at != configs.end() && at->second == value) continue;
    configs[change.name] = value;
    records.emplace_back(config_record(op.type, op.resource, change.name, value));
  }
  const BrokerValues values{*identity.properties, image.broker_configs(), image.node_configs()};
  if (Result<void> good = check_configs(op, configs, changed, identity.broker, values); !good)
    return good.error();
  if (Result<void> exists = check_exists(image, op); !exists) return exists.error();
  return records;
}

}  // namespace ackord::metadata
