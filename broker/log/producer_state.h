// ProducerState: what a partition remembers of its producers: sequences, epochs, open transactions
// (KIP-98, KIP-360, KIP-890, KIP-1228). Pure: no I/O, no time; all but the verification guards is a
// function of the batches applied. Use: check*() before a batch is written, apply*() after it (and
// for every batch when a log is replayed).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "broker/log/batch_filter.h"
#include "broker/log/indexes.h"
#include "broker/log/partition.h"
#include "broker/log/types.h"
#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::log {

// Batches per producer in which a duplicate is recognised; a client has at most five in flight.
constexpr size_t kProducerWindow = 5;

struct ProducerBatch {
  int32_t last_sequence = -1;
  Offset last_offset = -1;
  int32_t offset_delta = 0;
  TimeMs timestamp = -1;

  int32_t first_sequence() const;
  Offset first_offset() const { return last_offset - offset_delta; }
  friend bool operator==(const ProducerBatch&, const ProducerBatch&) = default;
};

struct ProducerEntry {
  int16_t epoch = -1;
  std::vector<ProducerBatch> batches;  // at most kProducerWindow, oldest first
  TimeMs last_timestamp = -1;
  int32_t coordinator_epoch = -1;
  Offset txn_first_offset = -1;  // -1: no open transaction
  friend bool operator==(const ProducerEntry&, const ProducerEntry&) = default;
};

enum class Origin {
  kClient,       // sequences and duplicates are checked
  kCoordinator,  // its batches carry no sequence
};

// What a marker ended.
struct CompletedTransaction {
  ProducerId producer_id;
  Offset first_offset = 0;
  Offset marker_offset = 0;
  bool aborted = false;
  // As of this marker, for the transaction index.
  Offset last_stable_offset = 0;
};

class ProducerState {
 public:
  // ---- checks
  // The remembered batch with the same epoch and sequences; null when it is new.
  const ProducerBatch* find_duplicate(const protocol::BatchHeader& batch) const;
  // INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE.
  // `starts_at_zero`: a producer that is unknown here must begin with sequence 0 (transactions of
  // version 2).
  Result<void> check(const protocol::BatchHeader& batch, Origin origin,
                     std::optional<uint64_t> guard, bool starts_at_zero) const;
  // INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.
  Result<void> check_marker(const EndMarker& marker) const;

  // ---- changes, in the order of the log
  void apply(const protocol::BatchHeader& batch);
  std::optional<CompletedTransaction> apply_marker(const protocol::BatchHeader& batch,
                                                   const protocol::EndTransactionMarker& marker);
  // Completed transactions whose marker is below it no longer hold back the last stable offset.
  void advance_high_watermark(Offset high_watermark);
  // Forgets idle producers without an open transaction.
  void remove_expired(TimeMs now_ms, int64_t expiration_ms);

  // ---- queries
  // The earliest offset that a transaction keeps unstable.
  std::optional<Offset> first_unstable_offset() const;
  bool has_open_transaction(ProducerStamp producer) const;
  std::optional<ProducerView> view(ProducerId id) const;
  std::vector<ProducerView> views() const;
  // For a compaction, which must keep them.
  LastBatches last_batches() const;

  // ---- verification (KIP-890): soft, gone after a restart. Anybody can begin one for any producer
  // id, so at most kMaxVerifications are kept: the oldest one goes.
  static constexpr size_t kMaxVerifications = 4096;
  uint64_t begin_verification(ProducerStamp producer);

  // ---- snapshots (snapshot_format.h)
  std::vector<std::byte> encode() const;
  // Replaces everything. CORRUPT_MESSAGE for bytes that are no snapshot.
  Result<void> decode(std::span<const std::byte> bytes);

  friend bool operator==(const ProducerState& a, const ProducerState& b) {
    return a.producers_ == b.producers_ && a.open_ == b.open_;
  }

 private:
  struct Verification {
    int16_t epoch;
    uint64_t guard;
  };

  Result<void> check_sequence(const protocol::BatchHeader& batch, bool starts_at_zero) const;
  void forget_verification(ProducerId id);
  void move_to_epoch(ProducerEntry& entry, int16_t epoch);

  std::unordered_map<ProducerId, ProducerEntry> producers_;
  std::map<Offset, ProducerId> open_;  // by first offset
  std::map<Offset, Offset>
      completed_;  // first offset -> marker offset, until the marker is durable
  std::unordered_map<ProducerId, Verification> verifications_;
  std::map<uint64_t, ProducerId> by_guard_;  // of verifications_, oldest first
  uint64_t last_guard_ = 0;
};

}  // namespace ackord::log
