#include "client/share_membership.h"

#include <algorithm>
#include <random>

#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"

namespace ackord::client {
namespace {

constexpr int32_t kJoinEpoch = 0;
constexpr int32_t kLeaveEpoch = -1;
constexpr Millis kHeartbeatTimeout{10000};
constexpr Millis kShortestInterval{100};

std::string random_member_id() {
  std::random_device random;
  Uuid id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(random());
  return id.to_string();
}

bool must_rejoin(ErrorCode code) {
  return code == ErrorCode::UNKNOWN_MEMBER_ID || code == ErrorCode::FENCED_MEMBER_EPOCH ||
         code == ErrorCode::GROUP_ID_NOT_FOUND;
}

bool may_pass(ErrorCode code) {
  return is_stale(code) || is_retriable(code) || code == ErrorCode::BROKER_NOT_AVAILABLE ||
         code == ErrorCode::UNKNOWN_SERVER_ERROR;
}

}  // namespace

ShareMembership::ShareMembership(std::unique_ptr<Cluster> cluster, GroupId group,
                                 std::optional<std::string> rack, std::shared_ptr<InFlight> book)
    : cluster_(std::move(cluster)),
      group_(std::move(group)),
      rack_(std::move(rack)),
      member_id_(random_member_id()),
      book_(std::move(book)) {
  book_->set_member({group_, member_id_, 0});
}

ShareMembership::~ShareMembership() { stop(); }

void ShareMembership::subscribe(std::vector<TopicName> topics) {
  const std::lock_guard lock(mutex_);
  topics_ = std::move(topics);
  subscription_changed_ = true;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

ShareAssignment ShareMembership::assignment() const {
  const std::lock_guard lock(mutex_);
  return assignment_;
}

void ShareMembership::wait_for_change(int64_t generation, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.at(), [&] { return assignment_.generation != generation; });
}

void ShareMembership::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Result<void> ShareMembership::leave(const Deadline& deadline) {
  stop();
  if (epoch_ == kJoinEpoch) return {};
  Result<Millis> left = heartbeat(std::nullopt, kLeaveEpoch, deadline);
  if (!left && left.error().code != ErrorCode::UNKNOWN_MEMBER_ID) return left.error();
  return {};
}

void ShareMembership::pause(std::unique_lock<std::mutex>& lock, Millis time) {
  changed_.wait_for(lock, time, [this] { return stopping_ || subscription_changed_; });
}

void ShareMembership::run() {
  Backoff backoff(cluster_->config());
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::optional<std::vector<TopicName>> topics;
    if (subscription_changed_ || epoch_ == kJoinEpoch) topics = topics_;
    subscription_changed_ = false;
    const int32_t epoch = epoch_;
    const bool full = topics.has_value();
    lock.unlock();
    const Millis timeout = std::min(kHeartbeatTimeout, cluster_->config().request_timeout);
    Result<Millis> interval = heartbeat(std::move(topics), epoch, Deadline::in(timeout));
    lock.lock();
    if (interval) {
      backoff.reset();
      pause(lock, std::max(*interval, kShortestInterval));
      continue;
    }
    const Error& failure = interval.error();
    if (must_rejoin(failure.code) && epoch != kJoinEpoch) {
      epoch_ = kJoinEpoch;
      continue;
    }
    if (!may_pass(failure.code)) {
      assignment_.failure = failure;
      ++assignment_.generation;
      changed_.notify_all();
      return;
    }
    changed_.wait_for(lock, backoff.next(), [this] { return stopping_; });
    subscription_changed_ = subscription_changed_ || full;
  }
}

Result<Millis> ShareMembership::heartbeat(std::optional<std::vector<TopicName>> topics,
                                          int32_t epoch, const Deadline& deadline) {
  const std::string group = group_.str();
  Result<Connection*> coordinator = cluster_->coordinator(CoordinatorType::kGroup, group, deadline);
  if (!coordinator) {
    if (is_stale(coordinator.error().code))
      cluster_->forget_coordinator(CoordinatorType::kGroup, group);
    return coordinator.error();
  }
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = group_;
  request.member_id = String(member_id_);
  request.member_epoch = epoch;
  if (rack_) request.rack_id = String(*rack_);
  request.subscribed_topic_names = std::move(topics);
  auto answer = (*coordinator)->call<protocol::ShareGroupHeartbeatResponse>(request, deadline);
  const ErrorCode code = answer ? answer->message.error_code : answer.error().code;
  if (code != ErrorCode::NONE) {
    if (is_stale(code)) cluster_->forget_coordinator(CoordinatorType::kGroup, group);
    if (!answer) return answer.error();
    return error(code,
                 "ShareGroupHeartbeat: " + answer->message.error_message.value_or(String()).str());
  }
  const protocol::ShareGroupHeartbeatResponse& state = answer->message;
  book_->set_member({group_, member_id_, state.member_epoch});
  const std::lock_guard lock(mutex_);
  epoch_ = state.member_epoch;
  if (state.assignment) {
    assignment_.partitions.clear();
    for (const auto& topic : state.assignment->topic_partitions) {
      for (const int32_t partition : topic.partitions)
        assignment_.partitions.push_back({topic.topic_id, partition});
    }
    ++assignment_.generation;
    changed_.notify_all();
  }
  return Millis(state.heartbeat_interval_ms);
}

}  // namespace ackord::client
