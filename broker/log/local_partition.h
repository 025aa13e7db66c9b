// LocalPartition: a Partition on this broker's disk: the log's core, its flusher and its readers.
// One core. Its coroutines hold a reference, so it lives until they end.
#pragma once

#include <deque>
#include <memory>

#include "broker/io/clock.h"
#include "broker/io/core.h"
#include "broker/io/position_gate.h"
#include "broker/log/compaction.h"
#include "broker/log/data_directory.h"
#include "broker/log/journal.h"
#include "broker/log/partition.h"
#include "broker/log/partition_log.h"

namespace ackord::log {

class LocalPartition : public Partition,
                       public Journaled,
                       public std::enable_shared_from_this<LocalPartition> {
 public:
  LocalPartition(DataDirectory& directory, io::Core core, std::unique_ptr<PartitionLog> log,
                 Uuid topic_id);

  const TopicPartition& name() const override { return log_->name(); }
  const Uuid& topic_id() const override { return topic_id_; }
  int32_t leader_epoch() const override { return log_->leader_epoch(); }
  io::Task<void> raise_leader_epoch(int32_t epoch) override;
  Offset log_start_offset() const override { return log_->log_start(); }
  Offset log_end_offset() const override { return log_->log_end(); }
  Offset high_watermark() const override { return log_->high_watermark(); }
  Offset last_stable_offset() const override { return log_->last_stable_offset(); }
  uint64_t size_bytes() const override { return log_->size_bytes(); }
  io::Signal& on_advance() override { return on_advance_; }

  AppendResult append(const ClientAppend& request, TimeMs now_ms) override;
  AppendResult append_marker(const EndMarker& marker, TimeMs now_ms) override;
  using Partition::append_records;
  AppendResult append_records(std::span<const EncodedRecord> records,
                              std::optional<ProducerStamp> transaction, TimeMs now_ms,
                              Flush flush) override;
  io::Task<Result<void>> durable(Offset offset) override;

  std::optional<ProducerView> producer(ProducerId id) const override {
    return log_->producers().view(id);
  }
  std::vector<ProducerView> producers() const override { return log_->producers().views(); }
  bool has_open_transaction(ProducerStamp producer) const override {
    return log_->producers().has_open_transaction(producer);
  }
  uint64_t begin_verification(ProducerStamp producer) override {
    return log_->producers().begin_verification(producer);
  }

  io::Task<ReadResult> read(ReadSpec spec) override;
  io::Task<ReadResult> read_all(Offset offset, int64_t max_bytes) override;
  io::Task<Result<TimestampedOffset>> offset_for_timestamp(TimeMs timestamp,
                                                           Isolation isolation) override;
  io::Task<Result<TimestampedOffset>> offset_of_max_timestamp() override;
  std::pair<int32_t, Offset> end_offset_for_epoch(int32_t epoch) const override {
    return log_->end_offset_for_epoch(epoch);
  }
  io::Task<Result<Offset>> delete_records(Offset before) override;
  void configure(const LogConfig& config) override;

  // ---- for the service
  const std::string& directory() const { return log_->directory(); }
  // Everything that waits, now and later, gets `why`.
  void went_offline(const Error& why);
  // The partition goes away.
  void mark_removed();
  // Retention, once; also forgets idle producers.
  static io::Task<void> retain(std::shared_ptr<LocalPartition> self, TimeMs now_ms,
                               int64_t producer_expiration_ms);
  // Compaction, once, when the log is worth it (compaction_plan.h). Returns after how many
  // milliseconds to look again; empty: when something is new.
  struct CleanerLimits {
    HashSecret secret{};
    size_t max_keys = 0;
    uint64_t bytes_per_second = 0;
    int64_t backoff_ms = 0;
  };
  static io::Task<std::optional<int64_t>> clean(std::shared_ptr<LocalPartition> self,
                                                CleanerLimits limits, io::Clock* clock);
  // Where the last compaction before this start ended.
  void set_cleaned_up_to(Offset offset) { cleaned_up_to_ = offset; }
  // Everything durable, indexes and snapshot written. Nothing is appended from then on.
  static io::Task<Result<void>> close(std::shared_ptr<LocalPartition> self);
  // What the recovery point may be: all below is in the log's own files, on the disk.
  Offset synced_offset() const;
  io::Task<bool> sync_files() override;

 private:
  using Self = std::shared_ptr<LocalPartition>;
  // A run of whole batches in one segment.
  struct Range {
    SegmentPtr segment;  // null: nothing to read
    uint64_t position = 0;
    uint64_t size = 0;
    Offset next_offset = 0;
    std::vector<BatchInfo> batches;
  };
  struct Want {
    Offset offset = 0;
    int64_t max_bytes = 0;
    bool at_least_one_batch = true;
    Offset bound = 0;
    bool batches = false;
  };

  std::optional<Error> refusal() const;
  std::optional<Error> append_refusal() const;
  AppendResult appended(AppendResult result, Flush flush = Flush::kAtOnce);
  void schedule_flush();
  void flush_later();
  void advance(Offset durable);
  static io::Task<void> flush_loop(Self self);
  static io::Task<Result<void>> flush_active(Self self, Offset target);
  static io::Task<bool> sync_to_end(Self self);
  static io::Task<Result<void>> flush_sealed(Self self);
  static io::Task<Result<void>> wait_durable(Self self, Offset offset);
  static io::Task<void> delete_dropped(Self self);
  static io::Task<Result<Offset>> delete_before(Self self, Offset before);
  static io::Task<Result<void>> raise_start(Self self, Offset offset);
  static io::Task<void> write_epochs(Self self);

  // ---- partition_cleaner.cc
  static io::Task<std::optional<int64_t>> clean_once(Self self, CleanerLimits limits,
                                                     io::Clock* clock);
  static io::Task<Result<void>> learn_ages(Self self);
  static io::Task<Result<bool>> run_pass(Self self, std::shared_ptr<Compaction> pass,
                                         uint64_t bytes_per_second, io::Clock* clock);
  static io::Task<Result<bool>> swap_group(Self self, Compaction::Group group);
  void forget_loaded(const std::vector<SegmentPtr>& segments);
  bool cleaning_stops() const;

  // ---- partition_reader.cc
  bool find_recent(const Want& want, Range& out) const;
  static io::Task<ReadResult> read_range(Self self, ReadSpec spec, bool to_the_end);
  static io::Task<Result<Range>> find_range(Self self, Want want);
  static io::Task<Result<Range>> find_in_segment(Self self, SegmentPtr segment, Want want);
  static io::Task<Result<std::shared_ptr<SegmentIndexes>>> load_indexes(Self self,
                                                                        SegmentPtr segment);
  static io::Task<Result<TimestampedOffset>> find_timestamp(Self self, TimeMs timestamp,
                                                            Offset bound);
  static io::Task<Result<TimestampedOffset>> find_max_timestamp(Self self);
  static io::Task<Result<TimestampedOffset>> search_max_timestamp(Self self);
  static io::Task<Result<TimestampedOffset>> max_in_segment(Self self, SegmentPtr segment,
                                                            TimestampedOffset best);

  DataDirectory& directory_;
  const io::Core core_;
  std::unique_ptr<PartitionLog> log_;
  Uuid topic_id_;
  io::Signal on_advance_;
  io::PositionGate durable_;
  bool removed_ = false;
  bool closed_ = false;
  // Flush loops that began, and that have ended: at most one runs.
  int64_t flushes_ = 0;
  io::PositionGate flushes_done_{0};
  bool flushes_later_ = false;  // a timer will see to it
  // Below it all is durable in the log's own files; from it on, up to the high watermark, in the
  // journal.
  io::PositionGate synced_;
  Offset sync_wanted_ = 0;  // the journal asks for this much of them
  // How far the active segment's file is durable, here or there, and which segment that was.
  uint64_t flushed_bytes_;
  Offset flushed_base_;
  Offset cleaned_up_to_ = 0;
  bool uncleanable_ = false;  // until the next start, as in Kafka
  bool writing_epochs_ = false;
  bool swapping_ = false;  // the names of segments are changing on a pool thread
  // Compactions that began, and that have ended.
  int64_t cleanings_ = 0;
  io::PositionGate cleanings_done_{0};
  std::deque<SegmentPtr> loaded_;  // sealed segments whose indexes are in memory, oldest use first
};

}  // namespace ackord::log
