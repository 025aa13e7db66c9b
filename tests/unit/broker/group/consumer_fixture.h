// Consumer groups on a ShardDriver: topics that exist, heartbeats, and what is expected of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/group/consumer_records.h"
#include "broker/metadata/image.h"
#include "tests/unit/broker/group/shard_driver.h"

namespace ackord::test {

// The fields of one heartbeat; what is nothing is not said.
struct ConsumerBeat {
  std::optional<std::vector<std::string>> topics = {};
  std::optional<std::string> regex = {};
  std::optional<std::string> instance = {};
  std::optional<std::string> assignor = {};
  std::optional<group::Assignment> owned = {};
  int32_t rebalance_ms = -1;
};

class ConsumerFixture : public ::testing::Test {
 protected:
  using Beat = ConsumerBeat;

  ConsumerFixture() { make_topic(1, 2); }

  void make_topic(uint8_t n, int32_t partitions) {
    auto made = std::make_shared<metadata::TopicImage>();
    made->name = TopicName("t" + std::to_string(n));
    made->id = topic_id(n);
    made->partitions = partitions;
    image_.set_version(image_.version() + 1);
    image_.put_topic(std::move(made));
  }
  void remove_topic(uint8_t n) { image_.remove_topic(topic_id(n)); }
  group::TopicView topics() const { return {image_, std::nullopt}; }
  int64_t hash(std::vector<uint8_t> numbers) const {
    std::vector<group::SubscribedTopic> there;
    for (const uint8_t n : numbers) {
      const auto known = image_.topic(topic_id(n));
      there.push_back({known->name, known->id, known->partitions});
    }
    return group::metadata_hash(there);
  }

  group::ConsumerHeartbeatOp op(std::string member, int32_t epoch, const Beat& beat = {}) const {
    group::ConsumerHeartbeat heartbeat;
    heartbeat.group = GroupId("g");
    heartbeat.member = std::move(member);
    heartbeat.epoch = epoch;
    heartbeat.instance = beat.instance;
    heartbeat.rebalance_timeout_ms = beat.rebalance_ms;
    if (beat.topics) {
      heartbeat.topics.emplace();
      for (const std::string& topic : *beat.topics) heartbeat.topics->emplace_back(topic);
    }
    heartbeat.regex = beat.regex;
    heartbeat.assignor = beat.assignor;
    if (beat.owned) heartbeat.owned = group::to_topic_partitions(*beat.owned);
    heartbeat.client_id = "c";
    heartbeat.client_host = "/127.0.0.1";
    return {std::move(heartbeat), topics(), limits_};
  }
  group::ConsumerHeartbeatDecision beat(std::string member, int32_t epoch, const Beat& beat = {}) {
    return driver_.run(op(std::move(member), epoch, beat));
  }
  // Joins with t1 unless the beat says otherwise.
  group::ConsumerHeartbeatDecision join(std::string member, Beat how = {}) {
    if (!how.topics && !how.regex) how.topics = {"t1"};
    if (how.rebalance_ms == -1) how.rebalance_ms = 30000;
    how.owned = group::Assignment();
    return beat(std::move(member), 0, how);
  }

  const group::ConsumerGroup& group() const { return *driver_.shard().consumer_group("g"); }
  // Ticks, and has those fenced whose time is over.
  void tick() {
    const auto reply = driver_.run(coordinator::Tick{});
    for (const auto& [id, members] : reply.fence_consumers)
      driver_.run(group::FenceConsumers{id, {members.begin(), members.end()}, {topics(), limits_}});
  }

  static group::ConsumerMember member(group::Names topics, int32_t epoch = 0, int32_t previous = -1,
                                      group::OwnedPartitions assigned = {}) {
    group::ConsumerMember m;
    m.client_id = "c";
    m.client_host = "/127.0.0.1";
    m.topics = std::move(topics);
    m.rebalance_timeout_ms = 30000;
    m.epoch = epoch;
    m.previous_epoch = previous;
    m.assigned = std::move(assigned);
    return m;
  }
  static group::OwnedPartitions since(int32_t epoch, uint8_t n,
                                      std::initializer_list<int32_t> partitions) {
    group::OwnedPartitions out;
    for (const int32_t partition : partitions) out[{topic_id(n), partition}] = epoch;
    return out;
  }
  static std::vector<group::TopicPartitions> lists(uint8_t n, std::vector<int32_t> partitions) {
    return {{topic_id(n), std::move(partitions)}};
  }

  ShardDriver driver_;
  metadata::MetadataImage image_;
  group::ConsumerGroupLimits limits_;
};

}  // namespace ackord::test
