#include "broker/metadata/metadata_service.h"

#include <fmt/format.h>

#include <utility>

#include "broker/base/assert.h"
#include "broker/base/logging.h"
#include "broker/coordinator/runtime.h"
#include "broker/metadata/broker_config_user.h"
#include "broker/metadata/config_resources.h"
#include "broker/metadata/config_tables.h"
#include "broker/metadata/every_core.h"
#include "broker/metadata/image_listeners.h"
#include "broker/metadata/log_configuration.h"
#include "broker/metadata/metadata_log.h"
#include "broker/metadata/metadata_shard.h"
#include "broker/metadata/metadata_snapshot.h"
#include "broker/metadata/reconcile.h"
#include "broker/metadata/registration.h"
#include "broker/metadata/snapshot_taker.h"
#include "broker/metadata/takeover.h"
#include "broker/metadata/topic_rules.h"
#include "broker/metadata/turns.h"

namespace ackord::metadata {
namespace {

constexpr std::string_view kShareVersion = "share.version";

using Runner = coordinator::ShardRunner<MetadataShard>;

class Service : public MetadataService {
 public:
  Service(io::Environment& environment, log::LogService& logs, MetadataSettings settings)
      : environment_(environment),
        logs_(logs),
        settings_(std::move(settings)),
        properties_(std::make_shared<const ConfigMap>(settings_.properties)),
        home_(logs.core_of(metadata_partition())),
        images_(environment.cores.size()) {
    ACKORD_ASSERT(!settings_.listeners.empty(), "main gives at least one listener");
    const AdvertisedListener& first = settings_.listeners.front();
    node_ = Node{settings_.node_id, first.host, first.port, settings_.rack};
  }

  io::Task<Result<void>> load(std::vector<log::FoundPartition> found) override {
    return at_home(load_at_home(std::move(found)));
  }

  const MetadataImage& image() const override {
    return images_[static_cast<size_t>(environment_.here().index)];
  }

  io::Task<std::vector<CreatedTopic>> create_topics(std::vector<CreateTopic> topics,
                                                    bool validate_only) override {
    return at_home(create_at_home(std::move(topics), validate_only));
  }

  io::Task<CreatedTopic> auto_create(TopicName name) override {
    return at_home(auto_create_at_home(std::move(name)));
  }

  io::Task<Result<void>> grow_topic(GrowTopic topic, bool validate_only) override {
    return at_home(grow_at_home(std::move(topic), validate_only));
  }

  io::Task<ErrorCode> delete_topic(Uuid id) override { return at_home(delete_at_home(id)); }

  io::Task<Result<std::shared_ptr<const TopicImage>>> ensure_internal_topic(
      std::string_view name) override {
    ACKORD_ASSERT(is_internal(name), "only the state topics are made this way");
    if (auto topic = image().topic(name)) co_return topic;
    TopicName owned(name);
    auto work = auto_create_at_home(std::move(owned));
    auto hop = io::on(home_.executor, std::move(work));
    CreatedTopic created = co_await std::move(hop);
    if (created.error != ErrorCode::NONE)
      co_return error(created.error, std::move(created.message));
    co_return std::move(created.topic);
  }

  io::Task<Result<void>> alter_configs(ResourceType type, std::string resource,
                                       std::vector<ConfigChange> changes,
                                       bool validate_only) override {
    AlterConfigs op{type, std::move(resource), std::move(changes), validate_only, false};
    return at_home(alter_at_home(std::move(op)));
  }

  io::Task<Result<void>> replace_configs(ResourceType type, std::string resource,
                                         std::vector<ConfigChange> settings,
                                         bool validate_only) override {
    AlterConfigs op{type, std::move(resource), std::move(settings), validate_only, true};
    return at_home(alter_at_home(std::move(op)));
  }

  std::vector<std::string> config_resources(ResourceType type) const override {
    return list_resources({image(), values(), settings_.node_id}, type);
  }

  io::Task<Result<ProducerId>> next_producer_id() override {
    return at_home(producer_id_at_home());
  }

  const std::string& cluster_id() const override { return logs_.cluster_id(); }
  const Node& this_node() const override { return node_; }
  Node node_for_listener(std::string_view listener) const override {
    Node node = node_;
    for (const AdvertisedListener& one : settings_.listeners) {
      if (one.name != listener) continue;
      node.host = one.host;
      node.port = one.port;
    }
    return node;
  }
  int32_t leader_epoch(const TopicPartition& partition) const override {
    const auto topic = image().topic(partition.topic);
    return topic == nullptr ? 0 : topic->leader_epoch(partition.partition);
  }

  Result<std::vector<DescribedConfig>> describe_configs(ResourceType type,
                                                        std::string_view resource) const override {
    return describe_resource({image(), values(), settings_.node_id}, type, resource);
  }
  std::vector<DescribedConfig> describe_topic(const ConfigMap& configs) const override {
    return describe_topic_configs(configs, values());
  }

  log::LogConfig log_config(const TopicImage& topic) const override {
    return effective_log_config(topic.configs, values());
  }
  GroupConfig group_config(std::string_view group) const override {
    const ConfigMap* configs = image().group_configs(group);
    return effective_group_config(configs == nullptr ? ConfigMap() : *configs, settings_.broker);
  }
  DeadLetterConfig dead_letter_config() const override {
    return effective_dead_letter_config(values());
  }
  const BrokerConfig& broker_config() const override { return settings_.broker; }
  io::Task<Result<void>> update_features(std::vector<FeatureUpdate> updates,
                                         bool validate_only) override {
    auto hop = io::on(home_.executor, features_at_home({std::move(updates), validate_only}));
    co_return co_await std::move(hop);
  }

  io::Task<Result<void>> alter_quotas(QuotaEntity entity, std::vector<QuotaChange> changes,
                                      bool validate_only) override {
    return at_home(
        publish_change(AlterQuotas{std::move(entity), std::move(changes), validate_only}));
  }

  io::Task<Result<ScramResults>> alter_scram(std::vector<ScramDeletion> deletions,
                                             std::vector<ScramUpsertion> upsertions) override {
    return at_home(results_of(AlterScram{std::move(deletions), std::move(upsertions)}));
  }

  io::Task<Result<AclCreations>> create_acls(std::vector<Acl> acls) override {
    std::vector<Uuid> ids;
    for (size_t i = 0; i < acls.size(); ++i) ids.push_back(environment_.random.uuid());
    return at_home(results_of(CreateAcls{std::move(acls), std::move(ids)}));
  }
  io::Task<Result<AclDeletions>> delete_acls(std::vector<AclFilter> filters) override {
    return at_home(results_of(DeleteAcls{std::move(filters)}));
  }

  void on_topic_removed(std::function<void(const TopicImage&)> listener) override {
    listeners_.topic_removed.push_back(std::move(listener));
  }
  void on_group_config_changed(std::function<void(std::string_view)> listener) override {
    listeners_.group_config_changed.push_back(std::move(listener));
  }

 private:
  template <class T>
  io::Task<T> at_home(io::Task<T> work) {
    auto hop = io::on(home_.executor, std::move(work));
    T result = co_await std::move(hop);
    co_return result;
  }

  BrokerValues values() const {
    return {settings_.properties, image().broker_configs(), image().node_configs()};
  }
  ShardIdentity identity() const {
    return {settings_.node_id, settings_.broker, settings_.directory_id, properties_};
  }

  io::Task<Result<void>> load_at_home(std::vector<log::FoundPartition> found);

  io::Task<std::vector<CreatedTopic>> create_at_home(std::vector<CreateTopic> topics,
                                                     bool validate_only);
  io::Task<CreatedTopic> auto_create_at_home(TopicName name);
  io::Task<std::vector<CreatedTopic>> carry_out(std::vector<TopicPlan> plans, bool validate_only);
  // Of the partitions first..end-1.
  io::Task<Result<void>> make_logs(TopicName name, Uuid id, ConfigMap configs, int32_t first,
                                   int32_t end);
  io::Task<void> remove_logs(TopicName name, int32_t first, int32_t end);
  io::Task<Result<void>> grow_at_home(GrowTopic topic, bool validate_only);
  io::Task<ErrorCode> delete_at_home(Uuid id);
  io::Task<Result<void>> alter_at_home(AlterConfigs op);
  std::vector<std::shared_ptr<const TopicImage>> topics_of(ResourceType type,
                                                           const std::string& resource) const;
  // Runs an operation that answers with its records, and tells every core.
  template <class Op>
  io::Task<Result<typename Op::Reply>> change(Op op);
  template <class Op>
  io::Task<Result<void>> publish_change(Op op);
  // The same, and answers what became of each part of it.
  template <class Op>
  io::Task<Result<decltype(Op::Reply::results)>> results_of(Op op);
  io::Task<Result<void>> features_at_home(UpdateFeatures op);
  io::Task<Result<ProducerId>> producer_id_at_home();
  OnEveryCore publish(std::vector<MetadataRecord> records);

  io::Environment& environment_;
  log::LogService& logs_;
  const MetadataSettings settings_;
  const std::shared_ptr<const ConfigMap> properties_;  // settings_.properties, for the shard too
  const io::Core home_;                                // of the shard; all changes happen here
  Node node_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<SnapshotTaker> snapshots_;
  Turns turns_;
  bool storage_failed_ = false;        // a topic's records may be lost; until the next start
  std::vector<MetadataImage> images_;  // by core; each touched by its core alone
  ImageListeners listeners_;
};

// ---- start-up

io::Task<Result<void>> Service::load_at_home(std::vector<log::FoundPartition> found) {
  const int64_t snapshot_bytes = settings_.broker.metadata_log_max_record_bytes_between_snapshots;
  const log::LogConfig config = metadata_log_config(snapshot_bytes);
  auto creating = logs_.create(metadata_partition(), metadata_topic_id(), config);
  Result<void> created = co_await std::move(creating);
  if (!created) co_return created;
  // One that was there has not got it yet.
  auto configuring = logs_.configure(metadata_partition(), config);
  co_await std::move(configuring);
  std::shared_ptr<log::Partition> partition = logs_.find(metadata_partition());
  if (partition == nullptr)
    co_return error(ErrorCode::KAFKA_STORAGE_ERROR, "the metadata log cannot be opened");
  MetadataShard shard(identity());
  if (!settings_.log_directory.empty()) {
    const std::string directory = fmt::format("{}/{}-0", settings_.log_directory, kMetadataTopic);
    Result<void> snapshot = load_snapshot(environment_.files, directory, shard);
    if (!snapshot) co_return snapshot;
    snapshots_ = std::make_unique<SnapshotTaker>(home_, environment_.files, partition, directory,
                                                 snapshot_bytes);
  }
  if (partition->log_start_offset() > shard.hard().snapshot_end) {
    co_return error(ErrorCode::KAFKA_STORAGE_ERROR,
                    fmt::format("the metadata log begins at {} and no snapshot reaches it",
                                partition->log_start_offset()));
  }
  runner_ = std::make_unique<Runner>(home_, partition, std::move(shard));
  auto loading = runner_->load();
  Result<void> loaded = co_await std::move(loading);
  if (!loaded) co_return loaded;
  runner_->on_applied([this] {
    if (snapshots_) snapshots_->consider(runner_->shard(), identity());
  });
  const bool fresh = runner_->shard().image().features().levels.empty();
  for (const log::FoundPartition& one : found) {
    if (fresh && one.name.topic != kMetadataTopic) {
      co_return error(ErrorCode::KAFKA_STORAGE_ERROR,
                      "the directory has topics, but its metadata log says nothing");
    }
  }
  Result<void> can_serve = check_takeover(runner_->shard(), settings_.node_id);
  if (!can_serve) co_return can_serve;
  name_unserved(runner_->shard().image());
  Start op{registration_of(settings_, environment_.random.uuid()), partition->log_end_offset(), {}};
  if (fresh && !settings_.log_directory.empty()) {
    auto levels = read_bootstrap_features(environment_.files, settings_.log_directory);
    if (!levels) co_return levels.error();
    op.features = std::move(*levels);
    can_serve = check_features(op.features);
    if (!can_serve) co_return can_serve;
  }
  auto starting = runner_->run(std::move(op));
  auto started = co_await std::move(starting);
  if (!started) co_return started.error();
  const MetadataImage& known = runner_->shard().image();
  const BrokerValues theirs{settings_.properties, known.broker_configs(), known.node_configs()};
  auto reconciling = reconcile(logs_, known, theirs, std::move(found));
  Result<void> reconciled = co_await std::move(reconciling);
  if (!reconciled) co_return reconciled;
  auto leading = lead_partitions(environment_, logs_, runner_->shard().hard(), settings_.node_id);
  LeadPartitions lead = co_await std::move(leading);
  if (!lead.led.empty()) {
    auto running = runner_->run(std::move(lead));
    auto led = co_await std::move(running);
    if (!led) co_return led.error();
  }
  auto image = std::make_shared<MetadataImage>(runner_->shard().image());
  image->start_at(runner_->partition().log_end_offset() - 1);
  OnEveryCore everywhere{environment_, [this, image](size_t core) { images_[core] = *image; }};
  co_await everywhere;
  logs_.configure_cleaner(effective_cleaner_config(values()));
  co_return Result<void>();
}

// ---- topics

io::Task<std::vector<CreatedTopic>> Service::create_at_home(std::vector<CreateTopic> topics,
                                                            bool validate_only) {
  Turns::Take turn{turns_};
  co_await turn;
  Turns::Hold hold(turns_, home_.executor);
  // By what is published: the shard's own image may hold what a disk that has failed does not.
  std::vector<TopicPlan> plans = plan_topics(images_[static_cast<size_t>(home_.index)],
                                             settings_.broker, settings_.node_id, topics);
  auto carrying = carry_out(std::move(plans), validate_only);
  std::vector<CreatedTopic> created = co_await std::move(carrying);
  co_return created;
}

io::Task<CreatedTopic> Service::auto_create_at_home(TopicName name) {
  Turns::Take turn{turns_};
  co_await turn;
  Turns::Hold hold(turns_, home_.executor);
  CreatedTopic there;
  there.topic = images_[static_cast<size_t>(home_.index)].topic(name);
  if (there.topic != nullptr) co_return there;
  std::vector<TopicPlan> plans;
  if (is_internal(name)) {
    plans.push_back(plan_internal_topic(name, settings_.broker));
  } else {
    std::vector<CreateTopic> topics(1);
    topics.front().name = name;
    plans = plan_topics(images_[static_cast<size_t>(home_.index)], settings_.broker,
                        settings_.node_id, topics);
  }
  auto carrying = carry_out(std::move(plans), false);
  std::vector<CreatedTopic> created = co_await std::move(carrying);
  co_return std::move(created.front());
}

// The logs first, durable; then the records that name them; then the images.
io::Task<std::vector<CreatedTopic>> Service::carry_out(std::vector<TopicPlan> plans,
                                                       bool validate_only) {
  std::vector<CreatedTopic> results(plans.size());
  CreateTopics op;
  std::vector<size_t> places;
  for (size_t i = 0; i < plans.size(); ++i) {
    TopicPlan& plan = plans[i];
    results[i].error = plan.error;
    results[i].message = std::move(plan.message);
    if (plan.error != ErrorCode::NONE) continue;
    if (storage_failed_) {
      results[i].error = ErrorCode::KAFKA_STORAGE_ERROR;
      continue;
    }
    NewTopic topic{environment_.random.uuid(), std::move(plan.name), plan.partitions,
                   std::move(plan.configs)};
    if (validate_only) {
      auto image = std::make_shared<TopicImage>();
      image->name = topic.name;
      image->id = topic.id;
      image->partitions = topic.partitions;
      image->configs = std::move(topic.configs);
      results[i].topic = std::move(image);
      continue;
    }
    auto making = make_logs(topic.name, topic.id, topic.configs, 0, topic.partitions);
    Result<void> made = co_await std::move(making);
    if (made) {
      places.push_back(i);
      op.topics.push_back(std::move(topic));
      continue;
    }
    results[i].error = made.error().code;
    results[i].message = made.error().message;
    auto removing = remove_logs(topic.name, 0, topic.partitions);
    co_await std::move(removing);
  }
  if (op.topics.empty()) co_return results;
  std::vector<Uuid> ids;
  for (const NewTopic& topic : op.topics) ids.push_back(topic.id);
  auto running = runner_->run(std::move(op));
  auto records = co_await std::move(running);
  if (!records) {
    // Storage has failed: the folders are dealt with at the next start.
    storage_failed_ = true;
    for (const size_t place : places) {
      results[place].error = ErrorCode::KAFKA_STORAGE_ERROR;
      results[place].message = records.error().message;
    }
    co_return results;
  }
  OnEveryCore everywhere = publish(std::move(*records));
  co_await everywhere;
  for (size_t i = 0; i < ids.size(); ++i)
    results[places[i]].topic = images_[static_cast<size_t>(home_.index)].topic(ids[i]);
  co_return results;
}

io::Task<Result<void>> Service::make_logs(TopicName name, Uuid id, ConfigMap configs, int32_t first,
                                          int32_t end) {
  std::vector<TopicPartition> names;
  for (int32_t partition = first; partition < end; ++partition) names.push_back({name, partition});
  const log::LogConfig config = effective_log_config(configs, values());
  auto creating = logs_.create_all(std::move(names), id, config);
  Result<void> created = co_await std::move(creating);
  co_return created;
}

io::Task<Result<void>> Service::grow_at_home(GrowTopic growth, bool validate_only) {
  Turns::Take turn{turns_};
  co_await turn;
  Turns::Hold hold(turns_, home_.executor);
  const auto topic = images_[static_cast<size_t>(home_.index)].topic(growth.name.sv());
  if (Result<void> checked = check_growth(topic.get(), growth, settings_.node_id); !checked)
    co_return checked;
  if (validate_only) co_return Result<void>();
  if (storage_failed_) co_return error(ErrorCode::KAFKA_STORAGE_ERROR);
  const int32_t first = topic->partitions;
  auto making = make_logs(topic->name, topic->id, topic->configs, first, growth.count);
  Result<void> made = co_await std::move(making);
  if (!made) {
    auto removing = remove_logs(topic->name, first, growth.count);
    co_await std::move(removing);
    co_return made;
  }
  auto running = runner_->run(AddPartitions{topic->id, first, growth.count});
  auto records = co_await std::move(running);
  if (!records) {
    storage_failed_ = true;
    co_return error(ErrorCode::KAFKA_STORAGE_ERROR, records.error().message);
  }
  OnEveryCore everywhere = publish(std::move(*records));
  co_await everywhere;
  co_return Result<void>();
}

io::Task<void> Service::remove_logs(TopicName name, int32_t first, int32_t end) {
  for (int32_t partition = first; partition < end; ++partition) {
    TopicPartition one{name, partition};
    auto removing = logs_.remove(one);
    Result<void> removed = co_await std::move(removing);
    if (!removed)
      base::log_warn("partition not removed topic={} partition={} reason={}", name, partition,
                     removed.error().message);
  }
}

io::Task<ErrorCode> Service::delete_at_home(Uuid id) {
  Turns::Take turn{turns_};
  co_await turn;
  Turns::Hold hold(turns_, home_.executor);
  const auto topic = runner_->shard().image().topic(id);
  DeleteTopic op{id};
  auto running = runner_->run(std::move(op));
  auto reply = co_await std::move(running);
  if (!reply) co_return ErrorCode::KAFKA_STORAGE_ERROR;
  if (reply->error != ErrorCode::NONE) co_return reply->error;
  OnEveryCore everywhere = publish(std::move(reply->records));
  co_await everywhere;
  auto removing = remove_logs(topic->name, 0, topic->partitions);
  co_await std::move(removing);
  co_return ErrorCode::NONE;
}

// ---- configs, producer ids

io::Task<Result<void>> Service::alter_at_home(AlterConfigs op) {
  Turns::Take turn{turns_};
  co_await turn;
  Turns::Hold hold(turns_, home_.executor);
  const ResourceType type = op.type;
  const std::string resource = op.resource;
  BrokerConfigTurn user(settings_.config_user, runner_->shard().image(), identity(), op);
  auto checking = user.check();
  Result<void> good = co_await std::move(checking);
  if (!good) co_return good;
  auto running = runner_->run(std::move(op));
  auto reply = co_await std::move(running);
  if (!reply) co_return reply.error();
  if (reply->error) co_return *reply->error;
  if (!reply->records.empty()) {
    OnEveryCore everywhere = publish(std::move(reply->records));
    co_await everywhere;
    if (type == ResourceType::kBroker) logs_.configure_cleaner(effective_cleaner_config(values()));
    auto configuring = configure_logs(logs_, topics_of(type, resource), values());
    co_await std::move(configuring);
  }
  auto applying = user.apply();
  co_await std::move(applying);
  co_return Result<void>();
}

std::vector<std::shared_ptr<const TopicImage>> Service::topics_of(
    ResourceType type, const std::string& resource) const {
  std::vector<std::shared_ptr<const TopicImage>> topics;
  const MetadataImage& image = runner_->shard().image();
  if (type == ResourceType::kTopic) topics.push_back(image.topic(resource));
  if (type == ResourceType::kBroker) {
    for (const auto& [name, topic] : image.topics()) topics.push_back(topic);
  }
  return topics;
}

template <class Op>
io::Task<Result<typename Op::Reply>> Service::change(Op op) {
  Turns::Take turn{turns_};
  co_await turn;
  Turns::Hold hold(turns_, home_.executor);
  auto running = runner_->run(std::move(op));
  Result<typename Op::Reply> reply = co_await std::move(running);
  if (!reply || reply->records.empty()) co_return std::move(reply);
  OnEveryCore everywhere = publish(std::move(reply->records));
  co_await everywhere;
  co_return std::move(reply);
}

template <class Op>
io::Task<Result<void>> Service::publish_change(Op op) {
  auto changing = change(std::move(op));
  const auto reply = co_await std::move(changing);
  if (!reply) co_return reply.error();
  if (reply->error) co_return *reply->error;
  co_return Result<void>();
}

template <class Op>
io::Task<Result<decltype(Op::Reply::results)>> Service::results_of(Op op) {
  auto changing = change(std::move(op));
  Result<typename Op::Reply> reply = co_await std::move(changing);
  if (!reply) co_return reply.error();
  co_return std::move(reply->results);
}

io::Task<Result<void>> Service::features_at_home(UpdateFeatures op) {
  const Features& features = runner_->shard().image().features();
  const int16_t before = features.level(kShareVersion);
  auto changing = publish_change(std::move(op));
  Result<void> changed = co_await std::move(changing);
  if (!changed || features.level(kShareVersion) >= before || !snapshots_) co_return changed;
  auto taking = snapshots_->take_now(runner_->shard(), identity());
  changed = co_await std::move(taking);
  co_return changed;
}

io::Task<Result<ProducerId>> Service::producer_id_at_home() {
  auto running = runner_->run(NextProducerId{});
  Result<ProducerId> id = co_await std::move(running);
  co_return id;
}

// ---- images

OnEveryCore Service::publish(std::vector<MetadataRecord> records) {
  auto shared = std::make_shared<const std::vector<MetadataRecord>>(std::move(records));
  // Clients take notice of levels only when their epoch has grown.
  const int64_t epoch = runner_->shard().image().features().epoch;
  const Offset version = runner_->partition().log_end_offset() - 1;
  return OnEveryCore{environment_, [this, shared, epoch, version](size_t core) {
                       images_[core].set_version(version);
                       apply_and_tell(images_[core], *shared, settings_.node_id, epoch, listeners_);
                     }};
}

}  // namespace

std::unique_ptr<MetadataService> make_metadata_service(io::Environment& environment,
                                                       log::LogService& logs,
                                                       MetadataSettings settings) {
  return std::make_unique<Service>(environment, logs, std::move(settings));
}

}  // namespace ackord::metadata
