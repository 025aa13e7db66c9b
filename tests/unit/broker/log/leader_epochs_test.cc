#include "broker/log/leader_epochs.h"

#include <gtest/gtest.h>

namespace ackord::log {
namespace {

using Epochs = std::vector<EpochStart>;
using End = std::pair<int32_t, Offset>;

// The log of Kafka's own example: epoch 0 has 0-9, 3 has 10-19, 5 is current.
TEST(LeaderEpochs, AnEpochEndsWhereTheNextOneBegins) {
  const Epochs epochs{{0, 0}, {3, 10}, {5, 20}};
  EXPECT_EQ(end_of_epoch(epochs, -1, 25), (End{-1, -1}));
  EXPECT_EQ(end_of_epoch(epochs, 0, 25), (End{0, 10}));
  EXPECT_EQ(end_of_epoch(epochs, 1, 25), (End{0, 10}));
  EXPECT_EQ(end_of_epoch(epochs, 3, 25), (End{3, 20}));
  EXPECT_EQ(end_of_epoch(epochs, 4, 25), (End{3, 20}));
  EXPECT_EQ(end_of_epoch(epochs, 5, 25), (End{5, 25}));
  EXPECT_EQ(end_of_epoch(epochs, 9, 25), (End{-1, -1}));
}

TEST(LeaderEpochs, AnEpochOlderThanAllEndsWhereTheFirstBegins) {
  EXPECT_EQ(end_of_epoch({{3, 10}, {5, 20}}, 1, 25), (End{1, 10}));
}

TEST(LeaderEpochs, AnEpochWithoutRecordsMakesRoom) {
  Epochs epochs{{0, 0}, {3, 10}};
  EXPECT_FALSE(begin_epoch(epochs, {3, 20}));
  EXPECT_TRUE(begin_epoch(epochs, {4, 20}));
  EXPECT_TRUE(begin_epoch(epochs, {7, 20}));
  EXPECT_EQ(epochs, (Epochs{{0, 0}, {3, 10}, {7, 20}}));
}

TEST(LeaderEpochs, TrimmingTheStartLeavesTheEpochThatReachesIt) {
  for (const auto& [start, expected] :
       std::vector<std::pair<Offset, Epochs>>{{0, {{0, 0}, {3, 10}, {5, 20}}},
                                              {4, {{0, 4}, {3, 10}, {5, 20}}},
                                              {10, {{3, 10}, {5, 20}}},
                                              {15, {{3, 15}, {5, 20}}},
                                              {99, {{5, 99}}}}) {
    Epochs epochs{{0, 0}, {3, 10}, {5, 20}};
    EXPECT_EQ(trim_start(epochs, start), start != 0);
    EXPECT_EQ(epochs, expected) << start;
  }
  Epochs above{{3, 10}};
  EXPECT_FALSE(trim_start(above, 5));
}

TEST(LeaderEpochs, TrimmingTheEndForgetsWhatBeginsAboveIt) {
  Epochs epochs{{0, 0}, {3, 10}, {5, 20}};
  EXPECT_FALSE(trim_end(epochs, 20));
  EXPECT_TRUE(trim_end(epochs, 19));
  EXPECT_EQ(epochs, (Epochs{{0, 0}, {3, 10}}));
}

}  // namespace
}  // namespace ackord::log
