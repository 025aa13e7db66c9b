// SharePartition: one partition of a topic as one group consumes it. Takes fetched batches, returns
// decisions; knows neither shard nor log, so that it can stand before a remote log as well.
//
// Hard state is a function of the log's records and markers; soft state (ACQUIRED, locks, where the
// next fetch reads) is gone after a restart. Decisions are const; apply_* change hard state and
// drop the soft state that it overrides. Costs: O(log n + what is touched). Source: semantics A.6,
// A.9-A.11; protocol 1.2-1.4.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/coordinator/shard.h"
#include "broker/io/clock.h"
#include "broker/share/archived.h"
#include "broker/share/remembered_acknowledgements.h"
#include "broker/share/share_records.h"
#include "broker/share/share_types.h"
#include "broker/share/state_batches.h"
#include "broker/share/waiting_records.h"

namespace ackord::share {

// Where the end of an acquisition without a verdict leads: at the limit to ARCHIVED or ARCHIVING,
// below it to AVAILABLE, after a wait.
struct DeliveryLimit {
  int16_t count = 5;  // share.delivery.count.limit
  bool dlq = false;
  RetryBackoff retry;
};

struct AcquireRequest {
  std::vector<FetchedBatch> batches;  // ascending, as read from `fetch_offset`; control batches too
  Offset fetch_offset = 0;            // NextFetch's answer
  Offset log_start_offset = 0;
  std::vector<OffsetRange> aborted;  // read_committed: batches of aborted transactions, ascending
  int32_t max_records = 500;         // MaxRecords
  int32_t batch_size = 500;          // BatchSize: a larger range is split at log-batch boundaries
  ShareAcquireMode mode = ShareAcquireMode::BATCH_OPTIMIZED;
  int32_t max_record_locks = 2000;   // share.partition.max.record.locks
  int32_t lock_duration_ms = 30000;  // share.record.lock.duration.ms
  DeliveryLimit limit;
};

// Who acquires.
struct Holder {
  std::string member_id;
  SessionNumber session = 0;
};

// What is to be logged of one share partition.
struct PartitionChange {
  std::vector<StateBatch> batches;
  std::vector<Owner> owners;            // of the staged ones: at most one, index 0
  std::vector<ArchivedRange> archived;  // what of `batches` is given up, and why

  bool empty() const { return batches.empty(); }
  // At the end; a neighbour that is equal grows.
  void add(Offset first, Offset last, RecordState state, int16_t delivery_count);
  // The same for a range that is given up: ARCHIVED or ARCHIVING.
  void archive(Offset first, Offset last, RecordState state, int16_t delivery_count,
               ArchiveReason reason);
  void add_staged(Offset first, Offset last, int16_t delivery_count, int8_t ack_type,
                  RecordState state_on_commit);
};

struct AcquireDecision {
  std::vector<AcquiredRecords> acquired;  // ascending; counts already raised
  std::vector<OffsetRange>
      in_flight;  // the in-flight batches that begin with it (Kafka's cached batches)
};

struct AcknowledgeRules {
  DeliveryLimit limit;  // its `dlq` counts for REJECT too
  bool renew_enabled = true;
  int8_t max_type = 4;
  bool tolerate_repeats = false;  // share.acknowledgement.retry.tolerance
};

class SharePartition {
 public:
  struct HardState {
    int32_t snapshot_epoch = 0;
    int32_t state_epoch = 0;
    int32_t leader_epoch = 0;
    Offset written_start_offset =
        -1;  // as logged; -1 until the reset policy was applied and something written
    Offset start_offset = -1;  // that, moved over what is done with
    int32_t delivery_complete_count = -1;
    TimeMs create_timestamp = 0;
    TimeMs write_timestamp = 0;
    StateBatches batches;
    int32_t updates_since_snapshot = 0;
    Offset snapshot_log_offset = 0;  // where the latest snapshot stands in the state topic
  };
  struct Acquired {
    Offset last_offset = 0;
    int16_t delivery_count = 0;
    std::string member_id;
    SessionNumber session = 0;
    int64_t deadline_ms = 0;
  };
  struct Stager {
    Offset last_offset = 0;
    std::string member_id;
  };
  struct SoftState {
    Offset start_offset = 0;      // SPSO
    Offset end_offset = 0;        // SPEO + 1; equal to the start: nothing is in flight
    Offset log_start_offset = 0;  // as last seen
    std::map<Offset, Acquired> acquired;
    OffsetSet free;                      // [start, end) less what is acquired, staged or done with
    std::map<Offset, Offset> in_flight;  // Kafka's cached batches: what throttling halves
    std::set<std::pair<int64_t, Offset>> locks;
    std::map<Offset, Stager> stagers;  // who had acquired what is staged now; for people
    DeliveryLimit limit;               // as last seen
    WaitingRecords waiting;            // AVAILABLE, but not free before a time
  };

  // ---- hard
  void apply_snapshot(const ShareSnapshot::Value& value, const coordinator::RecordContext& context);
  void apply_update(const ShareUpdate& update, const coordinator::RecordContext& context);
  // Returns the number of offsets.
  int64_t resolve(ProducerId producer, bool commit);
  const HardState& hard() const { return hard_; }
  // What a snapshot would hold with `change` taken in.
  ShareSnapshot::Value snapshot_value(const PartitionChange& change, TimeMs now_ms) const;
  // The same of what the log says alone: the start offset stays where it was written.
  ShareSnapshot::Value snapshot_as_written(TimeMs now_ms) const;
  ShareUpdate update_of(const SharePartitionKey& key, const PartitionChange& change) const;

  // ---- soft. All but active(), soft(), activate(), drop_soft() and the views ask for an active
  // partition.
  bool active() const { return soft_.has_value(); }
  const SoftState* soft() const { return soft_ ? &*soft_ : nullptr; }
  void activate(Offset resolved_start_offset);
  void drop_soft() { soft_.reset(); }
  // What is remembered of acknowledgements outlives the soft state: a member whose connection broke
  // may have been the last of its group.
  void remember(const std::string& member_id, const std::vector<AcknowledgementBatch>& batches);
  void forget_acknowledgements_of(const std::string& member_id);
  void apply_wait(const std::vector<WaitingRange>& ranges);
  void apply_waits_over(int64_t steady_ms);
  // The log's state has been replaced under what was in flight.
  void fence() {
    fenced_ = soft_.has_value();
    soft_.reset();
    remembered_.clear();
  }
  // Since then nobody has fetched.
  bool fenced() const { return fenced_; }
  void apply_acquire(const Holder& holder, const AcquireDecision& decision, DeliveryLimit limit,
                     int64_t deadline_ms);
  void apply_renew(const std::vector<OffsetRange>& ranges, int64_t deadline_ms);
  void apply_log_start(Offset log_start_offset);
  std::optional<int64_t> earliest_deadline() const;
  bool waits_over(int64_t steady_ms) const;
  // Whether something is acquired in a session that was opened after this one.
  bool acquired_after(SessionNumber session) const;
  // Whether a fetch may find more than at the last call.
  bool take_freed() { return std::exchange(freed_, false); }

  // ---- decisions
  // SPSO: of the soft state when there is one; -1 when not known yet.
  Offset start_offset() const;
  // SPEO, itself included; the start offset when nothing is in flight.
  Offset end_offset() const;
  // Offsets that count against share.partition.max.record.locks (protocol 1.2).
  int64_t in_flight() const;
  std::optional<Offset> next_fetch(int32_t max_record_locks) const;
  // `change`: offsets that a compaction took, or that belong to aborted transactions, are ARCHIVED.
  AcquireDecision acquire(const AcquireRequest& request, PartitionChange& change) const;
  // `renewed`: ranges whose lock starts again. Nothing is to be done when the error is not NONE.
  PartitionError acknowledge(const std::string& member_id,
                             const std::vector<AcknowledgementBatch>& batches,
                             const AcknowledgeRules& rules, PartitionChange& change,
                             std::vector<OffsetRange>& renewed) const;
  // What the member acquired in this session or an earlier one; null: whoever holds them. Returns
  // the number of offsets.
  int64_t release(const Holder* holder, Offset first, Offset last, const DeliveryLimit& limit,
                  PartitionChange& change) const;
  // How long what `change` makes AVAILABLE has to wait.
  static std::vector<WaitingRange> waits_of(const PartitionChange& change,
                                            const RetryBackoff& retry, int64_t steady_ms);
  int64_t expire(int64_t steady_ms, PartitionChange& change) const;
  // `owner` with the time of now. No change with NONE: all was staged already. Needs no soft state.
  PartitionError stage(const Owner& owner, const std::string& member_id,
                       const std::vector<AcknowledgementBatch>& batches, bool dlq,
                       int64_t max_staged_records, PartitionChange& change) const;
  bool is_staged_by(const Owner& owner, const std::vector<AcknowledgementBatch>& batches) const;
  // Of the producer's staged ranges, what lies below the log start: ARCHIVED whatever the verdict
  // (protocol 1.2).
  void archive_below_log_start(ProducerId producer, PartitionChange& change) const;
  // What a commit of this producer gives up. Nothing of it is logged but the marker.
  std::vector<ArchivedRange> given_up_by_commit(ProducerId producer) const;
  // Ranges that wait for their dead letters.
  std::vector<ArchivedRange> archiving() const;
  // Their letters are written, or given up: what of the range is still ARCHIVING becomes ARCHIVED.
  void finish_letters(Offset first, Offset last, PartitionChange& change) const;
  // A decision on the batch transaction `owner`: what it has staged takes the state of the verdict.
  // Returns the number of offsets.
  int64_t resolve_batch(const Owner& owner, bool commit, PartitionChange& change) const;
  // Offsets that are done with, from the start offset on.
  int64_t done_above_start() const;
  std::vector<InFlightRange> describe(size_t max_ranges, io::Now now) const;

 private:
  class Acquirer;

  void settle();
  Offset below_log_start(Offset start) const;
  void extend_end(Offset end_offset);
  void split_acquired(Offset offset);
  void drop_overridden(Offset first, Offset last);
  void forget_stagers(Offset first, Offset last);
  void free_what_is_available(Offset first, Offset last);
  void rebuild_free();
  int32_t delivery_complete_count_of(const StateBatches& batches, Offset start_offset) const;
  const Acquired* acquired_at(Offset offset) const;
  RecordState released(Offset offset, int16_t delivery_count, const DeliveryLimit& limit) const;
  void add_release(Offset first, Offset last, int16_t delivery_count, const DeliveryLimit& limit,
                   PartitionChange& change) const;
  PartitionError acknowledge_run(const std::string& member_id, AcknowledgeType type, Offset first,
                                 Offset last, const AcknowledgeRules& rules,
                                 PartitionChange& change, std::vector<OffsetRange>& renewed) const;
  void archive_hole(Offset first, Offset last, bool any_aborted, PartitionChange& change) const;
  void archive_aborted_of(const std::vector<OffsetRange>& aborted, AcquireDecision& decision,
                          PartitionChange& change) const;
  bool staged_same(const Owner& owner, AcknowledgeType type, Offset offset, Offset& last) const;
  InFlightRange describe_at(Offset first, Offset last, io::Now now) const;

  HardState hard_;
  std::optional<SoftState> soft_;
  RememberedAcknowledgements remembered_;
  bool freed_ = false;
  bool fenced_ = false;
};

}  // namespace ackord::share
