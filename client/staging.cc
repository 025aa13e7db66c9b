#include "client/staging.h"

#include <map>

#include "client/in_flight.h"
#include "client/retry.h"

namespace ackord::client {
namespace {

// One request to each leader.
Result<void> stage_round(Cluster& cluster, PartitionAcknowledgements& left,
                         const StageAtLeader& stage_at, const Deadline& deadline) {
  std::map<BrokerId, std::vector<TopicIdPartition>> by_leader;
  for (const auto& [partition, batches] : left)
    by_leader[cluster.leader(partition)].push_back(partition);
  Result<void> outcome;
  for (const auto& [leader, partitions] : by_leader) {
    Result<void> staged = error(ErrorCode::LEADER_NOT_AVAILABLE, "no leader");
    if (leader.value >= 0) {
      Result<Connection*> broker = cluster.broker(leader, deadline);
      staged =
          broker ? stage_at(**broker, partitions, left, deadline) : Result<void>(broker.error());
    }
    if (staged) continue;
    outcome = staged;
    if (!may_stage_again(staged.error().code)) break;
  }
  return outcome;
}

Result<void> stage_rounds(Cluster& cluster, const std::vector<TopicName>& names,
                          PartitionAcknowledgements& left, const StageAtLeader& stage_at,
                          const Deadline& deadline) {
  Backoff backoff(cluster.config());
  while (true) {
    const bool known = std::all_of(left.begin(), left.end(), [&](const auto& entry) {
      return cluster.leader(entry.first).value >= 0;
    });
    Result<void> round = known ? Result<void>() : cluster.refresh(names, deadline);
    if (round) round = stage_round(cluster, left, stage_at, deadline);
    if (round || !may_stage_again(round.error().code) || !backoff.sleep(deadline)) return round;
    if (is_stale(round.error().code)) (void)cluster.refresh(names, deadline);
  }
}

}  // namespace

bool may_stage_again(ErrorCode code) {
  if (code == ErrorCode::UNKNOWN_TOPIC_ID) return false;
  return is_stale(code) || is_retriable(code) || code == ErrorCode::THROTTLING_QUOTA_EXCEEDED ||
         code == ErrorCode::CONCURRENT_TRANSACTIONS ||
         code == ErrorCode::COORDINATOR_LOAD_IN_PROGRESS || code == ErrorCode::BROKER_NOT_AVAILABLE;
}

Result<void> stage_everywhere(Cluster& cluster, const ShareAcknowledgements& acknowledgements,
                              PartitionAcknowledgements& left, const StageAtLeader& stage_at,
                              const Deadline& deadline) {
  std::vector<TopicName> names;
  for (const auto& [id, name] : acknowledgements.topics) names.push_back(name);
  left = acknowledgements.partitions;
  Result<void> outcome = stage_rounds(cluster, names, left, stage_at, deadline);
  if (acknowledgements.origin) {
    PartitionAcknowledgements staged = acknowledgements.partitions;
    for (const auto& [partition, batches] : left) staged.erase(partition);
    acknowledgements.origin->staged(staged);
  }
  return outcome;
}

}  // namespace ackord::client
