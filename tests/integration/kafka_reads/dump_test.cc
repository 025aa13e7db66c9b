// What Ackord leaves on the disk, killed or stopped, read by Kafka's own DumpLogSegments with every
// decoder (tests/peers/kafka/dump): it has nothing to complain of.
#include <gtest/gtest.h>

#include <cstdio>
#include <thread>

#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "tests/integration/kafka_reads/kafka_tool.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/consumer_member.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

void fill_codecs(RawClient& client) {
  using protocol::Codec;
  const Topic topic = create_topic(client, fresh_name("codecs"), 2);
  for (const Codec codec :
       {Codec::kNone, Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    for (int32_t partition = 0; partition < 2; ++partition)
      produce(client, topic, partition, numbered_values(50), codec);
  }
}

// Several segments, each with entries in its indexes.
void fill_segments(RawClient& client) {
  const Topic topic =
      create_topic(client, fresh_name("segments"), 1,
                   {{"segment.bytes", "1048576"}, {"index.interval.bytes", "1024"}});
  for (int i = 0; i < 120; ++i)
    produce(client, topic, 0, {std::string(30000, static_cast<char>('a' + i % 26))});
}

void fill_transactions(uint16_t port, RawClient& client) {
  const Topic topic = create_topic(client, fresh_name("transactions"), 2);
  for (const TxnVersion version : {TxnVersion::k1, TxnVersion::k2}) {
    TxnProducer producer(port, fresh_name("ended"), version);
    producer.init();
    for (const bool commit : {true, false, true}) {
      require_none(producer.produce(topic, 0, numbered_values(3)), "Produce");
      require_none(producer.produce(topic, 1, numbered_values(2)), "Produce");
      require_none(producer.end(commit), "EndTxn");
    }
    TxnProducer open(port, fresh_name("open"), version);
    open.init(900000);
    require_none(open.produce(topic, 0, numbered_values(2)), "Produce");
  }
}

// Records acknowledged, released, rejected, staged and committed, staged and aborted, staged.
void fill_share_group(uint16_t port, RawClient& client) {
  const Topic topic = create_topic(client, fresh_name("work"), 1);
  produce(client, topic, 0, numbered_values(40));
  ShareMember member(port, fresh_name("workers"));
  set_group_configs(client, member.group(), {{"share.auto.offset.reset", "earliest"}});
  member.join({topic});
  member.acquire(topic, 0, 40);
  require_none(member.acknowledge(topic, 0, 0, 4, kAccept), "accept");
  require_none(member.acknowledge(topic, 0, 6, 7, kRelease), "release");
  require_none(member.acknowledge(topic, 0, 10, 11, kReject), "reject");
  TxnProducer producer(port, fresh_name("stages"), TxnVersion::k2);
  producer.init(900000);
  const auto stage = [&](Offset first, Offset last, int8_t type) {
    const Staging staging{topic, 0, first, last, type};
    require_none(producer.enlist(member.group(), {staging}).error, "AddShareAcksToTxn");
    EXPECT_EQ(producer.stage(member, {staging}), staged_ok());
  };
  stage(14, 16, kAccept);
  require_none(producer.commit(), "commit");
  stage(18, 19, kAccept);
  require_none(producer.abort(), "abort");
  stage(22, 23, kAccept);
  stage(26, 27, kReject);
}

// Two members, one of them static and away; a pattern; a group that is empty again.
void fill_consumer_groups(uint16_t port, RawClient& client) {
  const Topic topic = create_topic(client, fresh_name("consumed"), 3);
  const std::string group = fresh_name("consumers");
  ConsumerMember first(port, group, "first", "instance");
  first.join(topic, {0, 1, 2});
  ConsumerMember second(port, group, "second");
  std::thread letting_go([&] { first.await(topic, {0, 1}); });
  second.join(topic, {2});
  letting_go.join();
  require_none(first.leave(-2), "leave for a while");
  ConsumerMember by_pattern(port, fresh_name("consumers"), "third");
  by_pattern.join_by_pattern(topic.name + ".*", topic);
  ConsumerMember gone(port, fresh_name("consumers"), "fourth");
  gone.join(topic, {0, 1, 2});
  require_none(gone.leave(), "leave");
}

void fill_offsets_and_deleted(RawClient& client) {
  const Topic topic = create_topic(client, fresh_name("read"), 2);
  produce(client, topic, 0, numbered_values(5));
  protocol::OffsetCommitRequest request;
  request.group_id = GroupId(fresh_name("readers"));
  auto& asked = request.topics.emplace_back();
  asked.name = TopicName(topic.name);
  for (int32_t partition = 0; partition < 2; ++partition) {
    auto& one = asked.partitions.emplace_back();
    one.partition_index = partition;
    one.committed_offset = 3 + partition;
    one.committed_metadata = String("half way");
  }
  poll_until("OffsetCommit", [&] {
    auto answer = client.call<protocol::OffsetCommitResponse>(request, 8);
    const ErrorCode code = answer.message.topics.at(0).partitions.at(0).error_code;
    if (is_starting(code)) return false;
    require_none(code, "OffsetCommit");
    return true;
  });
  const Topic gone = create_topic(client, fresh_name("gone"), 2);
  produce(client, gone, 1, numbered_values(5));
  protocol::DeleteTopicsRequest removal;
  auto& one = removal.topics.emplace_back();
  one.name = TopicName(gone.name);
  auto answer = client.call<protocol::DeleteTopicsResponse>(removal, 6);
  require_none(answer.message.responses.at(0).error_code, "DeleteTopics");
}

void fill(uint16_t port) {
  RawClient client(port);
  fill_codecs(client);
  fill_segments(client);
  fill_transactions(port, client);
  fill_share_group(port, client);
  fill_consumer_groups(port, client);
  fill_offsets_and_deleted(client);
}

class KafkaReads : public ::testing::Test {
 protected:
  // False where there is no Kafka.
  bool dump() {
    const ToolRun run = run_kafka_tool("dump '" + broker_.directory() + "'");
    if (run.status == ToolRun::kNoKafka) return false;
    EXPECT_EQ(run.status, 0) << run.output;
    std::printf("%s", run.output.c_str());
    return true;
  }

  BrokerProcess broker_;
};

TEST_F(KafkaReads, WhatAKilledBrokerLeaves) {
  fill(broker_.port());
  broker_.kill9();
  if (!dump()) GTEST_SKIP() << "no Apache Kafka";
}

TEST_F(KafkaReads, WhatIsLeftAfterACrashAndACleanStop) {
  fill(broker_.port());
  broker_.crash();
  fill(broker_.port());
  ASSERT_EQ(broker_.stop(), 0);
  if (!dump()) GTEST_SKIP() << "no Apache Kafka";
}

}  // namespace
}  // namespace ackord::integration
