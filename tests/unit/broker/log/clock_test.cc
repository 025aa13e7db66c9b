// The wall clock goes back, as it does when it is set: offsets, lookups, sequences and retention do
// not depend on its going forward.
#include <gmock/gmock.h>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr int64_t kRetentionCheckMs = 300'000;

class ClockGoesBackTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override {
    config.log_append_time = true;
    config.segment_bytes = 400;
    ASSERT_TRUE(start().has_value());
    wall_ = core->clock.now().wall_ms;
  }
  // One record a minute, stamped with the broker's time.
  void put(int count) {
    for (int i = 0; i < count; ++i) {
      set_wall(wall_ + 60'000);
      ASSERT_EQ(append(make_batch({"v"}, {1, 0, sequence_++})).error, ErrorCode::NONE);
    }
    settle();
  }
  void set_wall(TimeMs to) {
    wall_ = to;
    core->clock.set_wall(to);
  }
  Offset offset_at(TimeMs timestamp) {
    return core->run(partition->offset_for_timestamp(timestamp, Isolation::kReadUncommitted))
        ->offset;
  }

  TimeMs wall_ = 0;
  int32_t sequence_ = 0;
};

TEST_F(ClockGoesBackTest, RecordsAreKeptAndFoundByTheirTime) {
  const TimeMs begin = wall_;
  put(20);
  set_wall(begin - 10 * kHourMs);
  put(20);
  EXPECT_EQ(values(0).size(), 40u);
  // The first record that is not earlier, as ever.
  EXPECT_EQ(offset_at(begin + 60'000), 0);
  EXPECT_EQ(offset_at(begin + 11 * 60'000), 10);
  EXPECT_EQ(offset_at(begin - kDayMs), 0);
  for (const bool cleanly : {true, false}) {
    cleanly ? stop() : crash();
    ASSERT_TRUE(start().has_value());
    core->clock.set_wall(begin - kDayMs);
    EXPECT_EQ(values(0).size(), 40u);
    EXPECT_EQ(offset_at(begin + 11 * 60'000), 10);
    EXPECT_EQ(append(make_batch({"v"}, {1, 0, sequence_ - 1})).base_offset, 39)
        << "a repeated batch is known";
  }
}

// What was written an hour ago by the clock of then is in the future of the clock of now.
TEST_F(ClockGoesBackTest, RetentionKeepsWhatSeemsToComeFromTheFuture) {
  config.retention_ms = kHourMs;
  put(20);
  set_wall(wall_ - kDayMs);
  partition->configure(config);
  core->advance(kRetentionCheckMs + 1000);
  settle();
  EXPECT_EQ(partition->log_start_offset(), 0);
  EXPECT_EQ(values(0).size(), 20u);
  core->clock.set_wall(wall_ + 3 * kDayMs);
  core->advance(kRetentionCheckMs + 1000);
  settle();
  EXPECT_EQ(partition->log_start_offset(), 20);
  EXPECT_EQ(append(make_batch({"v"})).base_offset, 20);
}

}  // namespace
}  // namespace ackord::log
