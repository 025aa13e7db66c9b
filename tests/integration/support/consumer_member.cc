#include "tests/integration/support/consumer_member.h"

#include "protocol/generated/consumer_group_heartbeat_response.h"

namespace ackord::integration {
namespace {

constexpr int32_t kRebalanceTimeoutMs = 60000;

std::set<TopicIdPartition> of(const Topic& topic, const std::set<int32_t>& partitions) {
  std::set<TopicIdPartition> out;
  for (const int32_t partition : partitions) out.insert({topic.id, partition});
  return out;
}

}  // namespace

ConsumerMember::ConsumerMember(uint16_t port, std::string group, std::string id,
                               std::optional<std::string> instance)
    : group_(std::move(group)), id_(std::move(id)), instance_(std::move(instance)) {
  client_.emplace(port);
}

protocol::ConsumerGroupHeartbeatRequest ConsumerMember::request(int32_t epoch) const {
  protocol::ConsumerGroupHeartbeatRequest request;
  request.group_id = GroupId(group_);
  request.member_id = String(id_);
  request.member_epoch = epoch;
  if (instance_) request.instance_id = String(*instance_);
  return request;
}

ErrorCode ConsumerMember::send(const protocol::ConsumerGroupHeartbeatRequest& request) {
  auto answer = client_->call<protocol::ConsumerGroupHeartbeatResponse>(request, 1);
  const auto& message = answer.message;
  if (message.error_code != ErrorCode::NONE) return message.error_code;
  epoch_ = message.member_epoch;
  if (!message.assignment) return ErrorCode::NONE;
  assigned_.clear();
  for (const auto& topic : message.assignment->topic_partitions) {
    for (const int32_t partition : topic.partitions) assigned_.insert({topic.topic_id, partition});
  }
  return ErrorCode::NONE;
}

void ConsumerMember::enter(protocol::ConsumerGroupHeartbeatRequest request) {
  request.rebalance_timeout_ms = kRebalanceTimeoutMs;
  request.topic_partitions.emplace();
  poll_until("ConsumerGroupHeartbeat", [&] {
    const ErrorCode error = send(request);
    if (is_starting(error)) return false;
    require_none(error, "ConsumerGroupHeartbeat");
    return true;
  });
}

void ConsumerMember::join(const Topic& topic, const std::set<int32_t>& expected) {
  auto joins = request(0);
  joins.subscribed_topic_names.emplace().emplace_back(topic.name);
  enter(std::move(joins));
  await(topic, expected);
}

void ConsumerMember::join_by_pattern(const std::string& pattern, const Topic& topic) {
  auto joins = request(0);
  joins.subscribed_topic_regex = String(pattern);
  enter(std::move(joins));
  std::set<int32_t> all;
  for (int32_t partition = 0; partition < topic.partitions; ++partition) all.insert(partition);
  await(topic, all);
}

void ConsumerMember::await(const Topic& topic, const std::set<int32_t>& expected) {
  poll_until("the partitions of " + id_, [&] {
    if (assigned_ == of(topic, expected)) return true;
    require_none(heartbeat(), "ConsumerGroupHeartbeat");
    return false;
  });
  // What it has let go it must say.
  require_none(heartbeat(), "ConsumerGroupHeartbeat");
}

ErrorCode ConsumerMember::heartbeat() {
  auto beats = request(epoch_);
  auto& owned = beats.topic_partitions.emplace();
  for (const TopicIdPartition& partition : assigned_) {
    if (owned.empty() || owned.back().topic_id != partition.topic_id)
      owned.emplace_back().topic_id = partition.topic_id;
    owned.back().partitions.push_back(partition.partition);
  }
  return send(beats);
}

ErrorCode ConsumerMember::leave(int32_t epoch) { return send(request(epoch)); }

void ConsumerMember::move_to(uint16_t port) { client_.emplace(port); }

}  // namespace ackord::integration
