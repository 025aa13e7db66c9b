#include "tools/conform/kit/topics.h"

namespace ackord::conform {
namespace {

constexpr int32_t kTimeoutMs = 10000;
constexpr const char* kGhostId = "BwcHBwcHBwcHBwcHBwcHBw";

bool led(const Value& topic, const Topic& expected) {
  if (topic["errorCode"].error() != ErrorCode::NONE) return false;
  if (topic["topicId"].text() != expected.id) return false;
  const auto partitions = topic["partitions"].items();
  if (partitions.size() != static_cast<size_t>(expected.partitions)) return false;
  for (const Value& partition : partitions) {
    if (partition["errorCode"].error() != ErrorCode::NONE) return false;
    if (partition["leaderId"].number() < 0) return false;
  }
  return true;
}

// The end of every partition is known: it has a log.
bool has_logs(Kit& kit, const Topic& topic) {
  json::array partitions;
  for (int32_t i = 0; i < topic.partitions; ++i)
    partitions.emplace_back(Object{{"partitionIndex", i}, {"timestamp", -1}});
  const Value answer =
      kit.ask("ListOffsets", 7,
              {{"replicaId", -1},
               {"topics", list(Object{{"name", topic.name}, {"partitions", partitions}})}});
  for (const Value& partition : answer["topics"][0]["partitions"].items())
    if (partition["errorCode"].error() != ErrorCode::NONE) return false;
  return true;
}

}  // namespace

Topic create_topic(Kit& kit, int32_t partitions, const Configs& configs, const std::string& name) {
  Topic topic{name.empty() ? kit.name("t") : name, {}, partitions};
  kit.forget_later(topic.name);
  const Value answer =
      kit.ask("CreateTopics", 7,
              {{"topics", list(Object{{"name", topic.name},
                                      {"numPartitions", partitions},
                                      {"replicationFactor", 1},
                                      {"configs", list_of(configs,
                                                          [](const auto& config) {
                                                            return Object{{"name", config.first},
                                                                          {"value", config.second}};
                                                          })}})},
               {"timeoutMs", kTimeoutMs}});
  answer["topics"][0]["errorCode"].is_none();
  topic.id = answer["topics"][0]["topicId"].text();
  kit.until("topic " + topic.name + " is led and has its logs",
            [&] { return led(describe_topic(kit, topic.name), topic) && has_logs(kit, topic); });
  return topic;
}

Topic grow_topic(Kit& kit, Topic topic, int32_t partitions) {
  const Value answer = kit.ask(
      "CreatePartitions", 3,
      {{"topics",
        list(Object{{"name", topic.name}, {"count", partitions}, {"assignments", nullptr}})},
       {"timeoutMs", kTimeoutMs}});
  answer["results"][0]["errorCode"].is_none();
  topic.partitions = partitions;
  kit.until("the new partitions of " + topic.name + " are led",
            [&] { return led(describe_topic(kit, topic.name), topic) && has_logs(kit, topic); });
  return topic;
}

Topic ghost_topic(Kit& kit) { return {kit.name("ghost"), kGhostId, 1}; }

void delete_topic(Kit& kit, const Topic& topic) {
  const Value answer =
      kit.ask("DeleteTopics", 5, {{"topicNames", list(topic.name)}, {"timeoutMs", kTimeoutMs}});
  answer["responses"][0]["errorCode"].is_none();
  kit.until("topic " + topic.name + " is gone", [&] {
    return describe_topic(kit, topic.name)["errorCode"].error() ==
           ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  });
}

Value describe_topic(Kit& kit, const std::string& name, int16_t version) {
  return kit.ask(
      "Metadata", version,
      {{"topics", list(Object{{"name", name}})}, {"allowAutoTopicCreation", false}})["topics"][0];
}

int64_t delete_records(Kit& kit, const Topic& topic, int64_t offset, int32_t partition) {
  const Value answer = kit.ask(
      "DeleteRecords", 2,
      {{"topics", list(Object{{"name", topic.name},
                              {"partitions",
                               list(Object{{"partitionIndex", partition}, {"offset", offset}})}})},
       {"timeoutMs", kTimeoutMs}});
  const Value result = answer["topics"][0]["partitions"][0];
  result["errorCode"].is_none();
  return result["lowWatermark"].number();
}

Value alter_configs(Kit& kit, ConfigResource type, const std::string& resource,
                    const Configs& configs) {
  return kit.ask("IncrementalAlterConfigs", 1,
                 {{"resources", list(Object{{"resourceType", static_cast<int8_t>(type)},
                                            {"resourceName", resource},
                                            {"configs", list_of(configs, [](const auto& config) {
                                               return Object{
                                                   {"name", config.first},
                                                   {"configOperation",
                                                    static_cast<int8_t>(ConfigOperation::kSet)},
                                                   {"value", config.second}};
                                             })}})}})["responses"][0];
}

void set_configs(Kit& kit, ConfigResource type, const std::string& resource,
                 const Configs& configs) {
  alter_configs(kit, type, resource, configs)["errorCode"].is_none();
  kit.until("the configs of " + resource + " are seen", [&] {
    auto seen = configs_of(kit, type, resource);
    return std::ranges::all_of(
        configs, [&](const auto& config) { return seen[config.first] == config.second; });
  });
}

std::map<std::string, std::optional<std::string>> configs_of(Kit& kit, ConfigResource type,
                                                             const std::string& resource) {
  const Value answer =
      kit.ask("DescribeConfigs", 4,
              {{"resources", list(Object{{"resourceType", static_cast<int8_t>(type)},
                                         {"resourceName", resource},
                                         {"configurationKeys", nullptr}})}})["results"][0];
  answer["errorCode"].is_none();
  std::map<std::string, std::optional<std::string>> out;
  for (const Value& config : answer["configs"].items()) {
    const Value value = config["value"];
    out[config["name"].text()] =
        value.null() ? std::nullopt : std::optional<std::string>(value.text());
  }
  return out;
}

}  // namespace ackord::conform
