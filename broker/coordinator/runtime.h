// ShardRunner: runs one shard over one partition of a state topic: decide → append → apply →
// (durable) → reply.
//
// Knows no group, no transaction, no share. Threads: belongs to the partition's core; all members
// run there. Between decide and apply nothing else of the shard runs, so a decision is never
// outdated. Memory may run ahead of the disk, but run() answers only when all that was appended
// before its decision, its own records included, is durable: a read-only operation too. Many
// decisions share one fdatasync. Errors (Result): COORDINATOR_LOAD_IN_PROGRESS before load() has
// ended; COORDINATOR_NOT_AVAILABLE after a storage failure, from which there is no way back but a
// restart of the process; the log's own (INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED, …)
// when it refuses the first batch of a decision: then nothing has happened.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "broker/base/assert.h"
#include "broker/coordinator/load.h"
#include "broker/coordinator/shard.h"
#include "broker/coordinator/unserved_records.h"
#include "broker/io/core.h"
#include "broker/log/partition.h"

namespace ackord::coordinator {

template <class Shard>
class ShardRunner {
 public:
  using Record = typename Shard::Record;
  using TickReply = typename Shard::TickReply;

  ShardRunner(const io::Core& core, std::shared_ptr<log::Partition> partition, Shard shard)
      : core_(core), partition_(std::move(partition)), shard_(std::move(shard)) {}
  ShardRunner(const ShardRunner&) = delete;
  ShardRunner& operator=(const ShardRunner&) = delete;
  ~ShardRunner() {
    if (timer_ != 0) core_.clock.cancel(timer_);
  }

  // Called after each change of state, still inside the decision: for waking those who wait for it.
  // May not run().
  void on_applied(std::function<void()> hook) { applied_hook_ = std::move(hook); }
  // Called with what a Tick left to do, once that is durable.
  void on_tick(std::function<void(TickReply)> hook) { tick_hook_ = std::move(hook); }

  const io::Core& core() const { return core_; }
  log::Partition& partition() const { return *partition_; }
  // For looking while nothing is awaited; an answer that leaves goes through run().
  const Shard& shard() const { return shard_; }
  bool loaded() const { return loaded_; }

  // Replays the log. The error names the record that cannot be read.
  io::Task<Result<void>> load() {
    auto replay = [this](const LoadedBatch& batch) { return this->replay(batch); };
    auto loading = load_partition(*partition_, replay);
    Result<void> result = co_await std::move(loading);
    if (result) {
      unserved_.log(
          fmt::format("{}-{}", partition_->name().topic.sv(), partition_->name().partition));
      loaded_ = true;
      arm();
    }
    co_return result;
  }

  template <class Op>
  io::Task<Result<typename Op::Reply>> run(Op op) {
    auto decided = start<Op, typename Op::Reply>(op);
    if (!decided) co_return decided.error();
    auto durable = partition_->durable(decided->rests_on);
    Result<void> done = co_await std::move(durable);
    if (!done) co_return unavailable();
    co_return std::move(decided->reply);
  }

  // As run(), but the answer does not wait for the disk, nor does the next write to this log, which
  // covers it. Only where a lost record is made again after a restart (protocol 1.6: Complete).
  template <class Op>
  Result<typename Op::Reply> run_without_waiting(const Op& op) {
    auto decided = start<Op, typename Op::Reply>(op, log::Flush::kLater);
    if (!decided) return decided.error();
    return std::move(decided->reply);
  }

 private:
  template <class Reply>
  struct Decided {
    Reply reply;
    Offset rests_on;
  };

  static Error unavailable() {
    return error(ErrorCode::COORDINATOR_NOT_AVAILABLE, "the log is offline");
  }

  template <class Op, class Reply>
  Result<Decided<Reply>> start(const Op& op, log::Flush flush = log::Flush::kAtOnce) {
    if (failed_) return unavailable();
    if (!loaded_) return error(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
    const io::Now now = core_.clock.now();
    Outcome<Shard, Reply> outcome = std::as_const(shard_).decide(op, now);
    for (size_t i = 0; i < outcome.batches.size(); ++i) {
      const log::AppendResult written = append(outcome.batches[i], now, flush);
      if (written.error == ErrorCode::NONE) continue;
      if (written.error == ErrorCode::KAFKA_STORAGE_ERROR) {
        failed_ = true;
        return unavailable();
      }
      // A client's producer id and epoch may be such that the log refuses them; then nothing of the
      // decision has happened yet.
      ACKORD_ASSERT(i == 0, "a decision is appended as a whole, or not at all");
      return error(written.error, written.message);
    }
    for (const auto& effect : outcome.effects) shard_.apply_soft(effect);
    if (!outcome.batches.empty() || !outcome.effects.empty()) {
      if (applied_hook_) applied_hook_();
      arm();
    }
    return Decided<Reply>{std::move(outcome.reply), partition_->log_end_offset()};
  }

  // Appends and applies; with an error neither has happened.
  log::AppendResult append(const Batch<Record>& batch, io::Now now, log::Flush flush) {
    if (batch.marker) {
      log::AppendResult written = partition_->append_marker(*batch.marker, now.wall_ms);
      if (written.error != ErrorCode::NONE) return written;
      shard_.apply_end_marker(*batch.marker, {written.base_offset, now.wall_ms, std::nullopt});
      return written;
    }
    std::vector<log::EncodedRecord> encoded;
    encoded.reserve(batch.records.size());
    for (const Record& record : batch.records) encoded.push_back(Shard::encode(record));
    log::AppendResult written =
        partition_->append_records(encoded, batch.transaction, now.wall_ms, flush);
    if (written.error != ErrorCode::NONE) return written;
    RecordContext context{written.base_offset, now.wall_ms, batch.transaction};
    for (const Record& record : batch.records) {
      shard_.apply(record, context);
      ++context.offset;
    }
    return written;
  }

  Result<void> replay(const LoadedBatch& batch) {
    if (batch.marker) {
      shard_.apply_end_marker(*batch.marker, {batch.base_offset, batch.timestamp_ms, std::nullopt});
      return {};
    }
    for (const LoadedRecord& loaded : batch.records) {
      Result<std::optional<Record>> record = Shard::decode(loaded.key, loaded.value);
      if (!record) return record.error();
      if (*record) {
        shard_.apply(**record, {loaded.offset, batch.timestamp_ms, batch.transaction});
      } else if constexpr (requires { Shard::unserved_name(loaded.key, loaded.value); }) {
        unserved_.add(Shard::unserved_name(loaded.key, loaded.value));
      }
    }
    return {};
  }

  void arm() {
    const std::optional<int64_t> deadline = shard_.next_deadline();
    if (timer_ != 0 && deadline && armed_for_ <= *deadline) return;
    if (timer_ != 0) core_.clock.cancel(std::exchange(timer_, 0));
    if (!deadline) return;
    armed_for_ = *deadline;
    timer_ = core_.clock.call_at(*deadline, [this] {
      timer_ = 0;
      io::spawn(core_.executor, tick());
    });
  }

  io::Task<void> tick() {
    const std::optional<int64_t> deadline = shard_.next_deadline();
    if (!deadline || *deadline > core_.clock.now().steady_ms) {
      arm();
      co_return;
    }
    auto decided = start<Tick, TickReply>(Tick{});
    if (!decided) co_return;
    arm();
    auto durable = partition_->durable(decided->rests_on);
    Result<void> done = co_await std::move(durable);
    if (done && tick_hook_) tick_hook_(std::move(decided->reply));
  }

  io::Core core_;
  std::shared_ptr<log::Partition> partition_;
  Shard shard_;
  UnservedRecords unserved_;
  bool loaded_ = false;
  bool failed_ = false;
  io::Clock::TimerId timer_ = 0;
  int64_t armed_for_ = 0;
  std::function<void()> applied_hook_;
  std::function<void(TickReply)> tick_hook_;
};

}  // namespace ackord::coordinator
