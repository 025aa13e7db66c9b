#include "client/record.h"

#include <gmock/gmock.h>

#include "protocol/record_batch/batch_builder.h"

namespace ackord::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TopicIdPartition kSource{Uuid{{1}}, 0};
constexpr size_t kNoLimit = 1 << 20;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::byte> batch(Offset base, int count,
                             protocol::Codec codec = protocol::Codec::kNone) {
  protocol::BatchOptions options;
  options.base_offset = base;
  options.codec = codec;
  protocol::BatchBuilder builder(options);
  for (int i = 0; i < count; ++i) builder.add(1000 + i, bytes("key"), bytes("value"));
  return builder.build();
}

std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

FetchedRecords read(const std::vector<std::byte>& all, const std::vector<AcquiredRange>& acquired,
                    size_t limit = kNoLimit) {
  return read_records(TopicName("topic"), kSource, all, acquired, limit);
}

std::vector<Offset> offsets_of(const FetchedRecords& fetched) {
  std::vector<Offset> offsets;
  for (const ShareRecord& record : fetched.records) offsets.push_back(record.offset);
  return offsets;
}

TEST(ReadRecords, KeepsTheAcquiredOnesWithTheirDeliveryCounts) {
  const FetchedRecords fetched = read(batch(10, 5) + batch(15, 5), {{11, 12, 1}, {16, 16, 3}});
  EXPECT_THAT(offsets_of(fetched), ElementsAre(11, 12, 16));
  EXPECT_EQ(fetched.records[0].delivery_count, 1);
  EXPECT_EQ(fetched.records[2].delivery_count, 3);
  EXPECT_EQ(fetched.records[0].timestamp, 1001);
  EXPECT_EQ(fetched.records[0].key, "key");
  EXPECT_EQ(fetched.records[0].value, "value");
  EXPECT_THAT(fetched.gaps, IsEmpty());
  EXPECT_THAT(fetched.corrupt, IsEmpty());
}

TEST(ReadRecords, ControlRecordsAndHolesAreGaps) {
  protocol::BatchOptions marker;
  marker.base_offset = 12;
  const FetchedRecords fetched =
      read(batch(10, 2) + protocol::build_end_marker(marker, {true, 0}, 5) + batch(15, 1),
           {{10, 15, 1}});
  EXPECT_THAT(offsets_of(fetched), ElementsAre(10, 11, 15));
  EXPECT_THAT(fetched.gaps, ElementsAre(12, 13, 14));
}

TEST(ReadRecords, ABatchWithAWrongChecksumIsCorruptNotAGap) {
  std::vector<std::byte> wrong = batch(10, 2);
  wrong.back() ^= std::byte{1};
  const FetchedRecords fetched = read(wrong + batch(12, 1), {{10, 12, 1}});
  EXPECT_THAT(offsets_of(fetched), ElementsAre(12));
  EXPECT_THAT(fetched.corrupt, ElementsAre(10, 11));
  EXPECT_THAT(fetched.gaps, IsEmpty());
}

TEST(ReadRecords, WhatFollowsUnreadableBytesIsCorrupt) {
  std::vector<std::byte> cut = batch(12, 3);
  cut.resize(cut.size() - 5);
  const FetchedRecords fetched = read(batch(10, 2) + cut, {{10, 14, 1}});
  EXPECT_THAT(offsets_of(fetched), ElementsAre(10, 11));
  EXPECT_THAT(fetched.corrupt, ElementsAre(12, 13, 14));
}

TEST(ReadRecords, ABatchThatUnpacksToTooMuchIsCorrupt) {
  const FetchedRecords fetched = read(batch(0, 100, protocol::Codec::kZstd), {{0, 99, 1}}, 100);
  EXPECT_THAT(fetched.records, IsEmpty());
  EXPECT_EQ(fetched.corrupt.size(), 100u);
}

}  // namespace
}  // namespace ackord::client
