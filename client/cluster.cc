#include "client/cluster.h"

#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"

namespace ackord::client {

bool is_stale(ErrorCode code) {
  switch (code) {
    case ErrorCode::NETWORK_EXCEPTION:
    case ErrorCode::REQUEST_TIMED_OUT:
    case ErrorCode::NOT_COORDINATOR:
    case ErrorCode::COORDINATOR_NOT_AVAILABLE:
    case ErrorCode::NOT_LEADER_OR_FOLLOWER:
    case ErrorCode::FENCED_LEADER_EPOCH:
    case ErrorCode::UNKNOWN_TOPIC_OR_PARTITION:
    case ErrorCode::UNKNOWN_TOPIC_ID:
    case ErrorCode::LEADER_NOT_AVAILABLE: return true;
    default: return false;
  }
}

Result<std::unique_ptr<Cluster>> Cluster::create(ClientConfig config) {
  Result<std::vector<Endpoint>> bootstrap = parse_endpoints(config.bootstrap_servers);
  if (!bootstrap) return bootstrap.error();
  return std::unique_ptr<Cluster>(new Cluster(std::move(config), std::move(*bootstrap)));
}

Result<void> Cluster::refresh(std::span<const TopicName> topics, const Deadline& deadline) {
  Result<Connection*> connection = any_broker(deadline);
  if (!connection) return connection.error();
  protocol::MetadataRequest request;
  request.allow_auto_topic_creation = false;
  for (const TopicName& name : topics) request.topics->emplace_back().name = name;
  auto answer =
      (*connection)
          ->call<protocol::MetadataResponse>(request, deadline.within(config_.request_timeout));
  if (!answer) return answer.error();
  const protocol::MetadataResponse& metadata = answer->message;
  if (metadata.error_code != ErrorCode::NONE) return error(metadata.error_code, "Metadata");
  for (const auto& broker : metadata.brokers) {
    learn_broker(broker.node_id, {broker.host.str(), static_cast<uint16_t>(broker.port)});
  }
  for (const TopicName& name : topics) topics_.erase(name);
  for (const auto& found : metadata.topics) {
    if (found.error_code != ErrorCode::NONE || !found.name) continue;
    Topic topic{*found.name, found.topic_id, {}};
    topic.partitions.resize(found.partitions.size());
    for (const auto& partition : found.partitions) {
      if (partition.partition_index < 0) continue;
      const auto index = static_cast<size_t>(partition.partition_index);
      if (index < topic.partitions.size())
        topic.partitions[index] = {partition.leader_id, partition.leader_epoch};
    }
    topics_[*found.name] = std::move(topic);
  }
  return {};
}

const Topic* Cluster::topic(const TopicName& name) const {
  const auto found = topics_.find(name);
  return found == topics_.end() ? nullptr : &found->second;
}

const Topic* Cluster::topic(const Uuid& id) const {
  for (const auto& [name, topic] : topics_) {
    if (topic.id == id) return &topic;
  }
  return nullptr;
}

BrokerId Cluster::leader(const TopicIdPartition& partition) const {
  const Topic* found = topic(partition.topic_id);
  const auto index = static_cast<size_t>(partition.partition);
  if (found == nullptr || index >= found->partitions.size()) return BrokerId();
  return found->partitions[index].leader;
}

void Cluster::learn_leader(const TopicIdPartition& partition, PartitionLeader leader) {
  const auto index = static_cast<size_t>(partition.partition);
  for (auto& [name, topic] : topics_) {
    if (topic.id != partition.topic_id || index >= topic.partitions.size()) continue;
    if (leader.epoch > topic.partitions[index].epoch) topic.partitions[index] = leader;
  }
}

void Cluster::learn_broker(BrokerId id, Endpoint endpoint) {
  Endpoint& known = brokers_[id];
  if (known == endpoint) return;
  known = std::move(endpoint);
  connections_.erase(id);
}

std::vector<BrokerId> Cluster::brokers() const {
  std::vector<BrokerId> ids;
  ids.reserve(brokers_.size());
  for (const auto& [id, endpoint] : brokers_) ids.push_back(id);
  return ids;
}

Result<Connection*> Cluster::any_broker(const Deadline& deadline) {
  for (const auto& [id, connection] : connections_) {
    if (connection->usable()) return connection.get();
  }
  if (bootstrap_connection_ && bootstrap_connection_->usable()) return bootstrap_connection_.get();
  Error last = error(ErrorCode::NETWORK_EXCEPTION);
  for (const Endpoint& endpoint : bootstrap_) {
    Result<std::unique_ptr<Connection>> opened = Connection::open(endpoint, config_, deadline);
    if (opened) {
      bootstrap_connection_ = std::move(*opened);
      return bootstrap_connection_.get();
    }
    last = opened.error();
  }
  for (const auto& [id, endpoint] : brokers_) {
    Result<Connection*> connection = broker(id, deadline);
    if (connection) return connection;
  }
  return last;
}

Result<Connection*> Cluster::broker(BrokerId id, const Deadline& deadline) {
  std::unique_ptr<Connection>& connection = connections_[id];
  if (connection && connection->usable()) return connection.get();
  const std::optional<Endpoint> at = endpoint(id);
  Result<std::unique_ptr<Connection>> opened =
      at ? Connection::open(*at, config_, deadline)
         : error(ErrorCode::BROKER_NOT_AVAILABLE, "unknown broker " + std::to_string(id.value));
  if (!opened) {
    connections_.erase(id);
    return opened.error();
  }
  connection = std::move(*opened);
  return connection.get();
}

std::optional<Endpoint> Cluster::endpoint(BrokerId id) const {
  const auto known = brokers_.find(id);
  return known == brokers_.end() ? std::nullopt : std::optional(known->second);
}

Result<Connection*> Cluster::coordinator(CoordinatorType type, const std::string& key,
                                         const Deadline& deadline) {
  const auto known = coordinators_.find({type, key});
  if (known != coordinators_.end()) return broker(known->second, deadline);
  Result<Connection*> connection = any_broker(deadline);
  if (!connection) return connection.error();
  protocol::FindCoordinatorRequest request;
  request.key = String::view(key);
  request.key_type = static_cast<int8_t>(type);
  request.coordinator_keys.push_back(String::view(key));
  auto answer = (*connection)
                    ->call<protocol::FindCoordinatorResponse>(
                        request, deadline.within(config_.request_timeout));
  if (!answer) return answer.error();
  if (answer->message.coordinators.empty())
    return error(ErrorCode::COORDINATOR_NOT_AVAILABLE, "FindCoordinator");
  const auto& found = answer->message.coordinators.front();
  if (found.error_code != ErrorCode::NONE) return error(found.error_code, "FindCoordinator");
  learn_broker(found.node_id, {found.host.str(), static_cast<uint16_t>(found.port)});
  coordinators_[{type, key}] = found.node_id;
  return broker(found.node_id, deadline);
}

BrokerId Cluster::known_coordinator(CoordinatorType type, const std::string& key) const {
  const auto known = coordinators_.find({type, key});
  return known == coordinators_.end() ? BrokerId() : known->second;
}

void Cluster::forget_coordinator(CoordinatorType type, const std::string& key) {
  coordinators_.erase({type, key});
}

}  // namespace ackord::client
