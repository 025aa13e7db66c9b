#include "broker/metadata/metadata_records.h"

#include <gtest/gtest.h>

#include <string>

namespace ackord::metadata {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<int>(byte) >> 4];
    text += kDigits[static_cast<int>(byte) & 15];
  }
  return text;
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(MetadataRecords, FramesARecordAsKafkaDoes) {
  protocol::FeatureLevelRecord feature;
  feature.name = "metadata.version";
  feature.feature_level = 33;
  const log::EncodedRecord encoded = encode_record(feature);
  EXPECT_TRUE(encoded.null_key);
  EXPECT_TRUE(encoded.key.empty());
  // frame 1, type 12, version 0, compact string, level, no tags: 23 bytes, as stock Kafka's.
  EXPECT_EQ(hex(*encoded.value),
            "010c00"
            "116d657461646174612e76657273696f6e"
            "0021"
            "00");
}

TEST(MetadataRecords, EveryTypeComesBack) {
  const std::vector<MetadataRecord> records = {protocol::FeatureLevelRecord(),
                                               protocol::TopicRecord(),
                                               protocol::PartitionRecord{.partition_id = 0},
                                               protocol::PartitionChangeRecord{.partition_id = 0},
                                               protocol::RemoveTopicRecord(),
                                               protocol::ConfigRecord(),
                                               protocol::ProducerIdsRecord(),
                                               protocol::RegisterBrokerRecord(),
                                               protocol::BeginTransactionRecord(),
                                               protocol::EndTransactionRecord(),
                                               protocol::AbortTransactionRecord(),
                                               protocol::AccessControlEntryRecord(),
                                               protocol::RemoveAccessControlEntryRecord()};
  for (const MetadataRecord& record : records) {
    const log::EncodedRecord encoded = encode_record(record);
    const auto decoded = decode_record(*encoded.value);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    ASSERT_TRUE(decoded->has_value());
    EXPECT_EQ(**decoded, record);
  }
}

TEST(MetadataRecords, LeavesOtherTypesAlone) {
  const auto decoded = decode_record(bytes_of({1, 20, 0, 0}));  // NoOpRecord
  ASSERT_TRUE(decoded.has_value());
  EXPECT_FALSE(decoded->has_value());
}

TEST(MetadataRecords, RefusesWhatIsNoRecord) {
  EXPECT_EQ(decode_record({}).error().code, ErrorCode::CORRUPT_MESSAGE);
  EXPECT_EQ(decode_record(bytes_of({2, 12, 0})).error().code,
            ErrorCode::CORRUPT_MESSAGE);  // frame version
  EXPECT_EQ(decode_record(bytes_of({1, 12, 9})).error().code,
            ErrorCode::CORRUPT_MESSAGE);  // record version
  EXPECT_EQ(decode_record(bytes_of({1, 12, 0, 17, 1})).error().code,
            ErrorCode::CORRUPT_MESSAGE);  // cut short
  protocol::PartitionRecord nowhere;      // partition -1
  EXPECT_EQ(decode_record(*encode_record(nowhere).value).error().code, ErrorCode::CORRUPT_MESSAGE);
}

}  // namespace
}  // namespace ackord::metadata
