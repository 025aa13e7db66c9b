// Templates of topics, configs and what describes the cluster.
#include <boost/json/serialize.hpp>

#include "tools/conform/differential/templates.h"

namespace ackord::conform::differential {
namespace {

constexpr size_t kMostTopics = 7;

const std::vector<std::pair<std::string, std::string>> kTopicConfigs = {
    {"retention.ms", "3600000"},
    {"retention.ms", "-1"},
    {"segment.bytes", "1048576"},
    {"segment.bytes", "10"},
    {"max.message.bytes", "1000"},
    {"cleanup.policy", "compact"},
    {"cleanup.policy", "delete"},
    {"cleanup.policy", "compact,delete"},
    {"message.timestamp.type", "CreateTime"},
    {"message.timestamp.type", "never"},
    {"compression.type", "producer"},
    {"min.insync.replicas", "1"},
    {"min.insync.replicas", "0"},
    {"retention.bytes", "1000000"},
    {"unclean.leader.election.enable", "true"},
    {"unclean.leader.election.enable", "maybe"},
    {"flush.messages", "1"},
    {"no.such.config", "1"},
};
const std::vector<std::pair<std::string, std::string>> kGroupConfigs = {
    {"share.auto.offset.reset", "earliest"},
    {"share.auto.offset.reset", "by_duration:PT1H"},
    {"share.auto.offset.reset", "sometime"},
    {"share.record.lock.duration.ms", "60000"},
    {"share.record.lock.duration.ms", "1"},
    {"share.delivery.count.limit", "5"},
    {"share.delivery.count.limit", "1"},
    {"share.isolation.level", "read_committed"},
    {"share.isolation.level", "serializable"},
    {"share.session.timeout.ms", "45000"},
    {"share.heartbeat.interval.ms", "5000"},
    {"consumer.session.timeout.ms", "45000"},
    {"retention.ms", "1"},
};

Object metadata(World& world, Random& random, int16_t version) {
  json::value topics = some(random, [&] {
    const TopicState topic = world.topic(random);
    const bool by_id = version >= 12 && random.one_in(3);
    Body body(version);
    body.field("name", by_id ? json::value(nullptr) : json::value(topic.name));
    if (by_id) body.field("topicId", topic.id);
    return body.take();
  });
  if (random.one_in(10)) topics = json::array();
  if (version >= 1 && random.one_in(10)) topics = nullptr;
  return Body(version)
      .field("topics", topics)
      .since(4, "allowAutoTopicCreation", false)
      .between(8, 10, "includeClusterAuthorizedOperations", random.one_in(3))
      .since(8, "includeTopicAuthorizedOperations", random.one_in(3))
      .take();
}

// A version that cannot say otherwise, and a request that wishes it, create what was deleted.
void described(World& world, const Answered& answered) {
  const json::value* creates = answered.request.if_contains("allowAutoTopicCreation");
  if (creates != nullptr && !creates->as_bool()) return;
  const std::string text = json::serialize(answered.request);
  std::erase_if(world.deleted, [&](const auto& one) {
    return text.find(one.name) != std::string::npos || text.find(one.id) != std::string::npos;
  });
}

json::array some_configs(Random& random, const auto& configs) {
  return some(random, [&] {
    const auto& [name, value] = random.of(configs);
    return Object{{"name", name}, {"value", value}};
  });
}

Object create_topics(World& world, Random& random, int16_t version) {
  const auto topic = [&]() -> json::value {
    const bool assigned = random.one_in(8);
    json::array assignments;
    if (assigned)
      assignments.push_back(Object{{"partitionIndex", 0}, {"brokerIds", list(random.number(2))}});
    return Body(version)
        .field("name", random.one_in(5) ? world.other_name(random) : world.new_name("t"))
        .field("numPartitions", assigned ? -1 : 1 + random.number(3))
        .field("replicationFactor", assigned || random.one_in(3) ? -1 : 1)
        .field("assignments", assignments)
        .field("configs", random.one_in(2) ? some_configs(random, kTopicConfigs) : json::array())
        .take();
  };
  return Body(version)
      .field("topics", some(random, topic))
      .field("timeoutMs", 5000)
      .field("validateOnly", random.one_in(2))
      .take();
}

void created(World& world, const Answered& answered) {
  if (answered.request.at("validateOnly").as_bool()) return;
  const auto& topics = answered.answer.at("topics").as_array();
  for (const json::value& topic : topics) {
    if (topic.at("errorCode").as_int64() != 0) continue;
    // The ids follow when the new topic is awaited.
    const std::string name(topic.at("name").as_string());
    std::erase_if(world.deleted, [&](const auto& one) { return one.name == name; });
    if (world.topics.size() < kMostTopics) world.topics.push_back({name, {}, 0});
  }
}

Object delete_topics(World& world, Random& random, int16_t version) {
  const TopicState topic = world.topic(random);
  const bool by_id = random.one_in(2);
  return Body(version)
      .since(6, "topics",
             list(by_id ? Object{{"name", nullptr}, {"topicId", topic.id}}
                        : Object{{"name", topic.name}}))
      .until(5, "topicNames", list(topic.name))
      .field("timeoutMs", 5000)
      .take();
}

void deleted(World& world, const Answered& answered) {
  for (const json::value& topic : answered.answer.at("responses").as_array()) {
    if (topic.at("errorCode").as_int64() != 0) continue;
    if (topic.at("name").is_string()) world.delete_topic(std::string(topic.at("name").as_string()));
  }
}

json::array config_keys(Random& random, const auto& configs) {
  return some(random, [&] { return json::string(random.of(configs).first); });
}

// A topic or a group, and the configs that such a resource has.
struct Resource {
  int8_t type;
  std::string name;
  const std::vector<std::pair<std::string, std::string>>& configs;
};
Resource some_resource(World& world, Random& random) {
  if (random.one_in(3)) return {32, world.group(random), kGroupConfigs};
  return {2, world.topic(random).name, kTopicConfigs};
}

Object describe_configs(World& world, Random& random, int16_t version) {
  const auto resource = [&] {
    const Resource one = some_resource(world, random);
    return Object{{"resourceType", one.type},
                  {"resourceName", one.name},
                  {"configurationKeys", config_keys(random, one.configs)}};
  };
  return Body(version)
      .field("resources", some(random, resource))
      .field("includeSynonyms", random.one_in(2))
      .since(3, "includeDocumentation", random.one_in(4))
      .take();
}

Object alter_configs(World& world, Random& random, int16_t) {
  const auto resource = [&] {
    const Resource one = some_resource(world, random);
    const auto config = [&] {
      const auto& [name, value] = random.of(one.configs);
      return Object{{"name", name},
                    {"configOperation", random.one_in(2) ? 0 : random.number(4)},
                    {"value", value}};
    };
    return Object{
        {"resourceType", one.type}, {"resourceName", one.name}, {"configs", some(random, config)}};
  };
  return {{"resources", some(random, resource)}, {"validateOnly", random.one_in(2)}};
}

Object describe_cluster(World&, Random& random, int16_t version) {
  return Body(version)
      .field("includeClusterAuthorizedOperations", random.one_in(2))
      .since(1, "endpointType", 1)
      .since(2, "includeFencedBrokers", random.one_in(2))
      .take();
}

Object api_versions(World&, Random&, int16_t version) {
  return Body(version)
      .since(3, "clientSoftwareName", "ackord-conform")
      .since(3, "clientSoftwareVersion", "1")
      .take();
}

Object create_partitions(World& world, Random& random, int16_t) {
  const auto topic = [&] {
    const TopicState one = world.topic(random);
    return Object{
        {"name", one.name}, {"count", one.partitions + random.number(2)}, {"assignments", nullptr}};
  };
  return {{"topics", some(random, topic)}, {"timeoutMs", 5000}, {"validateOnly", true}};
}

Object describe_topic_partitions(World& world, Random& random, int16_t) {
  const auto topic = [&] { return Object{{"name", world.topic(random).name}}; };
  return {{"topics", some(random, topic)},
          {"responsePartitionLimit", 1 + random.number(4)},
          {"cursor", nullptr}};
}

}  // namespace

std::vector<Template> admin_templates() {
  return {
      {"Metadata", 4, true, metadata, described},
      {"CreateTopics", 4, false, create_topics, created},
      {"DeleteTopics", 1, false, delete_topics, deleted},
      {"DescribeConfigs", 4, true, describe_configs},
      {"IncrementalAlterConfigs", 4, false, alter_configs},
      {"DescribeCluster", 1, true, describe_cluster},
      {"ApiVersions", 1, true, api_versions},
      {"CreatePartitions", 2, false, create_partitions},
      {"DescribeTopicPartitions", 2, true, describe_topic_partitions},
  };
}

}  // namespace ackord::conform::differential
