#include "broker/txn/txn_records.h"

#include "shard_test_base.h"

namespace ackord::txn {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[static_cast<int>(byte) >> 4];
    text += kDigits[static_cast<int>(byte) & 15];
  }
  return text;
}

Transaction ongoing() {
  Transaction t;
  t.state = TxnState::kOngoing;
  t.producer = stamp(7, 3);
  t.previous_producer_id = ProducerId(7);
  t.timeout_ms = 60'000;
  t.client_transaction_version = 2;
  t.last_update_ms = 0x0102;
  t.start_ms = 0x0101;
  t.partitions = {tp("a", 0), tp("a", 2), tp("b", 1)};
  return t;
}

TEST(TxnRecords, ValueVersion1IsKafkasToTheByte) {
  const log::EncodedRecord record = encode({TransactionalId("tx"), ongoing(), 1});
  EXPECT_EQ(hex(record.key),
            "0000"
            "0002"
            "7478");
  EXPECT_EQ(hex(*record.value),
            "0001"
            "0000000000000007"
            "0003"
            "0000ea60"
            "01"
            "03"
            "0261"
            "03"
            "00000000"
            "00000002"
            "00"
            "0262"
            "02"
            "00000001"
            "00"
            "0000000000000102"
            "0000000000000101"
            "02"
            "00"
            "08"
            "0000000000000007"
            "02"
            "02"
            "0002");
}

TEST(TxnRecords, ValueVersion0HasNoTags) {
  const log::EncodedRecord record = encode({TransactionalId("tx"), ongoing(), 0});
  EXPECT_EQ(hex(*record.value),
            "0000"
            "0000000000000007"
            "0003"
            "0000ea60"
            "01"
            "00000002"
            "0001"
            "61"
            "00000002"
            "00000000"
            "00000002"
            "0001"
            "62"
            "00000001"
            "00000001"
            "0000000000000102"
            "0000000000000101");
}

TEST(TxnRecords, EmptyHasNullPartitionsAndCompleteNone) {
  Transaction empty = ongoing();
  empty.state = TxnState::kEmpty;
  empty.partitions.clear();
  EXPECT_EQ(hex(*encode({TransactionalId("tx"), empty, 1}).value).substr(34, 2), "00");
  empty.state = TxnState::kCompleteCommit;
  EXPECT_EQ(hex(*encode({TransactionalId("tx"), empty, 1}).value).substr(34, 2), "01");
}

TEST(TxnRecords, EveryFieldComesBack) {
  Transaction t = ongoing();
  t.next_producer_id = ProducerId(8);
  t.abort_only = true;
  const TransactionRecord record{TransactionalId("tx"), t, 1};
  const log::EncodedRecord bytes = encode(record);
  const auto decoded = decode(bytes.key, *bytes.value);
  ASSERT_TRUE(decoded.has_value() && decoded->has_value());
  EXPECT_EQ(**decoded, record);
}

TEST(TxnRecords, ATombstoneHasNoValue) {
  const log::EncodedRecord bytes = encode({TransactionalId("tx"), std::nullopt, 1});
  EXPECT_FALSE(bytes.value.has_value());
  const auto decoded = decode(bytes.key, std::nullopt);
  ASSERT_TRUE(decoded.has_value() && decoded->has_value());
  EXPECT_EQ((*decoded)->id, "tx");
  EXPECT_FALSE((*decoded)->transaction.has_value());
}

TEST(TxnRecords, Version0OnlyWhereItLosesNothingThatMatters) {
  Transaction t = ongoing();
  t.client_transaction_version = 0;
  EXPECT_EQ(make_record(TransactionalId("tx"), t, 0).version, 0);
  EXPECT_EQ(make_record(TransactionalId("tx"), t, 1).version, 1);
  t.abort_only = true;
  EXPECT_EQ(make_record(TransactionalId("tx"), t, 0).version, 1);
  t.abort_only = false;
  t.next_producer_id = ProducerId(9);
  EXPECT_EQ(make_record(TransactionalId("tx"), t, 0).version, 1);
}

TEST(TxnRecords, WhatIsNotOursIsSkippedAndWhatIsBrokenRefused) {
  log::EncodedRecord bytes = encode({TransactionalId("tx"), ongoing(), 1});
  auto key = bytes.key;
  key[1] = std::byte{1};
  const auto unknown = decode(key, *bytes.value);
  ASSERT_TRUE(unknown.has_value());
  EXPECT_FALSE(unknown->has_value());

  auto newer = *bytes.value;
  newer[1] = std::byte{2};
  EXPECT_EQ(decode(bytes.key, newer).error().code, ErrorCode::CORRUPT_MESSAGE);
  auto strange = *bytes.value;
  strange[16] = std::byte{6};  // Dead is never stored
  EXPECT_EQ(decode(bytes.key, strange).error().code, ErrorCode::CORRUPT_MESSAGE);
  for (size_t size = 0; size < bytes.value->size(); ++size) {
    EXPECT_FALSE(decode(bytes.key, std::span(*bytes.value).first(size)).has_value()) << size;
  }
}

TEST(TxnState, TheTableIsKafkas) {
  // Kafka's legal previous states, state by state.
  const std::vector<std::vector<int>> before = {{0, 4, 5}, {0, 1, 4, 5}, {1},       {0, 1, 4, 5, 7},
                                                {2},       {3},          {0, 4, 5}, {1}};
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      const auto& legal = before[static_cast<size_t>(to)];
      const bool expected = std::find(legal.begin(), legal.end(), from) != legal.end();
      EXPECT_EQ(may_move(static_cast<TxnState>(from), static_cast<TxnState>(to)), expected)
          << from << ">" << to;
    }
  }
}

}  // namespace
}  // namespace ackord::txn
