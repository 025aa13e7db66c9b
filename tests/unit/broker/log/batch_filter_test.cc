#include "broker/log/batch_filter.h"

#include <gtest/gtest.h>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

class BatchFilterTest : public testing::Test {
 protected:
  // A batch at `base`, as it lies in a log.
  static std::vector<std::byte> at(Offset base, std::vector<std::byte> batch) {
    auto header = *protocol::parse_header(batch);
    header.base_offset = base;
    protocol::write_header(header, std::span(batch).first<protocol::batch_format::kHeaderSize>());
    return batch;
  }
  Result<BatchFilter::Kept> filter(const std::vector<std::byte>& batch) {
    filter_.emplace(rules, keys, last, transactions);
    return filter_->filter(*protocol::parse_header(batch), batch);
  }

  FilterRules rules{.map_end = 100, .high_watermark = 1000, .now_ms = 5};
  KeyOffsets keys{{1, 2}, 100};
  LastBatches last;
  CleanedTransactions transactions{{}};
  std::optional<BatchFilter> filter_;
};

TEST_F(BatchFilterTest, ABatchOfWhichAllStaysIsNotTouched) {
  const auto batch = at(10, make_keyed({{"a", "1"}, {"b", "2"}}, {7, 0, 3}));
  const auto kept = filter(batch);
  ASSERT_TRUE(kept->header.has_value());
  EXPECT_EQ(kept->bytes.data(), batch.data());
  EXPECT_EQ(kept->bytes.size(), batch.size());
}

TEST_F(BatchFilterTest, WhatIsLeftKeepsOffsetsTimesAndSequence) {
  keys.put(bytes_of("b"), 50);
  const auto kept = filter(at(10, make_keyed({{"b", "1"}, {"a", "2"}, {"b", "3"}}, {7, 2, 3}, 77)));
  const protocol::BatchHeader& header = *kept->header;
  EXPECT_EQ(header.base_offset, 10);
  EXPECT_EQ(header.last_offset(), 12);
  EXPECT_EQ(header.records_count, 1);
  EXPECT_EQ(header.base_sequence, 3);
  EXPECT_EQ(header.last_sequence(), 5);
  EXPECT_EQ(header.max_timestamp, 77);
  EXPECT_TRUE(protocol::check_batch(header, kept->bytes).has_value());
  protocol::RecordReader reader(header, kept->bytes.subspan(protocol::batch_format::kHeaderSize));
  protocol::Record record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.offset, 11);
  EXPECT_EQ(record.timestamp, 77);
  EXPECT_FALSE(reader.next(record));
  EXPECT_FALSE(reader.failure());
}

TEST_F(BatchFilterTest, TheBatchAtTheHighWatermarkAndAProducersLastOneStayEmpty) {
  keys.put(bytes_of("a"), 99);
  EXPECT_FALSE(filter(at(10, make_keyed({{"a", "1"}}, {7, 0, 3})))->header);
  rules.high_watermark = 11;
  EXPECT_EQ(filter(at(10, make_keyed({{"a", "1"}})))->header->records_count, 0);
  rules.high_watermark = 1000;
  last[ProducerId(7)] = {10, 0};
  const auto kept = filter(at(10, make_keyed({{"a", "1"}}, {7, 0, 3})));
  ASSERT_TRUE(kept->header.has_value());
  EXPECT_EQ(kept->header->records_count, 0);
  EXPECT_EQ(kept->header->last_sequence(), 3);
  EXPECT_EQ(kept->header->max_timestamp, 1'700'000'000'000);
  EXPECT_EQ(kept->bytes.size(), protocol::batch_format::kHeaderSize);
  EXPECT_TRUE(protocol::check_batch(*kept->header, kept->bytes).has_value());
}

TEST_F(BatchFilterTest, WhatTheKeysDoNotKnowYetStays) {
  keys.put(bytes_of("a"), 99);
  EXPECT_TRUE(filter(at(100, make_keyed({{"a", "1"}})))->header);
  rules.map_end = 11;
  const auto kept = filter(at(10, make_keyed({{"a", "1"}, {"a", "2"}})));
  EXPECT_EQ(kept->header->records_count, 1);
}

TEST_F(BatchFilterTest, AHorizonBeyondAllTimeIsTheLastMoment) {
  rules.delete_retention_ms = INT64_MAX;
  const auto kept = filter(at(10, make_keyed({{"a", std::nullopt}})));
  EXPECT_EQ(kept->header->delete_horizon(), INT64_MAX);
  protocol::RecordReader reader(*kept->header,
                                kept->bytes.subspan(protocol::batch_format::kHeaderSize));
  protocol::Record record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.timestamp, 1'700'000'000'000);
}

TEST_F(BatchFilterTest, BytesThatAreNoRecordsAreAnError) {
  auto batch = at(10, make_keyed({{"a", "1"}}));
  batch[protocol::batch_format::kHeaderSize] = std::byte{0x7f};
  EXPECT_TRUE(filter(batch).has_error());
}

}  // namespace
}  // namespace ackord::log
