// Cluster: what a client knows of a cluster (brokers, topics, coordinators), and a connection to
// each broker.
//
// Errors: those of Connection, and the broker's own codes. with_coordinator() and the like do not
// retry; call forget_*() on an error that says the knowledge is old (is_stale()), then try again
// after a Backoff. One thread at a time: whoever works on a thread of its own has a Cluster of its
// own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/config.h"
#include "client/connection.h"
#include "client/deadline.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::client {

enum class CoordinatorType : int8_t { kGroup = 0, kTransaction = 1 };

struct PartitionLeader {
  BrokerId leader;  // -1: none at the moment
  int32_t epoch = -1;
};

struct Topic {
  TopicName name;
  Uuid id;
  std::vector<PartitionLeader> partitions;  // by partition number
};

class Cluster {
 public:
  static Result<std::unique_ptr<Cluster>> create(ClientConfig config);

  const ClientConfig& config() const { return config_; }

  // Asks for the metadata of these topics and keeps it. Topics that do not exist are left out (and
  // never created).
  Result<void> refresh(std::span<const TopicName> topics, const Deadline& deadline);
  const Topic* topic(const TopicName& name) const;
  const Topic* topic(const Uuid& id) const;
  // Where a partition is led, as far as is known; -1 when it is not.
  BrokerId leader(const TopicIdPartition& partition) const;
  // A broker's answer named another leader than the one that is known.
  void learn_leader(const TopicIdPartition& partition, PartitionLeader leader);
  void learn_broker(BrokerId id, Endpoint endpoint);
  // Those that refresh() has named.
  std::vector<BrokerId> brokers() const;

  // A connection, made when there is none. The pointers are good until the next call that may
  // connect to that broker.
  Result<Connection*> any_broker(const Deadline& deadline);
  Result<Connection*> broker(BrokerId id, const Deadline& deadline);
  Result<Connection*> coordinator(CoordinatorType type, const std::string& key,
                                  const Deadline& deadline);
  void forget_coordinator(CoordinatorType type, const std::string& key);
  // The one that coordinator() has found; -1 when there is none.
  BrokerId known_coordinator(CoordinatorType type, const std::string& key) const;
  // Where a broker listens, for who makes connections of its own (share sessions).
  std::optional<Endpoint> endpoint(BrokerId id) const;

 private:
  explicit Cluster(ClientConfig config, std::vector<Endpoint> bootstrap)
      : config_(std::move(config)), bootstrap_(std::move(bootstrap)) {}

  using CoordinatorKey = std::pair<CoordinatorType, std::string>;

  ClientConfig config_;
  std::vector<Endpoint> bootstrap_;
  std::unique_ptr<Connection> bootstrap_connection_;
  std::map<BrokerId, Endpoint> brokers_;
  std::map<BrokerId, std::unique_ptr<Connection>> connections_;
  std::map<TopicName, Topic> topics_;
  std::map<CoordinatorKey, BrokerId> coordinators_;
};

// Whether an error says that a leader, a coordinator or a connection is not where it was.
bool is_stale(ErrorCode code);

}  // namespace ackord::client
