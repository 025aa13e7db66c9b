// Configs in force, as the rooms use them: names and defaults are Kafka's (facts of 4.4), ours are
// marked. The tables behind DescribeConfigs are in config_tables.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ackord::metadata {

// What a group runs with (group config, bounded by the broker's limits, else the broker's
// value).
struct GroupConfig {
  int32_t share_session_timeout_ms = 45000;
  int32_t share_heartbeat_interval_ms = 5000;
  int32_t share_record_lock_duration_ms = 30000;
  int32_t share_delivery_count_limit = 5;
  int32_t share_partition_max_record_locks = 2000;
  std::string share_auto_offset_reset = "latest";  // latest | earliest | by_duration:ISO-8601
  std::string share_isolation_level = "read_uncommitted";
  bool share_renew_acknowledge_enable = true;
  int32_t share_assignment_interval_ms = 1000;
  int32_t share_partition_max_staged_records = 200000;  // ours: protocol 1.2
  bool share_acknowledgement_retry_tolerance = false;   // ours, as are the next three
  int64_t share_retry_backoff_ms = 0;
  double share_retry_backoff_multiplier = 2;
  int64_t share_retry_backoff_max_ms = 300000;
  std::string dead_letter_topic;         // errors.deadletterqueue.topic.name; "" = off
  bool dead_letter_copy_record = false;  // errors.deadletterqueue.copy.record.enable
  int32_t consumer_session_timeout_ms = 45000;
  int32_t consumer_heartbeat_interval_ms = 5000;
  int32_t consumer_assignment_interval_ms = 1000;
};

// What the broker says of dead-letter topics (KIP-1191); both can be changed while it runs.
struct DeadLetterConfig {
  std::string topic_name_prefix = "dlq.";  // errors.deadletterqueue.topic.name.prefix; "": any name
  bool auto_create_topics_enable = false;  // errors.deadletterqueue.auto.create.topics.enable
};

// Broker-wide values that rooms below main need. Filled by main from server.properties.
struct BrokerConfig {
  int32_t num_partitions = 1;
  int16_t default_replication_factor = 1;
  bool auto_create_topics_enable = true;
  bool delete_topic_enable = true;
  int32_t max_request_partition_size_limit = 2000;
  int64_t metadata_log_max_record_bytes_between_snapshots = 20971520;
  int32_t offsets_topic_num_partitions = 50;
  int32_t offsets_topic_segment_bytes = 104857600;
  int32_t offset_metadata_max_bytes = 4096;
  int32_t offsets_retention_minutes = 10080;
  int64_t offsets_retention_check_interval_ms = 600000;
  int32_t transaction_state_log_num_partitions = 50;
  int32_t transaction_state_log_segment_bytes = 104857600;
  int32_t transaction_max_timeout_ms = 900000;
  int32_t transactional_id_expiration_ms = 604800000;
  int32_t transaction_abort_timed_out_transaction_cleanup_interval_ms = 10000;
  bool transaction_two_phase_commit_enable = false;
  bool transaction_partition_verification_enable = true;
  int32_t share_coordinator_state_topic_num_partitions = 50;
  int32_t share_coordinator_state_topic_segment_bytes = 104857600;
  int32_t share_coordinator_snapshot_update_records_per_snapshot = 500;
  int64_t share_batch_transaction_retention_ms = 86400000;
  int32_t share_coordinator_state_topic_prune_interval_ms = 300000;
  int32_t share_coordinator_cold_partition_snapshot_interval_ms = 300000;
  int32_t group_max_size = 2147483647;
  int32_t group_min_session_timeout_ms = 6000, group_max_session_timeout_ms = 1800000;
  int32_t group_initial_rebalance_delay_ms = 3000;
  int32_t group_share_max_size = 200;
  int32_t group_share_max_share_sessions = 2000;
  int32_t group_share_session_timeout_ms = 45000, group_share_min_session_timeout_ms = 45000,
          group_share_max_session_timeout_ms = 60000;
  int32_t group_share_heartbeat_interval_ms = 5000, group_share_min_heartbeat_interval_ms = 5000,
          group_share_max_heartbeat_interval_ms = 15000;
  int32_t group_share_record_lock_duration_ms = 30000,
          group_share_min_record_lock_duration_ms = 15000,
          group_share_max_record_lock_duration_ms = 60000;
  int32_t group_share_delivery_count_limit = 5, group_share_min_delivery_count_limit = 2,
          group_share_max_delivery_count_limit = 10;
  int32_t group_share_partition_max_record_locks = 2000,
          group_share_min_partition_max_record_locks = 100,
          group_share_max_partition_max_record_locks = 4000;
  int32_t group_consumer_session_timeout_ms = 45000, group_consumer_min_session_timeout_ms = 45000,
          group_consumer_max_session_timeout_ms = 60000;
  int32_t group_consumer_heartbeat_interval_ms = 5000,
          group_consumer_min_heartbeat_interval_ms = 5000,
          group_consumer_max_heartbeat_interval_ms = 15000;
  int32_t group_consumer_assignment_interval_ms = 1000,
          group_consumer_min_assignment_interval_ms = 0,
          group_consumer_max_assignment_interval_ms = 15000;
  int32_t group_consumer_max_size = 2147483647;
  int32_t group_consumer_regex_refresh_interval_ms = 600000;
  // The first is the default.
  std::vector<std::string> group_consumer_assignors = {"uniform", "range"};
  // bidirectional | upgrade | downgrade | disabled
  std::string group_consumer_migration_policy = "bidirectional";
  int32_t max_incremental_fetch_session_cache_slots = 1000;
  int32_t fetch_max_bytes = 57671680;
  int32_t connections_max_idle_ms = 600000;
  int32_t quota_window_num = 11, quota_window_size_seconds = 1;
  int32_t controller_quota_window_num = 11, controller_quota_window_size_seconds = 1;
};

// The numbers of DescribeConfigs (ConfigType, ConfigSource).
enum class ConfigType : int8_t {
  kBoolean = 1,
  kString = 2,
  kInt = 3,
  kShort = 4,
  kLong = 5,
  kDouble = 6,
  kList = 7,
  kClass = 8,
  kPassword = 9,
};
enum class ConfigSource : int8_t {
  kTopic = 1,
  kDynamicBroker = 2,
  kDynamicDefaultBroker = 3,
  kStaticBroker = 4,
  kDefault = 5,
  kBrokerLogger = 6,
  kClientMetrics = 7,
  kGroup = 8,
};

// One config in force, as DescribeConfigs and CreateTopics show it.
struct DescribedConfig {
  struct Synonym {
    std::string name;
    std::optional<std::string> value;
    ConfigSource source = ConfigSource::kDefault;
    friend bool operator==(const Synonym&, const Synonym&) = default;
  };
  std::string name;
  std::optional<std::string> value;  // null: none, or a secret
  ConfigType type = ConfigType::kString;
  ConfigSource source = ConfigSource::kDefault;
  bool read_only = false;
  bool sensitive = false;
  std::vector<Synonym> synonyms;   // where the value comes from, the deciding one first
  std::string_view documentation;  // of the table, which lives for ever
};

}  // namespace ackord::metadata
