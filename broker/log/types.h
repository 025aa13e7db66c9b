// What the log's callers hand in and get back. Plain data; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/types/ids.h"
#include "protocol/types/records.h"
#include "protocol/types/result.h"

namespace ackord::log {

// The topic configs that a log acts on, with Kafka's names (docs: topic configs) and defaults.
struct LogConfig {
  int64_t segment_bytes = 1073741824;           // segment.bytes
  int64_t segment_ms = 604800000;               // segment.ms
  int32_t segment_index_bytes = 10485760;       // segment.index.bytes
  int32_t index_interval_bytes = 4096;          // index.interval.bytes
  int32_t max_message_bytes = 1048588;          // max.message.bytes
  int64_t retention_ms = 604800000;             // retention.ms
  int64_t retention_bytes = -1;                 // retention.bytes
  bool compact = false;                         // cleanup.policy contains compact
  bool remove = true;                           // cleanup.policy contains delete
  double min_cleanable_dirty_ratio = 0.5;       // min.cleanable.dirty.ratio
  int64_t min_compaction_lag_ms = 0;            // min.compaction.lag.ms
  int64_t max_compaction_lag_ms = INT64_MAX;    // max.compaction.lag.ms
  int64_t delete_retention_ms = 86400000;       // delete.retention.ms
  int64_t file_delete_delay_ms = 60000;         // file.delete.delay.ms
  int64_t segment_jitter_ms = 0;                // segment.jitter.ms
  std::string compression_type = "producer";    // compression.type
  int compression_level = -1;                   // of that type; -1: the codec's default
  bool log_append_time = false;                 // message.timestamp.type=LogAppendTime
  int64_t timestamp_before_max_ms = INT64_MAX;  // message.timestamp.before.max.ms
  int64_t timestamp_after_max_ms = 3600000;     // message.timestamp.after.max.ms
  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

// How the cleaner works; may change while it does.
struct CleanerConfig {
  int32_t threads = 1;                      // log.cleaner.threads
  int64_t dedupe_buffer_bytes = 134217728;  // log.cleaner.dedupe.buffer.size
  int64_t backoff_ms = 15'000;              // log.cleaner.backoff.ms
  double max_bytes_per_second = 1e308;      // log.cleaner.io.max.bytes.per.second
  friend bool operator==(const CleanerConfig&, const CleanerConfig&) = default;
};

// Broker-wide settings of the log room.
struct LogSettings {
  std::string directory;    // log.dirs (one directory)
  bool sync_on_ack = true;  // log.flush.policy = ack (default) | os
  int64_t producer_id_expiration_ms = 86400000;
  int64_t checkpoint_interval_ms = 60'000;          // log.flush.offset.checkpoint.interval.ms
  int64_t retention_check_interval_ms = 300'000;    // log.retention.check.interval.ms
  int64_t delete_delay_ms = 60'000;                 // log.segment.delete.delay.ms
  bool cleaner_enable = true;                       // log.cleaner.enable
  uint64_t journal_file_bytes = uint64_t{8} << 20;  // of each of a core's two; 0: no journal
  CleanerConfig cleaner;
  int32_t broker_id = 1;
  std::string cluster_id;  // of an existing meta.properties when there is one, else made
};

enum class Isolation : int8_t { kReadUncommitted = 0, kReadCommitted = 1 };

struct ProducerStamp {
  ProducerId id;
  int16_t epoch = -1;
  friend bool operator==(const ProducerStamp&, const ProducerStamp&) = default;
};

// One record refused by a Produce (KIP-467).
struct RecordError {
  int32_t batch_index = 0;
  std::string message;
};

// A client's batch, as it came in a Produce request.
struct ClientAppend {
  std::span<const std::byte>
      records;  // borrowed until append returns; exactly one v2 batch is legal
  int16_t produce_version = 0;
  // From begin_verification(): needed for the first transactional batch of a transaction (KIP-890).
  std::optional<uint64_t> verification_guard;
};

struct AppendResult {
  ErrorCode error = ErrorCode::NONE;
  std::string message;  // for error_message of the response
  std::vector<RecordError> record_errors;
  Offset base_offset = -1;
  Offset next_offset = -1;         // durable(next_offset) is what the answer rests on
  TimeMs log_append_time_ms = -1;  // -1 with CreateTime
  Offset log_start_offset = -1;
};

// The end of a producer's transaction, as WriteTxnMarkers carries it.
struct EndMarker {
  ProducerStamp producer;
  bool commit = false;
  int32_t coordinator_epoch = 0;
  int8_t transaction_version = 0;  // KIP-1228
  friend bool operator==(const EndMarker&, const EndMarker&) = default;
};

// A coordinator's record: what a state topic holds. No value is a tombstone.
struct EncodedRecord {
  std::vector<std::byte> key;
  std::optional<std::vector<std::byte>> value;
  bool null_key =
      false;  // written with a null key, as the metadata log's records are; key is empty
  friend bool operator==(const EncodedRecord&, const EncodedRecord&) = default;
};

// The header of a stored batch, and where it lies.
struct BatchInfo {
  Offset base_offset = 0;
  Offset last_offset = 0;
  int32_t leader_epoch = 0;
  TimeMs max_timestamp = -1;
  ProducerStamp producer;
  int32_t base_sequence = -1;
  int32_t record_count = 0;
  bool transactional = false;
  bool control = false;
  uint32_t size = 0;  // whole batch, with its 12 leading bytes
};

struct AbortedTransaction {
  ProducerId producer_id;
  Offset first_offset = 0;
  friend bool operator==(const AbortedTransaction&, const AbortedTransaction&) = default;
};

struct ReadSpec {
  Offset offset = 0;
  int64_t max_bytes = 0;
  bool at_least_one_batch = true;  // even when it is larger than max_bytes
  Isolation isolation = Isolation::kReadUncommitted;
  bool want_batches = false;  // fill ReadResult::batches
};

struct ReadResult {
  ErrorCode error = ErrorCode::NONE;  // OFFSET_OUT_OF_RANGE, KAFKA_STORAGE_ERROR
  Records records;                    // whole batches; file ranges
  std::vector<BatchInfo> batches;     // of `records`, in order
  Offset high_watermark = -1;
  Offset last_stable_offset = -1;
  Offset log_start_offset = -1;
  std::vector<AbortedTransaction> aborted;  // with kReadCommitted, sorted by first offset
};

struct TimestampedOffset {
  Offset offset = -1;
  TimeMs timestamp = -1;
  int32_t leader_epoch = -1;
};

}  // namespace ackord::log
