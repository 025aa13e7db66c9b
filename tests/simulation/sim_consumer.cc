#include "tests/simulation/sim_consumer.h"

#include <utility>

#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_fetch_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"
#include "tests/simulation/client_errors.h"
#include "tests/simulation/record_texts.h"

namespace ackord::simulation {

std::string list_of(const Records& records) {
  std::string text;
  for (const SourceRecord& record : records) text += " " + record.text();
  return text;
}

SimConsumer::SimConsumer(World& world, std::string name, std::string group, Uuid lines)
    : world_(world),
      random_(world.scheduler.random),
      name_(std::move(name)),
      group_(std::move(group)),
      lines_(lines),
      connection_(world.network, name_),
      member_(random_.uuid().to_string()) {}

io::Task<void> SimConsumer::think(int64_t up_to_ms) {
  const int64_t until = world_.clock.now().steady_ms +
                        static_cast<int64_t>(random_.below(static_cast<uint64_t>(up_to_ms)));
  io::SleepUntil sleep(world_.clock, until);
  co_await sleep;
}

void SimConsumer::drop() {
  connection_.drop();
  session_epoch_ = 0;
}

io::Task<bool> SimConsumer::heartbeat() {
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = GroupId(group_);
  request.member_id = String(member_);
  request.member_epoch = member_epoch_;
  if (member_epoch_ == 0)
    request.subscribed_topic_names = std::vector<TopicName>{TopicName(kLines)};
  auto calling =
      connection_.call<protocol::ShareGroupHeartbeatRequest, protocol::ShareGroupHeartbeatResponse>(
          std::move(request), 1);
  const auto response = co_await std::move(calling);
  if (!response) co_return false;
  if (response->error_code != ErrorCode::NONE) {
    if (response->error_code == ErrorCode::UNKNOWN_MEMBER_ID ||
        response->error_code == ErrorCode::FENCED_MEMBER_EPOCH) {
      member_epoch_ = 0;
    }
    co_return false;
  }
  member_epoch_ = response->member_epoch;
  co_return true;
}

io::Task<Records> SimConsumer::fetch() {
  protocol::ShareFetchRequest request;
  request.group_id = GroupId(group_);
  request.member_id = String(member_);
  request.share_session_epoch = session_epoch_;
  request.max_wait_ms = 200;
  request.min_bytes = 1;
  request.max_bytes = 1 << 20;
  request.max_records = static_cast<int32_t>(1 + random_.below(6));
  request.batch_size = request.max_records;
  request.share_acquire_mode = static_cast<int8_t>(random_.below(2));
  if (session_epoch_ == 0) {
    protocol::ShareFetchRequest::FetchTopic topic;
    topic.topic_id = lines_;
    for (int32_t i = 0; i < kPartitions; ++i) topic.partitions.emplace_back().partition_index = i;
    request.topics.push_back(std::move(topic));
  }
  const int64_t asked_at_us = world_.scheduler.now_us();
  auto calling = connection_.call<protocol::ShareFetchRequest, protocol::ShareFetchResponse>(
      std::move(request), 2);
  const auto response = co_await std::move(calling);
  Records records;
  std::string fetched;
  if (!response || response->error_code != ErrorCode::NONE) {
    note(std::string("fetch: ") +
         (response ? std::string(name_of(response->error_code)) : "no answer"));
    session_epoch_ = 0;
    co_return records;
  }
  session_epoch_ = session_epoch_ == INT32_MAX ? 1 : session_epoch_ + 1;
  for (const auto& topic : response->responses) {
    for (const auto& partition : topic.partitions) {
      std::map<int64_t, std::string> texts;
      if (partition.records.size() != 0) texts = texts_of(partition.records.bytes());
      for (const auto& range : partition.acquired_records) {
        for (int64_t offset = range.first_offset; offset <= range.last_offset; ++offset) {
          const SourceRecord record{partition.partition_index, offset};
          world_.ledger.delivered(
              group_, {record, texts[offset], range.delivery_count, name_, asked_at_us});
          records.push_back(record);
          fetched += " " + record.text() + "(" + std::to_string(range.delivery_count) + ")";
        }
      }
    }
  }
  if (!records.empty()) note("fetched" + fetched);
  co_return records;
}

io::Task<SimConsumer::Acknowledged> SimConsumer::acknowledge(
    Records records, std::function<int8_t(const SourceRecord&)> type) {
  protocol::ShareAcknowledgeRequest request;
  request.group_id = GroupId(group_);
  request.member_id = String(member_);
  request.share_session_epoch = session_epoch_;
  fill_acknowledgements(records, lines_, type, request);
  auto calling =
      connection_.call<protocol::ShareAcknowledgeRequest, protocol::ShareAcknowledgeResponse>(
          std::move(request), 2);
  const auto response = co_await std::move(calling);
  Acknowledged result;
  if (!response || response->error_code != ErrorCode::NONE) {
    session_epoch_ = 0;
    if (!response || is_worth_a_retry(response->error_code)) result.unknown = std::move(records);
    co_return result;
  }
  ++session_epoch_;
  for (const auto& topic : response->responses) {
    for (const auto& partition : topic.partitions) {
      if (partition.error_code != ErrorCode::NONE && !is_worth_a_retry(partition.error_code))
        continue;
      Records& list = partition.error_code == ErrorCode::NONE ? result.taken : result.unknown;
      for (const SourceRecord& record : records) {
        if (record.partition == partition.partition_index) list.push_back(record);
      }
    }
  }
  co_return result;
}

}  // namespace ackord::simulation
