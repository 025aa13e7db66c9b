#include "client/share_consumer.h"

#include <algorithm>
#include <utility>

#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/txn_share_acknowledge_request.h"

namespace ackord::client {
namespace {

constexpr int16_t kTransactionalShareVersion = 3;
// An acknowledgement that the same session may send again.
bool may_retry_acknowledgement(ErrorCode code) {
  return code == ErrorCode::COORDINATOR_NOT_AVAILABLE ||
         code == ErrorCode::COORDINATOR_LOAD_IN_PROGRESS || code == ErrorCode::NOT_COORDINATOR ||
         code == ErrorCode::REQUEST_TIMED_OUT;
}

}  // namespace

ShareConsumer::ShareConsumer(ShareConsumerConfig config, std::unique_ptr<Cluster> cluster,
                             std::unique_ptr<Cluster> heartbeats)
    : config_(std::move(config)),
      book_(std::make_shared<InFlight>(config_.mode == AcknowledgementMode::kTransactional)),
      cluster_(std::move(cluster)),
      membership_(std::make_unique<ShareMembership>(std::move(heartbeats), config_.group,
                                                    config_.rack, book_)),
      refresh_backoff_(config_.client) {}

ShareConsumer::~ShareConsumer() = default;

Result<std::unique_ptr<ShareConsumer>> ShareConsumer::create(ShareConsumerConfig config,
                                                             Millis timeout) {
  if (config.group.empty()) return error(ErrorCode::INVALID_CONFIG, "group.id is missing");
  if (config.fallback == AcknowledgementMode::kTransactional) {
    return error(ErrorCode::INVALID_CONFIG,
                 "share.acknowledgement.fallback is implicit or explicit");
  }
  Result<std::unique_ptr<Cluster>> cluster = Cluster::create(config.client);
  if (!cluster) return cluster.error();
  Result<std::unique_ptr<Cluster>> heartbeats = Cluster::create(config.client);
  if (!heartbeats) return heartbeats.error();
  std::unique_ptr<ShareConsumer> consumer(
      new ShareConsumer(std::move(config), std::move(*cluster), std::move(*heartbeats)));
  const Deadline deadline = Deadline::in(timeout);
  if (Result<void> able = consumer->check_abilities(deadline); !able) return able.error();
  return consumer;
}

Result<void> ShareConsumer::check_abilities(const Deadline& deadline) {
  Backoff backoff(config_.client);
  Result<Connection*> connection = cluster_->any_broker(deadline);
  while (!connection && backoff.sleep(deadline)) connection = cluster_->any_broker(deadline);
  if (!connection) return connection.error();
  const BrokerAbilities& abilities = (*connection)->abilities();
  if (!(*connection)->version_of<protocol::ShareGroupHeartbeatRequest>() ||
      !(*connection)->version_of<protocol::ShareFetchRequest>() ||
      !(*connection)->version_of<protocol::ShareAcknowledgeRequest>()) {
    return error(ErrorCode::UNSUPPORTED_VERSION, "the broker has no share groups");
  }
  if (config_.mode != AcknowledgementMode::kTransactional) return {};
  if ((*connection)->version_of<protocol::TxnShareAcknowledgeRequest>() &&
      abilities.feature("share.version") >= kTransactionalShareVersion) {
    return {};
  }
  if (!config_.fallback) {
    return error(
        ErrorCode::UNSUPPORTED_VERSION,
        "the broker has no transactional share acknowledgements (key 95, share.version 3)");
  }
  book_->set_fallback(true);
  warn(config_.client,
       "the broker has no transactional share acknowledgements: they are sent plainly after each "
       "commit, "
       "so records may be processed more than once");
  return {};
}

void ShareConsumer::subscribe(std::vector<TopicName> topics) {
  topics_ = topics;
  leaders_are_old_ = true;
  membership_->subscribe(std::move(topics));
}

Result<std::vector<ShareRecord>> ShareConsumer::poll(Millis timeout) {
  const Deadline deadline = Deadline::in(timeout);
  if (closed_) return error(ErrorCode::INVALID_REQUEST, "the consumer is closed");
  if (config_.mode == AcknowledgementMode::kExplicit && !book_->all_decided()) {
    return error(ErrorCode::INVALID_RECORD_STATE,
                 "records of the last poll have not been acknowledged");
  }
  collect_acknowledgements();
  while (true) {
    std::vector<ShareRecord> records = take_deliverable();
    if (!records.empty()) {
      // Those of the last poll must not wait until what was fetched ahead has been worked on.
      if (!outgoing_.empty())
        send_until_settled(false, Deadline::in(config_.client.request_timeout));
      return records;
    }
    if (failure_) {
      const Error failure = *failure_;
      failure_.reset();
      return failure;
    }
    if (Result<void> round = fetch_round(deadline); !round) return round.error();
    if (deadline.passed()) return take_deliverable();
  }
}

void ShareConsumer::collect_acknowledgements() {
  merge_outgoing(book_->take_plain());
  if (config_.mode == AcknowledgementMode::kTransactional) return;
  if (config_.mode == AcknowledgementMode::kImplicit)
    book_->decide_all_delivered(AcknowledgeType::kAccept);
  merge_outgoing(book_->take_decided());
}

void ShareConsumer::merge_outgoing(PartitionAcknowledgements acknowledgements) {
  for (auto& [partition, batches] : acknowledgements) {
    std::vector<AcknowledgementBatch>& all = outgoing_[partition];
    std::move(batches.begin(), batches.end(), std::back_inserter(all));
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    // A second verdict on the same offsets comes from a second copy; one request carries the first
    // only.
    const auto overlaps = [](const auto& a, const auto& b) { return b.first <= a.last; };
    all.erase(std::unique(all.begin(), all.end(), overlaps), all.end());
  }
}

std::vector<ShareRecord> ShareConsumer::take_deliverable() {
  take_up_waiting();
  std::vector<ShareRecord> records;
  const auto now = Deadline::Clock::now();
  while (!buffer_.empty() &&
         records.size() < static_cast<size_t>(config_.limits.max_poll_records)) {
    Buffered next = std::move(buffer_.front());
    buffer_.pop_front();
    if (next.lock_ends <= now) {
      book_->drop_buffered(next.record.source, next.record.offset);
      continue;
    }
    book_->delivered(next.record.source, next.record.offset);
    records.push_back(std::move(next.record));
  }
  return records;
}

void ShareConsumer::take_up_waiting() {
  const auto now = Deadline::Clock::now();
  std::deque<Buffered> copies = std::exchange(waiting_, {});
  for (Buffered& copy : copies) {
    const ShareRecord& record = copy.record;
    switch (book_->fate_of(record.source, record.offset, copy.fetched)) {
      case InFlight::Fate::kWait:
        if (copy.lock_ends > now) waiting_.push_back(std::move(copy));
        break;
      case InFlight::Fate::kTakeUp:
        if (copy.lock_ends > now) take_in(std::move(copy));
        break;
      case InFlight::Fate::kDrop: break;
    }
  }
}

void ShareConsumer::take_in(Buffered copy) {
  const ShareRecord& record = copy.record;
  const bool now =
      book_->acquired(record.source, record.offset, record.delivery_count, copy.fetched);
  (now ? buffer_ : waiting_).push_back(std::move(copy));
}

Result<void> ShareConsumer::acknowledge(const ShareRecord& record, AcknowledgeType type) {
  if (config_.mode == AcknowledgementMode::kImplicit) {
    return error(ErrorCode::INVALID_RECORD_STATE,
                 "records are acknowledged by the next poll in implicit mode");
  }
  if (type == AcknowledgeType::kGap)
    return error(ErrorCode::INVALID_REQUEST, "a gap is no verdict on a record");
  return book_->decide(record.source, record.offset, record.delivery_count, type);
}

Result<ShareAcknowledgements> ShareConsumer::acknowledgements_for_transaction() {
  if (config_.mode != AcknowledgementMode::kTransactional) {
    return error(ErrorCode::INVALID_REQUEST, "share.acknowledgement.mode is not transactional");
  }
  const bool accept_undecided = falls_back() && config_.fallback == AcknowledgementMode::kImplicit;
  Result<PartitionAcknowledgements> taken = book_->hand_over(accept_undecided);
  if (!taken) return taken.error();
  ShareAcknowledgements acknowledgements{std::move(*taken), {}, book_};
  for (const auto& [partition, batches] : acknowledgements.partitions) {
    acknowledgements.topics[partition.topic_id] = topic_names_[partition.topic_id];
  }
  return acknowledgements;
}

Result<std::map<TopicIdPartition, ErrorCode>> ShareConsumer::commit_sync(Millis timeout) {
  const Deadline deadline = Deadline::in(timeout);
  if (closed_) return error(ErrorCode::INVALID_REQUEST, "the consumer is closed");
  finish_all_fetches(deadline);
  Results results;
  PartitionAcknowledgements renewals = book_->take_decided(AcknowledgeType::kRenew);
  if (!renewals.empty()) {
    PartitionAcknowledgements others = std::exchange(outgoing_, std::move(renewals));
    results = send_until_settled(true, deadline);
    outgoing_ = std::move(others);
  }
  collect_acknowledgements();
  if (config_.mode == AcknowledgementMode::kTransactional) {
    merge_outgoing(book_->take_decided(AcknowledgeType::kRelease));
  }
  for (const auto& [partition, code] : send_until_settled(false, deadline)) {
    ErrorCode& known = results[partition];
    if (known == ErrorCode::NONE) known = code;
  }
  return results;
}

ShareConsumer::Results ShareConsumer::send_until_settled(bool renew, const Deadline& deadline) {
  Backoff backoff(config_.client);
  Results settled;
  while (!outgoing_.empty()) {
    for (const auto& [partition, code] : send_outgoing(renew, deadline)) settled[partition] = code;
    if (outgoing_.empty() || backoff.sleep(deadline)) continue;
    Results failed;
    for (const auto& [partition, batches] : outgoing_)
      failed[partition] = ErrorCode::REQUEST_TIMED_OUT;
    acknowledged(outgoing_, failed);
    settled.insert(failed.begin(), failed.end());
    outgoing_.clear();
  }
  return settled;
}

ShareConsumer::Results ShareConsumer::send_outgoing(bool renew, const Deadline& deadline) {
  finish_all_fetches(deadline);
  std::map<BrokerId, PartitionAcknowledgements> by_leader;
  for (auto& [partition, batches] : outgoing_) {
    by_leader[cluster_->leader(partition)][partition] = std::move(batches);
  }
  outgoing_.clear();
  Results settled;
  for (auto& [broker, batches] : by_leader) {
    ShareSession& session = session_of(broker);
    Result<Results> answer = session.acknowledge(batches, renew, false, deadline);
    Results results;
    if (answer) {
      results = std::move(*answer);
    } else {
      for (const auto& [partition, batch] : batches) results[partition] = answer.error().code;
      lose_session(session);
    }
    for (auto batch = batches.begin(); batch != batches.end();) {
      if (answer && may_retry_acknowledgement(results[batch->first])) {
        outgoing_[batch->first] = std::move(batch->second);
        results.erase(batch->first);
        batch = batches.erase(batch);
      } else {
        ++batch;
      }
    }
    acknowledged(batches, results);
    settled.insert(results.begin(), results.end());
  }
  return settled;
}

void ShareConsumer::acknowledged(const PartitionAcknowledgements& sent, const Results& results) {
  if (!config_.on_acknowledged) return;
  for (const auto& [partition, batches] : sent) {
    const auto result = results.find(partition);
    config_.on_acknowledged(partition, batches,
                            result == results.end() ? ErrorCode::NONE : result->second);
  }
}

Result<void> ShareConsumer::close(Millis timeout) {
  if (closed_) return {};
  const Deadline deadline = Deadline::in(timeout);
  if (config_.mode == AcknowledgementMode::kImplicit)
    book_->decide_all_delivered(AcknowledgeType::kAccept);
  Result<Results> committed = commit_sync(timeout);
  closed_ = true;
  for (auto& [broker, session] : sessions_) {
    if (session.open()) (void)session.acknowledge({}, false, true, deadline);
    session.reset(false);
  }
  buffer_.clear();
  waiting_.clear();
  return membership_->leave(deadline);
}

}  // namespace ackord::client
