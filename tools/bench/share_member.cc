#include "tools/bench/share_member.h"

#include <random>
#include <utility>

#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_fetch_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"
#include "tools/bench/coordinator.h"

namespace ackord::bench {
namespace {

constexpr int32_t kFinalEpoch = -1;
constexpr int32_t kMaxBytes = 50 << 20;
constexpr std::chrono::milliseconds kJoinPause{20};
constexpr std::chrono::seconds kJoinLimit{60};

Uuid random_id() {
  std::random_device random;
  Uuid id;
  for (auto& byte : id.bytes) byte = static_cast<uint8_t>(random());
  return id;
}

}  // namespace

ShareMember::ShareMember(Bench& bench, const Topic& topic, std::string group,
                         std::shared_ptr<Wire> wire)
    : bench_(bench),
      topic_(topic),
      group_(std::move(group)),
      id_(random_id().to_string()),
      wire_(std::move(wire)) {}

Task<> ShareMember::heartbeat() {
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = GroupId(group_);
  request.member_id = String(id_);
  request.member_epoch = epoch_;
  if (epoch_ == 0) request.subscribed_topic_names = {topic_.name};
  const auto answer = co_await wire_->call<protocol::ShareGroupHeartbeatResponse>(request);
  const auto& message = answer.message;
  if (epoch_ == 0 && is_starting(message.error_code)) co_return;
  expect_none(message.error_code, "ShareGroupHeartbeat");
  epoch_ = message.member_epoch;
  next_beat_ = Clock::now() + std::chrono::milliseconds(message.heartbeat_interval_ms);
  if (!message.assignment) co_return;
  partitions_.clear();
  for (const auto& topic : message.assignment->topic_partitions)
    partitions_.insert(partitions_.end(), topic.partitions.begin(), topic.partitions.end());
  for (const int32_t index : partitions_) {
    if (in_session_.insert(index).second) to_join_.push_back(index);
  }
}

Task<> ShareMember::join() {
  co_await await_coordinator(bench_, *wire_, Coordinator::kGroup, group_);
  const auto limit = Clock::now() + kJoinLimit;
  while (true) {
    co_await heartbeat();
    if (assigned()) co_return;
    if (Clock::now() > limit) throw BenchError("a member of the share group gets no partition");
    asio::steady_timer timer(bench_.context(), kJoinPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

Task<> ShareMember::beat() {
  if (Clock::now() >= next_beat_) co_await heartbeat();
}

Task<Polled> ShareMember::poll(const std::vector<Acquired>& accepted) {
  protocol::ShareFetchRequest request;
  request.group_id = GroupId(group_);
  request.member_id = String(id_);
  request.share_session_epoch = session_epoch_;
  request.max_wait_ms = bench_.options().max_wait_ms;
  request.min_bytes = 1;
  request.max_bytes = kMaxBytes;
  request.max_records = bench_.options().max_records;
  request.batch_size = bench_.options().max_records;
  request.share_acquire_mode = acquire_mode_;
  accept_all(request.topics, topic_, accepted);
  // What the session does not hold yet: of that nothing can have been acquired.
  for (const int32_t index : std::exchange(to_join_, {})) {
    if (request.topics.empty()) request.topics.emplace_back().topic_id = topic_.id;
    request.topics.front().partitions.emplace_back().partition_index = index;
  }
  const auto answer = co_await wire_->call<protocol::ShareFetchResponse>(request);
  expect_none(answer.message.error_code, "ShareFetch");
  session_epoch_ = session_epoch_ == INT32_MAX ? 1 : session_epoch_ + 1;
  Polled polled;
  for (const auto& part : answer.message.responses) {
    for (const auto& partition : part.partitions) {
      expect_none(partition.error_code, "ShareFetch");
      if (partition.acknowledge_error_code != ErrorCode::NONE)
        polled.acknowledge_error = partition.acknowledge_error_code;
      for (const auto& range : partition.acquired_records) {
        polled.ranges.push_back(
            Acquired{partition.partition_index, range.first_offset, range.last_offset});
        polled.records += polled.ranges.back().count();
      }
      polled.bytes += static_cast<int64_t>(partition.records.size());
    }
  }
  co_return polled;
}

Task<> ShareMember::finish(const std::vector<Acquired>& accepted) {
  protocol::ShareAcknowledgeRequest request;
  request.group_id = GroupId(group_);
  request.member_id = String(id_);
  request.share_session_epoch = kFinalEpoch;
  accept_all(request.topics, topic_, accepted);
  const auto answer = co_await wire_->call<protocol::ShareAcknowledgeResponse>(request);
  expect_none(answer.message.error_code, "ShareAcknowledge");
  expect_all_none(answer.message.responses, "ShareAcknowledge");
  epoch_ = kFinalEpoch;
  co_await heartbeat();
}

std::vector<std::unique_ptr<ShareMember>> join_members(Bench& bench, const Topic& topic,
                                                       const std::string& group) {
  const auto wires = bench.connect(bench.options().connections);
  std::vector<std::unique_ptr<ShareMember>> members;
  std::vector<Task<>> joining;
  for (const auto& wire : wires) {
    members.push_back(std::make_unique<ShareMember>(bench, topic, group, wire));
    joining.push_back(members.back()->join());
  }
  bench.run(std::move(joining));
  return members;
}

}  // namespace ackord::bench
