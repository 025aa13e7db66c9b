// A TxnShard without a log: operations are decided and applied, every record passes through its
// bytes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "broker/txn/txn_shard.h"

namespace ackord::txn {

inline void PrintTo(const Transaction& t, std::ostream* out) {
  *out << name_of(t.state) << " producer=" << t.producer.id << "/" << t.producer.epoch
       << " previous=" << t.previous_producer_id << " next=" << t.next_producer_id
       << " timeout=" << t.timeout_ms << " client=" << t.client_transaction_version
       << " abort_only=" << t.abort_only << " updated=" << t.last_update_ms
       << " start=" << t.start_ms << " partitions=[";
  for (const auto& p : t.partitions) *out << p.topic << "-" << p.partition << " ";
  *out << "]";
}
inline void PrintTo(const TransactionRecord& record, std::ostream* out) {
  *out << record.id << " v" << record.version << " ";
  if (record.transaction) {
    PrintTo(*record.transaction, out);
  } else {
    *out << "tombstone";
  }
}

inline TopicPartition tp(const char* topic, int32_t partition) {
  return {TopicName(topic), partition};
}
inline log::ProducerStamp stamp(int64_t id, int16_t epoch) { return {ProducerId(id), epoch}; }

class ShardTest : public ::testing::Test {
 protected:
  static constexpr TimeMs kWall = 1'700'000'000'000;

  io::Now now{kWall, 1'000};
  TxnSettings settings;
  TxnShard shard{settings, now};
  std::vector<TransactionRecord> log;      // everything so far
  std::vector<TransactionRecord> written;  // by the last operation
  int16_t transaction_version = 2;         // of the broker
  TransactionalId id{"tx"};

  void pass(int64_t ms) {
    now.wall_ms += ms;
    now.steady_ms += ms;
  }

  template <class Op>
  auto run(Op op) {
    if constexpr (requires { op.transaction_version; })
      op.transaction_version = transaction_version;
    auto outcome = std::as_const(shard).decide(op, now);
    written.clear();
    for (const auto& batch : outcome.batches) {
      EXPECT_FALSE(batch.transaction.has_value());
      EXPECT_FALSE(batch.marker.has_value());
      for (const auto& record : batch.records) {
        written.push_back(std::get<TransactionRecord>(record));
        log.push_back(written.back());
        apply(shard, written.back());
      }
    }
    for (const auto& effect : outcome.effects) shard.apply_soft(effect);
    return std::move(outcome.reply);
  }
  static void apply(TxnShard& to, const TransactionRecord& record) {
    const log::EncodedRecord bytes = encode(record);
    std::optional<std::span<const std::byte>> value;
    if (bytes.value) value = *bytes.value;
    const auto decoded = TxnShard::decode(bytes.key, value);
    ASSERT_TRUE(decoded.has_value() && decoded->has_value());
    to.apply(**decoded, {});
  }
  void restart() {
    shard = TxnShard(settings, now);
    for (const auto& record : log) apply(shard, record);
  }

  InitProducerId init(std::optional<log::ProducerStamp> expected = {},
                      std::optional<int64_t> fresh = {}) const {
    InitProducerId op;
    op.id = id;
    op.timeout_ms = 60'000;
    op.expected = expected;
    if (fresh) op.fresh = ProducerId(*fresh);
    return op;
  }
  AddPartitions add(log::ProducerStamp producer, std::vector<TopicPartition> partitions,
                    ClientTransactionVersion version = ClientTransactionVersion::kV2) const {
    AddPartitions op;
    op.who = {id, producer};
    op.partitions = std::move(partitions);
    op.client_version = version;
    return op;
  }
  Enlist enlist(log::ProducerStamp producer, std::vector<TopicPartition> partitions,
                std::optional<TimeMs> start = {}) const {
    Enlist op;
    op.who = {id, producer};
    op.partitions = std::move(partitions);
    op.start = start;
    return op;
  }
  EndTxn end(log::ProducerStamp producer, bool commit,
             ClientTransactionVersion version = ClientTransactionVersion::kV2,
             std::optional<int64_t> fresh = {}) const {
    EndTxn op;
    op.who = {id, producer};
    op.commit = commit;
    op.client_version = version;
    if (fresh) op.fresh = ProducerId(*fresh);
    return op;
  }
  Doom doom(log::ProducerStamp producer, std::optional<TimeMs> start = {}) const {
    Doom op;
    op.who = {id, producer};
    op.start = start;
    return op;
  }
  Complete complete(log::ProducerStamp producer) const {
    Complete op;
    op.who = {id, producer};
    return op;
  }

  // A state to start from, as if the log held it.
  void given(Transaction transaction) {
    log.push_back(make_record(id, transaction, 2));
    apply(shard, log.back());
  }
  static Transaction in(TxnState state, log::ProducerStamp producer,
                        std::vector<TopicPartition> partitions = {}) {
    Transaction t;
    t.state = state;
    t.producer = producer;
    t.previous_producer_id = producer.id;
    t.timeout_ms = 60'000;
    t.client_transaction_version = 2;
    t.last_update_ms = kWall - 5;
    t.start_ms = state == TxnState::kEmpty ? -1 : kWall - 10;
    t.partitions = std::move(partitions);
    return t;
  }
  const Transaction& state() const { return *shard.find(id); }
  std::vector<TransactionRecord> one(Transaction transaction, int16_t version = 1) const {
    return {{id, std::move(transaction), version}};
  }
  PreparedTransaction prepared(log::ProducerStamp producer, bool commit,
                               std::vector<TopicPartition> partitions, int8_t version) const {
    log::EndMarker marker;
    marker.producer = producer;
    marker.commit = commit;
    marker.transaction_version = version;
    return {id, marker, std::move(partitions)};
  }
};

inline constexpr auto kV0 = ClientTransactionVersion::kV0;
inline constexpr auto kV2 = ClientTransactionVersion::kV2;

}  // namespace ackord::txn
