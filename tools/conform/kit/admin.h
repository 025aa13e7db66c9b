// CreateTopics in any version, the configs of any resource, quotas, and who the broker is.
// Errors: Failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/conform/kit/topics.h"

namespace ackord::conform {

constexpr const char* kZeroId = "AAAAAAAAAAAAAAAAAAAAAA";
// An id that none has.
constexpr const char* kUnknownId = "BwcHBwcHBwcHBwcHBwcHBw";
// What the broker answers for authorized operations that were not asked for.
constexpr int64_t kNoOperations = INT32_MIN;

int32_t node_id(Kit& kit);
std::string cluster_id(Kit& kit);
// Whether it says so within the usual time.
void expect_gone(Kit& kit, const std::string& topic);
int64_t partition_count(Kit& kit, const std::string& topic);

// One topic of a CreateTopics request.
Object new_topic(const std::string& name, int32_t partitions = 1, int16_t replication_factor = 1,
                 const Configs& configs = {});
// With each partition's replicas given; the counts are -1.
Object assigned_topic(const std::string& name, const std::vector<std::vector<int32_t>>& replicas);
// The answer's topics. The topics are deleted when the case ends.
Value create_topics(Kit& kit, const json::array& topics, int16_t version = 7,
                    bool validate_only = false);
// The part of the only topic.
Value try_create(Kit& kit, const Object& topic, int16_t version = 7, bool validate_only = false);

// One resource of a DescribeConfigs; no keys are all.
Object config_query(ConfigResource type, const std::string& name,
                    const std::optional<std::vector<std::string>>& keys = {});
// The part of one resource.
Value describe_config(Kit& kit, const Object& query, int16_t version = 4,
                      bool include_synonyms = false);
// One config of a resource. Failure when it has none of this name.
Value config_entry(Kit& kit, ConfigResource type, const std::string& resource,
                   const std::string& name, bool include_synonyms = false);
void expect_config(Kit& kit, ConfigResource type, const std::string& resource,
                   const std::string& name, const json::value& value);

struct ConfigChange {
  std::string name;
  ConfigOperation operation = ConfigOperation::kSet;
  std::optional<std::string> value;
};
Object change_of(ConfigResource type, const std::string& resource,
                 const std::vector<ConfigChange>& changes);
// IncrementalAlterConfigs of one resource: its part of the answer.
Value change_configs(Kit& kit, ConfigResource type, const std::string& resource,
                     const std::vector<ConfigChange>& changes, int16_t version = 1,
                     bool validate_only = false);
// AlterConfigs, which replaces all configs of the resource: its part of the answer.
Value replace_configs(Kit& kit, ConfigResource type, const std::string& resource,
                      const Configs& configs, int16_t version = 2, bool validate_only = false);

// An entity of quotas: types ("user", "client-id", "ip") and names, nothing for the default.
using QuotaEntity = std::vector<std::pair<std::string, std::optional<std::string>>>;
struct QuotaChange {
  std::string key;
  std::optional<double> value;  // nothing: remove
};
// AlterClientQuotas of one entity: its part of the answer.
Value alter_quotas(Kit& kit, const QuotaEntity& entity, const std::vector<QuotaChange>& changes,
                   int16_t version = 1, bool validate_only = false);

}  // namespace ackord::conform
