#include <gmock/gmock.h>

#include "protocol/record_batch/big_endian.h"
#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

namespace format = protocol::batch_format;
using protocol::Codec;

class ValidationTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override { ASSERT_TRUE(start().has_value()); }

  // The batch with a header field changed, and its checksum again right.
  template <class Number>
  std::vector<std::byte> with(size_t at, Number value,
                              std::vector<std::byte> batch = make_batch({"v", "w"})) {
    protocol::store_big(batch.data() + at, value);
    const auto checked = std::span<const std::byte>(batch).subspan(format::kAttributes);
    protocol::HeaderBytes header;
    std::copy_n(batch.begin(), header.size(), header.begin());
    (void)checked;
    protocol::store_big(batch.data() + format::kCrc,
                        protocol::batch_crc(header, std::span<const std::byte>(batch).subspan(
                                                        format::kHeaderSize)));
    return batch;
  }
  AppendResult refused(const std::vector<std::byte>& batch) {
    const auto result = append(batch);
    EXPECT_EQ(result.base_offset, -1);
    EXPECT_EQ(partition->log_end_offset(), 0);
    return result;
  }
};

TEST_F(ValidationTest, Matrix) {
  EXPECT_EQ(refused({}).error, ErrorCode::INVALID_RECORD);
  auto bad = make_batch({"v"});
  bad.back() ^= std::byte{1};
  EXPECT_EQ(refused(bad).error, ErrorCode::CORRUPT_MESSAGE);
  auto two = make_batch({"v"});
  two.insert(two.end(), two.begin(), two.end());
  EXPECT_EQ(refused(two).error, ErrorCode::INVALID_RECORD);
  auto old = make_batch({"v"});
  old[format::kMagic] = std::byte{1};
  EXPECT_EQ(refused(old).error, ErrorCode::INVALID_RECORD);
  auto cut = make_batch({"v"});
  cut.pop_back();
  EXPECT_EQ(refused(cut).error, ErrorCode::INVALID_RECORD);
  auto newer = make_batch({"v"});
  newer[format::kMagic] = std::byte{3};
  EXPECT_EQ(refused(newer).error, ErrorCode::CORRUPT_MESSAGE);
  EXPECT_EQ(refused(with(format::kAttributes, format::kControl)).error, ErrorCode::INVALID_RECORD);
  EXPECT_EQ(refused(with(format::kBaseOffset, int64_t{7})).error, ErrorCode::INVALID_RECORD);
  EXPECT_EQ(refused(with(format::kLastOffsetDelta, 2)).error, ErrorCode::INVALID_RECORD);
  EXPECT_EQ(refused(with(format::kRecordsCount, 0)).error, ErrorCode::INVALID_RECORD);
  EXPECT_EQ(refused(with(format::kRecordsCount, -1)).error, ErrorCode::INVALID_RECORD);
  EXPECT_EQ(refused(with(format::kProducerId, int64_t{5})).error, ErrorCode::INVALID_RECORD);
  EXPECT_EQ(refused(with(format::kAttributes, int16_t{7})).error,
            ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
  EXPECT_EQ(refused(with(format::kAttributes, int16_t{1})).error, ErrorCode::CORRUPT_MESSAGE)
      << "not gzip";
  // Count and delta agree with each other, but not with the records.
  auto more = with(format::kRecordsCount, 3);
  EXPECT_EQ(refused(with(format::kLastOffsetDelta, 2, more)).error, ErrorCode::INVALID_RECORD);
}

TEST_F(ValidationTest, ZstdNeedsProduceVersionSeven) {
  ClientAppend request;
  const auto batch = make_batch({"v"}, {}, 1'700'000'000'000, Codec::kZstd);
  request.records = batch;
  request.produce_version = 6;
  EXPECT_EQ(partition->append(request, 0).error, ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
  EXPECT_EQ(append(batch).error, ErrorCode::NONE);
}

TEST_F(ValidationTest, Sizes) {
  config.max_message_bytes = 100;
  partition->configure(config);
  EXPECT_EQ(refused(make_batch({std::string(100, 'x')})).error, ErrorCode::MESSAGE_TOO_LARGE);
  config.max_message_bytes = 10000;
  config.segment_bytes = 100;
  partition->configure(config);
  EXPECT_EQ(refused(make_batch({std::string(100, 'x')})).error, ErrorCode::RECORD_LIST_TOO_LARGE);
}

TEST_F(ValidationTest, CompactedTopicsNeedKeys) {
  config.compact = true;
  partition->configure(config);
  protocol::BatchBuilder builder({});
  const TimeMs now = core->clock.now().wall_ms;
  builder.add(now, bytes_of("k"), bytes_of("v"));
  builder.add(now, std::nullopt, bytes_of("v"));
  const auto result = refused(builder.build());
  EXPECT_EQ(result.error, ErrorCode::INVALID_RECORD);
  ASSERT_EQ(result.record_errors.size(), 1u);
  EXPECT_EQ(result.record_errors[0].batch_index, 1);
}

TEST_F(ValidationTest, TimestampsOutOfRange) {
  config.timestamp_before_max_ms = 1000;
  partition->configure(config);
  const TimeMs now = core->clock.now().wall_ms;
  for (const TimeMs bad : {now - 1001, now + 3'600'001, TimeMs{-5}, TimeMs{INT64_MAX}}) {
    const auto result = refused(make_batch({"v"}, {}, bad));
    EXPECT_EQ(result.error, ErrorCode::INVALID_TIMESTAMP) << bad;
    EXPECT_EQ(result.record_errors.size(), 1u);
  }
  for (const TimeMs good : {now - 1000, now + 3'600'000, TimeMs{-1}}) {
    EXPECT_EQ(append(make_batch({"v"}, {}, good)).error, ErrorCode::NONE) << good;
  }
}

TEST_F(ValidationTest, MaxTimestampIsRecomputed) {
  for (const Codec codec : {Codec::kNone, Codec::kGzip}) {
    protocol::BatchBuilder builder({.codec = codec});
    for (TimeMs t = 1; t <= 3; ++t) builder.add(t, std::nullopt, bytes_of("v"));
    auto batch = builder.build();
    ASSERT_EQ(append(with(format::kMaxTimestamp, int64_t{-1}, batch)).error, ErrorCode::NONE);
  }
  settle();
  const auto result = read(0);
  ASSERT_EQ(result.batches.size(), 2u);
  EXPECT_EQ(result.batches[0].max_timestamp, 3);
  EXPECT_EQ(result.batches[1].max_timestamp, 3);
  EXPECT_EQ(values(0).size(), 6u);  // checks the checksums
}

TEST_F(ValidationTest, AClientThatSaysLogAppendTime) {
  const auto batch = with(format::kAttributes, format::kLogAppendTime);
  EXPECT_EQ(append(batch).error, ErrorCode::NONE);
  settle();
  const auto stored = read(0).records.copy();
  EXPECT_FALSE(protocol::parse_header(stored)->log_append_time()) << "it is the topic's to say";
  EXPECT_EQ(values(0).size(), 2u);  // checks the checksum
  config.log_append_time = true;
  partition->configure(config);
  EXPECT_EQ(append(batch).error, ErrorCode::INVALID_TIMESTAMP);
  EXPECT_EQ(partition->log_end_offset(), 2);
}

TEST_F(ValidationTest, LogAppendTime) {
  config.log_append_time = true;
  partition->configure(config);
  const TimeMs now = core->clock.now().wall_ms;
  const auto first = append(make_batch({"v"}, {3, 0, 0}, 17));
  EXPECT_EQ(first.log_append_time_ms, now);
  settle();
  EXPECT_EQ(read(0).batches[0].max_timestamp, now);
  EXPECT_EQ(values(0).size(), 1u);
  core->advance(50);
  const auto again = append(make_batch({"v"}, {3, 0, 0}, 17));
  EXPECT_EQ(again.base_offset, 0);
  EXPECT_EQ(again.log_append_time_ms, now) << "the original one";
}

TEST_F(ValidationTest, TheTopicsCodecReplacesTheClients) {
  config.compression_type = "zstd";
  partition->configure(config);
  append(make_batch({"a", "b"}, {}, 1'700'000'000'000, Codec::kGzip));
  config.compression_type = "uncompressed";
  partition->configure(config);
  append(make_batch({"c"}, {}, 1'700'000'000'000, Codec::kLz4));
  config.compression_type = "producer";
  partition->configure(config);
  append(make_batch({"d"}, {}, 1'700'000'000'000, Codec::kSnappy));
  settle();
  const auto bytes = read(0).records.copy();
  std::span<const std::byte> left(bytes);
  for (const int codec : {4, 0, 2}) {
    const auto header = *protocol::parse_header(left);
    EXPECT_EQ(header.codec(), codec);
    left = left.subspan(header.size());
  }
  EXPECT_THAT(values(0), testing::ElementsAre("a", "b", "c", "d"));
}

}  // namespace
}  // namespace ackord::log
