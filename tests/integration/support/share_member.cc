#include "tests/integration/support/share_member.h"

#include <ostream>
#include <random>
#include <set>

#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "protocol/generated/share_fetch_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"

namespace ackord::integration {
namespace {

constexpr int32_t kFinalEpoch = -1;
constexpr int32_t kLeaveEpoch = -1;

std::string random_uuid() {
  static std::random_device random;
  Uuid id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(random());
  return id.to_string();
}

template <class Request>
void add_batch(Request& request, const Topic& topic, int32_t partition, Offset first, Offset last,
               int8_t type) {
  auto& asked = request.topics.emplace_back();
  asked.topic_id = topic.id;
  auto& part = asked.partitions.emplace_back();
  part.partition_index = partition;
  auto& batch = part.acknowledgement_batches.emplace_back();
  batch.first_offset = first;
  batch.last_offset = last;
  batch.acknowledge_types = {type};
}

protocol::ShareFetchRequest fetch_request(const std::string& group, const std::string& member,
                                          int32_t session_epoch, int32_t max_records,
                                          int32_t max_wait_ms) {
  protocol::ShareFetchRequest request;
  request.group_id = GroupId(group);
  request.member_id = String(member);
  request.share_session_epoch = session_epoch;
  request.max_wait_ms = max_wait_ms;
  request.min_bytes = 1;
  request.max_records = max_records;
  request.batch_size = max_records;
  return request;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const OffsetRange& range) {
  return out << range.first << "-" << range.last << " x" << range.delivery_count;
}

ShareMember::ShareMember(uint16_t port, std::string group)
    : port_(port), group_(std::move(group)), id_(random_uuid()), client_(port) {}

ErrorCode ShareMember::enter(const std::vector<Topic>& topics) {
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = GroupId(group_);
  request.member_id = id_;
  auto& names = request.subscribed_topic_names.emplace();
  for (const Topic& topic : topics) names.emplace_back(topic.name);
  auto answer = client_.call<protocol::ShareGroupHeartbeatResponse>(request, 1);
  if (answer.message.error_code == ErrorCode::NONE) epoch_ = answer.message.member_epoch;
  return answer.message.error_code;
}

void ShareMember::join(const std::vector<Topic>& topics) {
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = GroupId(group_);
  request.member_id = id_;
  auto& names = request.subscribed_topic_names.emplace();
  std::set<TopicIdPartition> wanted;
  for (const Topic& topic : topics) {
    names.emplace_back(topic.name);
    for (int32_t partition = 0; partition < topic.partitions; ++partition)
      wanted.insert({topic.id, partition});
  }
  poll_until("all partitions assigned", [&] {
    request.member_epoch = epoch_;
    auto answer = client_.call<protocol::ShareGroupHeartbeatResponse>(request, 1);
    if (is_starting(answer.message.error_code)) return false;
    require_none(answer.message.error_code, "ShareGroupHeartbeat");
    epoch_ = answer.message.member_epoch;
    if (!answer.message.assignment) return false;
    std::set<TopicIdPartition> assigned;
    for (const auto& topic : answer.message.assignment->topic_partitions) {
      for (int32_t partition : topic.partitions) assigned.insert({topic.topic_id, partition});
    }
    return assigned == wanted;
  });
}

ErrorCode ShareMember::heartbeat() {
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = GroupId(group_);
  request.member_id = id_;
  request.member_epoch = epoch_;
  auto answer = client_.call<protocol::ShareGroupHeartbeatResponse>(request, 1);
  if (answer.message.error_code == ErrorCode::NONE) epoch_ = answer.message.member_epoch;
  return answer.message.error_code;
}

ErrorCode ShareMember::leave() {
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = GroupId(group_);
  request.member_id = id_;
  request.member_epoch = kLeaveEpoch;
  return client_.call<protocol::ShareGroupHeartbeatResponse>(request, 1).message.error_code;
}

std::vector<OffsetRange> ShareMember::fetch(const Topic& topic, int32_t partition,
                                            int32_t max_records, int32_t max_wait_ms) {
  protocol::ShareFetchRequest request =
      fetch_request(group_, id_, session_epoch_, max_records, max_wait_ms);
  // Only the first request of a session and one with something new names partitions.
  auto& asked = request.topics.emplace_back();
  asked.topic_id = topic.id;
  asked.partitions.emplace_back().partition_index = partition;
  return acquire_by(topic, std::move(request))[partition];
}

std::map<int32_t, std::vector<OffsetRange>> ShareMember::fetch_all(const Topic& topic,
                                                                   int32_t max_records,
                                                                   int32_t max_wait_ms) {
  protocol::ShareFetchRequest request =
      fetch_request(group_, id_, session_epoch_, max_records, max_wait_ms);
  if (session_epoch_ == 0) {
    auto& asked = request.topics.emplace_back();
    asked.topic_id = topic.id;
    for (int32_t partition = 0; partition < topic.partitions; ++partition)
      asked.partitions.emplace_back().partition_index = partition;
  }
  return acquire_by(topic, std::move(request));
}

std::map<int32_t, std::vector<OffsetRange>> ShareMember::acquire_by(
    const Topic& topic, protocol::ShareFetchRequest request) {
  auto answer = client_.call<protocol::ShareFetchResponse>(request, 2);
  require_none(answer.message.error_code, "ShareFetch");
  ++session_epoch_;
  std::map<int32_t, std::vector<OffsetRange>> acquired;
  for (const auto& found : answer.message.responses) {
    if (found.topic_id != topic.id) continue;
    for (const auto& data : found.partitions) {
      if (is_starting(data.error_code)) continue;
      require_none(data.error_code, "ShareFetch of a partition");
      for (const auto& range : data.acquired_records) {
        acquired[data.partition_index].push_back(
            {range.first_offset, range.last_offset, range.delivery_count});
      }
    }
  }
  return acquired;
}

std::vector<OffsetRange> ShareMember::acquire(const Topic& topic, int32_t partition,
                                              int64_t count) {
  std::vector<OffsetRange> acquired;
  poll_until("records to acquire", [&] {
    for (const OffsetRange& range : fetch(topic, partition, static_cast<int32_t>(count), 200)) {
      acquired.push_back(range);
      count -= range.last - range.first + 1;
    }
    return count <= 0;
  });
  return acquired;
}

ErrorCode ShareMember::acknowledge(const Topic& topic, int32_t partition, Offset first, Offset last,
                                   int8_t type) {
  protocol::ShareAcknowledgeRequest request;
  request.group_id = GroupId(group_);
  request.member_id = String(id_);
  request.share_session_epoch = session_epoch_;
  request.is_renew_ack = type == kRenew;
  add_batch(request, topic, partition, first, last, type);
  auto answer = client_.call<protocol::ShareAcknowledgeResponse>(request, 2);
  require_none(answer.message.error_code, "ShareAcknowledge");
  ++session_epoch_;
  return answer.message.responses.at(0).partitions.at(0).error_code;
}

ErrorCode ShareMember::acknowledge_by_fetch(const Topic& topic, int32_t partition, Offset first,
                                            Offset last, int8_t type) {
  protocol::ShareFetchRequest request = fetch_request(group_, id_, session_epoch_, 1, 0);
  add_batch(request, topic, partition, first, last, type);
  auto answer = client_.call<protocol::ShareFetchResponse>(request, 2);
  require_none(answer.message.error_code, "ShareFetch");
  ++session_epoch_;
  return answer.message.responses.at(0).partitions.at(0).acknowledge_error_code;
}

void ShareMember::close_session() {
  protocol::ShareFetchRequest request = fetch_request(group_, id_, kFinalEpoch, 0, 0);
  auto answer = client_.call<protocol::ShareFetchResponse>(request, 2);
  require_none(answer.message.error_code, "ShareFetch with the final epoch");
  session_epoch_ = 0;
}

void ShareMember::reconnect() {
  client_ = RawClient(port_);
  session_epoch_ = 0;
}

}  // namespace ackord::integration
