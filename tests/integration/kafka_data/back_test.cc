// The way back: a directory of Kafka's that Ackord has served and written to is opened by a Kafka
// again, which serves all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "protocol/generated/create_acls_request.h"
#include "protocol/generated/create_acls_response.h"
#include "tests/integration/kafka_data/kafka_data.h"
#include "tests/integration/support/consumer_member.h"
#include "tests/integration/support/kafka_peer.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

namespace json = boost::json;

// What there is to compare, by partition and by group.
std::map<std::string, Lines> everything(KafkaData& data, RawClient& client, const Topic& added) {
  std::map<std::string, Lines> all;
  const auto add = [&](const std::string& topic, int32_t partition) {
    all[topic + "-" + std::to_string(partition)] = data.records(client, topic, partition);
  };
  for (const auto& [name, topic] : object_in(data.expected(), "topics")) {
    for (const json::value& partition : array_in(topic.as_object(), "partitions"))
      add(std::string(name), static_cast<int32_t>(number(partition.as_object(), "partition")));
  }
  add(added.name, 0);
  all["acls"] = acls(client);
  for (const auto& [name, group] : object_in(data.expected(), "groups")) {
    const bool share = text(group.as_object(), "type") == "Share";
    Lines lines = share ? share_offsets(client, std::string(name))
                        : committed_offsets(client, std::string(name), true);
    std::sort(lines.begin(), lines.end());
    all["group " + std::string(name)] = std::move(lines);
  }
  return all;
}

void create_acl(RawClient& client, const std::string& topic, const std::string& principal) {
  protocol::CreateAclsRequest request;
  auto& acl = request.creations.emplace_back();
  acl.resource_type = 2;
  acl.resource_name = String(topic);
  acl.resource_pattern_type = 4;
  acl.principal = String(principal);
  acl.host = String("10.9.8.7");
  acl.operation = 15;
  acl.permission_type = 2;
  const auto answer = client.call<protocol::CreateAclsResponse>(request, 3);
  require_none(answer.message.results.at(0).error_code, "CreateAcls");
}

// It answers before it leads its partitions.
void await_leaders(KafkaData& data, RawClient& client) {
  for (const auto& [name, topic] : object_in(data.expected(), "topics")) {
    for (const json::value& value : array_in(topic.as_object(), "partitions")) {
      const auto partition = static_cast<int32_t>(number(value.as_object(), "partition"));
      poll_until(std::string(name) + " is led", [&, topic_name = std::string(name)] {
        try {
          list_offset(client, topic_name, partition, kLatest);
          return true;
        } catch (const std::runtime_error&) {
          return false;
        }
      });
    }
  }
}

TEST(KafkaDataBack, KafkaServesWhatAckordWrote) {
  KafkaData data("clean");
  RawClient& ackord = data.client();
  const Topic added = create_topic(ackord, "added", 1);
  create_acl(ackord, "added", "User:erin");
  using protocol::Codec;
  for (const Codec codec : {Codec::kNone, Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd})
    produce(ackord, added, 0, numbered_values(20), codec);
  TxnProducer producer(data.broker().port(), "added-producer", TxnVersion::k2);
  producer.init();
  for (const bool commit : {true, false}) {
    require_none(producer.produce(added, 0, numbered_values(3)), "Produce");
    require_none(producer.end(commit), "EndTxn");
  }
  const Topic source = find_topic(ackord, "share-src");
  ShareMember member(data.broker().port(), "sg1");
  member.join({source});
  member.acquire(source, 0, 12);
  require_none(member.acknowledge(source, 0, 5, 5, kAccept), "ShareAcknowledge");
  member.close_session();
  require_none(member.leave(), "leave");
  ConsumerMember consumer(data.broker().port(), "added-consumers", "added-consumer");
  consumer.join(added, {0});
  const int32_t epoch = consumer.epoch();
  for (const auto& [id, expected] : object_in(data.expected(), "transactions"))
    await_transaction_state(ackord, std::string(id), text(expected.as_object(), "state"));
  const auto written = everything(data, ackord, added);
  ASSERT_EQ(data.broker().stop(), 0);

  std::string settings;
  for (const auto& [name, value] : with_acls()) settings += " '" + name + "=" + value + "'";
  Kafka kafka(data.directory().path(), settings);
  if (kafka.status() == Kafka::kNone) GTEST_SKIP() << "no Apache Kafka";
  ASSERT_EQ(kafka.status(), 0);
  RawClient client(kafka.port());
  await_leaders(data, client);
  const auto read = everything(data, client, added);
  ASSERT_EQ(read.size(), written.size());
  for (const auto& [what, lines] : written) EXPECT_EQ(read.at(what), lines) << what;
  // A member of a consumer group goes on where it was: the group has not moved.
  consumer.move_to(kafka.port());
  poll_until("ConsumerGroupHeartbeat", [&] {
    const ErrorCode error = consumer.heartbeat();
    if (is_starting(error)) return false;
    require_none(error, "ConsumerGroupHeartbeat");
    return true;
  });
  EXPECT_EQ(consumer.epoch(), epoch);
  EXPECT_EQ(find_topic(client, "added").id, added.id);
  EXPECT_EQ(produce(client, added, 0, {"by Kafka again"}), 108);
}

}  // namespace
}  // namespace ackord::integration
