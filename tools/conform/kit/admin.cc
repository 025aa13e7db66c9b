#include "tools/conform/kit/admin.h"

namespace ackord::conform {
namespace {

constexpr int32_t kTimeoutMs = 10000;

json::value or_null(const std::optional<std::string>& text) {
  return text ? json::value(*text) : json::value(nullptr);
}

}  // namespace

int32_t node_id(Kit& kit) {
  const Value answer = kit.ask("Metadata", 12, {});
  return static_cast<int32_t>(answer["brokers"][0]["nodeId"].number());
}

std::string cluster_id(Kit& kit) { return kit.ask("Metadata", 12, {})["clusterId"].text(); }

void expect_gone(Kit& kit, const std::string& topic) {
  kit.until("topic " + topic + " is gone", [&] {
    return describe_topic(kit, topic)["errorCode"].error() == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  });
}

int64_t partition_count(Kit& kit, const std::string& topic) {
  return static_cast<int64_t>(describe_topic(kit, topic)["partitions"].size());
}

Object new_topic(const std::string& name, int32_t partitions, int16_t replication_factor,
                 const Configs& configs) {
  return {{"name", name},
          {"numPartitions", partitions},
          {"replicationFactor", replication_factor},
          {"configs", list_of(configs, [](const auto& config) {
             return Object{{"name", config.first}, {"value", config.second}};
           })}};
}

Object assigned_topic(const std::string& name, const std::vector<std::vector<int32_t>>& replicas) {
  Object topic = new_topic(name, -1, -1);
  json::array assignments;
  for (const auto& brokers : replicas) {
    assignments.emplace_back(
        Object{{"partitionIndex", assignments.size()},
               {"brokerIds", list_of(brokers, [](int32_t id) { return json::value(id); })}});
  }
  topic["assignments"] = assignments;
  return topic;
}

Value create_topics(Kit& kit, const json::array& topics, int16_t version, bool validate_only) {
  for (const json::value& topic : topics)
    kit.forget_later(std::string(topic.at("name").as_string()));
  return kit.ask(
      "CreateTopics", version,
      {{"topics", topics}, {"timeoutMs", kTimeoutMs}, {"validateOnly", validate_only}})["topics"];
}

Value try_create(Kit& kit, const Object& topic, int16_t version, bool validate_only) {
  const Value topics = create_topics(kit, list(topic), version, validate_only);
  topics.has_size(1);
  return topics[0];
}

Object config_query(ConfigResource type, const std::string& name,
                    const std::optional<std::vector<std::string>>& keys) {
  json::value wanted = nullptr;
  if (keys) wanted = list_of(*keys, [](const std::string& key) { return json::value(key); });
  return {{"resourceType", static_cast<int8_t>(type)},
          {"resourceName", name},
          {"configurationKeys", wanted}};
}

Value describe_config(Kit& kit, const Object& query, int16_t version, bool include_synonyms) {
  const Value answer = kit.ask("DescribeConfigs", version,
                               {{"resources", list(query)}, {"includeSynonyms", include_synonyms}});
  answer["results"].has_size(1);
  return answer["results"][0];
}

Value config_entry(Kit& kit, ConfigResource type, const std::string& resource,
                   const std::string& name, bool include_synonyms) {
  const Value result =
      describe_config(kit, config_query(type, resource, {{name}}), 4, include_synonyms);
  result["errorCode"].is_none();
  return result["configs"].with("name", name);
}

void expect_config(Kit& kit, ConfigResource type, const std::string& resource,
                   const std::string& name, const json::value& value) {
  kit.until("config " + name + " of " + resource + " is " + show(value),
            [&] { return config_entry(kit, type, resource, name)["value"].json() == value; });
}

Object change_of(ConfigResource type, const std::string& resource,
                 const std::vector<ConfigChange>& changes) {
  return {{"resourceType", static_cast<int8_t>(type)},
          {"resourceName", resource},
          {"configs", list_of(changes, [](const ConfigChange& change) {
             return Object{{"name", change.name},
                           {"configOperation", static_cast<int8_t>(change.operation)},
                           {"value", or_null(change.value)}};
           })}};
}

Value change_configs(Kit& kit, ConfigResource type, const std::string& resource,
                     const std::vector<ConfigChange>& changes, int16_t version,
                     bool validate_only) {
  const Value answer = kit.ask(
      "IncrementalAlterConfigs", version,
      {{"resources", list(change_of(type, resource, changes))}, {"validateOnly", validate_only}});
  answer["responses"].has_size(1);
  return answer["responses"][0];
}

Value replace_configs(Kit& kit, ConfigResource type, const std::string& resource,
                      const Configs& configs, int16_t version, bool validate_only) {
  const Value answer = kit.ask(
      "AlterConfigs", version,
      {{"resources", list(Object{{"resourceType", static_cast<int8_t>(type)},
                                 {"resourceName", resource},
                                 {"configs", list_of(configs,
                                                     [](const auto& config) {
                                                       return Object{{"name", config.first},
                                                                     {"value", config.second}};
                                                     })}})},
       {"validateOnly", validate_only}});
  answer["responses"].has_size(1);
  return answer["responses"][0];
}

Value alter_quotas(Kit& kit, const QuotaEntity& entity, const std::vector<QuotaChange>& changes,
                   int16_t version, bool validate_only) {
  const auto entity_json = list_of(entity, [](const auto& part) {
    return Object{{"entityType", part.first}, {"entityName", or_null(part.second)}};
  });
  const auto ops = list_of(changes, [](const QuotaChange& change) {
    return Object{{"key", change.key},
                  {"value", change.value.value_or(0.0)},
                  {"remove", !change.value.has_value()}};
  });
  const Value answer = kit.ask("AlterClientQuotas", version,
                               {{"entries", list(Object{{"entity", entity_json}, {"ops", ops}})},
                                {"validateOnly", validate_only}});
  answer["entries"].has_size(1);
  return answer["entries"][0];
}

}  // namespace ackord::conform
