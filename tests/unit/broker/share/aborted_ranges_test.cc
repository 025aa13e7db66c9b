#include "broker/share/aborted_ranges.h"

#include <gtest/gtest.h>

namespace ackord::share {
namespace {

log::BatchInfo batch(Offset first, Offset last, int64_t producer, bool transactional,
                     bool control = false) {
  log::BatchInfo info;
  info.base_offset = first;
  info.last_offset = last;
  info.producer.id = ProducerId(producer);
  info.transactional = transactional;
  info.control = control;
  return info;
}

TEST(AbortedRanges, OnlyTheAbortedProducersDataUpToItsMarker) {
  const std::vector<log::BatchInfo> batches = {
      batch(0, 1, 7, true),       batch(2, 2, 8, true),       batch(3, 4, 7, true),
      batch(5, 5, 7, true, true), batch(6, 6, 8, true, true), batch(7, 9, 7, true),
      batch(10, 10, -1, false)};
  EXPECT_EQ(aborted_ranges(batches, {{ProducerId(7), 0}}),
            (std::vector<OffsetRange>{{0, 1}, {3, 4}}));
  EXPECT_TRUE(aborted_ranges(batches, {}).empty());
}

TEST(AbortedRanges, ATransactionThatBeganBeforeTheFirstBatch) {
  const std::vector<log::BatchInfo> batches = {batch(20, 21, 7, true), batch(22, 23, 7, true),
                                               batch(24, 24, 7, true, true),
                                               batch(25, 25, 7, true)};
  EXPECT_EQ(aborted_ranges(batches, {{ProducerId(7), 3}}), (std::vector<OffsetRange>{{20, 23}}));
}

}  // namespace
}  // namespace ackord::share
