#include "broker/metadata/image.h"

#include <utility>

#include "broker/base/assert.h"

namespace ackord::metadata {
namespace {

void put_config(ConfigMap& configs, const std::string& name, std::optional<std::string> value) {
  if (value) {
    configs[name] = std::move(*value);
  } else {
    configs.erase(name);
  }
}

}  // namespace

bool is_internal(std::string_view topic) {
  return topic == kOffsetsTopic || topic == kTransactionTopic || topic == kShareStateTopic;
}

std::shared_ptr<const TopicImage> MetadataImage::topic(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

std::shared_ptr<const TopicImage> MetadataImage::topic(const Uuid& id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : at->second;
}

const ConfigMap* MetadataImage::group_configs(std::string_view group) const {
  const auto at = group_configs_.find(group);
  return at == group_configs_.end() ? nullptr : &at->second;
}

const ConfigMap* MetadataImage::metrics_configs(std::string_view subscription) const {
  const auto at = metrics_configs_.find(subscription);
  return at == metrics_configs_.end() ? nullptr : &at->second;
}

void MetadataImage::put_topic(std::shared_ptr<const TopicImage> topic) {
  ++topics_version_;
  last_topic_version_ = version_;
  replace_topic(std::move(topic));
}

void MetadataImage::replace_topic(std::shared_ptr<const TopicImage> topic) {
  by_id_[topic->id] = topic;
  std::string name = topic->name.str();
  by_name_[std::move(name)] = std::move(topic);
}

std::shared_ptr<const TopicImage> MetadataImage::remove_topic(const Uuid& id) {
  const auto at = by_id_.find(id);
  if (at == by_id_.end()) return nullptr;
  ++topics_version_;
  std::shared_ptr<const TopicImage> topic = std::move(at->second);
  by_id_.erase(at);
  const auto named = by_name_.find(topic->name.sv());
  if (named != by_name_.end() && named->second == topic) by_name_.erase(named);
  return topic;
}

// The topic for writing: in place when only this image refers to it, else a copy that takes its
// place.
TopicImage* MetadataImage::edit(const Uuid& id) {
  const auto at = by_id_.find(id);
  if (at == by_id_.end()) return nullptr;
  constexpr long kOwnReferences = 2;
  // No other thread can gain a reference while both are ours, so a count of two stays two.
  if (at->second.use_count() != kOwnReferences)
    replace_topic(std::make_shared<TopicImage>(*at->second));
  // Every topic is made by make_shared<TopicImage>: the object itself is not const.
  return const_cast<TopicImage*>(by_id_.at(id).get());
}

void MetadataImage::put_partition(const Uuid& id, int32_t partition, int32_t leader_epoch) {
  ACKORD_ASSERT(partition >= 0, "the record was checked when it was read");
  TopicImage* topic = edit(id);
  if (topic == nullptr) return;
  if (partition >= topic->partitions) {
    topic->partitions = partition + 1;
    ++topics_version_;
  }
  const auto index = static_cast<size_t>(partition);
  if (index >= topic->leader_epochs.size()) {
    if (leader_epoch == 0) return;
    topic->leader_epochs.resize(index + 1, 0);
  }
  topic->leader_epochs[index] = leader_epoch;
}

void MetadataImage::begin_leader_epoch(const Uuid& id, int32_t partition) {
  const auto topic = this->topic(id);
  if (topic == nullptr || partition < 0 || partition >= topic->partitions) return;
  put_partition(id, partition, topic->leader_epoch(partition) + 1);
}

void MetadataImage::put_topic_config(std::string_view topic, const std::string& name,
                                     std::optional<std::string> value) {
  const auto at = by_name_.find(topic);
  if (at == by_name_.end()) return;
  const Uuid id = at->second->id;
  put_config(edit(id)->configs, name, std::move(value));
}

void MetadataImage::put_group_config(const std::string& group, const std::string& name,
                                     std::optional<std::string> value) {
  ConfigMap& configs = group_configs_[group];
  put_config(configs, name, std::move(value));
  if (configs.empty()) group_configs_.erase(group);
}

void MetadataImage::put_metrics_config(const std::string& subscription, const std::string& name,
                                       std::optional<std::string> value) {
  ++metrics_version_;
  ConfigMap& configs = metrics_configs_[subscription];
  put_config(configs, name, std::move(value));
  if (configs.empty()) metrics_configs_.erase(subscription);
}

void MetadataImage::put_broker_config(const std::string& name, std::optional<std::string> value) {
  put_config(broker_configs_, name, std::move(value));
}

void MetadataImage::put_node_config(const std::string& name, std::optional<std::string> value) {
  put_config(node_configs_, name, std::move(value));
}

void MetadataImage::put_quota(const protocol::ClientQuotaRecord& record) {
  apply_quota(quotas_, record);
  ++quotas_version_;
}

void MetadataImage::put_feature(std::string name, int16_t level, int64_t epoch) {
  features_.epoch = epoch;
  if (level == 0) {
    features_.levels.erase(name);
  } else {
    features_.levels[std::move(name)] = level;
  }
}

}  // namespace ackord::metadata
