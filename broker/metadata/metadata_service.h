// MetadataService: the door to topics, configs, features, users, ACLs, producer ids and the
// directory of nodes.
//
// Records go to `__cluster_metadata-0` in Kafka's own schemas; a change is durable there, then
// every core's image has it, then the call ends. Threads: image() on any core (that core's copy);
// Task members from any core.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/io/core.h"
#include "broker/io/task.h"
#include "broker/log/log_service.h"
#include "broker/metadata/configs.h"
#include "broker/metadata/features.h"
#include "broker/metadata/image.h"

namespace ackord::metadata {

// The one node, as Metadata, FindCoordinator and DescribeCluster name it. All look-ups of nodes,
// leader epochs and coordinators go through here, so that a gateway can answer with others.
struct Node {
  BrokerId id;
  std::string host;
  int32_t port = 0;
  std::optional<std::string> rack;
};

class BrokerConfigUser;

struct CreateTopic {
  TopicName name;
  int32_t partitions = -1;          // -1: num.partitions
  int16_t replication_factor = -1;  // -1: default.replication.factor
  std::vector<std::pair<int32_t, std::vector<BrokerId>>>
      assignments;  // index → replicas; excludes the counts
  ConfigMap configs;
  std::string configs_without_value;  // their names: a topic that has any is refused
};
struct CreatedTopic {
  ErrorCode error = ErrorCode::NONE;
  std::string message;
  std::shared_ptr<const TopicImage>
      topic;  // also with validate_only (as it would be made, its id a random one)
};

// A topic is to have `count` partitions; without assignments they go to this node.
struct GrowTopic {
  TopicName name;
  int32_t count = 0;
  std::optional<std::vector<std::vector<BrokerId>>> assignments;  // replicas of each new partition
};

struct ConfigChange {
  enum class Op : int8_t { kSet = 0, kDelete = 1, kAppend = 2, kSubtract = 3 };
  std::string name;
  Op op = Op::kSet;
  std::optional<std::string> value;
};
enum class ResourceType : int8_t {
  kTopic = 2,
  kBroker = 4,
  kBrokerLogger = 8,
  kClientMetrics = 16,
  kGroup = 32
};

class MetadataService {
 public:
  virtual ~MetadataService() = default;

  // Loads the log (or writes the bootstrap records of an empty one: features at their highest
  // level, share.version 3), creates what a crash left half made, removes partitions that no topic
  // has, and fills every core's image. Start-up; then the partitions of all topics are open.
  // Refuses a directory that has topics but no metadata log.
  virtual io::Task<Result<void>> load(std::vector<log::FoundPartition> found) = 0;

  virtual const MetadataImage& image() const = 0;

  // One result per topic, in order; one bad topic does not fail the others. `validate_only` changes
  // nothing.
  virtual io::Task<std::vector<CreatedTopic>> create_topics(std::vector<CreateTopic> topics,
                                                            bool validate_only) = 0;
  // As Kafka does when Metadata names a missing topic and auto.create.topics.enable=true.
  virtual io::Task<CreatedTopic> auto_create(TopicName name) = 0;
  virtual io::Task<ErrorCode> delete_topic(Uuid id) = 0;
  // UNKNOWN_TOPIC_OR_PARTITION, INVALID_PARTITIONS, INVALID_REPLICA_ASSIGNMENT, POLICY_VIOLATION.
  virtual io::Task<Result<void>> grow_topic(GrowTopic topic, bool validate_only) = 0;
  // A state topic with its own configs and partition count; made on first use. Ends when it is
  // there.
  virtual io::Task<Result<std::shared_ptr<const TopicImage>>> ensure_internal_topic(
      std::string_view name) = 0;

  // Error text as Kafka's where tools show it.
  virtual io::Task<Result<void>> alter_configs(ResourceType type, std::string resource,
                                               std::vector<ConfigChange> changes,
                                               bool validate_only) = 0;

  // `settings` take the place of all that is set for the resource.
  virtual io::Task<Result<void>> replace_configs(ResourceType type, std::string resource,
                                                 std::vector<ConfigChange> settings,
                                                 bool validate_only) = 0;
  // Names of the resources of a type that have configs, of this core's image.
  virtual std::vector<std::string> config_resources(ResourceType type) const = 0;
  // Limits of one entity (KIP-546), all or none. INVALID_REQUEST, with Kafka's text.
  virtual io::Task<Result<void>> alter_quotas(QuotaEntity entity, std::vector<QuotaChange> changes,
                                              bool validate_only) = 0;
  // SCRAM credentials (KIP-554), each user for itself. An error: nothing was changed.
  virtual io::Task<Result<ScramResults>> alter_scram(std::vector<ScramDeletion> deletions,
                                                     std::vector<ScramUpsertion> upsertions) = 0;
  // ACLs: a result for each, in order. An error: nothing was changed.
  virtual io::Task<Result<AclCreations>> create_acls(std::vector<Acl> acls) = 0;
  virtual io::Task<Result<AclDeletions>> delete_acls(std::vector<AclFilter> filters) = 0;
  // Finalizes other feature levels (KIP-584), all or none. INVALID_UPDATE_VERSION, with Kafka's
  // text. When share.version goes down, it ends with a snapshot of the metadata on the disk: a
  // stock Kafka, which cannot read a higher level, need not look at the records before it.
  virtual io::Task<Result<void>> update_features(std::vector<FeatureUpdate> updates,
                                                 bool validate_only) = 0;

  // The next block of producer ids is logged before one of it is handed out.
  virtual io::Task<Result<ProducerId>> next_producer_id() = 0;

  // ---- the directory of nodes
  virtual const std::string& cluster_id() const = 0;
  virtual const Node& this_node() const = 0;
  // Node of `listener` (its advertised host and port).
  virtual Node node_for_listener(std::string_view listener) const = 0;
  virtual int32_t leader_epoch(const TopicPartition& partition) const = 0;

  // What DescribeConfigs answers, of this core's image. Errors: INVALID_REQUEST,
  // INVALID_TOPIC_EXCEPTION, UNKNOWN_TOPIC_OR_PARTITION.
  virtual Result<std::vector<DescribedConfig>> describe_configs(
      ResourceType type, std::string_view resource) const = 0;
  // The same for a topic with these settings, which need not exist.
  virtual std::vector<DescribedConfig> describe_topic(const ConfigMap& configs) const = 0;

  // ---- configs in force on this core: set value, else broker-level value, else default
  virtual log::LogConfig log_config(const TopicImage& topic) const = 0;
  virtual GroupConfig group_config(std::string_view group) const = 0;
  virtual DeadLetterConfig dead_letter_config() const = 0;
  virtual const BrokerConfig& broker_config() const = 0;

  // Told of each topic removed, on every core, after its image has changed. Registered before
  // load() only.
  virtual void on_topic_removed(std::function<void(const TopicImage&)> listener) = 0;
  // The same of each group of which a config has changed.
  virtual void on_group_config_changed(std::function<void(std::string_view)> listener) = 0;
};

// Kafka's partitioner of coordinators: abs(javaHash(key)) % partitions (semantics C.2, A.6).
int32_t coordinator_partition(std::string_view key, int32_t partitions);

struct AdvertisedListener {
  std::string name;
  std::string host;
  int32_t port = 0;
  int16_t security_protocol =
      0;  // Kafka's number: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL
};
// Filled by main.
struct MetadataSettings {
  BrokerConfig broker;
  BrokerId node_id{1};
  std::optional<std::string> rack;
  std::vector<AdvertisedListener> listeners;  // at least one; the first is this_node()'s
  std::map<std::string, std::string, std::less<>>
      properties;             // server.properties as it was read, for DescribeConfigs
  std::string log_directory;  // where a stock Kafka may have left a metadata snapshot
  Uuid directory_id;          // directory.id of meta.properties; zero when it has none
  BrokerConfigUser* config_user = nullptr;  // outlives the service; may be null
};

std::unique_ptr<MetadataService> make_metadata_service(io::Environment& environment,
                                                       log::LogService& logs,
                                                       MetadataSettings settings);

}  // namespace ackord::metadata
