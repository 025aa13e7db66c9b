// Runs a ShareShard as ShardRunner does, over a log in memory that holds encoded records, and knows
// what the log would know of producers. Reloading replays that log, through the codec.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/share/share_shard.h"

namespace ackord::share {

class ShardHarness {
 public:
  struct LogBatch {
    Offset base_offset = 0;
    TimeMs timestamp_ms = 0;
    std::vector<log::EncodedRecord> records;
    std::optional<log::ProducerStamp> transaction;
    std::optional<log::EndMarker> marker;
  };

  explicit ShardHarness(int32_t updates_per_snapshot = 500)
      : updates_per_snapshot_(updates_per_snapshot), shard_(ShardConfig{1, updates_per_snapshot}) {}

  ShareShard& shard() { return shard_; }
  const ShareShard& shard_view() const { return shard_; }
  io::Now now() const { return now_; }
  void wait(int64_t ms) {
    now_.wall_ms += ms;
    now_.steady_ms += ms;
  }
  Offset log_end() const { return log_end_; }
  const std::vector<LogBatch>& log() const { return log_; }

  // The batches of the latest run, as decided.
  const std::vector<coordinator::Batch<ShareRecord>>& written() const { return written_; }
  std::vector<ShareRecord> records() const {
    std::vector<ShareRecord> out;
    for (const auto& batch : written_)
      out.insert(out.end(), batch.records.begin(), batch.records.end());
    return out;
  }

  template <class Op>
  auto run(const Op& op) {
    auto outcome = std::as_const(shard_).decide(op, now_);
    written_ = outcome.batches;
    for (const auto& batch : outcome.batches) append(batch);
    for (const auto& effect : outcome.effects) shard_.apply_soft(effect);
    return std::move(outcome.reply);
  }

  // Runs what is due, as the runtime's timer does.
  ShareShard::TickReply tick() {
    const auto deadline = shard_.next_deadline();
    written_.clear();
    if (!deadline || *deadline > now_.steady_ms) return {};
    auto reply = run(coordinator::Tick{});
    const auto next = shard_.next_deadline();
    EXPECT_TRUE(!next || *next > now_.steady_ms) << "a tick leaves nothing that is due";
    return reply;
  }

  std::optional<log::ProducerView> producer(ProducerId id) const {
    const auto at = producers_.find(id);
    if (at == producers_.end()) return std::nullopt;
    return at->second;
  }
  void forget_producers() { producers_.clear(); }  // expired in the log

  ShareShard loaded() const {
    ShareShard fresh(ShardConfig{incarnation_ + 1, updates_per_snapshot_});
    for (const LogBatch& batch : log_) {
      coordinator::RecordContext context{batch.base_offset, batch.timestamp_ms, batch.transaction};
      if (batch.marker) fresh.apply_end_marker(*batch.marker, context);
      for (const log::EncodedRecord& encoded : batch.records) {
        const Result<std::optional<ShareRecord>> record =
            ShareShard::decode(encoded.key, encoded.value);
        EXPECT_TRUE(record.has_value() && record->has_value());
        fresh.apply(**record, context);
        ++context.offset;
      }
    }
    return fresh;
  }
  void reload() {
    shard_ = loaded();
    ++incarnation_;
  }

 private:
  void append(const coordinator::Batch<ShareRecord>& batch) {
    LogBatch stored{log_end_, now_.wall_ms, {}, batch.transaction, batch.marker};
    coordinator::RecordContext context{log_end_, now_.wall_ms, batch.transaction};
    if (batch.marker) {
      log::ProducerView& view = producers_[batch.marker->producer.id];
      EXPECT_GE(batch.marker->producer.epoch, view.producer.epoch) << "the log would refuse it";
      EXPECT_GE(batch.marker->coordinator_epoch, view.coordinator_epoch)
          << "the log would refuse it";
      view = {batch.marker->producer, -1, now_.wall_ms, batch.marker->coordinator_epoch, -1};
      shard_.apply_end_marker(*batch.marker, context);
      ++log_end_;
    } else if (batch.transaction) {
      log::ProducerView& view = producers_[batch.transaction->id];
      EXPECT_GE(batch.transaction->epoch, view.producer.epoch) << "the log would refuse it";
      view.producer = *batch.transaction;
      if (view.current_txn_start_offset < 0) view.current_txn_start_offset = log_end_;
    }
    for (const ShareRecord& record : batch.records) {
      log::EncodedRecord encoded = ShareShard::encode(record);
      const Result<std::optional<ShareRecord>> read =
          ShareShard::decode(encoded.key, encoded.value);
      EXPECT_TRUE(read.has_value() && read->has_value() && **read == record)
          << "the codec changes a record";
      stored.records.push_back(std::move(encoded));
      shard_.apply(record, context);
      ++context.offset;
      ++log_end_;
    }
    log_.push_back(std::move(stored));
  }

  int32_t updates_per_snapshot_;
  ShareShard shard_;
  uint64_t incarnation_ = 1;
  io::Now now_{1000000, 5000};
  std::vector<LogBatch> log_;
  Offset log_end_ = 0;
  std::map<ProducerId, log::ProducerView> producers_;
  std::vector<coordinator::Batch<ShareRecord>> written_;
};

// One share partition's hard state, all of it, as text.
inline std::string hard_text(const SharePartition& partition) {
  const SharePartition::HardState& hard = partition.hard();
  std::string out =
      "epochs " + std::to_string(hard.snapshot_epoch) + "/" + std::to_string(hard.state_epoch) +
      "/" + std::to_string(hard.leader_epoch) + " start " +
      std::to_string(hard.written_start_offset) + "/" + std::to_string(hard.start_offset) +
      " done " + std::to_string(hard.delivery_complete_count) + " times " +
      std::to_string(hard.create_timestamp) + "/" + std::to_string(hard.write_timestamp) +
      " updates " + std::to_string(hard.updates_since_snapshot) + " at " +
      std::to_string(hard.snapshot_log_offset) + " staged " +
      std::to_string(hard.batches.staged()) + " terminal " +
      std::to_string(hard.batches.terminal()) + "/" +
      std::to_string(hard.batches.terminal_above_staged());
  const auto [batches, owners] = hard.batches.to_state_batches(0);
  for (const StateBatch& batch : batches) {
    out += "\n " + std::to_string(batch.first_offset) + "-" + std::to_string(batch.last_offset) +
           " " + std::string(name_of(batch.delivery_state)) + " x" +
           std::to_string(batch.delivery_count) + " " + std::to_string(batch.owner_index) + " " +
           std::to_string(batch.staged_ack_type) + " " +
           std::to_string(batch.staged_delivery_state);
  }
  for (const Owner& owner : owners) {
    out += "\n " + owner.to_string() + " since " + std::to_string(owner.staged_timestamp_ms);
  }
  return out;
}

}  // namespace ackord::share
