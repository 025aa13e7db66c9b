#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/big_endian.h"
#include "protocol/record_batch/crc32c.h"
#include "protocol/record_batch/record_reader.h"
#include "tests/unit/protocol/record_batch/kafka_batches.h"

namespace ackord::protocol {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Crc32c, KnownAnswers) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c_extend(crc32c(bytes_of("1234")), bytes_of("56789")), 0xe3069283u);
}

TEST(RecordBatch, ReadsWhatKafkaWrote) {
  const auto bytes = kafka_batches();
  std::span<const std::byte> left(bytes);
  for (int codec = 0; codec <= 4; ++codec) {
    auto header = parse_header(left);
    ASSERT_TRUE(header.has_value());
    EXPECT_TRUE(check_batch(*header, left).has_value());
    EXPECT_EQ(header->codec(), codec);
    EXPECT_EQ(header->base_offset, 2 * codec);
    EXPECT_EQ(header->producer_id.value, 10 + codec);
    EXPECT_EQ(header->producer_epoch, 0);
    EXPECT_EQ(header->base_sequence, 0);
    EXPECT_EQ(header->last_sequence(), 1);
    std::vector<std::byte> buffer;
    auto records = uncompressed_records(*header, left, 1000, buffer);
    ASSERT_TRUE(records.has_value()) << records.error().message;
    RecordReader reader(*header, *records);
    Record record;
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(text_of(*record.key), "k1");
    EXPECT_EQ(record.offset, 2 * codec);
    EXPECT_EQ(record.timestamp, header->base_timestamp);
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(text_of(*record.key), "k2");
    EXPECT_EQ(text_of(*record.value).substr(0, 6), "v2-aaa");
    EXPECT_FALSE(reader.next(record));
    EXPECT_FALSE(reader.failure());
    left = left.subspan(header->size());
  }
  EXPECT_TRUE(left.empty());
}

TEST(RecordBatch, BuildsTheSameBytesAsKafka) {
  const auto bytes = kafka_batches();
  const auto header = *parse_header(bytes);
  RecordReader reader(header,
                      std::span(bytes).first(header.size()).subspan(batch_format::kHeaderSize));
  BatchOptions options;
  options.leader_epoch = header.leader_epoch;
  options.producer_id = header.producer_id;
  options.producer_epoch = header.producer_epoch;
  options.base_sequence = header.base_sequence;
  BatchBuilder builder(options);
  Record record;
  while (reader.next(record))
    builder.add(record.timestamp, record.key, record.value, record.headers);
  const auto built = builder.build();
  EXPECT_TRUE(std::equal(built.begin(), built.end(), bytes.begin(),
                         bytes.begin() + static_cast<ptrdiff_t>(header.size())));
}

TEST(RecordBatch, RoundTripsNullsAndHeaders) {
  for (const CodecInfo& codec : codecs()) {
    BatchBuilder builder({.base_offset = 100, .leader_epoch = 3, .codec = codec.codec});
    const std::vector<RecordHeader> headers{{"h", bytes_of("x")}, {"empty", std::nullopt}};
    builder.add(5000, std::nullopt, bytes_of("v"), headers);
    builder.add(4000, bytes_of("k"), std::nullopt);
    const auto batch = builder.build();
    auto header = parse_header(batch);
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->max_timestamp, 5000);
    std::vector<std::byte> buffer;
    auto records = uncompressed_records(*header, batch, 1000, buffer);
    RecordReader reader(*header, *records);
    Record record;
    ASSERT_TRUE(reader.next(record));
    EXPECT_FALSE(record.key);
    ASSERT_EQ(record.headers.size(), 2u);
    EXPECT_EQ(record.headers[0].key, "h");
    EXPECT_FALSE(record.headers[1].value);
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(record.offset, 101);
    EXPECT_EQ(record.timestamp, 4000);
    EXPECT_FALSE(record.value);
    EXPECT_TRUE(record.headers.empty());
  }
}

TEST(RecordBatch, EveryDamagedByteIsNoticed) {
  BatchBuilder builder({.base_offset = 1});
  builder.add(1, bytes_of("key"), bytes_of("value"));
  const auto good = builder.build();
  for (size_t i = batch_format::kMagic; i < good.size(); ++i) {
    auto bad = good;
    bad[i] ^= std::byte{1};
    auto header = parse_header(bad);
    EXPECT_TRUE(header.has_error() || check_batch(*header, bad).has_error()) << i;
  }
  for (size_t size = 0; size < good.size(); ++size) {
    const auto cut = std::span(good).first(size);
    auto header = parse_header(cut);
    EXPECT_TRUE(header.has_error() || check_batch(*header, cut).has_error()) << size;
  }
}

TEST(RecordBatch, RecordsAreBoundedByTheirBytes) {
  BatchBuilder builder({});
  const std::vector<RecordHeader> headers{{"h", bytes_of("x")}};
  builder.add(1, bytes_of("key"), bytes_of("value"), headers);
  const auto good = builder.build();
  const auto header = *parse_header(good);
  const auto body = std::span(good).subspan(batch_format::kHeaderSize);
  Record record;
  for (size_t size = 0; size < body.size(); ++size) {
    RecordReader reader(header, body.first(size));
    while (reader.next(record)) {
    }
    EXPECT_TRUE(reader.failure()) << size;
  }
  for (size_t i = 0; i < body.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> bad(body.begin(), body.end());
      bad[i] ^= static_cast<std::byte>(1 << bit);
      RecordReader reader(header, bad);  // must end, and read nothing outside (sanitizers look)
      while (reader.next(record)) {
      }
    }
  }
}

TEST(RecordBatch, OldFormatsAreNamed) {
  BatchBuilder builder({});
  builder.add(1, std::nullopt, std::nullopt);
  auto batch = builder.build();
  batch[batch_format::kMagic] = std::byte{1};
  EXPECT_EQ(parse_header(batch).error().code, ErrorCode::UNSUPPORTED_FOR_MESSAGE_FORMAT);
  batch[batch_format::kMagic] = std::byte{3};
  EXPECT_EQ(parse_header(batch).error().code, ErrorCode::CORRUPT_MESSAGE);
}

TEST(RecordBatch, SequencesWrap) {
  EXPECT_EQ(add_sequence(INT32_MAX, 1), 0);
  EXPECT_EQ(add_sequence(INT32_MAX - 1, 3), 1);
  EXPECT_EQ(subtract_sequence(0, 1), INT32_MAX);
  EXPECT_EQ(subtract_sequence(5, 5), 0);
}

TEST(EndMarker, RoundTrips) {
  BatchOptions options;
  options.base_offset = 9;
  options.producer_id = ProducerId(4);
  options.producer_epoch = 2;
  for (const bool commit : {true, false}) {
    const auto batch = build_end_marker(options, {commit, 17}, 123);
    const auto header = *parse_header(batch);
    EXPECT_TRUE(check_batch(header, batch).has_value());
    EXPECT_TRUE(header.control());
    EXPECT_TRUE(header.transactional());
    EXPECT_EQ(header.base_sequence, -1);
    RecordReader reader(header, std::span(batch).subspan(batch_format::kHeaderSize));
    Record record;
    ASSERT_TRUE(reader.next(record));
    auto marker = parse_end_marker(record);
    ASSERT_TRUE(marker.has_value() && marker->has_value());
    EXPECT_EQ(**marker, (EndTransactionMarker{commit, 17}));
  }
}

}  // namespace
}  // namespace ackord::protocol
