// IncrementalAlterConfigs and the older AlterConfigs, on every kind of resource.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("configs.alter", "IncrementalAlterConfigs and AlterConfigs");

namespace {

constexpr ConfigResource kTopic = ConfigResource::kTopic;
constexpr ConfigResource kBroker = ConfigResource::kBroker;
constexpr ConfigResource kGroup = ConfigResource::kGroup;
constexpr ConfigResource kMetrics = ConfigResource::kClientMetrics;
constexpr ConfigOperation kSet = ConfigOperation::kSet;
constexpr ConfigOperation kDelete = ConfigOperation::kDelete;
constexpr ConfigOperation kAppend = ConfigOperation::kAppend;
constexpr ConfigOperation kSubtract = ConfigOperation::kSubtract;
// As in DescribeConfigs' configSource.
enum Source {
  kTopicSource = 1,
  kBrokerSource = 2,
  kDefaultSource = 5,
  kMetricsSource = 7,
  kGroupSource = 8
};

std::string node(Kit& kit) { return std::to_string(node_id(kit)); }

void expect_refused(Kit& kit, ConfigResource type, const std::string& resource,
                    const std::vector<ConfigChange>& changes, ErrorCode code) {
  const Value response = change_configs(kit, type, resource, changes);
  response["errorCode"].is(code);
  response["errorMessage"].is_not_empty();
  response["resourceType"].is(static_cast<int>(type));
  response["resourceName"].is(resource);
}

void change(Kit& kit, ConfigResource type, const std::string& resource,
            const std::vector<ConfigChange>& changes) {
  const Value response = change_configs(kit, type, resource, changes);
  response["errorCode"].is_none();
  response["errorMessage"].is_null();
}

void expect_source(Kit& kit, ConfigResource type, const std::string& resource,
                   const std::string& name, int source) {
  kit.until("the source of " + name + " is " + std::to_string(source), [&] {
    return config_entry(kit, type, resource, name)["configSource"].number() == source;
  });
}

// Puts a broker's config back when the case ends, however it ends.
class RestoredBrokerConfig {
 public:
  RestoredBrokerConfig(Kit& kit, std::string resource, std::string name)
      : kit_(kit), resource_(std::move(resource)), name_(std::move(name)) {}
  RestoredBrokerConfig(const RestoredBrokerConfig&) = delete;
  ~RestoredBrokerConfig() {
    try {
      change_configs(kit_, kBroker, resource_, {{name_, kDelete}});
    } catch (const std::exception&) {
      // The case has failed already.
    }
  }

 private:
  Kit& kit_;
  std::string resource_;
  std::string name_;
};

}  // namespace

// ---- a topic

CASE(set, "KIP-339", .api = "IncrementalAlterConfigs", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit, 1, {{"segment.ms", "7000"}});
  const Value response =
      change_configs(kit, kTopic, topic.name, {{"retention.ms", kSet, "5000"}}, kit.version());
  response["errorCode"].is_none();
  response["errorMessage"].is_null();
  response["resourceType"].is(2);
  response["resourceName"].is(topic.name);
  expect_config(kit, kTopic, topic.name, "retention.ms", "5000");
  expect_source(kit, kTopic, topic.name, "retention.ms", kTopicSource);
  expect_config(kit, kTopic, topic.name, "segment.ms", "7000");
}

CASE(delete_is_the_default_again, "KIP-339", .api = "IncrementalAlterConfigs", .first = 0,
     .last = 1) {
  const Topic topic = create_topic(kit, 1, {{"segment.ms", "7000"}, {"segment.bytes", "2000000"}});
  change_configs(kit, kTopic, topic.name, {{"segment.ms", kDelete}}, kit.version())["errorCode"]
      .is_none();
  expect_config(kit, kTopic, topic.name, "segment.ms", "604800000");
  expect_source(kit, kTopic, topic.name, "segment.ms", kDefaultSource);
  expect_config(kit, kTopic, topic.name, "segment.bytes", "2000000");
}

CASE(delete_of_what_is_not_set, "KIP-339") {
  const Topic topic = create_topic(kit);
  change(kit, kTopic, topic.name, {{"segment.ms", kDelete}});
  change(kit, kTopic, topic.name, {{"no.such", kDelete}});
}

CASE(append_and_subtract, "KIP-339") {
  const Topic topic = create_topic(kit);
  change(kit, kTopic, topic.name, {{"cleanup.policy", kAppend, "compact"}});
  expect_config(kit, kTopic, topic.name, "cleanup.policy", "delete,compact");
  change(kit, kTopic, topic.name, {{"cleanup.policy", kAppend, "compact"}});
  expect_config(kit, kTopic, topic.name, "cleanup.policy", "delete,compact");
  change(kit, kTopic, topic.name, {{"cleanup.policy", kSubtract, "delete"}});
  expect_config(kit, kTopic, topic.name, "cleanup.policy", "compact");
  change(kit, kTopic, topic.name, {{"cleanup.policy", kSubtract, "delete"}});
  expect_config(kit, kTopic, topic.name, "cleanup.policy", "compact");
}

CASE(append_to_no_list, "KIP-339") {
  const Topic topic = create_topic(kit);
  expect_refused(kit, kTopic, topic.name, {{"retention.ms", kAppend, "1"}},
                 ErrorCode::INVALID_CONFIG);
  expect_refused(kit, kTopic, topic.name, {{"retention.ms", kSubtract, "1"}},
                 ErrorCode::INVALID_CONFIG);
}

CASE(append_of_what_is_not_allowed, "KIP-339") {
  const Topic topic = create_topic(kit);
  expect_refused(kit, kTopic, topic.name, {{"cleanup.policy", kAppend, "keep"}},
                 ErrorCode::INVALID_CONFIG);
}

CASE(key_twice, "KIP-339") {
  const Topic topic = create_topic(kit);
  expect_refused(kit, kTopic, topic.name,
                 {{"retention.ms", kSet, "1000"}, {"retention.ms", kDelete}},
                 ErrorCode::INVALID_REQUEST);
  expect_refused(kit, kTopic, topic.name,
                 {{"retention.ms", kSet, "1000"}, {"retention.ms", kSet, "2000"}},
                 ErrorCode::INVALID_REQUEST);
  expect_source(kit, kTopic, topic.name, "retention.ms", kDefaultSource);
}

CASE(unknown_key, "KIP-339") {
  const Topic topic = create_topic(kit);
  expect_refused(kit, kTopic, topic.name, {{"no.such", kSet, "1"}}, ErrorCode::INVALID_CONFIG);
  expect_refused(kit, kTopic, topic.name, {{"", kSet, "1"}}, ErrorCode::INVALID_CONFIG);
}

CASE(bad_values, "KIP-339") {
  const Topic topic = create_topic(kit);
  for (const char* value : {"abc", "", "-2", "1.5"})
    expect_refused(kit, kTopic, topic.name, {{"retention.ms", kSet, value}},
                   ErrorCode::INVALID_CONFIG);
  expect_refused(kit, kTopic, topic.name, {{"min.insync.replicas", kSet, "0"}},
                 ErrorCode::INVALID_CONFIG);
}

CASE(null_value, "KIP-339") {
  const Topic topic = create_topic(kit);
  expect_refused(kit, kTopic, topic.name, {{"retention.ms", kSet, std::nullopt}},
                 ErrorCode::INVALID_REQUEST);
}

// Kafka answers UNKNOWN_SERVER_ERROR; INVALID_REQUEST says more.
CASE(unknown_operation, "KIP-339") {
  const Topic topic = create_topic(kit);
  const Value response = change_configs(
      kit, kTopic, topic.name, {{"retention.ms", static_cast<ConfigOperation>(9), "1000"}});
  response["errorCode"].is_one_of({ErrorCode::UNKNOWN_SERVER_ERROR, ErrorCode::INVALID_REQUEST});
  expect_source(kit, kTopic, topic.name, "retention.ms", kDefaultSource);
}

CASE(all_or_nothing_of_a_resource, "KIP-339") {
  const Topic topic = create_topic(kit);
  expect_refused(kit, kTopic, topic.name,
                 {{"retention.ms", kSet, "5000"}, {"segment.bytes", kSet, "x"}},
                 ErrorCode::INVALID_CONFIG);
  config_entry(kit, kTopic, topic.name, "retention.ms")["configSource"].is(kDefaultSource);
}

CASE(validate_only, "KIP-339", .api = "IncrementalAlterConfigs", .first = 0, .last = 1) {
  const Topic topic = create_topic(kit);
  change_configs(kit, kTopic, topic.name, {{"retention.ms", kSet, "5000"}}, kit.version(),
                 true)["errorCode"]
      .is_none();
  change_configs(kit, kTopic, topic.name, {{"retention.ms", kSet, "x"}}, kit.version(),
                 true)["errorCode"]
      .is(ErrorCode::INVALID_CONFIG);
  config_entry(kit, kTopic, topic.name, "retention.ms")["configSource"].is(kDefaultSource);
}

CASE(unknown_topic, "KIP-339") {
  expect_refused(kit, kTopic, kit.name("t"), {{"retention.ms", kSet, "5000"}},
                 ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  expect_refused(kit, kTopic, "bad name!", {{"retention.ms", kSet, "5000"}},
                 ErrorCode::INVALID_TOPIC_EXCEPTION);
  expect_refused(kit, kTopic, "", {{"retention.ms", kSet, "5000"}}, ErrorCode::INVALID_REQUEST);
}

CASE(no_changes, "KIP-339") {
  const Topic topic = create_topic(kit);
  change(kit, kTopic, topic.name, {});
  kit.ask("IncrementalAlterConfigs", 1, {{"resources", list()}})["responses"].has_size(0);
}

CASE(resource_twice, "KIP-339") {
  const Topic topic = create_topic(kit);
  const Object one = change_of(kTopic, topic.name, {{"retention.ms", kSet, "5000"}});
  const Object other = change_of(kTopic, topic.name, {{"segment.ms", kSet, "5000"}});
  const Value responses =
      kit.ask("IncrementalAlterConfigs", 1, {{"resources", list(one, other)}})["responses"];
  for (const Value& response : responses.items())
    response["errorCode"].is(ErrorCode::INVALID_REQUEST);
  config_entry(kit, kTopic, topic.name, "retention.ms")["configSource"].is(kDefaultSource);
}

CASE(bad_among_good, "KIP-339") {
  const Topic topic = create_topic(kit);
  const std::string unknown = kit.name("unknown");
  const std::vector<ConfigChange> changes = {{"retention.ms", kSet, "5000"}};
  const Value responses =
      kit.ask("IncrementalAlterConfigs", 1,
              {{"resources", list(change_of(kTopic, unknown, changes),
                                  change_of(kTopic, topic.name, changes))}})["responses"];
  responses.with("resourceName", unknown)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  responses.with("resourceName", topic.name)["errorCode"].is_none();
  expect_config(kit, kTopic, topic.name, "retention.ms", "5000");
}

CASE(unknown_resource_types, "KIP-339") {
  for (const int type : {0, 1, 3, 64, 99})
    expect_refused(kit, static_cast<ConfigResource>(type), "x", {{"retention.ms", kSet, "5000"}},
                   ErrorCode::INVALID_REQUEST);
}

CASE(takes_effect, "max.message.bytes") {
  const Topic topic = create_topic(kit);
  const auto batch = build_batch({.records = records_of({std::string(2000, 'x')})});
  change(kit, kTopic, topic.name, {{"max.message.bytes", kSet, "1000"}});
  kit.until("the limit counts", [&] {
    return try_produce(kit, topic, batch)["errorCode"].error() == ErrorCode::MESSAGE_TOO_LARGE;
  });
  change(kit, kTopic, topic.name, {{"max.message.bytes", kDelete}});
  kit.until("the limit is gone",
            [&] { return try_produce(kit, topic, batch)["errorCode"].error() == ErrorCode::NONE; });
}

// ---- the older AlterConfigs

CASE(replaces_all, "KIP-133", .api = "AlterConfigs", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit, 1, {{"retention.ms", "1000"}, {"segment.ms", "2000"}});
  const Value response =
      replace_configs(kit, kTopic, topic.name, {{"retention.ms", "9000"}}, kit.version());
  response["errorCode"].is_none();
  response["resourceType"].is(2);
  response["resourceName"].is(topic.name);
  expect_config(kit, kTopic, topic.name, "retention.ms", "9000");
  expect_source(kit, kTopic, topic.name, "segment.ms", kDefaultSource);
}

CASE(replaces_by_nothing, "KIP-133") {
  const Topic topic = create_topic(kit, 1, {{"retention.ms", "1000"}});
  replace_configs(kit, kTopic, topic.name, {})["errorCode"].is_none();
  expect_source(kit, kTopic, topic.name, "retention.ms", kDefaultSource);
}

CASE(replace_refuses, "KIP-133") {
  const Topic topic = create_topic(kit, 1, {{"segment.ms", "2000"}});
  const auto refused = [&](const Configs& configs, ErrorCode code) {
    replace_configs(kit, kTopic, topic.name, configs)["errorCode"].is(code);
  };
  refused({{"no.such", "1"}}, ErrorCode::INVALID_CONFIG);
  refused({{"retention.ms", "x"}}, ErrorCode::INVALID_CONFIG);
  refused({{"retention.ms", "1000"}, {"retention.ms", "2000"}}, ErrorCode::INVALID_REQUEST);
  config_entry(kit, kTopic, topic.name, "segment.ms")["value"].is("2000");
}

CASE(replace_by_null, "KIP-133") {
  const Topic topic = create_topic(kit);
  const Object config{{"name", "retention.ms"}, {"value", nullptr}};
  const Value answer = kit.ask("AlterConfigs", 2,
                               {{"resources", list(Object{{"resourceType", 2},
                                                          {"resourceName", topic.name},
                                                          {"configs", list(config)}})}});
  answer["responses"][0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(replace_validates_only, "KIP-133", .api = "AlterConfigs", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit, 1, {{"segment.ms", "2000"}});
  replace_configs(kit, kTopic, topic.name, {{"retention.ms", "1000"}}, kit.version(),
                  true)["errorCode"]
      .is_none();
  config_entry(kit, kTopic, topic.name, "segment.ms")["value"].is("2000");
}

CASE(replace_of_unknown_resources, "KIP-133") {
  replace_configs(kit, kTopic, kit.name("t"), {{"retention.ms", "1"}})["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  replace_configs(kit, kBroker, "12345", {})["errorCode"].is(ErrorCode::INVALID_REQUEST);
  replace_configs(kit, static_cast<ConfigResource>(99), "x", {})["errorCode"].is(
      ErrorCode::INVALID_REQUEST);
}

// Kafka never answers a request that names a resource twice; an error is more useful.
CASE(replace_resource_twice, "KIP-133") {
  const Topic topic = create_topic(kit);
  const Object once{{"resourceType", 2}, {"resourceName", topic.name}};
  Connection& connection = kit.connect();
  const Sent sent = connection.send("AlterConfigs", 2, {{"resources", list(once, once)}});
  if (!connection.readable_within(Millis(500))) return;
  for (const Value& response : connection.receive(sent)["responses"].items())
    response["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

// ---- a group

CASE(group_set_and_delete, "KIP-848 and KIP-932") {
  const std::string group = kit.name("g");
  change(
      kit, kGroup, group,
      {{"share.delivery.count.limit", kSet, "3"}, {"consumer.session.timeout.ms", kSet, "50000"}});
  expect_config(kit, kGroup, group, "share.delivery.count.limit", "3");
  expect_config(kit, kGroup, group, "consumer.session.timeout.ms", "50000");
  expect_source(kit, kGroup, group, "share.delivery.count.limit", kGroupSource);
  change(kit, kGroup, group, {{"share.delivery.count.limit", kDelete}});
  expect_config(kit, kGroup, group, "share.delivery.count.limit", "5");
  expect_source(kit, kGroup, group, "share.delivery.count.limit", kDefaultSource);
}

CASE(group_replace, "KIP-848") {
  const std::string group = kit.name("g");
  set_configs(kit, kGroup, group, {{"share.delivery.count.limit", "3"}});
  replace_configs(kit, kGroup, group, {{"consumer.session.timeout.ms", "50000"}})["errorCode"]
      .is_none();
  expect_config(kit, kGroup, group, "consumer.session.timeout.ms", "50000");
  expect_source(kit, kGroup, group, "share.delivery.count.limit", kDefaultSource);
}

// The broker's bounds, and what the values must be by themselves.
CASE(group_refuses, "docs/SEMANTICS.md A.5") {
  const std::string group = kit.name("g");
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"share.record.lock.duration.ms", "1000"},
      {"share.record.lock.duration.ms", "60001"},
      {"share.delivery.count.limit", "1"},
      {"share.delivery.count.limit", "11"},
      {"share.partition.max.record.locks", "50"},
      {"share.partition.max.record.locks", "4001"},
      {"share.session.timeout.ms", "1000"},
      {"share.heartbeat.interval.ms", "15001"},
      {"share.auto.offset.reset", "none"},
      {"share.auto.offset.reset", "by_duration:-PT1H"},
      {"share.isolation.level", "serializable"},
      {"share.renew.acknowledge.enable", "no"},
      {"consumer.session.timeout.ms", "1"},
      {"consumer.heartbeat.interval.ms", "50000"},
      {"errors.deadletterqueue.topic.name", "__internal"},
      {"no.such", "1"}};
  for (const auto& [name, value] : refused)
    expect_refused(kit, kGroup, group, {{name, kSet, value}}, ErrorCode::INVALID_CONFIG);
}

CASE(group_accepts, "docs/SEMANTICS.md A.5") {
  const std::string group = kit.name("g");
  const Configs accepted = {{"share.record.lock.duration.ms", "15000"},
                            {"share.delivery.count.limit", "10"},
                            {"share.partition.max.record.locks", "100"},
                            {"share.session.timeout.ms", "60000"},
                            {"share.heartbeat.interval.ms", "15000"},
                            {"share.auto.offset.reset", "by_duration:PT1H"},
                            {"share.isolation.level", "read_committed"},
                            {"share.renew.acknowledge.enable", "false"},
                            {"errors.deadletterqueue.topic.name", "dlq.x"}};
  set_configs(kit, kGroup, group, accepted);
}

CASE(group_of_streams, "KIP-1071") {
  const std::string group = kit.name("g");
  set_configs(kit, kGroup, group, {{"streams.num.standby.replicas", "2"}});
  expect_refused(kit, kGroup, group, {{"streams.num.standby.replicas", kSet, "9"}},
                 ErrorCode::INVALID_CONFIG);
}

CASE(group_without_a_name, "KIP-848") {
  expect_refused(kit, kGroup, "", {{"share.delivery.count.limit", kSet, "3"}},
                 ErrorCode::INVALID_REQUEST);
}

// ---- a subscription of client metrics

CASE(subscription_set_and_delete, "KIP-714") {
  const std::string name = kit.name("metrics");
  change(kit, kMetrics, name,
         {{"interval.ms", kSet, "500"},
          {"metrics", kSet, "org.apache.kafka.a,org.apache.kafka.b"},
          {"match", kSet, "client_id=abc"}});
  expect_config(kit, kMetrics, name, "interval.ms", "500");
  expect_config(kit, kMetrics, name, "metrics", "org.apache.kafka.a,org.apache.kafka.b");
  expect_source(kit, kMetrics, name, "match", kMetricsSource);
  change(kit, kMetrics, name, {{"interval.ms", kDelete}, {"metrics", kDelete}, {"match", kDelete}});
  expect_config(kit, kMetrics, name, "interval.ms", "300000");
  expect_source(kit, kMetrics, name, "match", kDefaultSource);
}

CASE(subscription_refuses, "KIP-714") {
  const std::string name = kit.name("metrics");
  const auto refused = [&](const char* key, const char* value, ErrorCode code) {
    expect_refused(kit, kMetrics, name, {{key, kSet, value}}, code);
  };
  refused("interval.ms", "50", ErrorCode::INVALID_REQUEST);
  refused("interval.ms", "3600001", ErrorCode::INVALID_REQUEST);
  refused("match", "client_id=[abc", ErrorCode::INVALID_CONFIG);
  refused("match", "colour=red", ErrorCode::INVALID_CONFIG);
  refused("no.such", "1", ErrorCode::INVALID_REQUEST);
  expect_refused(kit, kMetrics, "", {{"interval.ms", kSet, "500"}}, ErrorCode::INVALID_REQUEST);
}

// ---- the broker

CASE(broker_set_and_delete, "KIP-226", .alone = true) {
  const RestoredBrokerConfig restored(kit, node(kit), "log.cleaner.threads");
  change(kit, kBroker, node(kit), {{"log.cleaner.threads", kSet, "2"}});
  expect_config(kit, kBroker, node(kit), "log.cleaner.threads", "2");
  expect_source(kit, kBroker, node(kit), "log.cleaner.threads", kBrokerSource);
  change(kit, kBroker, node(kit), {{"log.cleaner.threads", kDelete}});
  expect_config(kit, kBroker, node(kit), "log.cleaner.threads", "1");
}

// A topic takes it when it has none of its own; the default of all brokers weighs less.
CASE(broker_value_reaches_topics, "KIP-226", .alone = true) {
  const Topic topic = create_topic(kit);
  const Topic own = create_topic(kit, 1, {{"max.message.bytes", "1000000"}});
  const RestoredBrokerConfig default_restored(kit, "", "message.max.bytes");
  const RestoredBrokerConfig restored(kit, node(kit), "message.max.bytes");
  change(kit, kBroker, "", {{"message.max.bytes", kSet, "1048589"}});
  expect_config(kit, kTopic, topic.name, "max.message.bytes", "1048589");
  expect_source(kit, kTopic, topic.name, "max.message.bytes", 3);
  change(kit, kBroker, node(kit), {{"message.max.bytes", kSet, "1048590"}});
  expect_config(kit, kTopic, topic.name, "max.message.bytes", "1048590");
  expect_source(kit, kTopic, topic.name, "max.message.bytes", kBrokerSource);
  const Value synonyms =
      config_entry(kit, kTopic, topic.name, "max.message.bytes", true)["synonyms"];
  expect_equal(list_of(synonyms.items(), [](const Value& v) { return v["source"].json(); }) ==
                   list(int64_t{2}, int64_t{3}, int64_t{5}),
               true, "synonyms of the broker, all brokers, the default");
  expect_config(kit, kTopic, own.name, "max.message.bytes", "1000000");
}

CASE(broker_read_only, "KIP-226") {
  for (const char* name : {"node.id", "log.dirs", "auto.create.topics.enable", "num.partitions"})
    expect_refused(kit, kBroker, node(kit), {{name, kSet, "1"}}, ErrorCode::INVALID_REQUEST);
}

CASE(broker_bad_values, "KIP-226") {
  for (const char* value : {"x", "-1", "99"})
    expect_refused(kit, kBroker, node(kit), {{"log.cleaner.threads", kSet, value}},
                   ErrorCode::INVALID_REQUEST);
}

CASE(other_broker, "KIP-226") {
  for (const char* name : {"12345", "x", "-1"})
    expect_refused(kit, kBroker, name, {{"log.cleaner.threads", kSet, "2"}},
                   ErrorCode::INVALID_REQUEST);
}

CASE(broker_validates_only, "KIP-226") {
  change_configs(kit, kBroker, "", {{"log.cleaner.threads", kSet, "2"}}, 1, true)["errorCode"]
      .is_none();
  config_entry(kit, kBroker, node(kit), "log.cleaner.threads")["configSource"].is_not(3);
}

// ---- loggers

CASE(logger_refuses, "KIP-412") {
  const ConfigResource logger = ConfigResource::kBrokerLogger;
  expect_refused(kit, logger, node(kit), {{"no.such.logger", kSet, "DEBUG"}},
                 ErrorCode::INVALID_CONFIG);
  expect_refused(kit, logger, node(kit), {{"root", kSet, "LOUD"}}, ErrorCode::INVALID_CONFIG);
  expect_refused(kit, logger, node(kit), {{"root", kAppend, "DEBUG"}}, ErrorCode::INVALID_REQUEST);
  expect_refused(kit, logger, node(kit), {{"root", kDelete}}, ErrorCode::INVALID_REQUEST);
  expect_refused(kit, logger, "12345", {{"root", kSet, "INFO"}}, ErrorCode::INVALID_REQUEST);
  replace_configs(kit, logger, node(kit), {{"root", "INFO"}})["errorCode"].is(
      ErrorCode::INVALID_REQUEST);
}

CASE(logger_set, "KIP-412", .alone = true) {
  const ConfigResource logger = ConfigResource::kBrokerLogger;
  const std::string before = config_entry(kit, logger, node(kit), "root")["value"].text();
  change(kit, logger, node(kit), {{"root", kSet, "WARN"}});
  expect_config(kit, logger, node(kit), "root", "WARN");
  change(kit, logger, node(kit), {{"root", kSet, before}});
  expect_config(kit, logger, node(kit), "root", json::value(before));
}

}  // namespace ackord::conform
