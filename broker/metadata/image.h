// MetadataImage: what the broker knows of topics, configs and features. One copy per core, changed only by metadata
// records, in the order of the metadata log, so all cores see the same history.
//
// Threads: a core reads its own copy only. References into it live until the next co_await.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/log/types.h"
#include "protocol/types/ids.h"

namespace ackord::metadata {

// Names of the state topics; clients may neither write them nor add them to a transaction.
inline constexpr std::string_view kOffsetsTopic = "__consumer_offsets";
inline constexpr std::string_view kTransactionTopic = "__transaction_state";
inline constexpr std::string_view kShareStateTopic = "__share_group_state";
bool is_internal(std::string_view topic);

using ConfigMap = std::map<std::string, std::string, std::less<>>;   // only what was set

struct TopicImage {
  TopicName name;
  Uuid id;
  int32_t partitions = 0;
  ConfigMap configs;
  bool internal() const { return is_internal(name); }
};

// Finalized feature levels; a feature at level 0 is absent.
struct Features {
  std::map<std::string, int16_t, std::less<>> levels;
  int64_t epoch = 0;
  int16_t level(std::string_view name) const {
    const auto at = levels.find(name);
    return at == levels.end() ? int16_t{0} : at->second;
  }
};

class MetadataImage {
 public:
  // Null when there is none. The pointer is shared: a handler may keep a topic across an await.
  std::shared_ptr<const TopicImage> topic(std::string_view name) const;
  std::shared_ptr<const TopicImage> topic(const Uuid& id) const;
  // By name, in order.
  const std::map<std::string, std::shared_ptr<const TopicImage>, std::less<>>& topics() const { return by_name_; }
  const Features& features() const { return features_; }
  // What was set for a group (resource type GROUP); null when nothing was.
  const ConfigMap* group_configs(std::string_view group) const;
  // Cluster-wide and this broker's dynamic configs.
  const ConfigMap& broker_configs() const { return broker_configs_; }

  // ---- changes, by the metadata room alone
  void put_topic(std::shared_ptr<const TopicImage> topic);
  void remove_topic(const Uuid& id);
  void put_group_configs(std::string group, ConfigMap configs);
  void put_broker_configs(ConfigMap configs) { broker_configs_ = std::move(configs); }
  void put_feature(std::string name, int16_t level, int64_t epoch);

 private:
  std::map<std::string, std::shared_ptr<const TopicImage>, std::less<>> by_name_;
  std::unordered_map<Uuid, std::shared_ptr<const TopicImage>> by_id_;
  std::map<std::string, ConfigMap, std::less<>> group_configs_;
  ConfigMap broker_configs_;
  Features features_;
};

}  // namespace ackord::metadata
