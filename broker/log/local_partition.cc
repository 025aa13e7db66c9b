#include "broker/log/local_partition.h"

#include <algorithm>
#include <utility>

#include "broker/base/logging.h"
#include "broker/base/planted_bug.h"
#include "broker/log/log_names.h"
#include "broker/log/segment_swap.h"

namespace ackord::log {
namespace {

constexpr int64_t kFlushLaterMs = 5;

Error offline(const TopicPartition& name) {
  return error(ErrorCode::KAFKA_STORAGE_ERROR,
               "the log directory of " + names::folder_name(name) + " is offline");
}

}  // namespace

LocalPartition::LocalPartition(DataDirectory& directory, io::Core core,
                               std::unique_ptr<PartitionLog> log, Uuid topic_id)
    : directory_(directory),
      core_(core),
      log_(std::move(log)),
      topic_id_(topic_id),
      durable_(log_->log_end()),
      synced_(log_->log_end()),
      flushed_bytes_(log_->active()->size()),
      flushed_base_(log_->active()->base_offset()) {}

std::optional<Error> LocalPartition::refusal() const {
  if (removed_) {
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "the partition was deleted");
  }
  if (!directory_.online()) return offline(log_->name());
  return std::nullopt;
}

// What is appended after the close would be missing in the files that it has written.
std::optional<Error> LocalPartition::append_refusal() const {
  if (closed_) return error(ErrorCode::KAFKA_STORAGE_ERROR, "the broker is stopping");
  return refusal();
}

AppendResult LocalPartition::append(const ClientAppend& request, TimeMs now_ms) {
  if (auto why = append_refusal()) return AppendResult{why->code, why->message};
  return appended(log_->append(request, now_ms));
}

AppendResult LocalPartition::append_marker(const EndMarker& marker, TimeMs now_ms) {
  if (auto why = append_refusal()) return AppendResult{why->code, why->message};
  return appended(log_->append_marker(marker, now_ms));
}

AppendResult LocalPartition::append_records(std::span<const EncodedRecord> records,
                                            std::optional<ProducerStamp> transaction, TimeMs now_ms,
                                            Flush flush) {
  if (auto why = append_refusal()) return AppendResult{why->code, why->message};
  return appended(log_->append_records(records, transaction, now_ms), flush);
}

AppendResult LocalPartition::appended(AppendResult result, Flush flush) {
  if (result.error == ErrorCode::KAFKA_STORAGE_ERROR) {
    directory_.fail(error(result.error, result.message));
  } else if (log_->log_end() > log_->high_watermark()) {
    if (!directory_.sync_on_ack()) advance(log_->log_end());
    if (flush == Flush::kAtOnce) {
      schedule_flush();
    } else {
      flush_later();
    }
  }
  return result;
}

void LocalPartition::advance(Offset durable) {
  if (!log_->advance_high_watermark(durable)) return;
  durable_.advance(durable);
  on_advance_.notify();
}

// ---- the flusher

void LocalPartition::schedule_flush() {
  const bool running = flushes_done_.position() < flushes_;
  const bool needed = directory_.sync_on_ack() || !log_->sealed().empty();
  if (running || !needed) return;
  ++flushes_;
  io::spawn(core_.executor, flush_loop(shared_from_this()));
}

void LocalPartition::flush_later() {
  if (std::exchange(flushes_later_, true)) return;
  core_.clock.call_at(core_.clock.now().steady_ms + kFlushLaterMs, [weak = weak_from_this()] {
    const Self self = weak.lock();
    if (!self) return;
    self->flushes_later_ = false;
    if (self->log_->log_end() > self->log_->high_watermark()) self->schedule_flush();
  });
}

io::Task<void> LocalPartition::flush_loop(Self self) {
  PartitionLog& log = *self->log_;
  while (self->directory_.online() && !self->removed_) {
    if (!log.sealed().empty()) {
      auto sealing = flush_sealed(self);
      auto sealed = co_await std::move(sealing);
      if (sealed.has_error()) self->directory_.fail(sealed.error());
      continue;
    }
    // What is appended from here on waits for the next round.
    const Offset target = log.log_end();
    const bool wanted = self->synced_.position() < self->sync_wanted_;
    if (target <= log.high_watermark() && !wanted) break;
    auto flushing = flush_active(self, target);
    auto flushed = co_await std::move(flushing);
    if (flushed.has_error()) {
      self->directory_.fail(flushed.error());
    } else {
      self->advance(target);
    }
  }
  self->flushes_done_.advance(self->flushes_);
}

// A small end goes through the journal, which one write makes durable together with those of other
// logs. Sealed segments have been flushed before: what is left stands in the active one.
io::Task<Result<void>> LocalPartition::flush_active(Self self, Offset target) {
  const Segment& active = *self->log_->active();
  if (self->flushed_base_ != active.base_offset()) {
    self->flushed_base_ = active.base_offset();
    self->flushed_bytes_ = 0;
  }
  const uint64_t size = active.size();
  const bool journaled = self->synced_.position() >= self->sync_wanted_ &&
                         !self->topic_id_.is_zero() &&
                         self->directory_.journal().takes(size - self->flushed_bytes_);
  const auto file = active.file();
  Result<void> done;
  if (journaled) {
    auto writing = self->directory_.journal().write(
        Journal::Entry{self->topic_id_, self->log_->name().partition, file, self->flushed_bytes_,
                       size - self->flushed_bytes_, self});
    done = co_await std::move(writing);
  } else {
    auto syncing = file->datasync();
    done = co_await std::move(syncing);
    if (done.has_value()) self->synced_.advance(target);
  }
  if (done.has_value()) self->flushed_bytes_ = size;
  co_return done;
}

io::Task<bool> LocalPartition::sync_files() { return sync_to_end(shared_from_this()); }

io::Task<bool> LocalPartition::sync_to_end(Self self) {
  if (self->refusal()) co_return self->removed_;
  const Offset end = self->log_->log_end();
  if (self->synced_.position() >= end) co_return true;
  self->sync_wanted_ = std::max(self->sync_wanted_, end);
  self->schedule_flush();
  auto reaching = self->synced_.reached(end);
  const Result<void> reached = co_await std::move(reaching);
  co_return reached.has_value() || self->removed_;
}

// The segment and all that belongs to it, then the recovery point: only after that may anything
// behind it be acknowledged, so that a cut at or above the recovery point never loses what was.
io::Task<Result<void>> LocalPartition::flush_sealed(Self self) {
  const auto sealed = self->log_->sealed().front();
  auto done = std::make_shared<Result<void>>();
  io::FileSystem& files = self->directory_.files();
  std::function<void()> work = [&files, sealed, done] { *done = write_sealed(files, *sealed); };
  auto writing = files.blocking(std::move(work));
  co_await std::move(writing);
  if (self->removed_) co_return Result<void>();
  if (done->has_error()) co_return *done;
  auto setting = self->directory_.set_recovery_point(self->log_->name(), sealed->next_base_offset);
  auto set = co_await std::move(setting);
  if (set.has_error()) co_return set;
  self->log_->sealed().pop_front();
  sealed->segment->drop_indexes();
  self->synced_.advance(sealed->next_base_offset);
  self->advance(sealed->next_base_offset);
  if (self->log_->config().compact) self->directory_.request_cleaning(self->log_->name());
  co_return Result<void>();
}

io::Task<Result<void>> LocalPartition::durable(Offset offset) {
  return wait_durable(shared_from_this(), offset);
}

io::Task<Result<void>> LocalPartition::wait_durable(Self self, Offset offset) {
  if (auto why = self->refusal()) co_return *why;
  if (base::planted(base::PlantedBug::kAnswerBeforeDurable)) co_return Result<void>();
  if (offset > self->durable_.position()) self->schedule_flush();
  auto reaching = self->durable_.reached(offset);
  auto reached = co_await std::move(reaching);
  co_return reached;
}

Offset LocalPartition::synced_offset() const {
  if (directory_.sync_on_ack()) return synced_.position();
  const auto& sealed = log_->sealed();
  return sealed.empty() ? log_->active()->base_offset() : sealed.front()->segment->base_offset();
}

void LocalPartition::configure(const LogConfig& config) {
  log_->configure(config);
  if (config.compact) directory_.request_cleaning(log_->name());
}

void LocalPartition::went_offline(const Error& why) {
  durable_.fail(why);
  synced_.fail(why);
  on_advance_.notify();
}

void LocalPartition::mark_removed() {
  removed_ = true;
  const Error why = error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "the partition was deleted");
  durable_.fail(why);
  synced_.fail(why);
  on_advance_.notify();
}

// ---- removal of old records

io::Task<Result<Offset>> LocalPartition::delete_records(Offset before) {
  return delete_before(shared_from_this(), before);
}

io::Task<Result<Offset>> LocalPartition::delete_before(Self self, Offset before) {
  constexpr Offset kToHighWatermark = -1;
  if (auto why = self->refusal()) co_return *why;
  PartitionLog& log = *self->log_;
  // What was appended before counts: its answer may have left already (acks=1).
  const Offset end = log.log_end();
  if (log.high_watermark() < end && (before == kToHighWatermark || before <= end)) {
    auto waiting = wait_durable(self, end);
    const auto durable = co_await std::move(waiting);
    if (durable.has_error()) co_return durable.error();
  }
  if (before == kToHighWatermark) before = log.high_watermark();
  if (before < 0 || before > log.high_watermark()) {
    co_return error(ErrorCode::OFFSET_OUT_OF_RANGE, "above the high watermark");
  }
  auto raising = raise_start(self, before);
  auto raised = co_await std::move(raising);
  if (raised.has_error()) co_return raised.error();
  co_return log.log_start();
}

// Durable first, so that nobody has seen a log start that a crash takes back.
io::Task<Result<void>> LocalPartition::raise_start(Self self, Offset offset) {
  PartitionLog& log = *self->log_;
  if (offset > log.log_start()) {
    auto setting = self->directory_.set_log_start(log.name(), offset);
    auto set = co_await std::move(setting);
    if (self->removed_) co_return *self->refusal();
    if (set.has_error()) {
      self->directory_.fail(set.error());
      co_return set;
    }
    if (log.raise_log_start(offset)) self->on_advance_.notify();
  }
  auto writing = write_epochs(self);
  co_await std::move(writing);
  auto deleting = delete_dropped(self);
  co_await std::move(deleting);
  co_return Result<void>();
}

io::Task<void> LocalPartition::raise_leader_epoch(int32_t epoch) {
  log_->raise_leader_epoch(epoch);
  return write_epochs(shared_from_this());
}

// Need not succeed, nor be durable: a start trims them again, and finds the newest in the batches.
io::Task<void> LocalPartition::write_epochs(Self self) {
  if (self->writing_epochs_) co_return;
  self->writing_epochs_ = true;
  io::FileSystem& files = self->directory_.files();
  const std::string folder = self->log_->directory();
  while (auto epochs = self->log_->take_changed_epochs()) {
    auto done = std::make_shared<Result<void>>();
    std::function<void()> work = [&files, folder, epochs, done] {
      *done = swap_file(files, folder, names::kLeaderEpochs, format_epochs(*epochs));
    };
    auto writing = files.blocking(std::move(work));
    co_await std::move(writing);
    if (done->has_error() && !self->removed_)
      base::log_warn("leader epochs not written why=\"{}\"", done->error().message);
  }
  self->writing_epochs_ = false;
}

io::Task<void> LocalPartition::delete_dropped(Self self) {
  // A compaction that is changing names ends with this.
  if (self->swapping_) co_return;
  const auto dropped = self->log_->drop_old_segments();
  if (dropped.empty()) co_return;
  self->forget_loaded(dropped);
  io::FileSystem& files = self->directory_.files();
  auto deleted = std::make_shared<Result<std::vector<std::string>>>();
  // Should a crash bring the names back, the log start keeps them hidden.
  std::function<void()> work = [&files, dropped, deleted] {
    *deleted = mark_deleted(files, dropped);
  };
  auto removing = files.blocking(std::move(work));
  co_await std::move(removing);
  if (self->removed_) co_return;
  if (deleted->has_error()) {
    base::log_warn("old files stay why=\"{}\"", deleted->error().message);
  } else {
    self->directory_.remove_later(std::move(**deleted), self->log_->config().file_delete_delay_ms);
  }
  base::log_info("segments deleted partition={} count={} log_start={}",
                 names::folder_name(self->name()), dropped.size(), self->log_->log_start());
}

io::Task<void> LocalPartition::retain(Self self, TimeMs now_ms, int64_t producer_expiration_ms) {
  if (self->refusal()) co_return;
  PartitionLog& log = *self->log_;
  log.producers().remove_expired(now_ms, producer_expiration_ms);
  const Segment& active = *log.active();
  const int64_t retention_ms = log.config().retention_ms;
  const bool expired = log.config().remove && retention_ms >= 0 && active.size() != 0 &&
                       active.max_timestamp() >= 0 &&
                       now_ms - active.max_timestamp() > retention_ms;
  if (expired && log.high_watermark() == log.log_end()) {
    auto rolled = log.roll(now_ms);
    if (rolled.has_error()) {
      self->directory_.fail(rolled.error());
      co_return;
    }
    self->schedule_flush();
  }
  auto raising = raise_start(self, log.retention_start(now_ms));
  (void)co_await std::move(raising);
}

io::Task<Result<void>> LocalPartition::close(Self self) {
  self->closed_ = true;
  auto cleaning = self->cleanings_done_.reached(self->cleanings_);
  (void)co_await std::move(cleaning);
  if (self->removed_) co_return Result<void>();
  self->schedule_flush();
  auto flushing = self->flushes_done_.reached(self->flushes_);
  (void)co_await std::move(flushing);
  if (self->removed_) co_return Result<void>();
  if (auto why = self->refusal()) co_return *why;
  PartitionLog& log = *self->log_;
  if (!log.needs_closing()) co_return Result<void>();
  auto sealed = std::make_shared<const SealedSegment>(
      seal(log.active(), log.directory(), log.log_end(), log.producers().encode()));
  auto done = std::make_shared<Result<void>>();
  io::FileSystem& files = self->directory_.files();
  std::function<void()> work = [&files, sealed, done] { *done = write_sealed(files, *sealed); };
  auto writing = files.blocking(std::move(work));
  co_await std::move(writing);
  if (self->removed_) co_return Result<void>();
  if (done->has_error()) self->directory_.fail(done->error());
  co_return *done;
}

}  // namespace ackord::log
