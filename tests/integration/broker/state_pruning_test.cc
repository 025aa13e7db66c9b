// `__share_group_state` stays small, whatever is acknowledged, and loses nothing by it.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

constexpr int kRecords = 500;

class StatePruning : public ::testing::Test {
 protected:
  uint64_t state_bytes() const {
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(broker_.directory())) {
      const std::string path = file.path();
      if (path.ends_with(".log") && path.find("__share_group_state-") != std::string::npos &&
          path.find("-delete") == std::string::npos)
        bytes += file.file_size();
    }
    return bytes;
  }
  // One update per record.
  void work_through(ShareMember& member, const Topic& topic) {
    RawClient client(broker_.port());
    produce(client, topic, 0, numbered_values(kRecords));
    for (const OffsetRange& range : member.acquire(topic, 0, kRecords)) {
      for (Offset at = range.first; at <= range.last; ++at)
        require_none(member.acknowledge(topic, 0, at, at, kAccept), "accept");
    }
  }

  // A segment holds some hundred updates.
  BrokerProcess broker_{{{"share.coordinator.state.topic.num.partitions", "1"},
                         {"share.coordinator.state.topic.segment.bytes", "16384"},
                         {"share.coordinator.state.topic.prune.interval.ms", "100"},
                         {"share.coordinator.cold.partition.snapshot.interval.ms", "100"},
                         {"share.coordinator.snapshot.update.records.per.snapshot", "20"},
                         {"log.segment.delete.delay.ms", "0"}}};
};

TEST_F(StatePruning, OldRecordsGoAndACrashLosesNothing) {
  RawClient client(broker_.port());
  const Topic topic = create_topic(client, fresh_name("busy"));
  const Topic idle = create_topic(client, fresh_name("idle"));
  ShareMember member(broker_.port(), fresh_name("workers"));
  set_group_configs(client, member.group(), {{"share.auto.offset.reset", "earliest"}});
  member.join({topic, idle});
  produce(client, idle, 0, numbered_values(10));
  member.acquire(idle, 0, 10);
  require_none(member.acknowledge(idle, 0, 3, 5, kAccept), "accept");
  require_none(member.acknowledge(idle, 0, 7, 7, kRelease), "release");
  uint64_t written = 0;
  for (int round = 0; round < 3; ++round) {
    work_through(member, topic);
    written += kRecords * 80;  // no update is shorter
    poll_until("the old segments are gone", [&] { return state_bytes() < 3 * 16384; });
  }
  EXPECT_GT(written, 6u * 16384) << "it would not fit otherwise";
  broker_.crash();
  RawClient after(broker_.port());
  EXPECT_EQ(share_state(after, member.group(), topic), "1500..1500:");
  EXPECT_EQ(share_state(after, member.group(), idle),
            "0..7: 0-2 AVAILABLE x0, 3-5 ACKNOWLEDGED x1, 6-6 AVAILABLE x0, 7-7 AVAILABLE x1");
}

// What an open transaction holds is there when it ends, however much has been pruned meanwhile.
TEST_F(StatePruning, AnOpenTransactionIsNotPruned) {
  RawClient client(broker_.port());
  const Topic topic = create_topic(client, fresh_name("busy"));
  const Topic staged = create_topic(client, fresh_name("staged"));
  ShareMember member(broker_.port(), fresh_name("workers"));
  set_group_configs(client, member.group(), {{"share.auto.offset.reset", "earliest"}});
  member.join({topic, staged});
  work_through(member, topic);
  produce(client, staged, 0, numbered_values(10));
  member.acquire(staged, 0, 10);
  TxnProducer producer(broker_.port(), fresh_name("stages"), TxnVersion::k2);
  producer.init(900000);
  const Staging staging{staged, 0, 2, 4, kAccept};
  require_none(producer.enlist(member.group(), {staging}).error, "AddShareAcksToTxn");
  ASSERT_EQ(producer.stage(member, {staging}), staged_ok());
  work_through(member, topic);
  broker_.crash();
  producer.reconnect();
  require_none(producer.commit(), "commit");
  RawClient after(broker_.port());
  await_share_state(after, member.group(), staged, 0,
                    "0..4: 0-1 AVAILABLE x0, 2-4 ACKNOWLEDGED x1");
}

}  // namespace
}  // namespace ackord::integration
