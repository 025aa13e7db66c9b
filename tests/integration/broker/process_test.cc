// The process itself: how it ends, and what it says when it cannot start.
#include <gtest/gtest.h>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

constexpr int kCannotStart = 1;
constexpr int kBadConfiguration = 2;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Process, EndsWith0AfterSigterm) {
  BrokerProcess broker;
  EXPECT_EQ(broker.stop(), 0);
  broker.start();
  EXPECT_EQ(broker.stop(), 0);
}

// kill(2) takes the pid -1 for every process of the machine.
TEST(Process, OneThatHasEndedIsNotSignalled) {
  BrokerProcess broker;
  broker.kill9();
  EXPECT_THROW(broker.stop(), std::logic_error);
  EXPECT_THROW(broker.kill9(), std::logic_error);
}

// Who is answered by one listener finds the others: they may be listed in its answer.
TEST(Process, ListensEverywhereBeforeItAnswers) {
  Surroundings surroundings;
  for (int i = 0; i < 50; ++i) {
    const uint16_t port = free_port();
    surroundings.proxied.push_back({port, port});
  }
  BrokerProcess broker({}, surroundings);
  for (auto one = surroundings.proxied.rbegin(); one != surroundings.proxied.rend(); ++one)
    EXPECT_NO_THROW(RawClient client(one->port)) << one->port;
}

TEST(Process, StopsWhileClientsWait) {
  BrokerProcess broker;
  RawClient client(broker.port());
  const Topic topic = create_topic(client, "t");
  produce(client, topic, 0, {"v"});
  RawClient idle(broker.port());
  EXPECT_EQ(broker.stop(), 0);
}

TEST(Process, APortThatIsTaken) {
  BrokerProcess broker;
  test::TempDirectory other;
  const Ended ended = run_ackord({"--set", "listeners=PLAINTEXT://" + broker.bootstrap(), "--set",
                                  "log.dirs=" + (other / "data")});
  EXPECT_EQ(ended.status, kCannotStart) << ended.output;
  EXPECT_TRUE(contains(ended.output, std::to_string(broker.port()))) << ended.output;
}

TEST(Process, ADirectoryThatAnotherProcessHas) {
  BrokerProcess broker;
  const Ended ended =
      run_ackord({"--set", "listeners=PLAINTEXT://127.0.0.1:" + std::to_string(free_port()),
                  "--set", "log.dirs=" + broker.directory()});
  EXPECT_EQ(ended.status, kCannotStart) << ended.output;
  EXPECT_TRUE(contains(ended.output, broker.directory())) << ended.output;
  // The first one is not disturbed.
  RawClient client(broker.port());
  EXPECT_EQ(produce(client, create_topic(client, "t"), 0, {"v"}), 0);
}

TEST(Process, AnUnknownConfig) {
  const Ended ended = run_ackord({"--set", "num.partitons=3"});
  EXPECT_EQ(ended.status, kBadConfiguration) << ended.output;
  EXPECT_TRUE(contains(ended.output, "num.partitons")) << ended.output;
  EXPECT_TRUE(contains(ended.output, "num.partitions")) << ended.output;
}

TEST(Process, AValueOutOfItsRange) {
  const Ended ended = run_ackord({"--set", "num.partitions=0"});
  EXPECT_EQ(ended.status, kBadConfiguration) << ended.output;
  EXPECT_TRUE(contains(ended.output, "num.partitions")) << ended.output;
}

TEST(Process, AnUnknownOption) {
  EXPECT_EQ(run_ackord({"--no-such-option"}).status, kBadConfiguration);
}

}  // namespace
}  // namespace ackord::integration
