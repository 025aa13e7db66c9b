#include "tools/bench/histogram.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ackord::bench {
namespace {

TEST(Histogram, IsExactForSmallValues) {
  Histogram histogram;
  for (int value = 1; value <= 100; ++value) histogram.record(value);
  EXPECT_EQ(histogram.quantile(0.5), 50);
  EXPECT_EQ(histogram.quantile(0.99), 99);
  EXPECT_EQ(histogram.quantile(1), 100);
  EXPECT_EQ(histogram.max(), 100);
  EXPECT_EQ(histogram.count(), 100u);
}

TEST(Histogram, IsWithinASixtyFourthOfEveryValue) {
  for (int64_t value = 1; value < int64_t{1} << 43; value += value / 3 + 1) {
    Histogram histogram;
    histogram.record(value);
    histogram.record(value * 2);
    EXPECT_GE(histogram.quantile(0.5), value);
    EXPECT_LE(histogram.quantile(0.5), value + value / 64) << value;
  }
}

TEST(Histogram, AgreesWithTheSortedSamples) {
  std::mt19937_64 random(1);
  std::vector<int64_t> samples;
  Histogram histogram;
  for (int i = 0; i < 10000; ++i) {
    samples.push_back(static_cast<int64_t>(random() >> (20 + random() % 40)));
    histogram.record(samples.back());
  }
  std::sort(samples.begin(), samples.end());
  for (const double part : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const int64_t exact = samples[static_cast<size_t>(part * 10000) - 1];
    EXPECT_GE(histogram.quantile(part), exact);
    EXPECT_LE(histogram.quantile(part), exact + exact / 64 + 1) << part;
  }
}

TEST(Histogram, TakesNegativeAndHugeValues) {
  Histogram histogram;
  histogram.record(-5);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  histogram.record(INT64_MAX);
  EXPECT_EQ(histogram.max(), INT64_MAX);
  EXPECT_GT(histogram.quantile(1), int64_t{1} << 43);
}

TEST(Histogram, IsZeroWithoutSamples) {
  EXPECT_EQ(Histogram().quantile(0.5), 0);
  EXPECT_EQ(Histogram().count(), 0u);
}

TEST(Histogram, AddsAnother) {
  Histogram one;
  Histogram other;
  one.record(10);
  other.record(20);
  other.record(30);
  one.add(other);
  EXPECT_EQ(one.count(), 3u);
  EXPECT_EQ(one.max(), 30);
  EXPECT_EQ(one.quantile(0.5), 20);
}

}  // namespace
}  // namespace ackord::bench
