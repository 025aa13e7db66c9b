// DescribeConfigs: what is described, where a value comes from, and of which type it is.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"

namespace ackord::conform {

AREA("configs.describe", "DescribeConfigs");

namespace {

// As in the answer's configSource and configType.
enum Source { kTopicSource = 1, kDefaultSource = 5 };
enum Type { kBoolean = 1, kString = 2, kInt = 3, kLong = 5, kDouble = 6, kList = 7 };

std::string node(Kit& kit) { return std::to_string(node_id(kit)); }

void expect_error(Kit& kit, ConfigResource type, const std::string& name, ErrorCode code) {
  const Value result = describe_config(kit, config_query(type, name));
  result["errorCode"].is(code);
  result["resourceType"].is(static_cast<int>(type));
  result["resourceName"].is(name);
  result["configs"].has_size(0);
}

}  // namespace

CASE(a_topic, "KIP-133", .api = "DescribeConfigs", .first = 1, .last = 4) {
  const Topic topic = create_topic(kit, 1, {{"retention.ms", "5000"}});
  const Value result =
      describe_config(kit, config_query(ConfigResource::kTopic, topic.name), kit.version());
  result["errorCode"].is_none();
  result["resourceType"].is(2);
  result["resourceName"].is(topic.name);
  const Value set = result["configs"].with("name", "retention.ms");
  set["value"].is("5000");
  set["configSource"].is(kTopicSource);
  set["readOnly"].is(false);
  set["isSensitive"].is(false);
  set["synonyms"].has_size(0);
  const Value unset = result["configs"].with("name", "segment.bytes");
  unset["value"].is("1073741824");
  unset["configSource"].is(kDefaultSource);
  if (kit.version() >= 3) {
    set["configType"].is(kLong);
    unset["configType"].is(kInt);
    set["documentation"].is_null();
  }
}

CASE(null_keys_and_no_keys_are_all, "KIP-133", .api = "DescribeConfigs", .first = 1, .last = 4) {
  const Topic topic = create_topic(kit);
  for (const Object& query :
       {config_query(ConfigResource::kTopic, topic.name),
        config_query(ConfigResource::kTopic, topic.name, std::vector<std::string>{})}) {
    const Value configs = describe_config(kit, query, kit.version())["configs"];
    expect(configs.size() >= 30, "all configs of a topic");
    for (const char* name : {"cleanup.policy", "max.message.bytes", "min.insync.replicas"})
      configs.with("name", json::value(name))["value"].is_not_empty();
  }
}

CASE(some_keys, "KIP-133", .api = "DescribeConfigs", .first = 1, .last = 4) {
  const Topic topic = create_topic(kit);
  const Value configs =
      describe_config(kit,
                      config_query(ConfigResource::kTopic, topic.name,
                                   {{"retention.ms", "no.such", "segment.ms", "retention.ms"}}),
                      kit.version())["configs"];
  configs.has_size(2);
  configs.with("name", "retention.ms");
  configs.with("name", "segment.ms");
}

CASE(unknown_keys_are_left_out, "KIP-133") {
  const Topic topic = create_topic(kit);
  const Value result =
      describe_config(kit, config_query(ConfigResource::kTopic, topic.name, {{"no.such"}}));
  result["errorCode"].is_none();
  result["configs"].has_size(0);
}

CASE(synonyms, "KIP-226", .api = "DescribeConfigs", .first = 1, .last = 4) {
  const Topic topic = create_topic(kit, 1, {{"segment.ms", "5000"}});
  const Value configs = describe_config(
      kit, config_query(ConfigResource::kTopic, topic.name, {{"segment.ms", "segment.bytes"}}),
      kit.version(), true)["configs"];
  const Value set = configs.with("name", "segment.ms")["synonyms"][0];
  set["name"].is("segment.ms");
  set["value"].is("5000");
  set["source"].is(kTopicSource);
  const Value unset = configs.with("name", "segment.bytes")["synonyms"];
  unset.has_size(1);
  unset[0]["name"].is("log.segment.bytes");
  unset[0]["value"].is("1073741824");
  unset[0]["source"].is(kDefaultSource);
}

CASE(documentation, "KIP-524", .api = "DescribeConfigs", .first = 3, .last = 4) {
  const Topic topic = create_topic(kit);
  const Value answer = kit.ask(
      "DescribeConfigs", kit.version(),
      {{"resources", list(config_query(ConfigResource::kTopic, topic.name, {{"retention.ms"}}))},
       {"includeDocumentation", true}});
  answer["results"][0]["configs"][0]["documentation"].is_not_empty();
}

CASE(types, "KIP-569") {
  const Topic topic = create_topic(kit);
  const Value configs =
      describe_config(kit, config_query(ConfigResource::kTopic, topic.name))["configs"];
  const std::vector<std::pair<std::string, int>> expected = {
      {"preallocate", kBoolean},
      {"compression.type", kString},
      {"max.message.bytes", kInt},
      {"retention.bytes", kLong},
      {"cleanup.policy", kList},
      {"min.insync.replicas", kInt},
      {"min.cleanable.dirty.ratio", kDouble}};
  for (const auto& [name, type] : expected) configs.with("name", name)["configType"].is(type);
}

CASE(defaults_of_a_topic, "Kafka 4.4 topic configs") {
  const Topic topic = create_topic(kit);
  const auto configs = configs_of(kit, ConfigResource::kTopic, topic.name);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"cleanup.policy", "delete"},
      {"compression.type", "producer"},
      {"delete.retention.ms", "86400000"},
      {"flush.messages", "9223372036854775807"},
      {"index.interval.bytes", "4096"},
      {"max.compaction.lag.ms", "9223372036854775807"},
      {"max.message.bytes", "1048588"},
      {"message.timestamp.after.max.ms", "3600000"},
      {"message.timestamp.before.max.ms", "9223372036854775807"},
      {"message.timestamp.type", "CreateTime"},
      {"min.cleanable.dirty.ratio", "0.5"},
      {"min.compaction.lag.ms", "0"},
      {"min.insync.replicas", "1"},
      {"preallocate", "false"},
      {"retention.bytes", "-1"},
      {"retention.ms", "604800000"},
      {"segment.bytes", "1073741824"},
      {"segment.ms", "604800000"},
      {"unclean.leader.election.enable", "false"},
      {"errors.deadletterqueue.group.enable", "false"},
      {"compression.zstd.level", "3"},
      {"leader.replication.throttled.replicas", ""}};
  for (const auto& [name, value] : expected) {
    const auto found = configs.find(name);
    expect(found != configs.end(), "the topic has a config " + name);
    expect_equal(found->second, std::optional<std::string>(value), name);
  }
}

CASE(no_internal_configs, "KIP-133") {
  const Topic topic = create_topic(kit);
  for (const auto& [name, value] : configs_of(kit, ConfigResource::kTopic, topic.name))
    expect(!name.starts_with("internal."), name + " is not described");
}

CASE(unknown_topic, "KIP-133") {
  expect_error(kit, ConfigResource::kTopic, kit.name("t"), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}
CASE(illegal_topic, "KIP-133") {
  expect_error(kit, ConfigResource::kTopic, "bad name!", ErrorCode::INVALID_TOPIC_EXCEPTION);
  expect_error(kit, ConfigResource::kTopic, "", ErrorCode::INVALID_TOPIC_EXCEPTION);
}
CASE(other_broker, "KIP-226") {
  expect_error(kit, ConfigResource::kBroker, "12345", ErrorCode::INVALID_REQUEST);
  expect_error(kit, ConfigResource::kBroker, "x", ErrorCode::INVALID_REQUEST);
}
CASE(other_broker_logger, "KIP-412") {
  expect_error(kit, ConfigResource::kBrokerLogger, "12345", ErrorCode::INVALID_REQUEST);
  expect_error(kit, ConfigResource::kBrokerLogger, "", ErrorCode::INVALID_REQUEST);
}
CASE(group_without_a_name, "KIP-848") {
  expect_error(kit, ConfigResource::kGroup, "", ErrorCode::INVALID_REQUEST);
}
CASE(subscription_without_a_name, "KIP-714") {
  expect_error(kit, ConfigResource::kClientMetrics, "", ErrorCode::INVALID_REQUEST);
}
CASE(unknown_resource_types, "KIP-133") {
  for (const int type : {0, 1, 3, 64, 127})
    expect_error(kit, static_cast<ConfigResource>(type), "x", ErrorCode::INVALID_REQUEST);
}

CASE(bad_among_good, "KIP-133") {
  const Topic topic = create_topic(kit);
  const std::string unknown = kit.name("unknown");
  const Value results =
      kit.ask("DescribeConfigs", 4,
              {{"resources", list(config_query(ConfigResource::kTopic, unknown),
                                  config_query(ConfigResource::kTopic, topic.name),
                                  config_query(ConfigResource::kBroker, node(kit)))}})["results"];
  results.has_size(3);
  results.with("resourceName", unknown)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  results.with("resourceName", topic.name)["errorCode"].is_none();
  results.with("resourceName", node(kit))["errorCode"].is_none();
}

CASE(nothing, "KIP-133") {
  kit.ask("DescribeConfigs", 4, {{"resources", list()}})["results"].has_size(0);
}

CASE(the_broker, "KIP-226", .api = "DescribeConfigs", .first = 1, .last = 4) {
  const Value configs = describe_config(kit, config_query(ConfigResource::kBroker, node(kit)),
                                        kit.version())["configs"];
  const Value id = configs.with("name", "node.id");
  id["value"].is(node(kit));
  id["readOnly"].is(true);
  id["isSensitive"].is(false);
  const Value dynamic = configs.with("name", "log.cleaner.threads");
  dynamic["readOnly"].is(false);
  for (const char* name : {"listeners", "log.dirs", "num.partitions", "message.max.bytes",
                           "auto.create.topics.enable", "group.share.record.lock.duration.ms"})
    configs.with("name", json::value(name))["value"].is_not_empty();
}

CASE(secrets_are_not_told, "KIP-226") {
  const Value configs =
      describe_config(kit, config_query(ConfigResource::kBroker, node(kit)))["configs"];
  size_t secrets = 0;
  for (const Value& config : configs.items()) {
    if (!config["isSensitive"].truth()) continue;
    ++secrets;
    config["value"].is_null();
  }
  expect(secrets > 0, "some configs are secrets");
}

// The broker named "" is the default of all brokers: only what was set for them.
CASE(default_broker, "KIP-226") {
  const Value result = describe_config(kit, config_query(ConfigResource::kBroker, ""));
  result["errorCode"].is_none();
  for (const Value& config : result["configs"].items()) config["configSource"].is(3);
}

CASE(broker_loggers, "KIP-412") {
  const Value result = describe_config(kit, config_query(ConfigResource::kBrokerLogger, node(kit)));
  result["errorCode"].is_none();
  const Value root = result["configs"].with("name", "root");
  root["value"].is_not_empty();
  root["configSource"].is(6);
}

CASE(a_group_that_none_has, "KIP-848") {
  const Value result =
      describe_config(kit, config_query(ConfigResource::kGroup, kit.name("g")), 4, true);
  result["errorCode"].is_none();
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"consumer.session.timeout.ms", "45000"},      {"consumer.heartbeat.interval.ms", "5000"},
      {"share.session.timeout.ms", "45000"},         {"share.heartbeat.interval.ms", "5000"},
      {"share.record.lock.duration.ms", "30000"},    {"share.delivery.count.limit", "5"},
      {"share.partition.max.record.locks", "2000"},  {"share.auto.offset.reset", "latest"},
      {"share.isolation.level", "read_uncommitted"}, {"share.renew.acknowledge.enable", "true"},
      {"errors.deadletterqueue.topic.name", ""},
  };
  for (const auto& [name, value] : expected) {
    const Value config = result["configs"].with("name", name);
    config["value"].is(value);
    config["configSource"].is(kDefaultSource);
    config["readOnly"].is(false);
  }
}

CASE(a_group_of_streams, "KIP-1071") {
  const Value configs =
      describe_config(kit, config_query(ConfigResource::kGroup, kit.name("g")))["configs"];
  configs.with("name", "streams.session.timeout.ms")["value"].is("45000");
  configs.with("name", "streams.num.standby.replicas")["value"].is("0");
}

CASE(a_subscription_that_none_has, "KIP-714") {
  const Value configs = describe_config(
      kit, config_query(ConfigResource::kClientMetrics, kit.name("metrics")))["configs"];
  configs.has_size(3);
  configs.with("name", "interval.ms")["value"].is("300000");
  configs.with("name", "metrics")["value"].is("");
  configs.with("name", "match")["value"].is("");
}

}  // namespace ackord::conform
