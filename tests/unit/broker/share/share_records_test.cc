#include "broker/share/share_records.h"

#include <gtest/gtest.h>

#include <string>

namespace ackord::share {
namespace {

std::string hex(const std::vector<std::byte>& bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::byte b : bytes) {
    out += kDigits[static_cast<unsigned>(b) >> 4];
    out += kDigits[static_cast<unsigned>(b) & 15];
  }
  return out;
}

SharePartitionKey key() {
  Uuid topic;
  for (uint8_t i = 0; i < 16; ++i) topic.bytes[i] = i;
  return {GroupId("g"), topic, 2};
}

ShareRecord decoded(const log::EncodedRecord& encoded) {
  std::optional<std::span<const std::byte>> value;
  if (encoded.value) value = *encoded.value;
  const Result<std::optional<ShareRecord>> record = decode(encoded.key, value);
  EXPECT_TRUE(record.has_value() && record->has_value());
  return **record;
}

TEST(ShareRecords, WithoutStagedRangesTheBytesAreKafkas) {
  ShareUpdate update;
  update.key = key();
  update.snapshot_epoch = 1;
  update.leader_epoch = 3;
  update.start_offset = 5;
  update.delivery_complete_count = 2;
  update.state_batches = {{5, 6, RecordState::ACKNOWLEDGED, 1}};
  const log::EncodedRecord encoded = encode(update);
  EXPECT_EQ(hex(encoded.key),
            "0001"
            "000167"
            "000102030405060708090a0b0c0d0e0f"
            "00000002");
  EXPECT_EQ(hex(*encoded.value),
            "0000"
            "00000001"
            "00000003"
            "0000000000000005"
            "02"
            "0000000000000005"
            "0000000000000006"
            "02"
            "0001"
            "00"
            "01"
            "00"
            "04"
            "00000002");
  EXPECT_EQ(decoded(encoded), ShareRecord(update));
}

TEST(ShareRecords, SnapshotWithOwners) {
  ShareSnapshot snapshot{key(), ShareSnapshot::Value{4, 5, 6, 7, 1, 1000, 2000, {}, {}}};
  snapshot.value->state_batches = {{7, 8, RecordState::TX_PENDING, 2, 1, 3, 4},
                                   {9, 9, RecordState::ARCHIVED, 1}};
  snapshot.value->owners = {{ProducerId(7), 3, TransactionalId("t"), 12345},
                            {{}, -1, TransactionalId("batch"), 9}};
  EXPECT_EQ(decoded(encode(snapshot)), ShareRecord(snapshot));
}

TEST(ShareRecords, Tombstone) {
  const ShareSnapshot snapshot{key(), std::nullopt};
  const log::EncodedRecord encoded = encode(snapshot);
  EXPECT_FALSE(encoded.value.has_value());
  EXPECT_EQ(decoded(encoded), ShareRecord(snapshot));
}

TEST(ShareRecords, AnUnknownKeyTypeIsSkipped) {
  const std::byte type33[] = {std::byte{0}, std::byte{33}, std::byte{0}};
  const Result<std::optional<ShareRecord>> record = decode(type33, std::nullopt);
  ASSERT_TRUE(record.has_value());
  EXPECT_FALSE(record->has_value());
}

TEST(ShareRecords, WhatTheStateMachineCannotHoldIsCorrupt) {
  const auto corrupt = [](const StateBatch& batch) {
    ShareUpdate update;
    update.key = key();
    update.state_batches = {batch};
    update.owners = {{ProducerId(7), 3, std::nullopt, 0}};
    const log::EncodedRecord encoded = encode(update);
    const Result<std::optional<ShareRecord>> record =
        decode(encoded.key, std::span<const std::byte>(*encoded.value));
    return !record && record.error().code == ErrorCode::CORRUPT_MESSAGE;
  };
  EXPECT_TRUE(corrupt({5, 4, RecordState::ARCHIVED, 1}));
  EXPECT_TRUE(corrupt({-1, 4, RecordState::ARCHIVED, 1}));
  EXPECT_TRUE(corrupt({4, 5, RecordState::ACQUIRED, 1}));
  EXPECT_TRUE(corrupt({4, 5, static_cast<RecordState>(6), 1}));
  EXPECT_TRUE(corrupt({4, 5, RecordState::TX_PENDING, 1}));
  EXPECT_TRUE(corrupt({4, 5, RecordState::TX_PENDING, 1, 1, 1, 2}));
  EXPECT_TRUE(corrupt({4, 5, RecordState::TX_PENDING, 1, 0, 1, 0}));
  EXPECT_FALSE(corrupt({4, 5, RecordState::TX_PENDING, 1, 0, 1, 2}));
}

TEST(ShareRecords, StatePartitions) {
  EXPECT_EQ(key().to_string(), "g:AAECAwQFBgcICQoLDA0ODw:2");
  // Java: Math.abs("g:AAECAwQFBgcICQoLDA0ODw:2".hashCode()) % 50, and with a group outside of
  // ASCII.
  EXPECT_EQ(state_partition_of(key(), 50), 17);
  SharePartitionKey wide = key();
  wide.group_id = GroupId("gr\xc3\xbc\xf0\x9f\x8d\x8e");
  EXPECT_EQ(state_partition_of(wide, 50), 35);
}

}  // namespace
}  // namespace ackord::share
