// A directory that Ackord has made goes to a stock Kafka after one command: UpdateFeatures of
// share.version to 2. Kafka knows no higher level and would not even read one in the log.
#include <gtest/gtest.h>

#include <filesystem>

#include "protocol/generated/update_features_request.h"
#include "protocol/generated/update_features_response.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/kafka_peer.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

constexpr int8_t kSafeDowngrade = 2;
constexpr int16_t kHighestOfKafka = 2;

ErrorCode lower_share_version(RawClient& client) {
  protocol::UpdateFeaturesRequest request;
  auto& update = request.feature_updates.emplace_back();
  update.feature = String("share.version");
  update.max_version_level = kHighestOfKafka;
  update.upgrade_type = kSafeDowngrade;
  return client.call<protocol::UpdateFeaturesResponse>(request, 2).message.error_code;
}

TEST(KafkaTakesBack, ADirectoryOfAckordAfterOneCommand) {
  BrokerProcess broker;
  RawClient client(broker.port());
  const Topic topic = create_topic(client, fresh_name("work"), 1);
  produce(client, topic, 0, numbered_values(20));
  ShareMember member(broker.port(), fresh_name("workers"));
  set_group_configs(client, member.group(), {{"share.auto.offset.reset", "earliest"}});
  member.join({topic});
  member.acquire(topic, 0, 20);
  TxnProducer producer(broker.port(), fresh_name("stages"), TxnVersion::k2);
  producer.init(900000);
  const Staging staging{topic, 0, 0, 9};
  require_none(producer.enlist(member.group(), {staging}).error, "AddShareAcksToTxn");
  ASSERT_EQ(producer.stage(member, {staging}), staged_ok());

  // Not while something is staged; and what was refused has changed nothing.
  EXPECT_EQ(lower_share_version(client), ErrorCode::INVALID_UPDATE_VERSION);
  const Staging more{topic, 0, 10, 11};
  EXPECT_EQ(producer.stage(member, {more}), staged_ok());
  require_none(producer.commit(), "commit");
  member.close_session();
  require_none(member.leave(), "leave");
  poll_until("nothing is staged", [&] {
    const ErrorCode code = lower_share_version(client);
    if (code == ErrorCode::INVALID_UPDATE_VERSION) return false;
    require_none(code, "UpdateFeatures");
    return true;
  });
  ASSERT_EQ(broker.stop(), 0);

  Kafka kafka(std::filesystem::path(broker.directory()).parent_path());
  if (kafka.status() == Kafka::kNone) GTEST_SKIP() << "no Apache Kafka";
  ASSERT_EQ(kafka.status(), 0);
  RawClient reader(kafka.port());
  poll_until("the partition is led", [&] {
    try {
      return list_offset(reader, topic.name, 0, kLatest).offset == 20;
    } catch (const std::runtime_error&) {
      return false;
    }
  });
  EXPECT_EQ(find_topic(reader, topic.name).id, topic.id);
  // What was acknowledged in the transaction is not delivered again.
  ShareMember later(kafka.port(), member.group());
  later.join({topic});
  const std::vector<OffsetRange> left = later.acquire(topic, 0, 8);
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.front().first, 12);
}

}  // namespace
}  // namespace ackord::integration
