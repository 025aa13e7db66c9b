#include "broker/main/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

#include "broker/base/assert.h"
#include "broker/main/config_names.h"
#include "broker/metadata/config_tables.h"

namespace ackord::main {
namespace {

using metadata::ConfigDef;

constexpr int32_t kDefaultNodeId = 1;

// What comes before a name of the tables, or before names that only a plugin knows.
constexpr std::string_view kListenerPrefix = "listener.name.";
constexpr std::array<std::string_view, 2> kPluginPrefixes = {"rsm.config.", "rlmm.config."};

const ConfigDef* find_definition(std::string_view name) {
  if (const ConfigDef* def = metadata::find_config(metadata::broker_config_defs(), name))
    return def;
  return metadata::find_config(further_config_defs(), name);
}

// listener.name.<listener>.[<mechanism>.]<name>: the value belongs to one listener only.
const ConfigDef* find_listener_definition(std::string_view name) {
  if (!name.starts_with(kListenerPrefix)) return nullptr;
  name.remove_prefix(kListenerPrefix.size());
  for (int i = 0; i < 2; ++i) {
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return nullptr;
    name.remove_prefix(dot + 1);
    if (const ConfigDef* def = find_definition(name)) return def;
  }
  return nullptr;
}

bool is_plugin_name(std::string_view name) {
  return std::any_of(kPluginPrefixes.begin(), kPluginPrefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

// How many characters have to be put in, taken out or replaced.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string similar_name(std::string_view name) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(3, name.size() / 3) + 1;
  for (const auto table : {metadata::broker_config_defs(), further_config_defs()}) {
    for (const ConfigDef& def : table) {
      const size_t distance = edit_distance(name, def.name);
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = def.name;
    }
  }
  return std::string(best);
}

Error config_error(const Property& property, std::string_view what) {
  return error(ErrorCode::INVALID_CONFIG, fmt::format("{}: {}", property.origin, what));
}

Result<std::string> check(const Property& property) {
  const ConfigDef* def = find_definition(property.name);
  if (def == nullptr) def = find_listener_definition(property.name);
  if (def == nullptr) {
    if (is_plugin_name(property.name)) return property.value;
    const std::string similar = similar_name(property.name);
    const std::string hint = similar.empty() ? "" : fmt::format("; did you mean {}?", similar);
    return config_error(property, fmt::format("unknown configuration {}{}", property.name, hint));
  }
  auto parsed = metadata::parse_config(*def, property.value);
  if (parsed.has_error()) return config_error(property, parsed.error().message);
  return parsed;
}

// What two settings say about each other.
Result<void> check_together(const Config& config) {
  const auto refuse = [](std::string text) {
    return error(ErrorCode::INVALID_CONFIG, std::move(text));
  };
  if (config.list(config.is_given("log.dirs") ? "log.dirs" : "log.dir").size() != 1) {
    return refuse("log.dirs must name exactly one directory");
  }
  const int64_t node = config.is_given("node.id") ? config.number("node.id") : -1;
  const int64_t broker = config.number("broker.id");
  if (node >= 0 && broker >= 0 && node != broker) {
    return refuse(fmt::format("node.id={} and broker.id={} must be the same", node, broker));
  }
  const std::vector<std::string> roles = config.list("process.roles");
  if (!roles.empty() && std::find(roles.begin(), roles.end(), "broker") == roles.end()) {
    return refuse("process.roles must contain broker: a controller alone is not served");
  }
  if (config.list("listeners").empty()) return refuse("listeners must not be empty");
  const int64_t queued = config.number("queued.max.request.bytes");
  if (queued > 0 && queued < config.number("socket.request.max.bytes")) {
    return refuse("queued.max.request.bytes must be larger or equal to socket.request.max.bytes");
  }
  if (config.list("group.consumer.assignors").empty())
    return refuse("group.consumer.assignors must not be empty");
  return {};
}

}  // namespace

Result<Config> Config::make(const std::vector<Property>& properties) {
  Config config;
  for (const Property& property : properties) {
    auto value = check(property);
    if (value.has_error()) return value.error();
    config.given_.insert_or_assign(property.name, std::move(value.value()));
  }
  auto together = check_together(config);
  if (together.has_error()) return together.error();
  return config;
}

std::optional<std::string> Config::find(std::string_view name) const {
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  const ConfigDef* def = find_definition(name);
  ACKORD_ASSERT(def != nullptr, "main asks for configs of its tables only");
  if (def->default_value == nullptr) return std::nullopt;
  return std::string(def->default_value);
}

std::string Config::text(std::string_view name) const {
  auto value = find(name);
  ACKORD_ASSERT(value.has_value(), "this config always has a value");
  return std::move(*value);
}

int64_t Config::number(std::string_view name) const {
  const std::string value = text(name);
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  ACKORD_ASSERT(failed == std::errc() && end == value.data() + value.size(), "checked by make()");
  return number;
}

bool Config::flag(std::string_view name) const { return text(name) == "true"; }

std::vector<std::string> Config::list(std::string_view name) const {
  return metadata::split_list(find(name).value_or(""));
}

std::optional<std::string> Config::find_only_for(std::string_view listener,
                                                 std::string_view name) const {
  std::string full = fmt::format("{}{}.{}", kListenerPrefix, listener, name);
  std::transform(full.begin(), full.end(), full.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = given_.find(full);
  if (found == given_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Config::find_for(std::string_view listener,
                                            std::string_view name) const {
  auto own = find_only_for(listener, name);
  return own ? own : find(name);
}

Config Config::with(const metadata::ConfigMap& cluster, const metadata::ConfigMap& node) const {
  Config out = *this;
  for (const auto* values : {&cluster, &node}) {
    for (const auto& [name, value] : *values) {
      auto parsed = check({name, value, "dynamic configuration"});
      if (parsed) out.given_.insert_or_assign(name, std::move(*parsed));
    }
  }
  return out;
}

int32_t Config::node_id() const {
  if (is_given("node.id")) return static_cast<int32_t>(number("node.id"));
  const auto broker = static_cast<int32_t>(number("broker.id"));
  return broker >= 0 ? broker : kDefaultNodeId;
}

std::string Config::directory() const {
  return list(is_given("log.dirs") ? "log.dirs" : "log.dir").front();
}

metadata::BrokerConfig broker_config(const Config& config) {
  metadata::BrokerConfig out;
  const auto set = [&config](auto& field, std::string_view name) {
    using Field = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, bool>) {
      field = config.flag(name);
    } else {
      const int64_t most = std::numeric_limits<Field>::max();
      field = static_cast<Field>(std::clamp<int64_t>(config.number(name), -most, most));
    }
  };
  set(out.num_partitions, "num.partitions");
  set(out.default_replication_factor, "default.replication.factor");
  set(out.auto_create_topics_enable, "auto.create.topics.enable");
  set(out.delete_topic_enable, "delete.topic.enable");
  set(out.max_request_partition_size_limit, "max.request.partition.size.limit");
  set(out.metadata_log_max_record_bytes_between_snapshots,
      "metadata.log.max.record.bytes.between.snapshots");
  set(out.offsets_topic_num_partitions, "offsets.topic.num.partitions");
  set(out.offsets_topic_segment_bytes, "offsets.topic.segment.bytes");
  set(out.offset_metadata_max_bytes, "offset.metadata.max.bytes");
  set(out.offsets_retention_minutes, "offsets.retention.minutes");
  set(out.offsets_retention_check_interval_ms, "offsets.retention.check.interval.ms");
  set(out.transaction_state_log_num_partitions, "transaction.state.log.num.partitions");
  set(out.transaction_state_log_segment_bytes, "transaction.state.log.segment.bytes");
  set(out.transaction_max_timeout_ms, "transaction.max.timeout.ms");
  set(out.transactional_id_expiration_ms, "transactional.id.expiration.ms");
  set(out.transaction_abort_timed_out_transaction_cleanup_interval_ms,
      "transaction.abort.timed.out.transaction.cleanup.interval.ms");
  set(out.transaction_two_phase_commit_enable, "transaction.two.phase.commit.enable");
  set(out.transaction_partition_verification_enable, "transaction.partition.verification.enable");
  set(out.share_coordinator_state_topic_num_partitions,
      "share.coordinator.state.topic.num.partitions");
  set(out.share_coordinator_state_topic_segment_bytes,
      "share.coordinator.state.topic.segment.bytes");
  set(out.share_coordinator_snapshot_update_records_per_snapshot,
      "share.coordinator.snapshot.update.records.per.snapshot");
  set(out.share_batch_transaction_retention_ms, "share.batch.transaction.retention.ms");
  set(out.share_coordinator_state_topic_prune_interval_ms,
      "share.coordinator.state.topic.prune.interval.ms");
  set(out.share_coordinator_cold_partition_snapshot_interval_ms,
      "share.coordinator.cold.partition.snapshot.interval.ms");
  set(out.group_max_size, "group.max.size");
  set(out.group_min_session_timeout_ms, "group.min.session.timeout.ms");
  set(out.group_max_session_timeout_ms, "group.max.session.timeout.ms");
  set(out.group_initial_rebalance_delay_ms, "group.initial.rebalance.delay.ms");
  set(out.quota_window_num, "quota.window.num");
  set(out.quota_window_size_seconds, "quota.window.size.seconds");
  set(out.controller_quota_window_num, "controller.quota.window.num");
  set(out.controller_quota_window_size_seconds, "controller.quota.window.size.seconds");
  set(out.group_share_max_size, "group.share.max.size");
  set(out.group_share_max_share_sessions, "group.share.max.share.sessions");
  set(out.group_share_session_timeout_ms, "group.share.session.timeout.ms");
  set(out.group_share_min_session_timeout_ms, "group.share.min.session.timeout.ms");
  set(out.group_share_max_session_timeout_ms, "group.share.max.session.timeout.ms");
  set(out.group_share_heartbeat_interval_ms, "group.share.heartbeat.interval.ms");
  set(out.group_share_min_heartbeat_interval_ms, "group.share.min.heartbeat.interval.ms");
  set(out.group_share_max_heartbeat_interval_ms, "group.share.max.heartbeat.interval.ms");
  set(out.group_share_record_lock_duration_ms, "group.share.record.lock.duration.ms");
  set(out.group_share_min_record_lock_duration_ms, "group.share.min.record.lock.duration.ms");
  set(out.group_share_max_record_lock_duration_ms, "group.share.max.record.lock.duration.ms");
  set(out.group_share_delivery_count_limit, "group.share.delivery.count.limit");
  set(out.group_share_min_delivery_count_limit, "group.share.min.delivery.count.limit");
  set(out.group_share_max_delivery_count_limit, "group.share.max.delivery.count.limit");
  set(out.group_share_partition_max_record_locks, "group.share.partition.max.record.locks");
  set(out.group_share_min_partition_max_record_locks, "group.share.min.partition.max.record.locks");
  set(out.group_share_max_partition_max_record_locks, "group.share.max.partition.max.record.locks");
  set(out.group_consumer_session_timeout_ms, "group.consumer.session.timeout.ms");
  set(out.group_consumer_min_session_timeout_ms, "group.consumer.min.session.timeout.ms");
  set(out.group_consumer_max_session_timeout_ms, "group.consumer.max.session.timeout.ms");
  set(out.group_consumer_heartbeat_interval_ms, "group.consumer.heartbeat.interval.ms");
  set(out.group_consumer_min_heartbeat_interval_ms, "group.consumer.min.heartbeat.interval.ms");
  set(out.group_consumer_max_heartbeat_interval_ms, "group.consumer.max.heartbeat.interval.ms");
  set(out.group_consumer_assignment_interval_ms, "group.consumer.assignment.interval.ms");
  set(out.group_consumer_min_assignment_interval_ms, "group.consumer.min.assignment.interval.ms");
  set(out.group_consumer_max_assignment_interval_ms, "group.consumer.max.assignment.interval.ms");
  set(out.group_consumer_max_size, "group.consumer.max.size");
  set(out.group_consumer_regex_refresh_interval_ms, "group.consumer.regex.refresh.interval.ms");
  out.group_consumer_assignors = config.list("group.consumer.assignors");
  out.group_consumer_migration_policy = config.text("group.consumer.migration.policy");
  set(out.max_incremental_fetch_session_cache_slots, "max.incremental.fetch.session.cache.slots");
  set(out.fetch_max_bytes, "fetch.max.bytes");
  set(out.connections_max_idle_ms, "connections.max.idle.ms");
  return out;
}

log::LogSettings log_settings(const Config& config) {
  log::LogSettings settings;
  settings.directory = config.directory();
  settings.sync_on_ack = config.text("log.flush.policy") == "ack";
  settings.producer_id_expiration_ms = config.number("producer.id.expiration.ms");
  settings.checkpoint_interval_ms = config.number("log.flush.offset.checkpoint.interval.ms");
  settings.retention_check_interval_ms = config.number("log.retention.check.interval.ms");
  settings.delete_delay_ms = config.number("log.segment.delete.delay.ms");
  settings.cleaner_enable = config.flag("log.cleaner.enable");
  settings.cleaner.threads = static_cast<int32_t>(config.number("log.cleaner.threads"));
  settings.cleaner.dedupe_buffer_bytes = config.number("log.cleaner.dedupe.buffer.size");
  settings.cleaner.backoff_ms = config.number("log.cleaner.backoff.ms");
  settings.cleaner.max_bytes_per_second =
      std::stod(config.text("log.cleaner.io.max.bytes.per.second"));
  settings.broker_id = config.node_id();
  return settings;
}

}  // namespace ackord::main
