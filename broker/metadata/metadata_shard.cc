#include "broker/metadata/metadata_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "broker/metadata/config_change.h"
#include "broker/metadata/feature_update.h"

namespace ackord::metadata {
namespace {

using coordinator::Outcome;

// Kafka's: the leader stays who it was.
constexpr BrokerId kNoLeaderChange{-2};
// Records of one batch; a directory may have very many partitions.
constexpr size_t kLedInBatch = 2000;

// FeatureLevelRecord before all others: it says what is needed to read them.
void add_bootstrap(std::vector<MetadataRecord>& records, const Start& op) {
  auto levels = op.features;
  if (levels.empty()) {
    for (const SupportedFeature& feature : supported_features())
      levels.emplace(feature.name, feature.bootstrap);
  }
  for (const auto& [name, level] : levels) {
    protocol::FeatureLevelRecord record;
    record.name = String(name);
    record.feature_level = level;
    records.emplace_back(std::move(record));
  }
}

std::optional<std::string> owned(const std::optional<String>& text) {
  if (!text) return std::nullopt;
  return text->str();
}

void apply_config(MetadataImage& image, const protocol::ConfigRecord& record, BrokerId node) {
  const std::string name = record.name.str();
  switch (static_cast<ResourceType>(record.resource_type)) {
    case ResourceType::kTopic:
      image.put_topic_config(record.resource_name, name, owned(record.value));
      break;
    case ResourceType::kGroup:
      image.put_group_config(record.resource_name.str(), name, owned(record.value));
      break;
    case ResourceType::kClientMetrics:
      image.put_metrics_config(record.resource_name.str(), name, owned(record.value));
      break;
    case ResourceType::kBroker:
      if (record.resource_name.empty()) image.put_broker_config(name, owned(record.value));
      if (record.resource_name.sv() == std::to_string(node.value))
        image.put_node_config(name, owned(record.value));
      break;
    default: break;
  }
}

}  // namespace

protocol::PartitionRecord partition_record(const Uuid& topic, int32_t partition,
                                           int32_t leader_epoch, const ShardIdentity& identity) {
  protocol::PartitionRecord record;
  record.partition_id = partition;
  record.topic_id = topic;
  record.replicas = {identity.node};
  record.isr = {identity.node.value};
  record.leader = identity.node;
  record.leader_epoch = leader_epoch;
  record.partition_epoch = 0;
  record.directories = {identity.directory_id};
  return record;
}

void apply_to_image(MetadataImage& image, const MetadataRecord& record, BrokerId node,
                    Offset offset) {
  if (const auto* feature = std::get_if<protocol::FeatureLevelRecord>(&record)) {
    image.put_feature(feature->name.str(), feature->feature_level, offset);
  } else if (const auto* topic = std::get_if<protocol::TopicRecord>(&record)) {
    auto made = std::make_shared<TopicImage>();
    made->name = topic->name;
    made->id = topic->topic_id;
    image.put_topic(std::move(made));
  } else if (const auto* partition = std::get_if<protocol::PartitionRecord>(&record)) {
    image.put_partition(partition->topic_id, partition->partition_id,
                        std::max(partition->leader_epoch, 0));
  } else if (const auto* changed = std::get_if<protocol::PartitionChangeRecord>(&record)) {
    // A new leader, or none any more, begins an epoch.
    if (changed->leader != kNoLeaderChange)
      image.begin_leader_epoch(changed->topic_id, changed->partition_id);
  } else if (const auto* removed = std::get_if<protocol::RemoveTopicRecord>(&record)) {
    image.remove_topic(removed->topic_id);
  } else if (const auto* config = std::get_if<protocol::ConfigRecord>(&record)) {
    apply_config(image, *config, node);
  } else if (const auto* quota = std::get_if<protocol::ClientQuotaRecord>(&record)) {
    image.put_quota(*quota);
  } else if (const auto* scram = std::get_if<protocol::UserScramCredentialRecord>(&record)) {
    image.put_scram(*scram);
  } else if (const auto* gone = std::get_if<protocol::RemoveUserScramCredentialRecord>(&record)) {
    image.remove_scram(*gone);
  } else if (const auto* acl = std::get_if<protocol::AccessControlEntryRecord>(&record)) {
    image.put_acl(*acl);
  } else if (const auto* no_acl = std::get_if<protocol::RemoveAccessControlEntryRecord>(&record)) {
    image.remove_acl(*no_acl);
  }
}

Result<std::optional<MetadataRecord>> MetadataShard::decode(
    std::span<const std::byte>, std::optional<std::span<const std::byte>> value) {
  if (!value) return std::optional<MetadataRecord>();
  return decode_record(*value);
}

void MetadataShard::apply(const Record& record, const coordinator::RecordContext& context) {
  if (context.offset < hard_.snapshot_end) return;
  if (std::holds_alternative<protocol::BeginTransactionRecord>(record)) {
    hard_.in_transaction = true;
    hard_.pending.clear();
  } else if (std::holds_alternative<protocol::AbortTransactionRecord>(record)) {
    hard_.in_transaction = false;
    hard_.pending.clear();
  } else if (std::holds_alternative<protocol::EndTransactionRecord>(record)) {
    hard_.in_transaction = false;
    for (const auto& [pending, offset] : std::exchange(hard_.pending, {}))
      apply_now(pending, offset);
  } else if (hard_.in_transaction) {
    hard_.pending.emplace_back(record, context.offset);
  } else {
    apply_now(record, context.offset);
  }
}

void MetadataShard::apply_now(const Record& record, Offset offset) {
  if (const auto* ids = std::get_if<protocol::ProducerIdsRecord>(&record)) {
    // The block that soft state holds is the one before; it is used up or given up.
    hard_.next_producer_id = ids->next_producer_id;
    soft_ = {};
  } else if (const auto* broker = std::get_if<protocol::RegisterBrokerRecord>(&record)) {
    if (broker->broker_id == identity_.node) hard_.broker_epoch = broker->broker_epoch;
  } else {
    if (const auto* partition = std::get_if<protocol::PartitionRecord>(&record)) {
      note_partition(*partition);
    } else if (const auto* changed = std::get_if<protocol::PartitionChangeRecord>(&record)) {
      note_change(*changed);
    } else if (const auto* removed = std::get_if<protocol::RemoveTopicRecord>(&record)) {
      const auto first = hard_.strange.lower_bound({removed->topic_id, 0});
      auto last = first;
      while (last != hard_.strange.end() && last->first.topic_id == removed->topic_id) ++last;
      hard_.strange.erase(first, last);
    }
    apply_to_image(hard_.image, record, identity_.node, offset);
  }
}

void MetadataShard::note_partition(const protocol::PartitionRecord& record) {
  const TopicIdPartition name{record.topic_id, record.partition_id};
  const std::vector<BrokerId> here{identity_.node};
  if (record.leader == identity_.node && record.replicas == here) {
    hard_.strange.erase(name);
  } else {
    hard_.strange[name] = {record.leader, record.replicas};
  }
}

void MetadataShard::note_change(const protocol::PartitionChangeRecord& record) {
  const TopicIdPartition name{record.topic_id, record.partition_id};
  const std::vector<BrokerId> here{identity_.node};
  const auto [at, is_new] = hard_.strange.try_emplace(name, StrangePartition{identity_.node, here});
  StrangePartition& partition = at->second;
  if (record.leader != kNoLeaderChange) partition.leader = record.leader;
  if (record.replicas) partition.replicas = *record.replicas;
  if (partition.leader == identity_.node && partition.replicas == here) hard_.strange.erase(at);
}

void MetadataShard::snapshot_loaded(Offset end) {
  hard_.snapshot_end = end;
  // Clients know them by the log's offsets, which must not go back.
  const Features features = hard_.image.features();
  for (const auto& [name, level] : features.levels) {
    hard_.image.put_feature(name, level, std::max(features.epoch, end - 1));
  }
}

void MetadataShard::apply_soft(const Effect& effect) {
  const auto& taken = std::get<TakeProducerId>(effect);
  soft_.next_id = taken.next;
  soft_.block_end = taken.block_end;
}

Outcome<MetadataShard, Start::Reply> MetadataShard::decide(const Start& op, io::Now) const {
  std::vector<Record> records;
  // A transaction that a crash has cut off never gets its end.
  if (hard_.in_transaction) records.emplace_back(protocol::AbortTransactionRecord());
  if (hard_.image.features().levels.empty()) add_bootstrap(records, op);
  protocol::RegisterBrokerRecord registration = op.registration;
  registration.broker_epoch = op.log_end_offset + static_cast<int64_t>(records.size());
  records.emplace_back(std::move(registration));
  return Outcome<MetadataShard, Start::Reply>::of(std::move(records), {});
}

Outcome<MetadataShard, LeadPartitions::Reply> MetadataShard::decide(const LeadPartitions& op,
                                                                    io::Now) const {
  Outcome<MetadataShard, LeadPartitions::Reply> outcome;
  for (size_t i = 0; i < op.led.size(); ++i) {
    if (i % kLedInBatch == 0) outcome.batches.emplace_back();
    const LeadPartitions::Led& one = op.led[i];
    outcome.batches.back().records.emplace_back(
        partition_record(one.topic, one.partition, one.leader_epoch, identity_));
  }
  return outcome;
}

Outcome<MetadataShard, CreateTopics::Reply> MetadataShard::decide(const CreateTopics& op,
                                                                  io::Now) const {
  std::vector<Record> records;
  for (const NewTopic& topic : op.topics) {
    protocol::TopicRecord named;
    named.name = topic.name;
    named.topic_id = topic.id;
    records.emplace_back(std::move(named));
    for (const auto& [name, value] : topic.configs) {
      records.emplace_back(config_record(ResourceType::kTopic, topic.name, name, value));
    }
    for (int32_t partition = 0; partition < topic.partitions; ++partition) {
      records.emplace_back(partition_record(topic.id, partition, 0, identity_));
    }
  }
  std::vector<Record> made = records;
  return Outcome<MetadataShard, CreateTopics::Reply>::of(std::move(records), std::move(made));
}

Outcome<MetadataShard, AddPartitions::Reply> MetadataShard::decide(const AddPartitions& op,
                                                                   io::Now) const {
  std::vector<Record> records;
  for (int32_t partition = op.first; partition < op.end; ++partition)
    records.emplace_back(partition_record(op.id, partition, 0, identity_));
  std::vector<Record> made = records;
  return Outcome<MetadataShard, AddPartitions::Reply>::of(std::move(records), std::move(made));
}

Outcome<MetadataShard, DeleteTopic::Reply> MetadataShard::decide(const DeleteTopic& op,
                                                                 io::Now) const {
  using Decision = Outcome<MetadataShard, DeleteTopic::Reply>;
  const auto topic = hard_.image.topic(op.id);
  if (topic == nullptr) return Decision::answer({ErrorCode::UNKNOWN_TOPIC_ID, {}});
  // The coordinators' state is in them: without it nothing that they have promised would hold.
  if (topic->internal()) return Decision::answer({ErrorCode::INVALID_TOPIC_EXCEPTION, {}});
  protocol::RemoveTopicRecord record;
  record.topic_id = op.id;
  std::vector<Record> records;
  records.emplace_back(record);
  DeleteTopic::Reply reply{ErrorCode::NONE, records};
  return Decision::of(std::move(records), std::move(reply));
}

Outcome<MetadataShard, AlterConfigs::Reply> MetadataShard::decide(const AlterConfigs& op,
                                                                  io::Now) const {
  using Decision = Outcome<MetadataShard, AlterConfigs::Reply>;
  Result<std::vector<Record>> changes = config_changes(hard_.image, identity_, op);
  if (!changes) return Decision::answer({{}, changes.error()});
  if (op.validate_only) return Decision::answer({});
  AlterConfigs::Reply reply{*changes, std::nullopt};
  return Decision::of(std::move(*changes), std::move(reply));
}

Outcome<MetadataShard, AlterQuotas::Reply> MetadataShard::decide(const AlterQuotas& op,
                                                                 io::Now) const {
  using Decision = Outcome<MetadataShard, AlterQuotas::Reply>;
  const auto changes = quota_changes(hard_.image.quotas(), op.entity, op.changes);
  if (!changes) return Decision::answer({{}, changes.error()});
  if (op.validate_only) return Decision::answer({});
  std::vector<Record> records(changes->begin(), changes->end());
  AlterQuotas::Reply reply{records, std::nullopt};
  return Decision::of(std::move(records), std::move(reply));
}

Outcome<MetadataShard, AlterScram::Reply> MetadataShard::decide(const AlterScram& op,
                                                                io::Now) const {
  ScramPlan plan = plan_scram_changes(hard_.image.scram(), op.deletions, op.upsertions);
  std::vector<Record> records;
  for (ScramRecord& record : plan.records) {
    std::visit([&records](auto& one) { records.emplace_back(std::move(one)); }, record);
  }
  AlterScram::Reply reply{records, std::move(plan.users)};
  return Outcome<MetadataShard, AlterScram::Reply>::of(std::move(records), std::move(reply));
}

Outcome<MetadataShard, CreateAcls::Reply> MetadataShard::decide(const CreateAcls& op,
                                                                io::Now) const {
  AclCreationPlan plan = plan_acl_creations(hard_.image.acls(), op.acls, op.ids);
  std::vector<Record> records(plan.records.begin(), plan.records.end());
  CreateAcls::Reply reply{records, std::move(plan.results)};
  return Outcome<MetadataShard, CreateAcls::Reply>::of(std::move(records), std::move(reply));
}

Outcome<MetadataShard, DeleteAcls::Reply> MetadataShard::decide(const DeleteAcls& op,
                                                                io::Now) const {
  AclDeletionPlan plan = plan_acl_deletions(hard_.image.acls(), op.filters);
  std::vector<Record> records(plan.records.begin(), plan.records.end());
  DeleteAcls::Reply reply{records, std::move(plan.results)};
  return Outcome<MetadataShard, DeleteAcls::Reply>::of(std::move(records), std::move(reply));
}

Outcome<MetadataShard, UpdateFeatures::Reply> MetadataShard::decide(const UpdateFeatures& op,
                                                                    io::Now) const {
  using Decision = Outcome<MetadataShard, UpdateFeatures::Reply>;
  Result<std::vector<Record>> changes =
      feature_changes(hard_.image.features(), op.updates, identity_.node);
  if (!changes) return Decision::answer({{}, changes.error()});
  if (op.validate_only) return Decision::answer({});
  UpdateFeatures::Reply reply{*changes, std::nullopt};
  return Decision::of(std::move(*changes), std::move(reply));
}

Outcome<MetadataShard, ProducerId> MetadataShard::decide(const NextProducerId&, io::Now) const {
  if (soft_.next_id < soft_.block_end) {
    auto outcome = Outcome<MetadataShard, ProducerId>::answer(ProducerId(soft_.next_id));
    outcome.effects.emplace_back(TakeProducerId{soft_.next_id + 1, soft_.block_end});
    return outcome;
  }
  const int64_t first = hard_.next_producer_id;
  protocol::ProducerIdsRecord record;
  record.broker_id = identity_.node;
  record.broker_epoch = hard_.broker_epoch;
  record.next_producer_id = first + kProducerIdBlock;
  std::vector<Record> records;
  records.emplace_back(record);
  auto outcome = Outcome<MetadataShard, ProducerId>::of(std::move(records), ProducerId(first));
  outcome.effects.emplace_back(TakeProducerId{first + 1, first + kProducerIdBlock});
  return outcome;
}

}  // namespace ackord::metadata
