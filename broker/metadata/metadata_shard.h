// The state machine over `__cluster_metadata-0`: topics, configs, features, blocks of producer ids.
// Contract: coordinator/shard.h. Operations answer with the records that they made, so that the
// service can hand them to the other cores' images.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "broker/coordinator/shard.h"
#include "broker/metadata/features.h"
#include "broker/metadata/image.h"
#include "broker/metadata/metadata_records.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::metadata {

// Producer ids are logged in blocks of this size (Kafka's ProducerIdsBlock).
inline constexpr int64_t kProducerIdBlock = 1000;

// What does not change while the broker runs.
struct ShardIdentity {
  BrokerId node{1};
  BrokerConfig broker;
  Uuid directory_id;  // directory.id of meta.properties; zero when unknown
  // server.properties as it was read; never null.
  std::shared_ptr<const ConfigMap> properties = std::make_shared<const ConfigMap>();
};

// Changes an image as the record says. `node` tells this broker's configs from another's.
void apply_to_image(MetadataImage& image, const MetadataRecord& record, BrokerId node,
                    Offset offset);

// A partition with its one replica on this node.
protocol::PartitionRecord partition_record(const Uuid& topic, int32_t partition,
                                           int32_t leader_epoch, const ShardIdentity& identity);

// ---- operations

// The process has come up: features of an empty log, the registration, and what another broker
// left otherwise than it is here.
struct Start {
  struct Reply {};
  protocol::RegisterBrokerRecord registration;  // its broker_epoch is set by the shard
  Offset log_end_offset = 0;                    // where the first record will stand
  // Of a log that has none; empty: those of a new directory.
  std::map<std::string, int16_t, std::less<>> features{};
};

// Every partition that is not led by this node at the epoch that its log has: `led` says what is
// so from now on.
struct LeadPartitions {
  struct Reply {};
  struct Led {
    Uuid topic;
    int32_t partition = 0;
    int32_t leader_epoch = 0;
  };
  std::vector<Led> led;
};

struct NewTopic {
  Uuid id;
  TopicName name;
  int32_t partitions = 1;
  ConfigMap configs;
};
// Checked by plan_topics before; the partitions' logs are there.
struct CreateTopics {
  using Reply = std::vector<MetadataRecord>;
  std::vector<NewTopic> topics;
};

// Checked by check_growth before; the new partitions' logs are there.
struct AddPartitions {
  using Reply = std::vector<MetadataRecord>;
  Uuid id;
  int32_t first = 0;
  int32_t end = 0;
};

struct DeleteTopic {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;  // UNKNOWN_TOPIC_ID
    std::vector<MetadataRecord> records;
  };
  Uuid id;
};

struct AlterConfigs {
  struct Reply {
    std::vector<MetadataRecord> records;
    std::optional<Error> error;
  };
  ResourceType type = ResourceType::kTopic;
  std::string resource;
  std::vector<ConfigChange> changes;
  bool validate_only = false;
  bool replace = false;  // what `changes` (all kSet) do not name goes back to its default
};

struct AlterQuotas {
  using Reply = AlterConfigs::Reply;
  QuotaEntity entity;
  std::vector<QuotaChange> changes;
  bool validate_only = false;
};

struct AlterScram {
  struct Reply {
    std::vector<MetadataRecord> records;
    ScramResults results;  // by user
  };
  std::vector<ScramDeletion> deletions;
  std::vector<ScramUpsertion> upsertions;
};

struct CreateAcls {
  struct Reply {
    std::vector<MetadataRecord> records;
    AclCreations results;
  };
  std::vector<Acl> acls;
  std::vector<Uuid> ids;  // random ones, as many as `acls`
};

struct DeleteAcls {
  struct Reply {
    std::vector<MetadataRecord> records;
    AclDeletions results;
  };
  std::vector<AclFilter> filters;
};

struct UpdateFeatures {
  using Reply = AlterConfigs::Reply;
  std::vector<FeatureUpdate> updates;
  bool validate_only = false;
};

struct NextProducerId {
  using Reply = ProducerId;
};

// ---- the shard

// A partition as another broker left it: without a leader, or with replicas elsewhere.
struct StrangePartition {
  BrokerId leader;
  std::vector<BrokerId> replicas;
};

struct HardState {
  MetadataImage image;
  int64_t next_producer_id = 0;  // the first that is in no logged block
  int64_t broker_epoch = -1;
  // Those that are not led by this node alone.
  std::map<TopicIdPartition, StrangePartition> strange;
  Offset snapshot_end = 0;  // records below it are in the snapshot that was read first
  // Records of a metadata transaction (KIP-868) whose end has not been read yet.
  bool in_transaction = false;
  std::vector<std::pair<MetadataRecord, Offset>> pending;
};
struct SoftState {
  int64_t next_id = 0;  // the rest of the block that was logged last
  int64_t block_end = 0;
};

// Ids up to `next` have been handed out, of a block that ends at `block_end`.
struct TakeProducerId {
  int64_t next;
  int64_t block_end;
};

class MetadataShard {
 public:
  using Record = MetadataRecord;
  using Effect = std::variant<TakeProducerId>;
  struct TickReply {};

  explicit MetadataShard(ShardIdentity identity) : identity_(std::move(identity)) {}

  static log::EncodedRecord encode(const Record& record) { return encode_record(record); }
  static Result<std::optional<Record>> decode(std::span<const std::byte> key,
                                              std::optional<std::span<const std::byte>> value);
  static std::string unserved_name(std::span<const std::byte>,
                                   std::optional<std::span<const std::byte>> value) {
    return value ? metadata::unserved_name(*value) : std::string();
  }

  void apply(const Record& record, const coordinator::RecordContext& context);
  void apply_end_marker(const log::EndMarker&, const coordinator::RecordContext&) {}
  void apply_soft(const Effect& effect);
  std::optional<int64_t> next_deadline() const { return std::nullopt; }

  coordinator::Outcome<MetadataShard, Start::Reply> decide(const Start& op, io::Now now) const;
  coordinator::Outcome<MetadataShard, LeadPartitions::Reply> decide(const LeadPartitions& op,
                                                                    io::Now now) const;
  coordinator::Outcome<MetadataShard, CreateTopics::Reply> decide(const CreateTopics& op,
                                                                  io::Now now) const;
  coordinator::Outcome<MetadataShard, AddPartitions::Reply> decide(const AddPartitions& op,
                                                                   io::Now now) const;
  coordinator::Outcome<MetadataShard, DeleteTopic::Reply> decide(const DeleteTopic& op,
                                                                 io::Now now) const;
  coordinator::Outcome<MetadataShard, AlterConfigs::Reply> decide(const AlterConfigs& op,
                                                                  io::Now now) const;
  coordinator::Outcome<MetadataShard, AlterQuotas::Reply> decide(const AlterQuotas& op,
                                                                 io::Now now) const;
  coordinator::Outcome<MetadataShard, AlterScram::Reply> decide(const AlterScram& op,
                                                                io::Now now) const;
  coordinator::Outcome<MetadataShard, CreateAcls::Reply> decide(const CreateAcls& op,
                                                                io::Now now) const;
  coordinator::Outcome<MetadataShard, DeleteAcls::Reply> decide(const DeleteAcls& op,
                                                                io::Now now) const;
  coordinator::Outcome<MetadataShard, UpdateFeatures::Reply> decide(const UpdateFeatures& op,
                                                                    io::Now now) const;
  coordinator::Outcome<MetadataShard, ProducerId> decide(const NextProducerId& op,
                                                         io::Now now) const;
  coordinator::Outcome<MetadataShard, TickReply> decide(const coordinator::Tick&, io::Now) const {
    return {};
  }

  // For a log whose start has been cut off: the records of its checkpoint first, through apply()
  // with offsets below `end`; then this. What the log still holds below `end` is skipped.
  void snapshot_loaded(Offset end);

  const MetadataImage& image() const { return hard_.image; }
  const HardState& hard() const { return hard_; }
  const SoftState& soft() const { return soft_; }

 private:
  void apply_now(const Record& record, Offset offset);
  void note_partition(const protocol::PartitionRecord& record);
  void note_change(const protocol::PartitionChangeRecord& record);

  ShardIdentity identity_;
  HardState hard_;
  SoftState soft_;
};

}  // namespace ackord::metadata
