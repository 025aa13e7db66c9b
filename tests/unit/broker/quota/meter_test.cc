#include "broker/quota/meter.h"

#include <gtest/gtest.h>

namespace ackord::quota {
namespace {

constexpr int64_t kStart = 1'000'000;

TEST(Meter, ThrottlesWhoUsesMoreThanAllWindowsHold) {
  Meter meter({11, 1000});
  for (int i = 0; i < 3; ++i) meter.record(kStart, 26000);
  EXPECT_EQ(meter.throttle_ms(kStart, 10000), 0);
  meter.record(kStart, 26000);
  // 104000 bytes in 10 s and the part of a second that has gone.
  EXPECT_EQ(meter.throttle_ms(kStart, 10000), 399);
  EXPECT_EQ(meter.throttle_ms(kStart + 400, 10000), 0);
}

TEST(Meter, ForgetsWhatIsOlderThanItsWindows) {
  Meter meter({11, 1000});
  meter.record(kStart, 1'000'000);
  EXPECT_GT(meter.throttle_ms(kStart + 10'999, 1000), 0);
  EXPECT_EQ(meter.throttle_ms(kStart + 11'000, 1000), 0);
  meter.record(kStart + 11'000, 10);
  EXPECT_EQ(meter.throttle_ms(kStart + 11'000, 1000), 0);
}

TEST(Meter, TakesBackWhatWasRecorded) {
  Meter meter({2, 1000});
  meter.record(kStart, 5000);
  meter.record(kStart, -5000);
  EXPECT_EQ(meter.throttle_ms(kStart, 1), 0);
  meter.record(kStart, -1);
  meter.record(kStart, 5000);
  EXPECT_GT(meter.throttle_ms(kStart, 1), 0);
}

TEST(Meter, AnAmountBeyondItsRangeCountsAsTheMost) {
  Meter meter({2, 1000});
  meter.record(kStart, INT64_MAX / 2);
  meter.record(kStart, INT64_MAX / 2);
  EXPECT_EQ(meter.throttle_ms(kStart, 1e15), 0);
  EXPECT_GT(meter.throttle_ms(kStart, 1e9), 0);
}

TEST(Bucket, GoesBelowNothingOnceAndFillsAgain) {
  Bucket bucket({11, 1000});
  bucket.take(kStart, 30, 5);
  EXPECT_EQ(bucket.throttle_ms(kStart), 0);  // 25 of 55 are left
  bucket.take(kStart, 30, 5);
  EXPECT_EQ(bucket.throttle_ms(kStart), 1000);
  EXPECT_EQ(bucket.throttle_ms(kStart + 999), 1);
  EXPECT_EQ(bucket.throttle_ms(kStart + 1000), 0);
}

}  // namespace
}  // namespace ackord::quota
