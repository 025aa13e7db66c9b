// Kafka's kafka-share-groups.sh on share groups of Ackord: it lists, describes, resets and deletes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/kafka_reads/kafka_tool.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/share_member.h"

namespace ackord::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ShareGroupsTool : public ::testing::Test {
 protected:
  std::string tool(const std::string& options) {
    ToolRun run = run_kafka_tool("share-groups " + broker_.bootstrap() + " " + options);
    no_kafka_ = no_kafka_ || run.status == ToolRun::kNoKafka;
    return run.output;
  }

  BrokerProcess broker_;
  bool no_kafka_ = false;
};

TEST_F(ShareGroupsTool, SeesAndAdministersAGroup) {
  RawClient client(broker_.port());
  const Topic topic = create_topic(client, "work", 2);
  for (int32_t partition = 0; partition < 2; ++partition)
    produce(client, topic, partition, numbered_values(10));
  ShareMember member(broker_.port(), "workers");
  set_group_configs(client, "workers", {{"share.auto.offset.reset", "earliest"}});
  member.join({topic});
  member.acquire(topic, 0, 10);
  require_none(member.acknowledge(topic, 0, 0, 3, kAccept), "accept");
  require_none(member.acknowledge(topic, 0, 4, 4, kAccept), "accept");

  const std::string listed = tool("--list");
  if (no_kafka_) GTEST_SKIP() << "no Apache Kafka";
  EXPECT_THAT(listed, HasSubstr("workers"));
  EXPECT_THAT(tool("--describe --group workers"), ContainsRegex("workers +work +0 +4 +5"));
  EXPECT_THAT(tool("--describe --group workers --members"),
              ContainsRegex("workers +" + member.id() + " .* 2 +work:0,1"));
  EXPECT_THAT(tool("--describe --group workers --state"), ContainsRegex("Stable +1"));
  EXPECT_THAT(tool("--reset-offsets --group workers --topic work --to-earliest --execute"),
              HasSubstr("is not empty"));
  EXPECT_THAT(tool("--delete --group workers"), HasSubstr("not EMPTY"));

  member.close_session();
  require_none(member.leave(), "leave");
  EXPECT_THAT(tool("--reset-offsets --group workers --topic work:0 --to-latest --execute"),
              ContainsRegex("workers +work +0 +10"));
  EXPECT_THAT(tool("--describe --group workers"), ContainsRegex("workers +work +0 +10 +0"));
  EXPECT_THAT(tool("--delete-offsets --group workers --topic work"),
              ContainsRegex("work +Successful"));
  EXPECT_THAT(tool("--describe --group workers"), HasSubstr("no offset information"));
  EXPECT_THAT(tool("--delete --group workers"), HasSubstr("was successful"));
  EXPECT_THAT(tool("--list"), Not(HasSubstr("workers")));
}

}  // namespace
}  // namespace ackord::integration
