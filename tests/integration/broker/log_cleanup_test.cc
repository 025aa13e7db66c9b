// What the broker takes out of its logs while clients use them: compaction, DeleteRecords,
// retention; and configs that count at once.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "protocol/generated/delete_records_request.h"
#include "protocol/generated/delete_records_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/generated/offset_for_leader_epoch_request.h"
#include "protocol/generated/offset_for_leader_epoch_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "protocol/record_batch/batch_builder.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

constexpr TimeMs kTime = 1'700'000'000'000;
const std::vector<std::pair<std::string, std::string>> kSmallSegments{
    {"segment.index.bytes", "4"}};  // full at once: each batch has its own

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// One batch; each value is "<key>=<what>".
protocol::ProduceResponse::PartitionProduceResponse put(RawClient& client, const Topic& topic,
                                                        const std::vector<std::string>& values) {
  protocol::BatchBuilder builder({});
  for (const std::string& value : values) {
    const std::string key = value.substr(0, value.find('='));
    builder.add(kTime, bytes_of(key), bytes_of(value));
  }
  const std::vector<std::byte> batch = builder.build();
  auto answer = client.call<protocol::ProduceResponse>(produce_request(topic, 0, batch), 11);
  auto result = answer.message.responses.at(0).partition_responses.at(0);
  result.error_message.reset();
  result.record_errors.clear();
  return result;
}

std::pair<ErrorCode, Offset> delete_records(RawClient& client, const std::string& topic,
                                            Offset before, int16_t version = 2) {
  protocol::DeleteRecordsRequest request;
  request.timeout_ms = 10000;
  auto& asked = request.topics.emplace_back();
  asked.name = TopicName(topic);
  asked.partitions.emplace_back().offset = before;
  auto answer = client.call<protocol::DeleteRecordsResponse>(request, version);
  const auto& result = answer.message.topics.at(0).partitions.at(0);
  return {result.error_code, result.low_watermark};
}

Offset start_offset(RawClient& client, const Topic& topic) {
  protocol::ListOffsetsRequest request;
  request.replica_id = BrokerId(-1);
  auto& asked = request.topics.emplace_back();
  asked.name = TopicName(topic.name);
  asked.partitions.emplace_back().timestamp = -2;
  auto answer = client.call<protocol::ListOffsetsResponse>(request, 7);
  return answer.message.topics.at(0).partitions.at(0).offset;
}

std::vector<std::string> all(RawClient& client, const Topic& topic) {
  return read_values(client, topic, 0, Isolation::kReadUncommitted, start_offset(client, topic));
}

TEST(LogCleanup, CompactionLosesNoLatestValueThroughKills) {
  BrokerProcess broker(Settings{{"log.cleaner.backoff.ms", "1"}});
  RawClient client(broker.port());
  auto configs = kSmallSegments;
  configs.insert(configs.end(), {{"cleanup.policy", "compact"},
                                 {"min.cleanable.dirty.ratio", "0.01"},
                                 {"file.delete.delay.ms", "0"}});
  const Topic topic = create_topic(client, "compacted", 1, configs);
  std::map<std::string, std::string> latest;
  int written = 0;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 30 + 7 * round; ++i, ++written) {
      const std::string key = "k" + std::to_string(written % 11);
      const std::string value = key + "=" + std::to_string(written);
      ASSERT_EQ(put(client, topic, {value}).error_code, ErrorCode::NONE);
      latest[key] = value;
    }
    broker.crash();
    client = RawClient(broker.port());
    std::map<std::string, std::string> found;
    for (const std::string& value : all(client, topic))
      found[value.substr(0, value.find('='))] = value;
    ASSERT_EQ(found, latest);
  }
  // The start made all of it worth another look.
  poll_until("the log is compacted", [&] { return all(client, topic).size() <= 12; });
  EXPECT_EQ(end_offset(client, topic, 0, Isolation::kReadUncommitted), written);
}

TEST(LogCleanup, TopicConfigsCountAtOnce) {
  BrokerProcess broker(
      {{"log.cleaner.backoff.ms", "1"}, {"log.retention.check.interval.ms", "100"}});
  RawClient client(broker.port());
  auto configs = kSmallSegments;
  configs.emplace_back("retention.ms", "-1");
  const Topic topic = create_topic(client, "changing", 1, configs);
  for (int i = 0; i < 20; ++i) put(client, topic, {"k=" + std::to_string(i)});
  EXPECT_EQ(all(client, topic).size(), 20u);
  set_topic_configs(client, topic.name, {{"cleanup.policy", "compact"}});
  poll_until("compaction begins", [&] { return all(client, topic).size() == 2; });
  EXPECT_EQ(start_offset(client, topic), 0);

  EXPECT_EQ(put(client, topic, {"k=" + std::string(3000, 'x')}).error_code, ErrorCode::NONE);
  set_topic_configs(client, topic.name, {{"max.message.bytes", "1000"}});
  EXPECT_EQ(put(client, topic, {"k=" + std::string(3000, 'x')}).error_code,
            ErrorCode::MESSAGE_TOO_LARGE);
  EXPECT_EQ(put(client, topic, {"k=1"}).log_append_time_ms, -1);
  set_topic_configs(client, topic.name, {{"message.timestamp.type", "LogAppendTime"}});
  EXPECT_GT(put(client, topic, {"k=1"}).log_append_time_ms, kTime);

  set_topic_configs(client, topic.name, {{"cleanup.policy", "delete"}, {"retention.bytes", "1"}});
  const Offset end = end_offset(client, topic, 0, Isolation::kReadUncommitted);
  poll_until("retention begins", [&] { return start_offset(client, topic) == end - 1; });
}

TEST(LogCleanup, DeletedRecordsStayDeletedThroughAKill) {
  BrokerProcess broker;
  RawClient client(broker.port());
  const Topic topic = create_topic(client, "t", 1, kSmallSegments);
  for (int i = 0; i < 10; ++i) put(client, topic, {"k=" + std::to_string(i)});
  for (const int16_t version : {0, 1, 2}) {
    EXPECT_EQ(delete_records(client, "t", 2 + version, version),
              std::pair(ErrorCode::NONE, Offset{2 + version}));
  }
  EXPECT_EQ(delete_records(client, "t", 1), std::pair(ErrorCode::NONE, Offset{4}));
  broker.crash();
  client = RawClient(broker.port());
  EXPECT_EQ(start_offset(client, topic), 4);
  EXPECT_EQ(all(client, topic).size(), 6u);
  EXPECT_EQ(delete_records(client, "t", -1), std::pair(ErrorCode::NONE, Offset{10}));
  EXPECT_EQ(all(client, topic).size(), 0u);
}

TEST(LogCleanup, DeleteRecordsIsRefusedAsKafkaDoes) {
  BrokerProcess broker;
  RawClient client(broker.port());
  const Topic topic = create_topic(client, "t");
  const Topic compacted = create_topic(client, "c", 1, {{"cleanup.policy", "compact"}});
  const Topic both = create_topic(client, "b", 1, {{"cleanup.policy", "compact,delete"}});
  for (const Topic& one : {topic, compacted, both}) put(client, one, {"k=1"});
  const auto refused = [](ErrorCode code) { return std::pair(code, Offset{-1}); };
  EXPECT_EQ(delete_records(client, "t", 2), refused(ErrorCode::OFFSET_OUT_OF_RANGE));
  EXPECT_EQ(delete_records(client, "t", -2), refused(ErrorCode::OFFSET_OUT_OF_RANGE));
  EXPECT_EQ(delete_records(client, "none", 0), refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
  EXPECT_EQ(delete_records(client, "__cluster_metadata", 0),
            refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
  EXPECT_EQ(delete_records(client, "__consumer_offsets", 0),
            refused(ErrorCode::INVALID_TOPIC_EXCEPTION));
  EXPECT_EQ(delete_records(client, "c", 99), refused(ErrorCode::POLICY_VIOLATION));
  EXPECT_EQ(delete_records(client, "b", 1), std::pair(ErrorCode::NONE, Offset{1}));
}

// Every change is followed by a snapshot, after which the log begins behind it.
TEST(LogCleanup, MetadataSnapshotsLoseNothingThroughKills) {
  BrokerProcess broker(Settings{{"metadata.log.max.record.bytes.between.snapshots", "1"}});
  RawClient client(broker.port());
  std::vector<Topic> topics;
  for (int i = 0; i < 8; ++i) {
    topics.push_back(create_topic(client, "t" + std::to_string(i), 1 + i % 3));
    put(client, topics.back(), {"k=" + std::to_string(i)});
    set_topic_configs(client, topics.back().name,
                      {{"retention.ms", std::to_string(1'000'000 + i)}});
    set_group_configs(client, "g", {{"share.session.timeout.ms", std::to_string(50'000 + i)}});
    if (i % 2 == 0) continue;
    broker.crash();
    client = RawClient(broker.port());
    for (const Topic& topic : topics) {
      const Topic found = find_topic(client, topic.name);
      EXPECT_EQ(found.id, topic.id);
      EXPECT_EQ(found.partitions, topic.partitions);
      EXPECT_EQ(all(client, topic).size(), 1u);
    }
  }
  const auto snapshots = [&broker] {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(broker.directory() + "/__cluster_metadata-0")) {
      if (entry.path().extension() == ".checkpoint") names.push_back(entry.path().filename());
    }
    return names;
  };
  poll_until("one snapshot is left", [&] { return snapshots().size() == 1; });
  EXPECT_EQ(broker.stop(), 0);
  broker.start();
}

// A fetch below the new log start that waits for more bytes need not wait for them any more.
TEST(LogCleanup, AWaitingFetchSeesTheNewLogStart) {
  BrokerProcess broker;
  RawClient client(broker.port());
  RawClient other(broker.port());
  const Topic topic = create_topic(client, "t");
  for (int i = 0; i < 4; ++i) put(client, topic, {"k=1"});
  protocol::FetchRequest request;
  request.max_wait_ms = 60'000;
  request.min_bytes = 1 << 20;
  auto& asked = request.topics.emplace_back();
  asked.topic = TopicName("t");
  auto& part = asked.partitions.emplace_back();
  part.fetch_offset = 1;
  part.partition_max_bytes = 10 << 20;
  const Pending pending = client.send(request, 12);
  EXPECT_EQ(delete_records(other, "t", 3), std::pair(ErrorCode::NONE, Offset{3}));
  auto answer = client.receive<protocol::FetchResponse>(pending);
  const auto& data = answer.message.responses.at(0).partitions.at(0);
  EXPECT_EQ(data.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
}

TEST(LogCleanup, EpochsEndWhereTheirRecordsDo) {
  BrokerProcess broker;
  RawClient client(broker.port());
  const Topic topic = create_topic(client, "t");
  put(client, topic, {"k=1", "k=2"});
  const auto ask = [&client](int32_t epoch, int32_t current, const std::string& name) {
    protocol::OffsetForLeaderEpochRequest request;
    auto& asked = request.topics.emplace_back();
    asked.topic = TopicName(name);
    auto& part = asked.partitions.emplace_back();
    part.leader_epoch = epoch;
    part.current_leader_epoch = current;
    auto answer = client.call<protocol::OffsetForLeaderEpochResponse>(request, 4);
    const auto& result = answer.message.topics.at(0).partitions.at(0);
    return std::tuple(result.error_code, result.leader_epoch, result.end_offset);
  };
  EXPECT_EQ(ask(0, -1, "t"), std::tuple(ErrorCode::NONE, 0, Offset{2}));
  EXPECT_EQ(ask(0, 0, "t"), std::tuple(ErrorCode::NONE, 0, Offset{2}));
  EXPECT_EQ(ask(7, -1, "t"), std::tuple(ErrorCode::NONE, -1, Offset{-1}));
  EXPECT_EQ(ask(0, 1, "t"), std::tuple(ErrorCode::UNKNOWN_LEADER_EPOCH, -1, Offset{-1}));
  EXPECT_EQ(ask(0, -2, "t"), std::tuple(ErrorCode::FENCED_LEADER_EPOCH, -1, Offset{-1}));
  EXPECT_EQ(ask(0, -1, "x"), std::tuple(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, -1, Offset{-1}));
}

}  // namespace
}  // namespace ackord::integration
