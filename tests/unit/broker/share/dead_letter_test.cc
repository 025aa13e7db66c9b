#include "broker/share/dead_letter.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ackord::share {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Read {
  std::optional<std::string> key;
  std::optional<std::string> value;
  TimeMs timestamp = 0;
  Headers headers;
};

std::vector<Read> read(std::span<const std::byte> batch) {
  const auto header = protocol::parse_header(batch);
  EXPECT_TRUE(header && protocol::check_batch(*header, batch));
  EXPECT_FALSE(header->has_producer());
  std::vector<std::byte> buffer;
  const auto records = protocol::uncompressed_records(*header, batch, 1 << 20, buffer);
  protocol::RecordReader reader(*header, *records);
  std::vector<Read> out;
  for (protocol::Record record; reader.next(record);) {
    Read& one = out.emplace_back();
    if (record.key) one.key = text_of(*record.key);
    if (record.value) one.value = text_of(*record.value);
    one.timestamp = record.timestamp;
    for (const protocol::RecordHeader& h : record.headers)
      one.headers.emplace_back(h.key, text_of(*h.value));
  }
  EXPECT_FALSE(reader.failure());
  return out;
}

DeadLetter letter(Offset offset, ArchiveReason reason = ArchiveReason::kRejected) {
  DeadLetter out;
  out.topic = "orders";
  out.partition = 2;
  out.offset = offset;
  out.group = "workers";
  out.delivery_count = 3;
  out.reason = reason;
  return out;
}

TEST(DeadLetter, NamesTheRecordInItsHeaders) {
  LetterBatch batch(1000, 1234);
  EXPECT_TRUE(batch.empty());
  ASSERT_TRUE(batch.add(letter(41)));
  const auto records = read(batch.build());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].headers, (Headers{{"__dlq.errors.topic", "orders"},
                                         {"__dlq.errors.partition", "2"},
                                         {"__dlq.errors.offset", "41"},
                                         {"__dlq.errors.group", "workers"},
                                         {"__dlq.errors.delivery.count", "3"},
                                         {"__dlq.errors.message", "Offset rejected by client."}}));
  EXPECT_EQ(records[0].key, std::nullopt);
  EXPECT_EQ(records[0].value, std::nullopt);
  EXPECT_EQ(records[0].timestamp, 1234);
}

TEST(DeadLetter, SaysWhyOnlyWhenItIsKnown) {
  LetterBatch batch(1000, 0);
  ASSERT_TRUE(batch.add(letter(1, ArchiveReason::kDeliveryLimit)));
  ASSERT_TRUE(batch.add(letter(2, ArchiveReason::kUnknown)));
  const auto records = read(batch.build());
  EXPECT_EQ(records[0].headers.back().second, "Offset delivery count exceeded the threshold.");
  EXPECT_EQ(records[1].headers.back().first, "__dlq.errors.delivery.count");
}

TEST(DeadLetter, CopiesKeyAndValue) {
  const std::string key = "k";
  const std::string value = "v";
  DeadLetter copied = letter(1);
  copied.key = std::as_bytes(std::span(key));
  copied.value = std::as_bytes(std::span(value));
  LetterBatch batch(1000, 0);
  ASSERT_TRUE(batch.add(copied));
  copied.value.reset();
  ASSERT_TRUE(batch.add(copied));
  const auto records = read(batch.build());
  EXPECT_EQ(records[0].key, "k");
  EXPECT_EQ(records[0].value, "v");
  EXPECT_EQ(records[1].value, std::nullopt);
}

TEST(DeadLetter, ABatchStaysBelowItsLimit) {
  LetterBatch batch(1200, 0);
  Offset offset = 0;
  while (batch.add(letter(offset))) ++offset;
  EXPECT_GT(offset, 1);
  EXPECT_EQ(batch.count(), offset);
  EXPECT_LE(batch.build().size(), 1200u);
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(batch.add(letter(offset))) << "the next one begins anew";
}

TEST(DeadLetter, WhatIsTooLargeGoesWithoutItsContent) {
  const std::string value(2000, 'x');
  DeadLetter large = letter(7);
  large.value = std::as_bytes(std::span(value));
  LetterBatch batch(1000, 0);
  ASSERT_TRUE(batch.add(letter(6)));
  EXPECT_FALSE(batch.add(large)) << "not beside another";
  (void)batch.build();
  ASSERT_TRUE(batch.add(large));
  const auto bytes = batch.build();
  EXPECT_LE(bytes.size(), 1000u);
  const auto records = read(bytes);
  EXPECT_EQ(records[0].value, std::nullopt);
  EXPECT_EQ(records[0].headers[2].second, "7");
}

}  // namespace
}  // namespace ackord::share
