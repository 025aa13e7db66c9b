#include "tools/bench/record_counts.h"

#include <gtest/gtest.h>

#include "protocol/record_batch/batch_builder.h"
#include "tools/bench/wire.h"

namespace ackord::bench {
namespace {

std::vector<std::byte> batch(Offset base_offset, int records) {
  protocol::BatchOptions options;
  options.base_offset = base_offset;
  protocol::BatchBuilder builder(options);
  for (int i = 0; i < records; ++i) builder.add(1, std::nullopt, std::nullopt);
  return builder.build();
}

TEST(RecordCounts, LeavesOutControlRecordsAndACutEnd) {
  std::vector<std::byte> bytes = batch(10, 3);
  const auto marker = protocol::build_end_marker({.base_offset = 13}, {.commit = true}, 1);
  const auto last = batch(14, 5);
  bytes.insert(bytes.end(), marker.begin(), marker.end());
  const size_t whole = bytes.size();
  bytes.insert(bytes.end(), last.begin(), last.end() - 1);
  const RecordCounts counts = count_records(bytes);
  EXPECT_EQ(counts.records, 3);
  EXPECT_EQ(counts.bytes, whole);
  EXPECT_EQ(counts.next_offset, 14);
}

TEST(RecordCounts, OfNothing) {
  EXPECT_EQ(count_records({}).records, 0);
  EXPECT_EQ(count_records({}).next_offset, -1);
}

TEST(RecordCounts, RefusesWhatIsNoBatch) {
  const std::vector<std::byte> zeros(100);
  EXPECT_THROW(count_records(zeros), BenchError);
}

}  // namespace
}  // namespace ackord::bench
