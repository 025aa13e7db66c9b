// MetadataImage: what the broker knows of topics, configs, features, users and ACLs. One copy per
// core, changed only by metadata records, in the order of the metadata log, so all cores see the
// same history.
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
#include "broker/metadata/acls.h"
#include "broker/metadata/client_quotas.h"
#include "broker/metadata/scram_credentials.h"
#include "protocol/types/ids.h"

namespace ackord::metadata {

// Names of the state topics; clients may neither write them nor add them to a transaction.
inline constexpr std::string_view kOffsetsTopic = "__consumer_offsets";
inline constexpr std::string_view kTransactionTopic = "__transaction_state";
inline constexpr std::string_view kShareStateTopic = "__share_group_state";
bool is_internal(std::string_view topic);

using ConfigMap = std::map<std::string, std::string, std::less<>>;  // only what was set

struct TopicImage {
  TopicName name;
  Uuid id;
  int32_t partitions = 0;
  std::vector<int32_t> leader_epochs;  // by partition; behind its end: 0
  ConfigMap configs;
  bool internal() const { return is_internal(name); }
  int32_t leader_epoch(int32_t partition) const {
    const auto index = static_cast<size_t>(partition);
    return index < leader_epochs.size() ? leader_epochs[index] : 0;
  }
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
  const std::map<std::string, std::shared_ptr<const TopicImage>, std::less<>>& topics() const {
    return by_name_;
  }
  const Features& features() const { return features_; }
  // Grows whenever a topic is made, grows or goes.
  uint64_t topics_version() const { return topics_version_; }
  // The metadata log's last offset of what is here, and the one with which a topic was last made;
  // at the start both are the log's end.
  Offset version() const { return version_; }
  Offset last_topic_version() const { return last_topic_version_; }
  // What was set for a group (resource type GROUP); null when nothing was.
  const ConfigMap* group_configs(std::string_view group) const;
  const std::map<std::string, ConfigMap, std::less<>>& all_group_configs() const {
    return group_configs_;
  }
  // What was set for a subscription of client metrics (resource type CLIENT_METRICS); null when
  // nothing was.
  const ConfigMap* metrics_configs(std::string_view subscription) const;
  const std::map<std::string, ConfigMap, std::less<>>& all_metrics_configs() const {
    return metrics_configs_;
  }
  // Another one after each change of them.
  int64_t metrics_version() const { return metrics_version_; }
  // Dynamic configs of all brokers, and of this one alone: those come first.
  const ConfigMap& broker_configs() const { return broker_configs_; }
  const ConfigMap& node_configs() const { return node_configs_; }

  const Quotas& quotas() const { return quotas_; }
  // Another one after each change of them.
  int64_t quotas_version() const { return quotas_version_; }

  const ScramCredentials& scram() const { return scram_; }
  const Acls& acls() const { return acls_; }

  // ---- changes, by the metadata room alone
  // What follows is of the log up to here.
  void set_version(Offset version) { version_ = version; }
  void start_at(Offset version) { version_ = last_topic_version_ = version; }
  void put_topic(std::shared_ptr<const TopicImage> topic);
  // Null when there was none.
  std::shared_ptr<const TopicImage> remove_topic(const Uuid& id);
  // Of a topic that is there. Who holds a pointer to it keeps what it had.
  void put_partition(const Uuid& id, int32_t partition, int32_t leader_epoch);
  // Of a partition that is there: the epoch after the one that it has.
  void begin_leader_epoch(const Uuid& id, int32_t partition);
  // No value takes the setting away.
  void put_topic_config(std::string_view topic, const std::string& name,
                        std::optional<std::string> value);
  void put_group_config(const std::string& group, const std::string& name,
                        std::optional<std::string> value);
  void put_metrics_config(const std::string& subscription, const std::string& name,
                          std::optional<std::string> value);
  void put_broker_config(const std::string& name, std::optional<std::string> value);
  void put_node_config(const std::string& name, std::optional<std::string> value);
  void put_quota(const protocol::ClientQuotaRecord& record);
  void put_scram(const protocol::UserScramCredentialRecord& record) { apply_scram(scram_, record); }
  void remove_scram(const protocol::RemoveUserScramCredentialRecord& record) {
    apply_scram(scram_, record);
  }
  void put_acl(const protocol::AccessControlEntryRecord& record) { acls_.put(record); }
  void remove_acl(const protocol::RemoveAccessControlEntryRecord& record) { acls_.remove(record); }
  // Level 0 takes the feature away.
  void put_feature(std::string name, int16_t level, int64_t epoch);

 private:
  void replace_topic(std::shared_ptr<const TopicImage> topic);
  TopicImage* edit(const Uuid& id);

  std::map<std::string, std::shared_ptr<const TopicImage>, std::less<>> by_name_;
  std::unordered_map<Uuid, std::shared_ptr<const TopicImage>> by_id_;
  std::map<std::string, ConfigMap, std::less<>> group_configs_;
  std::map<std::string, ConfigMap, std::less<>> metrics_configs_;
  int64_t metrics_version_ = 0;
  ConfigMap broker_configs_;
  ConfigMap node_configs_;
  Quotas quotas_;
  int64_t quotas_version_ = 0;
  ScramCredentials scram_;
  Acls acls_;
  Features features_;
  uint64_t topics_version_ = 0;
  Offset version_ = -1;
  Offset last_topic_version_ = -1;
};

}  // namespace ackord::metadata
