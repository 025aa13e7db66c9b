#include "broker/metadata/config_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ackord::metadata {
namespace {

const ConfigDef& topic_def(std::string_view name) {
  return *find_config(topic_config_defs(), name);
}

TEST(ConfigTables, AreSortedAndTheirDefaultsAreLegal) {
  for (const auto table :
       {topic_config_defs(), group_config_defs(), metrics_config_defs(), broker_config_defs()}) {
    for (size_t i = 0; i < table.size(); ++i) {
      const ConfigDef& def = table[i];
      if (i > 0) {
        EXPECT_LT(table[i - 1].name, def.name);
      }
      EXPECT_FALSE(def.documentation.empty()) << def.name;
      EXPECT_EQ(find_config(table, def.name), &def);
      if (def.default_value == nullptr) continue;
      const Result<std::string> parsed = parse_config(def, def.default_value);
      ASSERT_TRUE(parsed.has_value()) << def.name << ": " << parsed.error().message;
      EXPECT_EQ(*parsed, def.default_value) << def.name;
    }
  }
  EXPECT_EQ(find_config(topic_config_defs(), "no.such"), nullptr);
}

TEST(ConfigTables, EveryTopicConfigHasABrokerConfigOfTheSameTypeBehindIt) {
  for (const ConfigDef& def : topic_config_defs()) {
    if (def.broker_name.empty()) continue;
    const ConfigDef* behind = find_config(broker_config_defs(), def.broker_name);
    ASSERT_NE(behind, nullptr) << def.name;
    EXPECT_EQ(behind->type, def.type) << def.name;
    EXPECT_EQ(behind->kind, ConfigKind::kDynamic) << def.name;
  }
}

struct Parsed {
  const char* name;
  const char* value;
  const char* shown;
};
TEST(ParseConfig, NormalizesValues) {
  for (const Parsed& one :
       {Parsed{"retention.ms", " 5 ", "5"}, Parsed{"retention.ms", "+7", "7"},
        Parsed{"preallocate", "TRUE", "true"},
        Parsed{"cleanup.policy", "compact , delete", "compact,delete"},
        Parsed{"cleanup.policy", "", ""}, Parsed{"min.cleanable.dirty.ratio", "1", "1.0"},
        Parsed{"leader.replication.throttled.replicas", "0:1,1:1", "0:1,1:1"},
        Parsed{"leader.replication.throttled.replicas", "*", "*"},
        Parsed{"compression.gzip.level", "-1", "-1"}}) {
    const Result<std::string> parsed = parse_config(topic_def(one.name), one.value);
    ASSERT_TRUE(parsed.has_value()) << one.name << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, one.shown);
  }
}

struct Refused {
  const char* name;
  const char* value;
  const char* message;
};
TEST(ParseConfig, RefusesWithKafkasTexts) {
  const std::vector<Refused> cases = {
      {"retention.ms", "-2",
       "Invalid value -2 for configuration retention.ms: Value must be at least -1"},
      {"segment.bytes", "1e6",
       "Invalid value 1e6 for configuration segment.bytes: Not a number of type INT"},
      {"max.message.bytes", "99999999999",
       "Invalid value 99999999999 for configuration max.message.bytes: Not a number of type INT"},
      {"min.compaction.lag.ms", "9223372036854775808",
       "Invalid value 9223372036854775808 for configuration min.compaction.lag.ms: Not a number of "
       "type LONG"},
      {"cleanup.policy", "foo",
       "Invalid value foo for configuration cleanup.policy: String must be one of: compact, "
       "delete"},
      {"compression.type", "foo",
       "Invalid value foo for configuration compression.type: String must be one of: uncompressed, "
       "zstd, lz4, snappy, gzip, producer"},
      {"preallocate", "maybe",
       "Invalid value maybe for configuration preallocate: Expected value to be either true or "
       "false"},
      {"min.cleanable.dirty.ratio", "2",
       "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: Value must be no more than "
       "1"},
      {"min.cleanable.dirty.ratio", "abc",
       "Invalid value abc for configuration min.cleanable.dirty.ratio: Not a number of type "
       "DOUBLE"},
      {"compression.gzip.level", "10",
       "Invalid value 10 for configuration compression.gzip.level: Value must be between 1 and 9 "
       "or equal to -1"},
      {"compression.zstd.level", "23",
       "Invalid value 23 for configuration compression.zstd.level: Value must be no more than 22"},
      {"leader.replication.throttled.replicas", "x",
       "Invalid value [x] for configuration leader.replication.throttled.replicas: "
       "leader.replication.throttled.replicas must be "
       "the literal '*' or a list of replicas in the following format: "
       "[partitionId]:[brokerId],[partitionId]:[brokerId],..."},
  };
  for (const Refused& one : cases) {
    const Result<std::string> parsed = parse_config(topic_def(one.name), one.value);
    ASSERT_FALSE(parsed.has_value()) << one.name << " " << one.value;
    EXPECT_EQ(parsed.error().code, ErrorCode::INVALID_CONFIG);
    EXPECT_EQ(parsed.error().message, one.message);
  }
}

TEST(CheckTopicConfigs, LooksAtAllOfThemTogether) {
  EXPECT_TRUE(check_topic_configs({{"cleanup.policy", "compact,delete"}, {"retention.ms", "1"}})
                  .has_value());
  EXPECT_EQ(check_topic_configs({{"min.compaction.lag.ms", "10"}, {"max.compaction.lag.ms", "5"}})
                .error()
                .message,
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)");
  EXPECT_EQ(check_topic_configs({{"remote.storage.enable", "true"}}).error().message,
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured "
            "with remote log storage.");
  EXPECT_EQ(check_topic_configs({{"no.such", "1"}}).error().message,
            "Unknown topic config name: no.such");
}

TEST(CheckGroupConfigs, KeepsToTheBrokersBounds) {
  const BrokerConfig broker;
  auto fault = [&broker](const char* name, const char* value) -> std::string {
    const Result<void> checked = check_group_configs({{name, value}}, broker);
    if (checked) return "";
    EXPECT_EQ(checked.error().code, ErrorCode::INVALID_CONFIG);
    return checked.error().message;
  };
  EXPECT_EQ(fault("share.session.timeout.ms", "50000"), "");
  EXPECT_EQ(fault("share.session.timeout.ms", "100"),
            "share.session.timeout.ms must be in the range 45000 to 60000 inclusive.");
  EXPECT_EQ(fault("share.session.timeout.ms", "0"),
            "Invalid value 0 for configuration share.session.timeout.ms: Value must be at least 1");
  EXPECT_EQ(fault("share.record.lock.duration.ms", "61000"),
            "share.record.lock.duration.ms must be in the range 15000 to 60000 inclusive.");
  EXPECT_EQ(fault("share.delivery.count.limit", "11"),
            "share.delivery.count.limit must be in the range 2 to 10 inclusive.");
  EXPECT_EQ(fault("share.partition.max.record.locks", "4001"),
            "share.partition.max.record.locks must be in the range 100 to 4000 inclusive.");
  EXPECT_EQ(fault("consumer.session.timeout.ms", "1"),
            "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.");
  EXPECT_EQ(fault("share.assignment.interval.ms", "15001"),
            "share.assignment.interval.ms must be in the range 0 to 15000 inclusive.");
  EXPECT_EQ(fault("share.partition.max.staged.records", "0"),
            "Invalid value 0 for configuration share.partition.max.staged.records: Value must be "
            "at least 1");
  EXPECT_EQ(fault("share.auto.offset.reset", "by_duration:PT1H"), "");
  for (const char* reset : {"none", "by_duration:-PT1H", "by_duration:xx", "EARLIEST"}) {
    EXPECT_EQ(fault("share.auto.offset.reset", reset),
              std::string("Invalid value ") + reset +
                  " for configuration share.auto.offset.reset: Invalid value `" + reset +
                  "` for configuration share.auto.offset.reset. The value must be either "
                  "'earliest', 'latest' or of the format "
                  "'by_duration:<PnDTnHnMn.nS>'.");
  }
  EXPECT_EQ(fault("share.isolation.level", "READ_COMMITTED"),
            "Invalid value READ_COMMITTED for configuration share.isolation.level: String must be "
            "one of: read_committed, "
            "read_uncommitted");
  EXPECT_EQ(fault("errors.deadletterqueue.topic.name", "__x"),
            "errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'");
}

class InForce : public ::testing::Test {
 protected:
  std::map<std::string, std::string, std::less<>> properties;
  ConfigMap cluster;
  ConfigMap node;
  BrokerValues values() const { return {properties, cluster, node}; }
  const DescribedConfig* find(const std::vector<DescribedConfig>& all, std::string_view name) {
    const auto at = std::find_if(all.begin(), all.end(),
                                 [name](const DescribedConfig& one) { return one.name == name; });
    return at == all.end() ? nullptr : &*at;
  }
};

TEST_F(InForce, ATopicTakesItsOwnThenTheBrokersThenTheDefault) {
  EXPECT_EQ(effective_log_config({}, values()), log::LogConfig());
  properties["log.retention.hours"] = "1";
  EXPECT_EQ(effective_log_config({}, values()).retention_ms, 3600000);
  properties["log.retention.minutes"] = "1";
  EXPECT_EQ(effective_log_config({}, values()).retention_ms, 60000);
  properties["log.retention.ms"] = "5";
  EXPECT_EQ(effective_log_config({}, values()).retention_ms, 5);
  cluster["log.retention.ms"] = "6";
  EXPECT_EQ(effective_log_config({}, values()).retention_ms, 6);
  node["log.retention.ms"] = "7";
  EXPECT_EQ(effective_log_config({}, values()).retention_ms, 7);
  EXPECT_EQ(effective_log_config({{"retention.ms", "-1"}}, values()).retention_ms, -1);
}

TEST_F(InForce, PolicyCompressionAndTimestamps) {
  const log::LogConfig log = effective_log_config({{"cleanup.policy", "compact"},
                                                   {"compression.type", "zstd"},
                                                   {"compression.zstd.level", "9"},
                                                   {"message.timestamp.type", "LogAppendTime"},
                                                   {"internal.segment.bytes", "1000"}},
                                                  values());
  EXPECT_TRUE(log.compact);
  EXPECT_FALSE(log.remove);
  EXPECT_EQ(log.compression_type, "zstd");
  EXPECT_EQ(log.compression_level, 9);
  EXPECT_TRUE(log.log_append_time);
  EXPECT_EQ(log.segment_bytes, 1000);
}

TEST_F(InForce, DescribesWhereAValueComesFrom) {
  using Synonym = DescribedConfig::Synonym;
  properties["log.cleanup.policy"] = "compact";
  const auto all = describe_topic_configs(
      {{"cleanup.policy", "delete,compact"}, {"retention.ms", " 5 "}}, values());
  EXPECT_EQ(all.size(), 37u);
  const DescribedConfig* policy = find(all, "cleanup.policy");
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->value, "delete,compact");
  EXPECT_EQ(policy->source, ConfigSource::kTopic);
  EXPECT_EQ(policy->type, ConfigType::kList);
  EXPECT_THAT(
      policy->synonyms,
      ::testing::ElementsAre(Synonym{"cleanup.policy", "delete,compact", ConfigSource::kTopic},
                             Synonym{"log.cleanup.policy", "compact", ConfigSource::kStaticBroker},
                             Synonym{"log.cleanup.policy", "delete", ConfigSource::kDefault}));
  // log.retention.ms has no default, so the setting stands alone.
  EXPECT_THAT(find(all, "retention.ms")->synonyms,
              ::testing::ElementsAre(Synonym{"retention.ms", "5", ConfigSource::kTopic}));
  EXPECT_EQ(find(all, "segment.ms")->value, "604800000");
  EXPECT_EQ(find(all, "segment.ms")->source, ConfigSource::kDefault);
  EXPECT_EQ(find(all, "internal.segment.bytes"), nullptr);
}

TEST_F(InForce, DescribesGroupsAndBrokers) {
  const auto group = describe_group_configs({{"share.session.timeout.ms", "50000"}}, values());
  EXPECT_EQ(find(group, "share.session.timeout.ms")->source, ConfigSource::kGroup);
  EXPECT_EQ(find(group, "share.session.timeout.ms")->synonyms.size(), 2u);
  EXPECT_EQ(find(group, "share.partition.max.staged.records")->value, "200000");
  properties["num.partitions"] = "3";
  node["log.segment.bytes"] = "2000000";
  const auto broker = describe_broker_configs(values());
  EXPECT_EQ(find(broker, "num.partitions")->value, "3");
  EXPECT_TRUE(find(broker, "num.partitions")->read_only);
  EXPECT_EQ(find(broker, "log.segment.bytes")->source, ConfigSource::kDynamicBroker);
  EXPECT_FALSE(find(broker, "log.segment.bytes")->read_only);
}

// Those of single listeners follow, and no secret is told of any place.
TEST_F(InForce, DescribesWhatIsSetForListeners) {
  using Synonym = DescribedConfig::Synonym;
  properties["listener.name.a.ssl.keystore.password"] = "s3cret";
  properties["ssl.keystore.type"] = "PKCS12";
  node["listener.name.a.ssl.keystore.location"] = "/new";
  properties["listener.name.a.ssl.keystore.location"] = "/old";
  cluster["listener.name.a.max.connections"] = "7";
  const auto all = describe_broker_configs(values());
  const auto* location = find(all, "listener.name.a.ssl.keystore.location");
  EXPECT_EQ(location->value, "/new");
  EXPECT_FALSE(location->read_only);
  EXPECT_THAT(location->synonyms,
              ::testing::ElementsAre(Synonym{location->name, "/new", ConfigSource::kDynamicBroker},
                                     Synonym{location->name, "/old", ConfigSource::kStaticBroker}));
  EXPECT_EQ(find(all, "listener.name.a.max.connections")->source,
            ConfigSource::kDynamicDefaultBroker);
  const auto* password = find(all, "listener.name.a.ssl.keystore.password");
  EXPECT_TRUE(password->sensitive);
  EXPECT_EQ(password->value, std::nullopt);
  for (const Synonym& one : password->synonyms) EXPECT_EQ(one.value, std::nullopt);
  const auto of_all = describe_cluster_configs({{"ssl.key.password", "s3cret"}});
  EXPECT_EQ(of_all.at(0).value, std::nullopt);
  EXPECT_EQ(of_all.at(0).synonyms.at(0).value, std::nullopt);
}

TEST_F(InForce, WhereBrokerConfigsMayBeChanged) {
  const auto refusal = [this](const ConfigMap& configs, bool of_all_brokers) {
    const auto checked = check_broker_configs(configs, values(), of_all_brokers);
    if (checked) return std::string("good");
    EXPECT_EQ(checked.error().code, ErrorCode::INVALID_REQUEST);
    return checked.error().message;
  };
  const std::string location = "listener.name.a.ssl.keystore.location";
  EXPECT_EQ(refusal({{location, "/x"}}, false), "good");
  EXPECT_EQ(refusal({{location, "/x"}}, true),
            "Cannot update these configs at default cluster level, broker id must be specified: "
            "[listener.name.a.ssl.keystore.location]");
  EXPECT_EQ(refusal({{"ssl.keystore.location", "/x"}}, false),
            "These security configs can be dynamically updated only per-listener using the "
            "listener prefix: [ssl.keystore.location]");
  for (const bool of_all : {false, true}) {
    EXPECT_EQ(refusal({{"max.connections", "5"}}, of_all), "good");
    EXPECT_EQ(refusal({{"listener.name.a.max.connections", "5"}}, of_all), "good");
    EXPECT_EQ(refusal({{"listener.name.a.nonsense", "5"}}, of_all),
              "Cannot update these configs dynamically: [listener.name.a.nonsense]");
    EXPECT_EQ(refusal({{"listener.name.a.plain.sasl.jaas.config", "x"}}, of_all),
              "Cannot update these configs dynamically: [listener.name.a.plain.sasl.jaas.config]");
    EXPECT_EQ(refusal({{"listener.name.a.max.connections", "x"}}, of_all),
              "Invalid value x for configuration max.connections: Not a number of type INT");
  }
}

TEST(EffectiveGroupConfig, FallsBackAndIsClamped) {
  BrokerConfig broker;
  broker.group_share_record_lock_duration_ms = 20000;
  GroupConfig group = effective_group_config({}, broker);
  EXPECT_EQ(group.share_record_lock_duration_ms, 20000);
  EXPECT_EQ(group.share_partition_max_staged_records, 200000);
  group = effective_group_config({{"share.delivery.count.limit", "99"},
                                  {"share.session.timeout.ms", "1"},
                                  {"share.isolation.level", "read_committed"}},
                                 broker);
  EXPECT_EQ(group.share_delivery_count_limit, 10);
  EXPECT_EQ(group.share_session_timeout_ms, 45000);
  EXPECT_EQ(group.share_isolation_level, "read_committed");
}

TEST(EffectiveGroupConfig, HasWhatIsAckordsOwn) {
  const BrokerConfig broker;
  GroupConfig group = effective_group_config({}, broker);
  EXPECT_FALSE(group.share_acknowledgement_retry_tolerance);
  EXPECT_EQ(group.share_retry_backoff_ms, 0);
  group = effective_group_config({{"share.acknowledgement.retry.tolerance", "TRUE"},
                                  {"share.retry.backoff.ms", "250"},
                                  {"share.retry.backoff.multiplier", "1.5"},
                                  {"share.retry.backoff.max.ms", "9000000000"},
                                  {"errors.deadletterqueue.copy.record.enable", "true"}},
                                 broker);
  EXPECT_TRUE(group.share_acknowledgement_retry_tolerance);
  EXPECT_EQ(group.share_retry_backoff_ms, 250);
  EXPECT_EQ(group.share_retry_backoff_multiplier, 1.5);
  EXPECT_EQ(group.share_retry_backoff_max_ms, 9000000000);
  EXPECT_TRUE(group.dead_letter_copy_record);
}

TEST_F(InForce, DeadLettersOfTheBroker) {
  EXPECT_EQ(effective_dead_letter_config(values()).topic_name_prefix, "dlq.");
  EXPECT_FALSE(effective_dead_letter_config(values()).auto_create_topics_enable);
  properties["errors.deadletterqueue.topic.name.prefix"] = "";
  node["errors.deadletterqueue.auto.create.topics.enable"] = "true";
  EXPECT_EQ(effective_dead_letter_config(values()).topic_name_prefix, "");
  EXPECT_TRUE(effective_dead_letter_config(values()).auto_create_topics_enable);
  EXPECT_TRUE(takes_dead_letters({{"errors.deadletterqueue.group.enable", "True"}}));
  EXPECT_FALSE(takes_dead_letters({}));
}

}  // namespace
}  // namespace ackord::metadata
