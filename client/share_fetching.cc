// The fetching side of ShareConsumer.
#include <poll.h>

#include <algorithm>
#include <utility>

#include "client/share_consumer.h"

namespace ackord::client {
namespace {

// Uncompressed bytes of one batch.
constexpr size_t kMaxBatchSize = 256 << 20;

bool moves_leader(ErrorCode code) {
  return code == ErrorCode::NOT_LEADER_OR_FOLLOWER || code == ErrorCode::FENCED_LEADER_EPOCH ||
         code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION || code == ErrorCode::UNKNOWN_TOPIC_ID;
}

// What ends a session, but not the consumer.
bool ends_session(ErrorCode code) {
  return is_stale(code) || is_retriable(code) || code == ErrorCode::INVALID_REQUEST ||
         code == ErrorCode::UNKNOWN_SERVER_ERROR;
}

}  // namespace

Result<void> ShareConsumer::fetch_round(const Deadline& deadline) {
  const ShareAssignment assignment = membership_->assignment();
  if (assignment.failure) return *assignment.failure;
  refresh_leaders(assignment.partitions, deadline);
  start_fetches(assignment, deadline);
  if (await_fetch(deadline)) return {};
  // Nothing to fetch from at the moment: wait for the group, or for a backoff.
  membership_->wait_for_change(assignment.generation,
                               deadline.within(config_.client.retry_backoff));
  return {};
}

void ShareConsumer::refresh_leaders(const std::vector<TopicIdPartition>& wanted,
                                    const Deadline& deadline) {
  const bool unknown = std::any_of(
      wanted.begin(), wanted.end(),
      [this](const TopicIdPartition& partition) { return cluster_->leader(partition).value < 0; });
  if ((!unknown && !leaders_are_old_) || wanted.empty() || !refresh_not_before_.passed()) return;
  Result<void> refreshed =
      cluster_->refresh(topics_, deadline.within(config_.client.request_timeout));
  refresh_not_before_ = Deadline::in(refresh_backoff_.next());
  if (!refreshed) return;
  if (!unknown) refresh_backoff_.reset();
  leaders_are_old_ = false;
}

ShareSession& ShareConsumer::session_of(BrokerId broker) {
  return sessions_
      .try_emplace(broker, broker, config_.group, membership_->member_id(), config_.limits)
      .first->second;
}

PartitionAcknowledgements ShareConsumer::outgoing_for(const std::set<TopicIdPartition>& wanted) {
  PartitionAcknowledgements taken;
  for (const TopicIdPartition& partition : wanted) {
    auto node = outgoing_.extract(partition);
    if (!node.empty()) taken.insert(std::move(node));
  }
  return taken;
}

void ShareConsumer::start_fetches(const ShareAssignment& assignment, const Deadline& deadline) {
  std::map<BrokerId, std::set<TopicIdPartition>> by_leader;
  for (const auto& [broker, session] : sessions_) by_leader[broker];
  for (const TopicIdPartition& partition : assignment.partitions) {
    const BrokerId leader = cluster_->leader(partition);
    if (leader.value >= 0) by_leader[leader].insert(partition);
  }
  // Acknowledgements of partitions that are not fetched here any more cannot ride on a fetch.
  const bool strays = std::any_of(outgoing_.begin(), outgoing_.end(), [&](const auto& entry) {
    const auto found = by_leader.find(cluster_->leader(entry.first));
    return found == by_leader.end() || !found->second.contains(entry.first);
  });
  if (strays) send_until_settled(false, Deadline::in(config_.client.request_timeout));
  for (const auto& [broker, wanted] : by_leader) {
    ShareSession& session = session_of(broker);
    if (session.fetching() || !session.ready()) continue;
    PartitionAcknowledgements acknowledgements = outgoing_for(wanted);
    if (!session.open()) {
      Results results;
      for (const auto& [partition, batches] : acknowledgements)
        results[partition] = ErrorCode::SHARE_SESSION_NOT_FOUND;
      acknowledged(std::exchange(acknowledgements, {}), results);
    }
    if (!session.needs_fetch(wanted, acknowledgements)) continue;
    if (!session.open()) {
      // A connection that does not come must not hold up the caller.
      const Result<bool> connected =
          session.connect(*cluster_, deadline.within(config_.client.retry_backoff));
      if (!connected) lose_session(session);
      if (!connected || !*connected) continue;
    }
    const Millis max_wait = std::min(config_.limits.max_wait, deadline.left());
    const PartitionAcknowledgements copy = acknowledgements;
    Result<void> started = session.start_fetch(config_.client, wanted, std::move(acknowledgements),
                                               max_wait, book_->next_moment());
    if (started) continue;
    Results results;
    for (const auto& [partition, batches] : copy) results[partition] = started.error().code;
    acknowledged(copy, results);
    lose_session(session);
  }
}

bool ShareConsumer::await_fetch(const Deadline& deadline) {
  std::vector<struct pollfd> entries;
  std::vector<ShareSession*> sessions;
  for (auto& [broker, session] : sessions_) {
    if (!session.fetching()) continue;
    if (session.fetch_overdue()) {
      lose_session(session);
      continue;
    }
    entries.push_back({session.descriptor(), POLLIN, 0});
    sessions.push_back(&session);
  }
  if (entries.empty()) return false;
  // Sessions whose backoff passes meanwhile want their turn.
  const Millis time =
      std::min(deadline.left(), config_.limits.max_wait + config_.client.retry_backoff_max);
  if (::poll(entries.data(), entries.size(), static_cast<int>(time.count())) <= 0) return true;
  for (size_t i = 0; i < entries.size(); ++i) {
    // Its answer has begun: a large one may take longer than this poll.
    if (entries[i].revents != 0)
      finish_fetch(*sessions[i], Deadline::in(config_.client.request_timeout));
  }
  return true;
}

void ShareConsumer::finish_all_fetches(const Deadline& deadline) {
  for (auto& [broker, session] : sessions_) {
    if (session.fetching()) finish_fetch(session, deadline);
  }
}

void ShareConsumer::finish_fetch(ShareSession& session, const Deadline& deadline) {
  const PartitionAcknowledgements carried = session.carried();
  Result<ShareSession::Fetched> fetched = session.finish_fetch(config_.client, deadline);
  Results results;
  for (const auto& [partition, batches] : carried) {
    results[partition] = fetched ? ErrorCode::NONE : fetched.error().code;
  }
  if (!fetched) {
    acknowledged(carried, results);
    if (!ends_session(fetched.error().code)) failure_ = fetched.error();
    lose_session(session);
    return;
  }
  for (const ShareSession::FetchedPartition& partition : fetched->partitions) {
    if (results.contains(partition.source)) results[partition.source] = partition.acknowledge_error;
    if (partition.error == ErrorCode::NONE) {
      buffer(partition, fetched->lock_time, fetched->sent);
    } else if (moves_leader(partition.error)) {
      leaders_are_old_ = true;
      if (partition.leader.leader.value >= 0)
        cluster_->learn_leader(partition.source, partition.leader);
    } else if (!is_retriable(partition.error)) {
      failure_ = error(partition.error,
                       "ShareFetch of partition " + std::to_string(partition.source.partition));
    }
  }
  for (const auto& node : fetched->answer.message.node_endpoints) {
    cluster_->learn_broker(node.node_id, {node.host.str(), static_cast<uint16_t>(node.port)});
  }
  acknowledged(carried, results);
}

void ShareConsumer::buffer(const ShareSession::FetchedPartition& partition, Millis lock_time,
                           InFlight::Moment fetched_at) {
  if (partition.acquired.empty()) return;
  const Topic* topic = cluster_->topic(partition.source.topic_id);
  TopicName& name = topic_names_[partition.source.topic_id];
  if (topic != nullptr) name = topic->name;
  FetchedRecords fetched =
      read_records(name, partition.source, partition.records, partition.acquired, kMaxBatchSize);
  const auto lock_ends = Deadline::in(lock_time).at();
  for (const Offset offset : fetched.gaps)
    book_->send_plainly(partition.source, offset, AcknowledgeType::kGap);
  for (const Offset offset : fetched.corrupt) {
    book_->send_plainly(partition.source, offset, AcknowledgeType::kRelease);
  }
  if (!fetched.corrupt.empty()) {
    warn(config_.client, "partition " + std::to_string(partition.source.partition) +
                             ": the batch at offset " + std::to_string(fetched.corrupt.front()) +
                             " cannot be read; its records are released");
  }
  merge_outgoing(book_->take_plain());
  for (ShareRecord& record : fetched.records) take_in({std::move(record), lock_ends, fetched_at});
}

void ShareConsumer::lose_session(ShareSession& session) {
  // The broker releases what the application has not seen yet and hands it out again.
  const auto lost = [&](const Buffered& copy) {
    return session.partitions().contains(copy.record.source);
  };
  std::erase_if(buffer_, lost);
  std::erase_if(waiting_, lost);
  for (const TopicIdPartition& partition : session.partitions()) book_->drop_buffered(partition);
  session.reset(false);
  leaders_are_old_ = true;
}

}  // namespace ackord::client
