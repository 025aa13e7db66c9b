// Rolling, retention and removal of old records.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

using testing::ElementsAre;

constexpr TimeMs kStart = 1'700'000'000'000;
constexpr int64_t kCheck = 300'000;  // log.retention.check.interval.ms

class RetentionTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override { ASSERT_TRUE(start().has_value()); }
  void put(TimeMs timestamp = kStart) {
    ASSERT_EQ(append(make_batch({"v"}, {}, timestamp)).error, ErrorCode::NONE);
    settle();
  }
  std::vector<Offset> segments() {
    std::vector<Offset> bases;
    for (const std::string& file : *files.list(folder())) {
      if (file.ends_with(".log")) bases.push_back(std::stoll(file));
    }
    return bases;
  }
  std::string epochs() {
    std::ifstream in(path("leader-epoch-checkpoint"));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

TEST_F(RetentionTest, SegmentMsCountsInTheTimeOfTheRecords) {
  config.segment_ms = 1000;
  partition->configure(config);
  put(kStart);
  put(kStart + 1000);
  put(kStart + 1001);
  put(kStart + 2002);
  EXPECT_THAT(segments(), ElementsAre(0, 2, 3));
}

TEST_F(RetentionTest, SegmentMsCountsFromTheFirstBatchAcrossARestart) {
  config.segment_ms = 1000;
  put(kStart);
  stop();
  ASSERT_TRUE(start().has_value());
  put(kStart + 1000);
  put(kStart + 1001);
  EXPECT_THAT(segments(), ElementsAre(0, 2));
}

TEST_F(RetentionTest, JitterRollsEarlierByLessThanItself) {
  config.segment_ms = 10'000;
  config.segment_jitter_ms = 4'000;
  partition->configure(config);
  std::vector<TimeMs> ages;
  TimeMs first = kStart;
  put(first);
  for (TimeMs now = kStart; ages.size() < 20; now += 100) {
    const size_t before = segments().size();
    put(now);
    if (segments().size() == before) continue;
    ages.push_back(now - first);
    first = now;
  }
  EXPECT_THAT(ages, testing::Each(testing::AllOf(testing::Gt(6'000), testing::Le(10'100))));
  EXPECT_GT(std::set<TimeMs>(ages.begin(), ages.end()).size(), 5u);
}

TEST_F(RetentionTest, ACompactedLogRollsInTimeForItsMaximumLag) {
  config.compact = true;
  config.max_compaction_lag_ms = 500;
  partition->configure(config);
  put(kStart);
  put(kStart + 500);
  put(kStart + 501);
  EXPECT_THAT(segments(), ElementsAre(0, 2));
}

TEST_F(RetentionTest, AFullIndexRolls) {
  config.index_interval_bytes = 0;
  config.segment_index_bytes = 5 * 12;
  partition->configure(config);
  for (int i = 0; i < 30; ++i) put(kStart + i);
  // The time index keeps one place for the entry that closes it; the first batch has none.
  EXPECT_EQ(segments()[1], 5);
}

TEST_F(RetentionTest, OldSegmentsGoAndTheActiveOneIsRolledForIt) {
  config.segment_ms = 1000;
  config.retention_ms = 10'000;
  partition->configure(config);
  for (int i = 0; i < 4; ++i) put(kStart + i * 2000);
  core->advance(kCheck);
  settle();
  EXPECT_EQ(partition->log_start_offset(), 4);
  EXPECT_THAT(segments(), ElementsAre(4));
  EXPECT_EQ(epochs(), "0\n1\n0 4\n");
  put(kStart + kCheck);
  EXPECT_EQ(values(4).size(), 1u);
}

TEST_F(RetentionTest, ANewPolicyCountsFromTheNextCheck) {
  config.segment_ms = 1000;
  partition->configure(config);
  for (int i = 0; i < 4; ++i) put(kStart + i * 2000);
  core->advance(kCheck);
  EXPECT_EQ(partition->log_start_offset(), 0);
  config.retention_bytes = 1;
  core->run(service->configure(name, config));
  core->advance(kCheck);
  EXPECT_EQ(partition->log_start_offset(), 3);
  config.remove = false;
  config.retention_ms = 1;
  core->run(service->configure(name, config));
  core->advance(kCheck);
  EXPECT_EQ(partition->log_start_offset(), 3);
}

TEST_F(RetentionTest, WhatIsReadMeanwhileStaysReadable) {
  config.segment_ms = 1000;
  partition->configure(config);
  for (int i = 0; i < 4; ++i) put(kStart + i * 2000);
  const ReadResult before = read(0);
  const auto bytes = before.records.copy();
  core->run(partition->delete_records(4));
  core->advance(config.file_delete_delay_ms + 1);
  EXPECT_FALSE(files.exists(active_path(0)));
  EXPECT_EQ(before.records.copy(), bytes);
}

TEST_F(RetentionTest, FilesStayForTheirDelay) {
  config.segment_ms = 1000;
  config.file_delete_delay_ms = 7'000;
  partition->configure(config);
  for (int i = 0; i < 3; ++i) put(kStart + i * 2000);
  core->run(partition->delete_records(1));
  settle();
  EXPECT_TRUE(files.exists(active_path(0) + ".deleted"));
  core->advance(6'999);
  EXPECT_TRUE(files.exists(active_path(0) + ".deleted"));
  core->advance(2);
  EXPECT_FALSE(files.exists(active_path(0) + ".deleted"));
}

TEST_F(RetentionTest, ALogStartIsOnTheDiskBeforeAnyoneSeesIt) {
  put();
  put();
  bool written = false;
  files.faults().fail_datasync = [&](const std::string& file) {
    if (file.find("log-start-offset-checkpoint") == std::string::npos) return false;
    EXPECT_EQ(partition->log_start_offset(), 0);
    written = true;
    return false;
  };
  EXPECT_EQ(*core->run(partition->delete_records(1)), 1);
  EXPECT_TRUE(written);
  EXPECT_EQ(partition->log_start_offset(), 1);
  EXPECT_EQ(epochs(), "0\n1\n0 1\n");
}

TEST_F(RetentionTest, TheLargestTimestampIsThatOfARecordThatIsStillThere) {
  ASSERT_EQ(append(make_batch({"a"}, {}, kStart + 5)).error, ErrorCode::NONE);
  ASSERT_EQ(append(make_batch({"b", "c"}, {}, kStart + 9)).error, ErrorCode::NONE);
  ASSERT_EQ(append(make_batch({"d"}, {}, kStart + 7)).error, ErrorCode::NONE);
  ASSERT_EQ(append(make_batch({"e"}, {}, kStart + 7)).error, ErrorCode::NONE);
  settle();
  const auto largest = [this] { return *core->run(partition->offset_of_max_timestamp()); };
  EXPECT_EQ(largest().offset, 1);
  core->run(partition->delete_records(2));
  EXPECT_EQ(largest().offset, 2);
  core->run(partition->delete_records(3));
  EXPECT_EQ(largest().offset, 3);
  EXPECT_EQ(largest().timestamp, kStart + 7);
  core->run(partition->delete_records(5));
  EXPECT_EQ(largest().offset, -1);
}

TEST_F(RetentionTest, WithoutTimestampsTheFirstRecordHasTheLargest) {
  ASSERT_EQ(append(make_batch({"a", "b"}, {}, -1)).error, ErrorCode::NONE);
  settle();
  const auto largest = *core->run(partition->offset_of_max_timestamp());
  EXPECT_EQ(largest.offset, 0);
  EXPECT_EQ(largest.timestamp, -1);
}

}  // namespace
}  // namespace ackord::log
