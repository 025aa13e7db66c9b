#include "broker/metadata/takeover.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "broker/base/logging.h"
#include "broker/metadata/config_tables.h"
#include "broker/metadata/features.h"

namespace ackord::metadata {
namespace {

Error refused(std::string text) { return error(ErrorCode::KAFKA_STORAGE_ERROR, std::move(text)); }

void name_configs(std::string_view kind, std::string_view resource, const ConfigMap& configs,
                  std::span<const ConfigDef> known) {
  for (const auto& [name, value] : configs) {
    if (find_config(known, name) != nullptr) continue;
    base::log_warn("config not served {}={} name={}", kind, resource, name);
  }
}

// A partition and the epoch at which it is to be led, or is led.
struct PartitionEpoch {
  std::shared_ptr<const TopicImage> topic;
  int32_t partition = 0;
  int32_t leader_epoch = 0;
};

// As the metadata log has it: the next one when another broker gave up its lead.
int32_t wanted_epoch(const HardState& hard, const TopicImage& topic, int32_t partition,
                     BrokerId node) {
  const auto strange = hard.strange.find({topic.id, partition});
  const bool left = strange != hard.strange.end() && strange->second.leader != node;
  return topic.leader_epoch(partition) + (left ? 1 : 0);
}

io::Task<std::vector<PartitionEpoch>> lead_on_core(log::LogService* logs,
                                                   std::vector<PartitionEpoch> partitions) {
  for (PartitionEpoch& one : partitions) {
    const auto log = logs->find({one.topic->name, one.partition});
    if (log == nullptr) continue;
    if (log->leader_epoch() < one.leader_epoch) {
      auto raising = log->raise_leader_epoch(one.leader_epoch);
      co_await std::move(raising);
    }
    one.leader_epoch = log->leader_epoch();
  }
  co_return partitions;
}

}  // namespace

Result<void> check_takeover(const MetadataShard& shard, BrokerId node) {
  for (const auto& [name, partition] : shard.hard().strange) {
    if (partition.replicas == std::vector<BrokerId>{node}) continue;
    const auto topic = shard.image().topic(name.topic_id);
    std::string replicas;
    for (const BrokerId one : partition.replicas)
      replicas += fmt::format("{}{}", replicas.empty() ? "" : ", ", one.value);
    return refused(fmt::format(
        "partition {} of topic {} has its replicas on nodes {}; only the directory of a cluster "
        "of one node, which is {}, can be served",
        name.partition, topic == nullptr ? name.topic_id.to_string() : topic->name.str(), replicas,
        node.value));
  }
  return check_features(shard.image().features().levels);
}

Result<void> check_features(const FeatureLevels& levels) {
  for (const auto& [name, level] : levels) {
    const SupportedFeature* feature = find_feature(name);
    if (feature == nullptr || (level >= feature->min && level <= feature->max)) continue;
    return refused(fmt::format("feature {} is finalized at level {}; levels {} to {} are known",
                               name, level, feature->min, feature->max));
  }
  return {};
}

void name_unserved(const MetadataImage& image) {
  for (const auto& [name, level] : image.features().levels) {
    if (find_feature(name) == nullptr)
      base::log_warn("feature not served name={} level={}", name, level);
  }
  for (const auto& [name, topic] : image.topics())
    name_configs("topic", name, topic->configs, topic_config_defs());
  for (const auto& [name, configs] : image.all_group_configs())
    name_configs("group", name, configs, group_config_defs());
  name_configs("broker", "", image.broker_configs(), broker_config_defs());
  name_configs("broker", "this", image.node_configs(), broker_config_defs());
}

io::Task<LeadPartitions> lead_partitions(io::Environment& environment, log::LogService& logs,
                                         const HardState& hard, BrokerId node) {
  std::vector<std::vector<PartitionEpoch>> by_core(environment.cores.size());
  for (const auto& [name, topic] : hard.image.topics()) {
    for (int32_t partition = 0; partition < topic->partitions; ++partition) {
      const auto core = static_cast<size_t>(logs.core_of({topic->name, partition}).index);
      by_core[core].push_back({topic, partition, wanted_epoch(hard, *topic, partition, node)});
    }
  }
  LeadPartitions op;
  for (size_t core = 0; core < by_core.size(); ++core) {
    if (by_core[core].empty()) continue;
    auto work = lead_on_core(&logs, std::move(by_core[core]));
    auto hop = io::on(environment.cores[core].executor, std::move(work));
    const std::vector<PartitionEpoch> led = co_await std::move(hop);
    for (const PartitionEpoch& one : led) {
      const bool said = !hard.strange.contains({one.topic->id, one.partition}) &&
                        one.topic->leader_epoch(one.partition) == one.leader_epoch;
      if (!said) op.led.push_back({one.topic->id, one.partition, one.leader_epoch});
    }
  }
  co_return op;
}

}  // namespace ackord::metadata
