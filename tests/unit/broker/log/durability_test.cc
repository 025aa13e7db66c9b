#include <gmock/gmock.h>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

class DurabilityTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override { ASSERT_TRUE(start().has_value()); }
  int syncs(Offset base = 0) { return files.faults().datasyncs[active_path(base)]; }
};

TEST_F(DurabilityTest, OneSyncServesAllThatCameMeanwhile) {
  files.faults().hold_datasync = [](const std::string&) { return true; };
  const int before = syncs();
  append(make_batch({"first"}));
  settle();  // its sync is in flight
  for (int i = 0; i < 50; ++i) append(make_batch({"v"}));
  settle();
  EXPECT_EQ(files.faults().held.size(), 1u);
  files.release_datasyncs();
  settle();
  EXPECT_EQ(partition->high_watermark(), 1)
      << "what came after the sync began is not covered by it";
  files.release_datasyncs();
  settle();
  EXPECT_EQ(partition->high_watermark(), 51);
  EXPECT_EQ(syncs() - before, 2);
  EXPECT_TRUE(files.faults().held.empty());
}

TEST_F(DurabilityTest, AFailedSyncTakesTheDirectoryOffline) {
  append(make_batch({"a"}));
  settle();
  auto other = core->run(service->create({TopicName("u"), 0}, topic_id(2), config));
  ASSERT_TRUE(other.has_value());
  auto second = service->find({TopicName("u"), 0});
  files.faults().fail_datasync = [](const std::string& file) { return file.ends_with(".log"); };
  const auto result = append(make_batch({"b"}));
  EXPECT_EQ(result.error, ErrorCode::NONE);
  EXPECT_EQ(core->run(partition->durable(result.next_offset)).error().code,
            ErrorCode::KAFKA_STORAGE_ERROR);
  files.faults().fail_datasync = nullptr;
  EXPECT_FALSE(service->online());
  EXPECT_EQ(append(make_batch({"c"})).error, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(read(0).error, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(core->run(partition->durable(1)).error().code, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(core->run(second->durable(1)).error().code, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(core->run(service->create({TopicName("w"), 0}, topic_id(3), config)).error().code,
            ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(partition->high_watermark(), 1);
  stop();
  EXPECT_FALSE(files.exists(directory / ".kafka_cleanshutdown"));
  ASSERT_TRUE(start().has_value());
  EXPECT_TRUE(service->online());
  EXPECT_EQ(append(make_batch({"d"})).error, ErrorCode::NONE);
}

// Its answer may have left already (acks=1).
TEST_F(DurabilityTest, WhatWasAppendedCanBeDeleted) {
  append(make_batch({"a", "b"}));
  ASSERT_EQ(partition->high_watermark(), 0);
  EXPECT_EQ(*core->run(partition->delete_records(1)), 1);
  append(make_batch({"c"}));
  EXPECT_EQ(*core->run(partition->delete_records(-1)), 3);
  append(make_batch({"d"}));
  EXPECT_EQ(core->run(partition->delete_records(5)).error().code, ErrorCode::OFFSET_OUT_OF_RANGE);
}

TEST_F(DurabilityTest, AFailedWriteTakesTheDirectoryOffline) {
  files.faults().fail_write = [](const std::string& file) { return file.ends_with(".log"); };
  EXPECT_EQ(append(make_batch({"a"})).error, ErrorCode::KAFKA_STORAGE_ERROR);
  files.faults().fail_write = nullptr;
  EXPECT_EQ(append(make_batch({"a"})).error, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(partition->log_end_offset(), 0);
}

TEST_F(DurabilityTest, ARolledSegmentIsSyncedBeforeTheNextOneCounts) {
  config.segment_bytes = 200;
  partition->configure(config);
  append(make_batch({"a"}));
  append(make_batch({"b"}));
  append(make_batch({"c"}));  // rolls
  files.faults().fail_datasync = [this](const std::string& file) { return file == active_path(0); };
  settle();
  EXPECT_FALSE(service->online());
  EXPECT_EQ(partition->high_watermark(), 0);
}

TEST_F(DurabilityTest, TheRecoveryPointPassesASealedSegmentFirst) {
  config.segment_bytes = 200;
  partition->configure(config);
  for (int i = 0; i < 3; ++i) append(make_batch({"a"}));
  // The sync of the new segment stays in flight; the old one is done by then.
  files.faults().hold_datasync = [this](const std::string& file) { return file == active_path(2); };
  settle();
  EXPECT_EQ(partition->high_watermark(), 2);
  EXPECT_TRUE(files.exists(path("00000000000000000002.snapshot")));
  std::vector<std::byte> text(100);
  auto file = files.open(directory / "recovery-point-offset-checkpoint", io::OpenMode::kRead);
  text.resize(*(*file)->pread(text, 0));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(text.data()), text.size()), "0\n1\nt 0 2\n");
  files.release_datasyncs();
  files.faults().hold_datasync = nullptr;
  settle();
}

// What nobody is told of goes to the disk with what comes next, or is awaited, or after a while.
TEST_F(DurabilityTest, WhatMayWaitIsSyncedWithTheNext) {
  const auto later = [this] {
    EncodedRecord record{{}, std::vector<std::byte>(1)};
    return core->executor.inside([&] {
      return partition->append_records(std::span(&record, 1), std::nullopt, 0, Flush::kLater);
    });
  };
  const auto syncs = [this] { return files.faults().datasyncs[active_path()]; };
  const int before = syncs();
  later();
  core->run_until_idle();
  EXPECT_EQ(syncs(), before);
  EXPECT_EQ(partition->high_watermark(), 0);
  append(make_batch({"a"}));
  settle();
  EXPECT_EQ(syncs(), before + 1) << "one for both";
  EXPECT_EQ(partition->high_watermark(), 2);

  const auto awaited = later();
  EXPECT_TRUE(core->run(partition->durable(awaited.next_offset)).has_value());
  EXPECT_EQ(partition->high_watermark(), 3);

  later();
  core->run_until_idle();
  EXPECT_EQ(partition->high_watermark(), 3);
  core->advance(5);
  settle();
  EXPECT_EQ(partition->high_watermark(), 4);
}

TEST_F(DurabilityTest, ACloseDoesNotForgetWhatMayWait) {
  EncodedRecord record{{}, std::vector<std::byte>(1)};
  core->executor.inside([&] {
    return partition->append_records(std::span(&record, 1), std::nullopt, 0, Flush::kLater);
  });
  stop();
  EXPECT_GT(files.faults().datasyncs[active_path()], 0);
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(partition->high_watermark(), 1);
}

TEST(OsPolicyTest, NothingWaitsForTheDisk) {
  LogHarness log(false);
  ASSERT_TRUE(log.start().has_value());
  const auto result = log.append(make_batch({"a"}));
  EXPECT_EQ(log.partition->high_watermark(), 1);
  EXPECT_TRUE(log.core->run(log.partition->durable(result.next_offset)).has_value());
  EXPECT_EQ(log.files.faults().datasyncs[log.active_path()], 0);
  log.stop();
  EXPECT_GT(log.files.faults().datasyncs[log.active_path()], 0);
}

}  // namespace
}  // namespace ackord::log
