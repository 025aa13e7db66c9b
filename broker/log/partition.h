// Partition: one partition's log as its users see it: append, become durable, read, find.
//
// Threads: belongs to one core (LogService::core_of); every member runs there. Shared ownership, so
// a reader may go on while the partition is deleted; a deleted one answers
// UNKNOWN_TOPIC_OR_PARTITION (appends) and nothing else waits. Durability (design: one interface):
// append() returns once the bytes are handed to the operating system and the state in memory has
// changed; durable() tells when they are on the disk. Each append schedules a flush; one fdatasync
// serves all that wait. High watermark = durable offset: readers never see what a crash could take
// back. Errors: after a failed write or fdatasync the log directory is offline: everything answers
// KAFKA_STORAGE_ERROR until the process is started again.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "broker/io/signal.h"
#include "broker/io/task.h"
#include "broker/log/types.h"

namespace ackord::log {

// A producer's state on this partition (semantics C.9).
struct ProducerView {
  ProducerStamp producer;
  int32_t last_sequence = -1;
  TimeMs last_timestamp = -1;
  int32_t coordinator_epoch = -1;
  Offset current_txn_start_offset = -1;  // -1: no transaction is open here
};

// When what was appended begins its way to the disk.
enum class Flush {
  kAtOnce,
  // With what is appended after it, once somebody awaits it, or after some milliseconds. For what
  // nobody is told of: its own write would hold up the next one.
  kLater,
};

class Partition {
 public:
  virtual ~Partition() = default;

  virtual const TopicPartition& name() const = 0;
  virtual const Uuid& topic_id() const = 0;
  virtual int32_t leader_epoch() const = 0;
  // For the log of a broker that had come further: what is appended from now on carries at least
  // this epoch. Start-up; ends when the checkpoint is written.
  virtual io::Task<void> raise_leader_epoch(int32_t epoch) = 0;

  // ---- positions
  virtual Offset log_start_offset() const = 0;
  virtual Offset log_end_offset() const = 0;
  virtual Offset high_watermark() const = 0;  // = durable offset
  virtual Offset last_stable_offset() const = 0;
  virtual uint64_t size_bytes() const = 0;
  // Notified when the high watermark, the last stable offset or the log start moves, and when the
  // partition goes away.
  virtual io::Signal& on_advance() = 0;

  // ---- writing. Synchronous: nothing else of this partition happens between the checks and the
  // write. Validates and appends a client's records (Produce): batch shape, CRC, codec, timestamps,
  // sequence, epoch, transaction state. Sets base offset and leader epoch. The result's error is
  // what the partition answers.
  virtual AppendResult append(const ClientAppend& request, TimeMs now_ms) = 0;
  // Appends a control batch. Checks the epochs as Kafka does (semantics C.9); with a higher or
  // equal epoch it is written even when no transaction is open here.
  virtual AppendResult append_marker(const EndMarker& marker, TimeMs now_ms) = 0;
  // Appends a coordinator's records as one batch, transactional when `transaction` is given (base
  // sequence -1). Not bounded by max.message.bytes.
  virtual AppendResult append_records(std::span<const EncodedRecord> records,
                                      std::optional<ProducerStamp> transaction, TimeMs now_ms,
                                      Flush flush) = 0;
  AppendResult append_records(std::span<const EncodedRecord> records,
                              std::optional<ProducerStamp> transaction, TimeMs now_ms) {
    return append_records(records, transaction, now_ms, Flush::kAtOnce);
  }
  // Resumes when everything below `offset` is on the disk (log.flush.policy=os: at once).
  virtual io::Task<Result<void>> durable(Offset offset) = 0;

  // ---- transactions on this partition
  virtual std::optional<ProducerView> producer(ProducerId id) const = 0;
  virtual std::vector<ProducerView> producers() const = 0;
  // True while (id, epoch) has a transaction open here, so that a transactional append needs no
  // verification.
  virtual bool has_open_transaction(ProducerStamp producer) const = 0;
  // A token for ClientAppend::verification_guard. A marker of that producer voids it.
  virtual uint64_t begin_verification(ProducerStamp producer) = 0;

  // ---- reading. Bounded by the high watermark or the last stable offset.
  virtual io::Task<ReadResult> read(ReadSpec spec) = 0;
  // For a coordinator that loads: everything up to the log's end, the last stable offset is no
  // bound.
  virtual io::Task<ReadResult> read_all(Offset offset, int64_t max_bytes) = 0;
  // The first record whose timestamp is >= `timestamp`; offset -1 when none is below the
  // isolation's bound.
  virtual io::Task<Result<TimestampedOffset>> offset_for_timestamp(TimeMs timestamp,
                                                                   Isolation isolation) = 0;
  // The record with the largest timestamp (ListOffsets -3); -1 when empty.
  virtual io::Task<Result<TimestampedOffset>> offset_of_max_timestamp() = 0;
  // KIP-101: largest epoch <= `epoch` and the offset where it ends; (-1, -1) when unknown.
  virtual std::pair<int32_t, Offset> end_offset_for_epoch(int32_t epoch) const = 0;

  // ---- changes
  // DeleteRecords: durable when it ends. OFFSET_OUT_OF_RANGE above the high watermark.
  virtual io::Task<Result<Offset>> delete_records(Offset before) = 0;
  virtual void configure(const LogConfig& config) = 0;
};

}  // namespace ackord::log
