#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "broker/metadata/config_tables.h"

namespace ackord::metadata {
namespace {

using Synonym = DescribedConfig::Synonym;

template <class Map>
const std::string* find_value(const Map& map, std::string_view name) {
  const auto at = map.find(name);
  return at == map.end() ? nullptr : &at->second;
}

// As it is shown; a text that does not parse stays what it is.
std::string shown(const ConfigDef& def, const std::string& value) {
  Result<std::string> parsed = parse_config(def, value);
  return parsed ? std::move(*parsed) : value;
}

// Of one broker config: every place that gives it a value, the deciding one first.
std::vector<Synonym> broker_synonyms(const ConfigDef& def, const BrokerValues& broker) {
  std::vector<Synonym> synonyms;
  const std::string name(def.name);
  auto add = [&](const std::string* value, ConfigSource source) {
    if (value != nullptr) synonyms.push_back({name, shown(def, *value), source});
  };
  add(find_value(broker.node, def.name), ConfigSource::kDynamicBroker);
  add(find_value(broker.cluster, def.name), ConfigSource::kDynamicDefaultBroker);
  add(find_value(broker.properties, def.name), ConfigSource::kStaticBroker);
  if (def.default_value != nullptr)
    synonyms.push_back({name, std::string(def.default_value), ConfigSource::kDefault});
  return synonyms;
}

// Broker configs of a coarser unit, which count when the finer one has no value.
struct Coarser {
  std::string_view fine;
  std::string_view coarse;
  int64_t factor;
};
constexpr std::array kCoarser = {
    Coarser{"log.retention.ms", "log.retention.minutes", 60000},
    Coarser{"log.retention.ms", "log.retention.hours", 3600000},
    Coarser{"log.roll.ms", "log.roll.hours", 3600000},
    Coarser{"log.roll.jitter.ms", "log.roll.jitter.hours", 3600000},
    Coarser{"log.flush.interval.ms", "log.flush.scheduler.interval.ms", 1},
};

int64_t to_number(std::string_view text, int64_t fallback) {
  int64_t number = fallback;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<std::string> broker_value(std::string_view name, const BrokerValues& broker) {
  const ConfigDef* def = find_config(broker_config_defs(), name);
  if (def == nullptr) return std::nullopt;
  std::vector<Synonym> synonyms = broker_synonyms(*def, broker);
  if (!synonyms.empty()) return std::move(synonyms.front().value);
  for (const Coarser& other : kCoarser) {
    if (other.fine != name) continue;
    const std::string* value = find_value(broker.properties, other.coarse);
    if (value == nullptr) continue;
    const int64_t number = to_number(*value, -1);
    return std::to_string(number < 0 ? -1 : number * other.factor);
  }
  return std::nullopt;
}

// Of one topic or group config.
std::optional<std::string> value_in_force(const ConfigDef& def, const ConfigMap& set,
                                          const BrokerValues& broker) {
  if (const std::string* value = find_value(set, def.name)) return shown(def, *value);
  if (!def.broker_name.empty()) {
    if (std::optional<std::string> value = broker_value(def.broker_name, broker)) return value;
  }
  if (def.default_value == nullptr) return std::nullopt;
  return std::string(def.default_value);
}

DescribedConfig described(const ConfigDef& def) {
  DescribedConfig config;
  config.name = std::string(def.name);
  config.type = def.type;
  config.sensitive = def.type == ConfigType::kPassword;
  config.documentation = def.documentation;
  return config;
}

std::vector<DescribedConfig> describe_resource(std::span<const ConfigDef> table,
                                               const ConfigMap& set, const BrokerValues& broker,
                                               ConfigSource own_source) {
  std::vector<DescribedConfig> all;
  all.reserve(table.size());
  for (const ConfigDef& def : table) {
    const std::string* own = find_value(set, def.name);
    if (def.kind == ConfigKind::kInternal && own == nullptr) continue;
    DescribedConfig config = described(def);
    config.value = value_in_force(def, set, broker);
    if (own != nullptr) config.synonyms.push_back({config.name, shown(def, *own), own_source});
    const ConfigDef* behind =
        def.broker_name.empty() ? nullptr : find_config(broker_config_defs(), def.broker_name);
    if (behind != nullptr) {
      for (Synonym& synonym : broker_synonyms(*behind, broker))
        config.synonyms.push_back(std::move(synonym));
    } else if (!def.broker_name.empty() && def.default_value != nullptr) {
      config.synonyms.push_back(
          {std::string(def.broker_name), std::string(def.default_value), ConfigSource::kDefault});
    }
    if (!config.synonyms.empty()) config.source = config.synonyms.front().source;
    all.push_back(std::move(config));
  }
  return all;
}

Result<void> check_known(std::span<const ConfigDef> table, std::string_view kind,
                         const ConfigMap& configs) {
  for (const auto& [name, value] : configs) {
    const ConfigDef* def = find_config(table, name);
    if (def == nullptr)
      return error(ErrorCode::INVALID_CONFIG,
                   fmt::format("Unknown {} config name: {}", kind, name));
    Result<std::string> parsed = parse_config(*def, value);
    if (!parsed) return parsed.error();
  }
  return {};
}

// A group config that the broker bounds.
struct Bounded {
  std::string_view name;
  int32_t GroupConfig::* value;
  int32_t BrokerConfig::* fallback;
  int32_t BrokerConfig::* least;
  int32_t BrokerConfig::* most;
};
constexpr std::array kBounded = {
    Bounded{"share.session.timeout.ms", &GroupConfig::share_session_timeout_ms,
            &BrokerConfig::group_share_session_timeout_ms,
            &BrokerConfig::group_share_min_session_timeout_ms,
            &BrokerConfig::group_share_max_session_timeout_ms},
    Bounded{"share.heartbeat.interval.ms", &GroupConfig::share_heartbeat_interval_ms,
            &BrokerConfig::group_share_heartbeat_interval_ms,
            &BrokerConfig::group_share_min_heartbeat_interval_ms,
            &BrokerConfig::group_share_max_heartbeat_interval_ms},
    Bounded{"share.record.lock.duration.ms", &GroupConfig::share_record_lock_duration_ms,
            &BrokerConfig::group_share_record_lock_duration_ms,
            &BrokerConfig::group_share_min_record_lock_duration_ms,
            &BrokerConfig::group_share_max_record_lock_duration_ms},
    Bounded{"share.delivery.count.limit", &GroupConfig::share_delivery_count_limit,
            &BrokerConfig::group_share_delivery_count_limit,
            &BrokerConfig::group_share_min_delivery_count_limit,
            &BrokerConfig::group_share_max_delivery_count_limit},
    Bounded{"share.partition.max.record.locks", &GroupConfig::share_partition_max_record_locks,
            &BrokerConfig::group_share_partition_max_record_locks,
            &BrokerConfig::group_share_min_partition_max_record_locks,
            &BrokerConfig::group_share_max_partition_max_record_locks},
    Bounded{"consumer.session.timeout.ms", &GroupConfig::consumer_session_timeout_ms,
            &BrokerConfig::group_consumer_session_timeout_ms,
            &BrokerConfig::group_consumer_min_session_timeout_ms,
            &BrokerConfig::group_consumer_max_session_timeout_ms},
    Bounded{"consumer.heartbeat.interval.ms", &GroupConfig::consumer_heartbeat_interval_ms,
            &BrokerConfig::group_consumer_heartbeat_interval_ms,
            &BrokerConfig::group_consumer_min_heartbeat_interval_ms,
            &BrokerConfig::group_consumer_max_heartbeat_interval_ms},
    Bounded{"consumer.assignment.interval.ms", &GroupConfig::consumer_assignment_interval_ms,
            &BrokerConfig::group_consumer_assignment_interval_ms,
            &BrokerConfig::group_consumer_min_assignment_interval_ms,
            &BrokerConfig::group_consumer_max_assignment_interval_ms},
};

constexpr std::string_view kStandbyReplicas = "streams.num.standby.replicas";

// Numbers of threads, which may change by half or to double at a time. Kafka asks no more where the
// value stays.
constexpr std::string_view kCleanerThreads = "log.cleaner.threads";
constexpr std::array<std::string_view, 5> kThreadCounts = {
    "background.threads", "num.io.threads", "num.network.threads",
    "num.recovery.threads.per.data.dir", "num.replica.fetchers"};

// Why a number of threads may not be `wanted`; empty when it may, or the config is none.
std::string thread_count_fault(std::string_view name, int64_t wanted, int64_t now) {
  if (name == kCleanerThreads) {
    if (wanted < 1) return "Log cleaner threads should be at least 1";
    if (wanted < now / 2) {
      return fmt::format(
          "Log cleaner threads cannot be reduced to less than half the current value {}", now);
    }
    if (wanted > now * 2) {
      return fmt::format(
          "Log cleaner threads cannot be increased to more than double the current value {}", now);
    }
    return "";
  }
  if (wanted == now ||
      std::find(kThreadCounts.begin(), kThreadCounts.end(), name) == kThreadCounts.end())
    return "";
  const auto because = [&](std::string_view why) {
    return fmt::format("Dynamic thread count update validation failed for {}={}, {}", name, wanted,
                       why);
  };
  if (wanted <= 0) return because("value should be at least 1");
  if (wanted < now / 2)
    return because(fmt::format("value should be at least half the current value {}", now));
  if (wanted > now * 2) {
    return because(
        fmt::format("value should not be greater than double the current value {}", now));
  }
  return "";
}

// Bounds that no room needs as a broker value, so that their defaults stand: streams.x lies within
// group.streams.min.x and group.streams.max.x.
Result<void> check_default_bounds(const ConfigMap& configs) {
  if (const std::string* value = find_value(configs, kStandbyReplicas)) {
    const std::string_view most =
        find_config(broker_config_defs(), "group.streams.max.standby.replicas")->default_value;
    if (to_number(*value, 0) > to_number(most, 0)) {
      return error(ErrorCode::INVALID_CONFIG,
                   fmt::format("{} must be less than or equal to {}", kStandbyReplicas, most));
    }
  }
  for (const auto& [name, value] : configs) {
    const bool in_table = std::any_of(kBounded.begin(), kBounded.end(),
                                      [&](const Bounded& one) { return one.name == name; });
    const size_t dot = name.find('.');
    if (in_table || dot == std::string::npos) continue;
    auto bound = [&](std::string_view which) {
      return find_config(broker_config_defs(), fmt::format("group.{}.{}{}", name.substr(0, dot),
                                                           which, name.substr(dot)));
    };
    const ConfigDef* least = bound("min");
    const ConfigDef* most = bound("max");
    if (least == nullptr || most == nullptr) continue;
    const int64_t number = to_number(shown(*find_config(group_config_defs(), name), value), 0);
    if (number >= to_number(least->default_value, 0) && number <= to_number(most->default_value, 0))
      continue;
    return error(ErrorCode::INVALID_CONFIG,
                 fmt::format("{} must be in the range {} to {} inclusive.", name,
                             least->default_value, most->default_value));
  }
  return {};
}

// Keys and whom to trust belong to a listener, and its settings to one broker; what counts
// connections may be set for all of them.
constexpr std::array<std::string_view, 10> kStores = {"ssl.key.password",
                                                      "ssl.keystore.certificate.chain",
                                                      "ssl.keystore.key",
                                                      "ssl.keystore.location",
                                                      "ssl.keystore.password",
                                                      "ssl.keystore.type",
                                                      "ssl.truststore.certificates",
                                                      "ssl.truststore.location",
                                                      "ssl.truststore.password",
                                                      "ssl.truststore.type"};
constexpr std::array<std::string_view, 2> kListenersOfAll = {"max.connection.creation.rate",
                                                             "max.connections"};

template <class List>
bool is_in(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Whether the names can be changed, in that place.
Result<void> check_broker_names(const ConfigMap& configs, bool of_all_brokers) {
  std::vector<std::string_view> fixed;
  std::vector<std::string_view> without_listener;
  std::vector<std::string_view> of_one_broker;
  for (const auto& [name, value] : configs) {
    const ConfigDef* own = find_config(broker_config_defs(), name);
    const ConfigDef* def = own != nullptr ? own : find_listener_config(name);
    const bool acts =
        own != nullptr ||
        (def != nullptr && (def->name.starts_with("ssl.") || is_in(kListenersOfAll, def->name)));
    if (!acts || def->kind != ConfigKind::kDynamic) {
      fixed.push_back(name);
    } else if (own != nullptr && is_in(kStores, name)) {
      without_listener.push_back(name);
    } else if (own == nullptr && !is_in(kListenersOfAll, def->name)) {
      of_one_broker.push_back(name);
    }
  }
  const auto refuse = [](std::string_view why, const std::vector<std::string_view>& names) {
    return error(ErrorCode::INVALID_REQUEST, fmt::format("{}: [{}]", why, fmt::join(names, ", ")));
  };
  if (!fixed.empty()) return refuse("Cannot update these configs dynamically", fixed);
  if (!without_listener.empty()) {
    return refuse(
        "These security configs can be dynamically updated only per-listener using the listener "
        "prefix",
        without_listener);
  }
  if (of_all_brokers && !of_one_broker.empty()) {
    return refuse(
        "Cannot update these configs at default cluster level, broker id must be specified",
        of_one_broker);
  }
  return {};
}

}  // namespace

Result<void> check_topic_configs(const ConfigMap& configs) {
  Result<void> known = check_known(topic_config_defs(), "topic", configs);
  if (!known) return known;
  auto number = [&configs](std::string_view name, int64_t fallback) {
    const std::string* value = find_value(configs, name);
    const ConfigDef* def = find_config(topic_config_defs(), name);
    return value == nullptr ? fallback : to_number(shown(*def, *value), fallback);
  };
  const int64_t least = number("min.compaction.lag.ms", 0);
  const int64_t most = number("max.compaction.lag.ms", INT64_MAX);
  if (least > most) {
    return error(
        ErrorCode::INVALID_CONFIG,
        fmt::format(
            "conflict topic config setting min.compaction.lag.ms ({}) > max.compaction.lag.ms ({})",
            least, most));
  }
  const std::string* remote = find_value(configs, "remote.storage.enable");
  if (remote != nullptr &&
      shown(*find_config(topic_config_defs(), "remote.storage.enable"), *remote) == "true") {
    return error(ErrorCode::INVALID_CONFIG,
                 "Tiered Storage functionality is disabled in the broker. "
                 "Topic cannot be configured with remote log storage.");
  }
  return {};
}

Result<void> check_group_configs(const ConfigMap& configs, const BrokerConfig& broker) {
  Result<void> known = check_known(group_config_defs(), "group", configs);
  if (!known) return known;
  for (const Bounded& bounded : kBounded) {
    const std::string* value = find_value(configs, bounded.name);
    if (value == nullptr) continue;
    const int64_t number =
        to_number(shown(*find_config(group_config_defs(), bounded.name), *value), 0);
    if (number < broker.*bounded.least || number > broker.*bounded.most) {
      return error(ErrorCode::INVALID_CONFIG,
                   fmt::format("{} must be in the range {} to {} inclusive.", bounded.name,
                               broker.*bounded.least, broker.*bounded.most));
    }
  }
  if (Result<void> bounded = check_default_bounds(configs); !bounded) return bounded;
  const GroupConfig group = effective_group_config(configs, broker);
  if (group.share_session_timeout_ms <= group.share_heartbeat_interval_ms) {
    return error(ErrorCode::INVALID_CONFIG,
                 "share.session.timeout.ms must be greater than share.heartbeat.interval.ms");
  }
  if (group.consumer_session_timeout_ms <= group.consumer_heartbeat_interval_ms) {
    return error(ErrorCode::INVALID_CONFIG,
                 "consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms");
  }
  return {};
}

Result<void> check_broker_configs(const ConfigMap& configs, const BrokerValues& broker,
                                  bool of_all_brokers) {
  if (Result<void> places = check_broker_names(configs, of_all_brokers); !places) return places;
  for (const auto& [name, value] : configs) {
    const ConfigDef* def = find_config(broker_config_defs(), name);
    if (def == nullptr) def = find_listener_config(name);
    const Result<std::string> parsed = parse_config(*def, value);
    if (!parsed) return error(ErrorCode::INVALID_REQUEST, parsed.error().message);
    const std::string now = broker_value(name, broker).value_or("");
    std::string fault = thread_count_fault(name, to_number(*parsed, 0), to_number(now, 0));
    if (!fault.empty()) return error(ErrorCode::INVALID_REQUEST, std::move(fault));
  }
  return {};
}

std::vector<DescribedConfig> describe_topic_configs(const ConfigMap& configs,
                                                    const BrokerValues& broker) {
  return describe_resource(topic_config_defs(), configs, broker, ConfigSource::kTopic);
}

std::vector<DescribedConfig> describe_group_configs(const ConfigMap& configs,
                                                    const BrokerValues& broker) {
  return describe_resource(group_config_defs(), configs, broker, ConfigSource::kGroup);
}

std::vector<DescribedConfig> describe_metrics_configs(const ConfigMap& configs) {
  const ConfigMap none;
  return describe_resource(metrics_config_defs(), configs, {none, none, none},
                           ConfigSource::kClientMetrics);
}

namespace {

void hide_secret(DescribedConfig& config) {
  if (!config.sensitive) return;
  config.value.reset();
  for (Synonym& synonym : config.synonyms) synonym.value.reset();
}

// What is set for single listeners.
void describe_listener_configs(const BrokerValues& broker, std::vector<DescribedConfig>& all) {
  std::map<std::string, std::vector<Synonym>> set;
  const auto add = [&set](const auto& values, ConfigSource source) {
    for (const auto& [name, value] : values) {
      if (find_listener_config(name) != nullptr) set[name].push_back({name, value, source});
    }
  };
  add(broker.node, ConfigSource::kDynamicBroker);
  add(broker.cluster, ConfigSource::kDynamicDefaultBroker);
  add(broker.properties, ConfigSource::kStaticBroker);
  for (auto& [name, synonyms] : set) {
    const ConfigDef& def = *find_listener_config(name);
    DescribedConfig config = described(def);
    config.name = name;
    config.read_only = def.kind != ConfigKind::kDynamic;
    config.synonyms = std::move(synonyms);
    for (Synonym& synonym : config.synonyms) synonym.value = shown(def, *synonym.value);
    config.value = config.synonyms.front().value;
    config.source = config.synonyms.front().source;
    for (Synonym& synonym : broker_synonyms(def, broker))
      config.synonyms.push_back(std::move(synonym));
    hide_secret(config);
    all.push_back(std::move(config));
  }
}

}  // namespace

std::vector<DescribedConfig> describe_broker_configs(const BrokerValues& broker) {
  std::vector<DescribedConfig> all;
  for (const ConfigDef& def : broker_config_defs()) {
    DescribedConfig config = described(def);
    config.read_only = def.kind != ConfigKind::kDynamic;
    config.synonyms = broker_synonyms(def, broker);
    if (!config.synonyms.empty()) {
      config.value = config.synonyms.front().value;
      config.source = config.synonyms.front().source;
    }
    hide_secret(config);
    all.push_back(std::move(config));
  }
  describe_listener_configs(broker, all);
  return all;
}

std::vector<DescribedConfig> describe_cluster_configs(const ConfigMap& cluster) {
  std::vector<DescribedConfig> all;
  for (const auto& [name, value] : cluster) {
    const ConfigDef* def = find_config(broker_config_defs(), name);
    if (def == nullptr) def = find_listener_config(name);
    if (def == nullptr) continue;
    DescribedConfig config = described(*def);
    config.name = name;
    config.value = shown(*def, value);
    config.source = ConfigSource::kDynamicDefaultBroker;
    config.synonyms.push_back({name, config.value, config.source});
    hide_secret(config);
    all.push_back(std::move(config));
  }
  return all;
}

log::LogConfig effective_log_config(const ConfigMap& configs, const BrokerValues& broker) {
  auto text = [&](std::string_view name) {
    return value_in_force(*find_config(topic_config_defs(), name), configs, broker).value_or("");
  };
  auto number = [&](std::string_view name) { return to_number(text(name), 0); };
  log::LogConfig log;
  log.segment_bytes = number("segment.bytes");
  if (const std::string* bytes = find_value(configs, "internal.segment.bytes"))
    log.segment_bytes = to_number(*bytes, log.segment_bytes);
  log.segment_ms = number("segment.ms");
  log.segment_index_bytes = static_cast<int32_t>(number("segment.index.bytes"));
  log.index_interval_bytes = static_cast<int32_t>(number("index.interval.bytes"));
  log.max_message_bytes = static_cast<int32_t>(number("max.message.bytes"));
  log.retention_ms = number("retention.ms");
  log.retention_bytes = number("retention.bytes");
  const std::vector<std::string> policy = split_list(text("cleanup.policy"));
  log.compact = std::find(policy.begin(), policy.end(), "compact") != policy.end();
  log.remove = std::find(policy.begin(), policy.end(), "delete") != policy.end();
  log.min_cleanable_dirty_ratio = std::stod(text("min.cleanable.dirty.ratio"));
  log.min_compaction_lag_ms = number("min.compaction.lag.ms");
  log.max_compaction_lag_ms = number("max.compaction.lag.ms");
  log.delete_retention_ms = number("delete.retention.ms");
  log.file_delete_delay_ms = number("file.delete.delay.ms");
  log.segment_jitter_ms = number("segment.jitter.ms");
  log.compression_type = text("compression.type");
  const ConfigDef* level =
      find_config(topic_config_defs(), "compression." + log.compression_type + ".level");
  log.compression_level = level == nullptr ? -1 : static_cast<int>(number(level->name));
  log.log_append_time = text("message.timestamp.type") == "LogAppendTime";
  log.timestamp_before_max_ms = number("message.timestamp.before.max.ms");
  log.timestamp_after_max_ms = number("message.timestamp.after.max.ms");
  return log;
}

log::CleanerConfig effective_cleaner_config(const BrokerValues& broker) {
  auto text = [&](std::string_view name) { return broker_value(name, broker).value_or(""); };
  log::CleanerConfig config;
  config.threads = static_cast<int32_t>(to_number(text("log.cleaner.threads"), config.threads));
  config.dedupe_buffer_bytes =
      to_number(text("log.cleaner.dedupe.buffer.size"), config.dedupe_buffer_bytes);
  config.backoff_ms = to_number(text("log.cleaner.backoff.ms"), config.backoff_ms);
  const std::string rate = text("log.cleaner.io.max.bytes.per.second");
  std::from_chars(rate.data(), rate.data() + rate.size(), config.max_bytes_per_second);
  return config;
}

GroupConfig effective_group_config(const ConfigMap& configs, const BrokerConfig& broker) {
  GroupConfig group;
  auto number = [&configs](std::string_view name, int32_t fallback) {
    const std::string* value = find_value(configs, name);
    if (value == nullptr) return fallback;
    const Result<std::string> parsed =
        parse_config(*find_config(group_config_defs(), name), *value);
    return parsed ? static_cast<int32_t>(to_number(*parsed, fallback)) : fallback;
  };
  for (const Bounded& bounded : kBounded) {
    const int32_t value = number(bounded.name, broker.*bounded.fallback);
    // A maximum below the minimum is the operator's slip; the minimum counts then.
    group.*bounded.value = std::max(broker.*bounded.least, std::min(value, broker.*bounded.most));
  }
  group.share_assignment_interval_ms =
      number("share.assignment.interval.ms", group.share_assignment_interval_ms);
  group.share_partition_max_staged_records =
      number("share.partition.max.staged.records", group.share_partition_max_staged_records);
  auto text = [&configs](std::string_view name, std::string fallback) {
    const std::string* value = find_value(configs, name);
    if (value == nullptr) return fallback;
    Result<std::string> parsed = parse_config(*find_config(group_config_defs(), name), *value);
    return parsed ? std::move(*parsed) : fallback;
  };
  auto real = [&](std::string_view name, double fallback) {
    const std::string value = text(name, "");
    return value.empty() ? fallback : std::stod(value);
  };
  group.share_retry_backoff_multiplier =
      real("share.retry.backoff.multiplier", group.share_retry_backoff_multiplier);
  group.share_retry_backoff_ms =
      to_number(text("share.retry.backoff.ms", ""), group.share_retry_backoff_ms);
  group.share_retry_backoff_max_ms =
      to_number(text("share.retry.backoff.max.ms", ""), group.share_retry_backoff_max_ms);
  group.share_acknowledgement_retry_tolerance =
      text("share.acknowledgement.retry.tolerance", "false") == "true";
  group.share_auto_offset_reset = text("share.auto.offset.reset", group.share_auto_offset_reset);
  group.share_isolation_level = text("share.isolation.level", group.share_isolation_level);
  group.share_renew_acknowledge_enable =
      text("share.renew.acknowledge.enable",
           group.share_renew_acknowledge_enable ? "true" : "false") == "true";
  group.dead_letter_topic = text("errors.deadletterqueue.topic.name", group.dead_letter_topic);
  group.dead_letter_copy_record =
      text("errors.deadletterqueue.copy.record.enable", "false") == "true";
  return group;
}

DeadLetterConfig effective_dead_letter_config(const BrokerValues& broker) {
  DeadLetterConfig config;
  config.topic_name_prefix = broker_value("errors.deadletterqueue.topic.name.prefix", broker)
                                 .value_or(config.topic_name_prefix);
  config.auto_create_topics_enable =
      broker_value("errors.deadletterqueue.auto.create.topics.enable", broker) == "true";
  return config;
}

bool takes_dead_letters(const ConfigMap& configs) {
  const ConfigDef& def = *find_config(topic_config_defs(), "errors.deadletterqueue.group.enable");
  const std::string* value = find_value(configs, def.name);
  return value != nullptr && shown(def, *value) == "true";
}

}  // namespace ackord::metadata
