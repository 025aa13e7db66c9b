#include "client/share_session.h"

#include <limits>

#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "protocol/generated/share_fetch_request.h"

namespace ackord::client {
namespace {

constexpr int32_t kFinalEpoch = -1;
// More offsets than any limit on a member's locks lets a broker hand out in one partition.
constexpr Offset kMostAcquired = 1'000'000;

template <class Topics>
auto& topic_entry(Topics& topics, const Uuid& id) {
  if (topics.empty() || topics.back().topic_id != id) topics.emplace_back().topic_id = id;
  return topics.back();
}

// False for ranges that no broker hands out.
bool plausible(const std::vector<AcquiredRange>& acquired) {
  Offset next = 0;
  Offset count = 0;
  for (const AcquiredRange& range : acquired) {
    if (range.first < next || range.last < range.first) return false;
    if (range.last - range.first >= kMostAcquired - count) return false;
    count += range.last - range.first + 1;
    next = range.last + 1;
  }
  return true;
}

ShareSession::FetchedPartition take_partition(
    const Uuid& topic, const protocol::ShareFetchResponse::PartitionData& data) {
  ShareSession::FetchedPartition partition;
  partition.source = {topic, data.partition_index};
  partition.error = data.error_code;
  partition.acknowledge_error = data.acknowledge_error_code;
  partition.leader = {BrokerId(data.current_leader.leader_id), data.current_leader.leader_epoch};
  partition.records = data.records.bytes();
  for (const auto& range : data.acquired_records) {
    partition.acquired.push_back({range.first_offset, range.last_offset, range.delivery_count});
  }
  if (!plausible(partition.acquired)) {
    partition.acquired.clear();
    partition.error = ErrorCode::UNKNOWN_SERVER_ERROR;
  }
  return partition;
}

}  // namespace

ShareSession::ShareSession(BrokerId broker, GroupId group, std::string member_id,
                           ShareFetchLimits limits)
    : broker_(broker),
      group_(std::move(group)),
      member_id_(std::move(member_id)),
      limits_(limits) {}

bool ShareSession::needs_fetch(const std::set<TopicIdPartition>& wanted,
                               const PartitionAcknowledgements& acknowledgements) const {
  return !wanted.empty() || (open() && (!acknowledgements.empty() || !partitions_.empty()));
}

void ShareSession::advance() {
  epoch_ = epoch_ == std::numeric_limits<int32_t>::max() ? 1 : epoch_ + 1;
}

void ShareSession::reset(bool keep_connection) {
  if (!keep_connection) connection_.reset();
  epoch_ = 0;
  partitions_.clear();
  requested_.clear();
  carried_.clear();
  fetch_.reset();
  if (backoff_) not_before_ = Deadline::in(backoff_->next());
}

Result<bool> ShareSession::connect(const Cluster& cluster, const Deadline& deadline) {
  const ClientConfig& config = cluster.config();
  if (!backoff_) backoff_.emplace(config);
  if (connection_ && connection_->usable()) return true;
  if (!connecting_.valid()) {
    const std::optional<Endpoint> at = cluster.endpoint(broker_);
    if (!at) {
      return error(ErrorCode::BROKER_NOT_AVAILABLE,
                   "unknown broker " + std::to_string(broker_.value));
    }
    connecting_ = std::async(std::launch::async, [at = *at, config] {
      return Connection::open(at, config, Deadline::in(config.connection_timeout));
    });
  }
  if (connecting_.wait_until(deadline.at()) != std::future_status::ready) return false;
  Opened opened = connecting_.get();
  if (!opened) return opened.error();
  connection_ = std::move(*opened);
  return true;
}

Result<void> ShareSession::start_fetch(const ClientConfig& config,
                                       const std::set<TopicIdPartition>& wanted,
                                       PartitionAcknowledgements acknowledgements, Millis max_wait,
                                       InFlight::Moment now) {
  protocol::ShareFetchRequest request;
  request.group_id = group_;
  request.member_id = String(member_id_);
  request.share_session_epoch = epoch_;
  request.max_wait_ms = static_cast<int32_t>(max_wait.count());
  request.min_bytes = limits_.min_bytes;
  request.max_bytes = limits_.max_bytes;
  request.max_records = limits_.max_poll_records;
  request.batch_size = limits_.max_poll_records;
  request.share_acquire_mode = static_cast<int8_t>(limits_.acquire_mode);
  std::set<TopicIdPartition> named;
  for (const TopicIdPartition& partition : wanted) {
    if (!partitions_.contains(partition)) named.insert(partition);
  }
  for (const auto& [partition, batches] : acknowledgements) named.insert(partition);
  for (const TopicIdPartition& partition : named) {
    auto& entry = topic_entry(request.topics, partition.topic_id).partitions.emplace_back();
    entry.partition_index = partition.partition;
    const auto batches = acknowledgements.find(partition);
    if (batches == acknowledgements.end()) continue;
    entry.acknowledgement_batches =
        to_wire<protocol::ShareFetchRequest::AcknowledgementBatch>(batches->second);
  }
  for (const TopicIdPartition& partition : partitions_) {
    if (wanted.contains(partition)) continue;
    topic_entry(request.forgotten_topics_data, partition.topic_id)
        .partitions.push_back(partition.partition);
  }
  const Deadline until = Deadline::in(config.request_timeout + max_wait);
  Result<Sent> sent = connection_->send(request, until);
  if (!sent) return sent.error();
  fetch_ = Fetch{*sent, Deadline::in(max_wait + config.retry_backoff_max), until, now};
  requested_ = wanted;
  carried_ = std::move(acknowledgements);
  return {};
}

Result<ShareSession::Fetched> ShareSession::finish_fetch(const ClientConfig& config,
                                                         const Deadline& deadline) {
  const Deadline until = deadline.at() < fetch_->due.at() ? fetch_->due : deadline;
  Result<Answer<protocol::ShareFetchResponse>> answer =
      connection_->receive<protocol::ShareFetchResponse>(fetch_->sent, until);
  const InFlight::Moment moment = fetch_->moment;
  fetch_.reset();
  if (!answer) return answer.error();
  if (answer->message.error_code != ErrorCode::NONE) {
    return error(answer->message.error_code,
                 "ShareFetch: " + answer->message.error_message.value_or(String()).str());
  }
  advance();
  backoff_->reset();
  partitions_ = std::move(requested_);
  requested_.clear();
  Fetched fetched{std::move(*answer), {}, std::move(carried_), Millis(0), moment};
  carried_.clear();
  const protocol::ShareFetchResponse& response = fetched.answer.message;
  fetched.lock_time = Millis(response.acquisition_lock_timeout_ms);
  bool failed = false;
  for (const auto& topic : response.responses) {
    for (const auto& data : topic.partitions) {
      fetched.partitions.push_back(take_partition(topic.topic_id, data));
      failed = failed || fetched.partitions.back().error != ErrorCode::NONE;
    }
  }
  if (failed) not_before_ = Deadline::in(config.retry_backoff);
  return fetched;
}

Result<std::map<TopicIdPartition, ErrorCode>> ShareSession::acknowledge(
    const PartitionAcknowledgements& acknowledgements, bool renew, bool last,
    const Deadline& deadline) {
  if (!open() || !connection_) return error(ErrorCode::SHARE_SESSION_NOT_FOUND, "no share session");
  protocol::ShareAcknowledgeRequest request;
  request.group_id = group_;
  request.member_id = String(member_id_);
  request.share_session_epoch = last ? kFinalEpoch : epoch_;
  request.is_renew_ack = renew;
  for (const auto& [partition, batches] : acknowledgements) {
    auto& entry = topic_entry(request.topics, partition.topic_id).partitions.emplace_back();
    entry.partition_index = partition.partition;
    entry.acknowledgement_batches =
        to_wire<protocol::ShareAcknowledgeRequest::AcknowledgementBatch>(batches);
  }
  auto answer = connection_->call<protocol::ShareAcknowledgeResponse>(request, deadline);
  if (!answer) return answer.error();
  const protocol::ShareAcknowledgeResponse& response = answer->message;
  if (response.error_code != ErrorCode::NONE) {
    return error(response.error_code,
                 "ShareAcknowledge: " + response.error_message.value_or(String()).str());
  }
  if (!last) advance();
  std::map<TopicIdPartition, ErrorCode> results;
  for (const auto& [partition, batches] : acknowledgements) results[partition] = ErrorCode::NONE;
  for (const auto& topic : response.responses) {
    for (const auto& data : topic.partitions)
      results[{topic.topic_id, data.partition_index}] = data.error_code;
  }
  return results;
}

}  // namespace ackord::client
