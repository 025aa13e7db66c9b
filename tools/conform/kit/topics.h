// Topics and configs: short forms of the admin requests. A topic is deleted when its case ends.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/conform/kit/kit.h"

namespace ackord::conform {

struct Topic {
  std::string name;
  std::string id;  // Kafka's text form
  int32_t partitions = 1;
};

using Configs = std::vector<std::pair<std::string, std::string>>;

// As in DescribeConfigs.
enum class ConfigResource : int8_t {
  kTopic = 2,
  kBroker = 4,
  kBrokerLogger = 8,
  kClientMetrics = 16,
  kGroup = 32,
};

// As in IncrementalAlterConfigs.
enum class ConfigOperation : int8_t { kSet = 0, kDelete = 1, kAppend = 2, kSubtract = 3 };

// Creates it, and waits until the broker leads all its partitions.
Topic create_topic(Kit& kit, int32_t partitions = 1, const Configs& configs = {},
                   const std::string& name = {});
// Grows it to this many partitions, and waits until the broker leads them.
Topic grow_topic(Kit& kit, Topic topic, int32_t partitions);
// A topic that does not exist, with an id that none has.
Topic ghost_topic(Kit& kit);
// Deletes it, and waits until Metadata does not know it.
void delete_topic(Kit& kit, const Topic& topic);
// Metadata of one topic by name, without creating it.
Value describe_topic(Kit& kit, const std::string& name, int16_t version = 12);
// The new log start offset. Failure unless it succeeds.
int64_t delete_records(Kit& kit, const Topic& topic, int64_t offset, int32_t partition = 0);

// IncrementalAlterConfigs SET; the resource's part of the answer.
Value alter_configs(Kit& kit, ConfigResource type, const std::string& resource,
                    const Configs& configs);
// Failure unless it succeeds; waits until DescribeConfigs shows them.
void set_configs(Kit& kit, ConfigResource type, const std::string& resource,
                 const Configs& configs);
// All configs of a resource; null values are nothing.
std::map<std::string, std::optional<std::string>> configs_of(Kit& kit, ConfigResource type,
                                                             const std::string& resource);

}  // namespace ackord::conform
