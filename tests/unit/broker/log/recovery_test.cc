#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
void spit(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class RecoveryTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override { ASSERT_TRUE(start().has_value()); }
  void add(const std::string& value, Seq seq = {}) {
    ASSERT_EQ(append(make_batch({value}, seq)).error, ErrorCode::NONE);
    settle();
  }
  void restart() {
    stop();
    ASSERT_TRUE(start().has_value());
  }
  void restart_after_crash() {
    crash();
    auto started = start();
    ASSERT_TRUE(started.has_value()) << started.error().message;
  }
};

TEST_F(RecoveryTest, ACleanStopKeepsEverythingAndScansNothing) {
  for (int i = 0; i < 500; ++i) add("v" + std::to_string(i));
  stop();
  EXPECT_TRUE(files.exists(directory / ".kafka_cleanshutdown"));
  const int reads = files.faults().reads;
  ASSERT_TRUE(start().has_value());
  EXPECT_LT(files.faults().reads - reads, 25);
  EXPECT_FALSE(files.exists(directory / ".kafka_cleanshutdown"));
  EXPECT_EQ(partition->high_watermark(), 500);
  EXPECT_EQ(values(0).size(), 500u);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].topic_id, topic_id());
}

TEST_F(RecoveryTest, TheLastBatchIsCutWhereverItIsTorn) {
  add("first");
  add("second");
  crash();
  const std::string whole = slurp(active_path());
  const size_t last = whole.size() / 2 + 0;
  const size_t size = make_batch({"second"}).size();
  const size_t begin = whole.size() - size;
  ASSERT_LT(begin, whole.size());
  ASSERT_GT(last, 0u);
  const std::string points = directory / "recovery-point-offset-checkpoint";
  for (size_t cut = begin; cut < whole.size(); ++cut) {
    for (const char* kind : {"cut", "garbage", "zeros"}) {
      std::string torn = whole.substr(0, cut);
      if (kind[0] == 'g') torn += std::string(whole.size() - cut, '\x5a');
      if (kind[0] == 'z') torn += std::string(whole.size() - cut + 5000, '\0');
      if (torn == whole) continue;
      // A tail of zeros may be what the batch ends with.
      if (torn.substr(0, whole.size()) == whole) continue;
      spit(active_path(), torn);
      spit(points, "0\n1\nt 0 1\n");
      auto started = start();
      ASSERT_TRUE(started.has_value()) << kind << " " << cut << ": " << started.error().message;
      EXPECT_EQ(partition->log_end_offset(), 1) << kind << " " << cut;
      EXPECT_THAT(values(0), ElementsAre("first"));
      EXPECT_EQ(std::filesystem::file_size(active_path()), begin);
      add("third");
      EXPECT_THAT(values(0), ElementsAre("first", "third"));
      crash();
    }
  }
}

TEST_F(RecoveryTest, EveryFlippedByteOfTheLastBatchCutsIt) {
  add("first");
  add("second");
  crash();
  const std::string whole = slurp(active_path());
  const size_t begin = whole.size() - make_batch({"second"}).size();
  for (size_t at = begin; at < whole.size(); ++at) {
    // The leader epoch is outside of the checksum, as in Kafka.
    if (at >= begin + 12 && at < begin + 16) continue;
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x80);
    spit(active_path(), bad);
    spit(directory / "recovery-point-offset-checkpoint", "0\n1\nt 0 1\n");
    // A base offset that only grew is a gap, which compacted logs have, so nothing can be said
    // against it.
    ASSERT_TRUE(start().has_value());
    EXPECT_TRUE(partition->log_end_offset() == 1 || (at >= begin && at < begin + 8)) << at - begin;
    crash();
  }
}

TEST_F(RecoveryTest, ALostPageInTheMiddleCutsThereAndTakesWhatFollows) {
  for (int i = 0; i < 300; ++i) ASSERT_EQ(append(make_batch({"v"})).error, ErrorCode::NONE);
  crash();
  std::string bytes = slurp(active_path());
  bytes.replace(8192, 4096, std::string(4096, '\0'));
  spit(active_path(), bytes);
  ASSERT_TRUE(start().has_value());
  const size_t batch = make_batch({"v"}).size();
  EXPECT_EQ(partition->log_end_offset(), static_cast<Offset>(8192 / batch));
  EXPECT_EQ(values(0).size(), 8192 / batch);
}

TEST_F(RecoveryTest, DamageBelowTheRecoveryPointStopsTheStart) {
  add("first");
  add("second");
  restart();
  add("third");
  crash();
  std::string bytes = slurp(active_path());
  bytes[bytes.size() / 3 + 70] = static_cast<char>(bytes[bytes.size() / 3 + 70] ^ 1);
  spit(active_path(), bytes);
  auto started = start();
  ASSERT_TRUE(started.has_error());
  EXPECT_THAT(started.error().message, HasSubstr("00000000000000000000.log"));
  EXPECT_THAT(started.error().message, HasSubstr("offset 1"));
}

TEST_F(RecoveryTest, ALogShorterThanItsRecoveryPointStopsTheStart) {
  add("first");
  add("second");
  restart();
  crash();
  spit(active_path(), "");
  auto started = start();
  ASSERT_TRUE(started.has_error());
  EXPECT_THAT(started.error().message, HasSubstr("durable up to 2"));
}

TEST_F(RecoveryTest, AnUncleanStartReadsOnlyTheActiveSegment) {
  config.segment_bytes = 2000;
  partition->configure(config);
  for (int i = 0; i < 100; ++i) add("v");
  crash();
  // Damage in a sealed segment is below the recovery point, and is not even seen.
  std::string bytes = slurp(active_path());
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  spit(active_path(), bytes);
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(partition->high_watermark(), 100);
}

TEST_F(RecoveryTest, ARollThatWasNotDurableIsCutInTheOlderSegment) {
  config.segment_bytes = 200;
  partition->configure(config);
  add("first");
  append(make_batch({"second"}));
  append(make_batch({"third"}));  // in a new segment; neither is synced
  crash();
  ASSERT_TRUE(files.exists(active_path(2)));
  std::string bytes = slurp(active_path(0));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  spit(active_path(0), bytes);
  ASSERT_TRUE(start().has_value());
  EXPECT_FALSE(files.exists(active_path(2)));
  EXPECT_THAT(values(0), ElementsAre("first"));
}

// The file has the length that it had when it was last synced.
TEST_F(RecoveryTest, ASealedSegmentThatHasLostItsEndIsCut) {
  config.segment_bytes = 200;
  partition->configure(config);
  add("first");
  const auto synced = std::filesystem::file_size(active_path(0));
  append(make_batch({"second"}));
  append(make_batch({"third"}));  // in a new segment; neither is synced
  crash();
  ASSERT_TRUE(files.exists(active_path(2)));
  std::filesystem::resize_file(active_path(0), synced);
  const auto started = start();
  ASSERT_TRUE(started.has_value()) << started.error().message;
  EXPECT_FALSE(files.exists(active_path(2)));
  EXPECT_THAT(values(0), ElementsAre("first"));
  add("fourth");
  EXPECT_THAT(values(0), ElementsAre("first", "fourth"));
  restart_after_crash();
  EXPECT_THAT(values(0), ElementsAre("first", "fourth"));
}

// Another broker's compaction may have made the gap: nothing is removed for it.
TEST_F(RecoveryTest, AGapOfAnotherBrokerIsNotCut) {
  config.segment_bytes = 200;
  partition->configure(config);
  add("first");
  const auto synced = std::filesystem::file_size(active_path(0));
  append(make_batch({"second"}));
  append(make_batch({"third"}));
  crash();
  std::filesystem::resize_file(active_path(0), synced);
  std::filesystem::remove(directory / ".ackord_opened");
  const auto started = start();
  ASSERT_TRUE(started.has_error());
  EXPECT_THAT(started.error().message, HasSubstr("segment files are missing"));
  EXPECT_TRUE(files.exists(active_path(2)));
}

TEST_F(RecoveryTest, ACleanStopLeavesOnlyFilesOfKafkas) {
  add("first");
  EXPECT_TRUE(files.exists(directory / ".ackord_opened"));
  stop();
  EXPECT_FALSE(files.exists(directory / ".ackord_opened"));
}

TEST_F(RecoveryTest, WhatWasReadIsDurableBeforeTheStartEnds) {
  append(make_batch({"a"}));
  crash();
  const int before = files.faults().datasyncs[active_path()];
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(files.faults().datasyncs[active_path()], before + 1);
  EXPECT_EQ(partition->high_watermark(), 1);
}

TEST_F(RecoveryTest, ACutBeginsANewLeaderEpoch) {
  add("first");
  add("second");
  crash();
  EXPECT_EQ(slurp(path("leader-epoch-checkpoint")), "0\n1\n0 0\n");
  const std::string whole = slurp(active_path());
  spit(active_path(), whole.substr(0, whole.size() - 1));
  restart_after_crash();
  EXPECT_EQ(partition->leader_epoch(), 1);
  EXPECT_EQ(slurp(path("leader-epoch-checkpoint")), "0\n2\n0 0\n1 1\n");
  add("other");
  EXPECT_EQ(partition->end_offset_for_epoch(0), (std::pair<int32_t, Offset>(0, 1)));
  EXPECT_EQ(partition->end_offset_for_epoch(1), (std::pair<int32_t, Offset>(1, 2)));
  EXPECT_EQ(partition->end_offset_for_epoch(2), (std::pair<int32_t, Offset>(-1, -1)));
  restart();
  EXPECT_EQ(partition->leader_epoch(), 1);
}

TEST_F(RecoveryTest, LostIndexesAreRebuilt) {
  config.segment_bytes = 20'000;
  partition->configure(config);
  for (int i = 0; i < 700; ++i) add("value-" + std::to_string(i));
  const auto before = values(0);
  stop();
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const auto extension = entry.path().extension();
    if (extension == ".index" || extension == ".timeindex") std::filesystem::remove(entry.path());
  }
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(values(0), before);
  EXPECT_EQ(values(350).size(), 350u);
}

TEST_F(RecoveryTest, DuplicatesAreKnownAfterBothKindsOfStop) {
  for (int i = 0; i < 6; ++i) add("v", {9, 0, i});
  for (const bool clean : {true, false}) {
    if (clean)
      restart();
    else
      restart_after_crash();
    for (int i = 1; i < 6; ++i) {
      const auto again = append(make_batch({"v"}, {9, 0, i}));
      EXPECT_EQ(again.error, ErrorCode::NONE);
      EXPECT_EQ(again.base_offset, i);
    }
    EXPECT_EQ(append(make_batch({"v"}, {9, 0, 0})).error, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    EXPECT_EQ(partition->log_end_offset(), 6);
  }
}

TEST_F(RecoveryTest, ALostSnapshotIsReplayedFromTheLog) {
  config.segment_bytes = 500;
  partition->configure(config);
  for (int i = 0; i < 30; ++i) add("v", {9, 0, i});
  begin(4, 0, 0, "open");
  settle();
  stop();
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() == ".snapshot") spit(entry.path(), "damaged");
  }
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(append(make_batch({"v"}, {9, 0, 29})).base_offset, 29);
  EXPECT_EQ(partition->last_stable_offset(), 30);
  EXPECT_TRUE(partition->has_open_transaction({ProducerId(4), 0}));
}

TEST_F(RecoveryTest, RemovedPartitionsLeaveNothingToTheNextOfTheirName) {
  for (int i = 0; i < 5; ++i) add("v");
  core->run(partition->delete_records(3));
  auto waiting = partition;
  ASSERT_TRUE(core->run(service->remove(name)).has_value());
  EXPECT_EQ(service->find(name), nullptr);
  EXPECT_EQ(append(make_batch({"x"})).error, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  EXPECT_EQ(core->run(waiting->durable(100)).error().code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  ASSERT_TRUE(core->run(service->create(name, topic_id(8), config)).has_value());
  partition = service->find(name);
  EXPECT_EQ(partition->log_start_offset(), 0);
  EXPECT_EQ(partition->log_end_offset(), 0);
  EXPECT_EQ(core->run(service->create(name, topic_id(8), config)).has_error(), false);
  EXPECT_EQ(core->run(service->create(name, topic_id(9), config)).error().code,
            ErrorCode::INCONSISTENT_TOPIC_ID);
  for (int i = 0; i < 3; ++i) core->advance(60'000);
  EXPECT_THAT(*files.list(directory.path()), testing::Each(testing::Not(HasSubstr("-delete"))));
}

TEST_F(RecoveryTest, ASecondProcessIsKeptOut) {
  auto other = make_log_service(*environment, {.directory = directory.path()});
  ASSERT_TRUE(other->open().has_error());
}

TEST_F(RecoveryTest, TheDirectoryBelongsToItsClusterAndNode) {
  const std::string cluster = service->cluster_id();
  restart();
  EXPECT_EQ(service->cluster_id(), cluster);
  stop();
  core = std::make_unique<test::TestCore>();
  environment = std::make_unique<io::Environment>(io::Environment{{core->core()}, files, random});
  service = make_log_service(*environment, {.directory = directory.path(), .cluster_id = "other"});
  EXPECT_THAT(service->open().error().message, HasSubstr("cluster"));
  service = make_log_service(*environment, {.directory = directory.path(), .broker_id = 2});
  EXPECT_THAT(service->open().error().message, HasSubstr("node"));
}

}  // namespace
}  // namespace ackord::log
