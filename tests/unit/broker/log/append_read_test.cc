#include <gmock/gmock.h>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

using testing::ElementsAre;

class AppendReadTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override { ASSERT_TRUE(start().has_value()); }
};

TEST_F(AppendReadTest, AnAppendIsVisibleOnceItIsDurable) {
  files.faults().hold_datasync = [](const std::string&) { return true; };
  const AppendResult result = append(make_batch({"a", "b"}));
  EXPECT_EQ(result.error, ErrorCode::NONE);
  EXPECT_EQ(result.base_offset, 0);
  EXPECT_EQ(result.next_offset, 2);
  EXPECT_EQ(result.log_append_time_ms, -1);
  EXPECT_EQ(partition->log_end_offset(), 2);
  EXPECT_EQ(partition->high_watermark(), 0);
  EXPECT_EQ(read(0).records.size(), 0u);
  files.release_datasyncs();
  ASSERT_TRUE(core->run(partition->durable(2)).has_value());
  EXPECT_EQ(partition->high_watermark(), 2);
  EXPECT_THAT(values(0), ElementsAre("a", "b"));
  EXPECT_THAT(values(1), ElementsAre("b"));
}

TEST_F(AppendReadTest, TheEpochOfTheClientIsReplaced) {
  protocol::BatchOptions options;
  options.leader_epoch = 12345;
  protocol::BatchBuilder builder(options);
  builder.add(core->clock.now().wall_ms, std::nullopt, bytes_of("v"));
  EXPECT_EQ(append(builder.build()).base_offset, 0);
  settle();
  const ReadResult result = read(0);
  ASSERT_EQ(result.batches.size(), 1u);
  EXPECT_EQ(result.batches[0].base_offset, 0);
  EXPECT_EQ(result.batches[0].leader_epoch, 0);
  EXPECT_THAT(values(0), ElementsAre("v"));
}

TEST_F(AppendReadTest, ReadsAreWholeBatchesWithinTheLimit) {
  const size_t size = make_batch({"0123456789"}).size();
  for (int i = 0; i < 1000; ++i) append(make_batch({"0123456789"}));
  settle();
  const auto limit = static_cast<int64_t>(size);
  for (const Offset offset : {Offset{0}, Offset{1}, Offset{500}, Offset{998}}) {
    EXPECT_EQ(read(offset, 1).records.size(), size) << offset;
    EXPECT_EQ(read(offset, limit).records.size(), size) << offset;
    EXPECT_EQ(read(offset, 2 * limit + 1).records.size(), 2 * size) << offset;
  }
  EXPECT_EQ(read(0).records.size(), 1000 * size);
  EXPECT_EQ(read(0).batches.size(), 1000u);
  EXPECT_EQ(read(999).records.size(), size);
  ReadSpec strict{.offset = 0, .max_bytes = 1, .at_least_one_batch = false};
  EXPECT_EQ(core->run(partition->read(strict)).records.size(), 0u);
  for (const Offset offset : {Offset{0}, Offset{3}, Offset{700}, Offset{990}}) {
    for (const int64_t bytes : {int64_t{0}, limit * 3, limit * 100 + 7, limit * 2000}) {
      ReadSpec spec{.offset = offset, .max_bytes = bytes};
      const auto lean = core->run(partition->read(spec));
      EXPECT_EQ(lean.records.size(), read(offset, bytes).records.size()) << offset << " " << bytes;
      EXPECT_EQ(lean.records.copy(), read(offset, bytes).records.copy());
    }
  }
}

TEST_F(AppendReadTest, PositionsOutsideTheLog) {
  append(make_batch({"a"}));
  settle();
  EXPECT_EQ(read(1).error, ErrorCode::NONE);
  EXPECT_EQ(read(1).records.size(), 0u);
  EXPECT_EQ(read(2).error, ErrorCode::OFFSET_OUT_OF_RANGE);
  EXPECT_EQ(read(-1).error, ErrorCode::OFFSET_OUT_OF_RANGE);
}

TEST_F(AppendReadTest, SegmentsRollBySizeAndAllStaysReadable) {
  config.segment_bytes = 1000;
  partition->configure(config);
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    expected.push_back("value-" + std::to_string(i));
    ASSERT_EQ(append(make_batch({expected.back()})).error, ErrorCode::NONE);
    if (i % 7 == 0) settle();
  }
  settle();
  EXPECT_EQ(partition->high_watermark(), 100);
  EXPECT_GT(files.list(folder())->size(), 20u);
  EXPECT_EQ(values(0), expected);
  EXPECT_EQ(values(0, 1), expected);
  stop();
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(values(0), expected);
}

TEST_F(AppendReadTest, SegmentsRollByTime) {
  config.segment_ms = 1000;
  partition->configure(config);
  const TimeMs now = core->clock.now().wall_ms;
  append(make_batch({"a"}, {}, now));
  append(make_batch({"b"}, {}, now + 1000));
  EXPECT_FALSE(files.exists(active_path(2)));
  append(make_batch({"c"}, {}, now + 1001));
  EXPECT_TRUE(files.exists(active_path(2)));
}

TEST_F(AppendReadTest, CoordinatorRecordsAreOneBatch) {
  const std::string big(2 << 20, 'x');
  std::vector<EncodedRecord> records(2);
  records[0].key.assign(3, std::byte{'k'});
  records[0].value.emplace(bytes_of(big).begin(), bytes_of(big).end());
  records[1].key.assign(3, std::byte{'k'});
  const auto result = core->executor.inside(
      [&] { return partition->append_records(records, std::nullopt, core->clock.now().wall_ms); });
  EXPECT_EQ(result.error, ErrorCode::NONE);
  EXPECT_EQ(result.next_offset, 2);
  // A coordinator that loads sees what is not durable yet.
  const auto read = core->run(partition->read_all(0, 1));
  ASSERT_EQ(read.batches.size(), 1u);
  EXPECT_EQ(read.batches[0].record_count, 2);
}

TEST_F(AppendReadTest, AdvancesAreSignalled) {
  auto wakeup = io::Wakeup::make(core->executor, core->clock);
  partition->on_advance().subscribe(wakeup);
  append(make_batch({"a"}));
  settle();
  EXPECT_TRUE(core->run(wakeup->wait_until(core->clock.now().steady_ms + 1)));
}

TEST_F(AppendReadTest, ListOffsetsLooksInsideBatches) {
  const TimeMs now = core->clock.now().wall_ms;
  for (const auto codec : {protocol::Codec::kNone, protocol::Codec::kGzip}) {
    protocol::BatchBuilder builder({.codec = codec});
    for (int i = 1; i <= 4; ++i) builder.add(now + 2 * i, std::nullopt, bytes_of("v"));
    append(builder.build());
  }
  settle();
  const auto at = [&](TimeMs delta) {
    return core->run(partition->offset_for_timestamp(now + delta, Isolation::kReadUncommitted));
  };
  EXPECT_EQ(at(1)->offset, 0);
  EXPECT_EQ(at(3)->offset, 1);
  EXPECT_EQ(at(3)->timestamp, now + 4);
  EXPECT_EQ(at(3)->leader_epoch, 0);
  EXPECT_EQ(at(8)->offset, 3);
  EXPECT_EQ(at(9)->offset, -1);
  EXPECT_EQ(at(9)->timestamp, -1);
  EXPECT_EQ(core->run(partition->offset_of_max_timestamp())->offset, 3);
}

TEST_F(AppendReadTest, DeleteRecordsRaisesTheLogStartForGood) {
  config.segment_bytes = 300;
  partition->configure(config);
  for (int i = 0; i < 20; ++i) append(make_batch({"v"}));
  settle();
  ASSERT_TRUE(files.exists(active_path(0)));
  EXPECT_EQ(core->run(partition->delete_records(21)).error().code, ErrorCode::OFFSET_OUT_OF_RANGE);
  EXPECT_EQ(*core->run(partition->delete_records(10)), 10);
  EXPECT_EQ(partition->log_start_offset(), 10);
  EXPECT_EQ(read(9).error, ErrorCode::OFFSET_OUT_OF_RANGE);
  EXPECT_EQ(values(10).size(), 10u);
  EXPECT_FALSE(files.exists(active_path(0)));
  crash();
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(partition->log_start_offset(), 10);
  EXPECT_EQ(*core->run(partition->delete_records(-1)), 20);
}

TEST_F(AppendReadTest, RetentionBySizeDeletesWholeSegments) {
  config.segment_bytes = 300;
  config.retention_bytes = 600;
  partition->configure(config);
  for (int i = 0; i < 40; ++i) append(make_batch({"v"}));
  settle();
  core->advance(301'000);
  core->advance(60'000);
  EXPECT_GT(partition->log_start_offset(), 20);
  EXPECT_LE(partition->size_bytes(), 900u);
}

TEST_F(AppendReadTest, RetentionByTimeReachesTheActiveSegment) {
  config.retention_ms = 1000;
  partition->configure(config);
  for (int i = 0; i < 3; ++i) append(make_batch({"v"}));
  settle();
  for (int i = 0; i < 12; ++i) core->advance(60'000);
  EXPECT_EQ(partition->log_start_offset(), 3);
  EXPECT_EQ(partition->size_bytes(), 0u);
  EXPECT_EQ(append(make_batch({"w"})).base_offset, 3);
}

}  // namespace
}  // namespace ackord::log
