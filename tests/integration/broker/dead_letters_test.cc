// Dead letters (KIP-1191) of a broker that is killed (SIGKILL) while it writes them: every record
// whose rejection was answered has its letter in the end, perhaps twice, and is delivered no more.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/share_member.h"

namespace ackord::integration {
namespace {

std::set<std::string> letters(RawClient& client, const Topic& queue) {
  std::set<std::string> offsets;
  for (const ReadRecord& letter : read_records(client, queue, 0, Isolation::kReadUncommitted)) {
    for (const auto& [name, value] : letter.headers)
      if (name == "__dlq.errors.offset") offsets.insert(value.value_or(""));
  }
  return offsets;
}

TEST(DeadLetters, NoneIsLostWhenTheBrokerIsKilled) {
  constexpr int kRounds = 6;
  constexpr int kRecords = 20;
  BrokerProcess broker;
  RawClient client(broker.port());
  const Topic topic = create_topic(client, "work");
  const Topic queue =
      create_topic(client, "dlq.work", 1, {{"errors.deadletterqueue.group.enable", "true"}});
  set_group_configs(client, "g",
                    {{"errors.deadletterqueue.topic.name", "dlq.work"},
                     {"errors.deadletterqueue.copy.record.enable", "true"},
                     {"share.auto.offset.reset", "earliest"}});
  std::set<std::string> rejected;
  for (int round = 0; round < kRounds; ++round) {
    const Offset first = produce(client, topic, 0, numbered_values(kRecords));
    ShareMember member(broker.port(), "g");
    member.join({topic});
    member.acquire(topic, 0, kRecords);
    for (Offset at = first; at < first + kRecords; ++at) {
      const bool reject = at % 2 == 0;
      ASSERT_EQ(member.acknowledge(topic, 0, at, at, reject ? kReject : kAccept), ErrorCode::NONE);
      if (reject) rejected.insert(std::to_string(at));
    }
    // From at once to when the letters are all there.
    std::this_thread::sleep_for(std::chrono::microseconds(round * 700));
    broker.crash();
    client = RawClient(broker.port());
    const std::string end = std::to_string(first + kRecords);
    await_share_state(client, "g", topic, 0, end + ".." + end + ":");
  }
  EXPECT_EQ(letters(client, queue), rejected);
  for (const ReadRecord& letter : read_records(client, queue, 0, Isolation::kReadUncommitted))
    EXPECT_TRUE(letter.value.has_value()) << "copied";
}

}  // namespace
}  // namespace ackord::integration
