// Config definitions of topics, groups and the broker: name, type, default, allowed values,
// documentation. Names, defaults, ranges and error texts are those of Kafka 4.4; what is Ackord's
// own says so in its documentation. Constant data and pure functions; any thread. Errors:
// INVALID_CONFIG with Kafka's text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/log/types.h"
#include "broker/metadata/configs.h"
#include "broker/metadata/image.h"
#include "protocol/types/result.h"

namespace ackord::metadata {

enum class Check : int8_t {
  kAny,
  kRange,              // min..max
  kOneOf,              // a STRING in `allowed`
  kListOf,             // a LIST of values in `allowed`
  kGzipLevel,          // min..max or -1
  kThrottledReplicas,  // * or partition:broker,…
  kOffsetReset,        // latest | earliest | by_duration:<ISO 8601>
  kDeadLetterTopic,    // no name that begins with __
};

enum class ConfigKind : int8_t {
  kPlain,
  kInternal,  // shown only where it is set
  kDynamic,   // of the broker table: can be changed while it runs
};

struct ConfigDef {
  std::string_view name;
  ConfigType type;
  const char* default_value;  // as text; null for none
  Check check;
  double min;
  double max;
  std::string_view allowed;      // "a, b", in the order that error texts show
  std::string_view broker_name;  // the broker-level config behind it; "" for none
  ConfigKind kind;
  std::string_view documentation;
};

// Each sorted by name.
std::span<const ConfigDef> topic_config_defs();
std::span<const ConfigDef> group_config_defs();
std::span<const ConfigDef> metrics_config_defs();
std::span<const ConfigDef> broker_config_defs();
// Null when the table has none of that name.
const ConfigDef* find_config(std::span<const ConfigDef> table, std::string_view name);

// Of listener.name.<listener>.[<mechanism>.]<name>, whose value belongs to one listener only: the
// definition of <name> in the broker's table. Null when it has none, or the name is none such.
const ConfigDef* find_listener_config(std::string_view name);

// The value as Kafka shows it (trimmed, booleans in lower case, lists joined by ","), or
// "Invalid value x for configuration y: …".
Result<std::string> parse_config(const ConfigDef& def, std::string_view value);
// "a, b ,c" → a b c; "" → nothing.
std::vector<std::string> split_list(std::string_view text);

// The broker's own values: server.properties, over them what IncrementalAlterConfigs has set for
// all brokers, and over those what it has set for this one.
struct BrokerValues {
  const std::map<std::string, std::string, std::less<>>& properties;
  const ConfigMap& cluster;
  const ConfigMap& node;
};

// All that is set for one topic or group, together: names, values, and what two of them say about
// each other.
Result<void> check_topic_configs(const ConfigMap& configs);
Result<void> check_group_configs(const ConfigMap& configs, const BrokerConfig& broker);
// Of a subscription of client metrics (KIP-714). INVALID_REQUEST, or INVALID_CONFIG for a pattern.
Result<void> check_metrics_configs(const ConfigMap& configs);
// Of changes to a broker resource, of this broker or of all: known, dynamic, well-formed, and of a
// number of threads at most double and at least half of what is in force. Errors are
// INVALID_REQUEST, as Kafka's.
Result<void> check_broker_configs(const ConfigMap& configs, const BrokerValues& broker,
                                  bool of_all_brokers);

// What is in force, for DescribeConfigs. A value that was stored by another broker and no longer
// parses is shown as it is.
std::vector<DescribedConfig> describe_topic_configs(const ConfigMap& configs,
                                                    const BrokerValues& broker);
std::vector<DescribedConfig> describe_group_configs(const ConfigMap& configs,
                                                    const BrokerValues& broker);
std::vector<DescribedConfig> describe_metrics_configs(const ConfigMap& configs);
std::vector<DescribedConfig> describe_broker_configs(const BrokerValues& broker);
// What is set for all brokers, as the broker resource "" is described.
std::vector<DescribedConfig> describe_cluster_configs(const ConfigMap& cluster);

// In force: what is set, else the broker's value, else the default.
log::LogConfig effective_log_config(const ConfigMap& configs, const BrokerValues& broker);
log::CleanerConfig effective_cleaner_config(const BrokerValues& broker);
// Values outside the broker's bounds are moved to the nearer one.
GroupConfig effective_group_config(const ConfigMap& configs, const BrokerConfig& broker);
DeadLetterConfig effective_dead_letter_config(const BrokerValues& broker);
// Whether share groups may write dead letters to a topic with these settings.
bool takes_dead_letters(const ConfigMap& configs);

}  // namespace ackord::metadata
