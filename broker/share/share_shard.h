// ShareShard: one partition of `__share_group_state`: all share partitions whose key hashes to it
// (coordinator/shard.h).
//
// Owns, per share partition, the durable delivery state (Kafka's share coordinator) and the soft
// state over it (Kafka's SharePartition: acquired records and their locks). Being one, an
// acknowledgement is decided and logged in one step. Pure: time, tokens and configs come with the
// operations. Threads: the shard's core, through ShardRunner only. Rules: protocol 1.1-1.5 (stages,
// markers, durable form), semantics A.6 (state topic), A.9-A.11 (records).
//
// Usual order of a ShareFetch of one partition: NextFetch → (read the log) → Acquire. A reply
// `inactive` means that the soft state is not there (first fetch, shard reloaded, group was idle):
// Activate, then again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "broker/coordinator/shard.h"
#include "broker/log/partition.h"
#include "broker/share/batch_transactions.h"
#include "broker/share/share_partition.h"
#include "broker/share/share_records.h"
#include "broker/share/share_types.h"

namespace ackord::share {

// ---------------------------------------------------------------- durable state: Kafka's share
// coordinator (A.6)

// InitializeShareGroupState. Wipes earlier state and drops the soft one; an uninitialised start
// offset is -1. FENCED_STATE_EPOCH; NON_EMPTY_GROUP naming the owner while records are staged;
// INVALID_REQUEST for negative epochs. `only_if_absent`: existing state is success and stays as it
// is, staged records included. The group coordinator asks so: it repeats an initialisation whose
// outcome a crash has taken from it, and by then records may have been acknowledged.
struct Initialize {
  using Reply = PartitionError;
  SharePartitionKey key;
  int32_t state_epoch = 0;
  Offset start_offset = -1;
  bool only_if_absent = false;
};

// ReadShareGroupState. INVALID_REQUEST when never initialised or the leader epoch is negative;
// FENCED_LEADER_EPOCH. A higher leader epoch is logged.
struct Read {
  struct Reply {
    PartitionError error;
    int32_t state_epoch = 0;
    Offset start_offset = -1;
    std::vector<StateBatch> state_batches;
    std::vector<Owner> owners;
  };
  SharePartitionKey key;
  int32_t leader_epoch = 0;
};

// ReadShareGroupStateSummary, and DescribeShareGroupOffsets: an unknown key is no error (-1, 0, 0,
// -1). The offsets are those of the last write, as Kafka's. `staged_records` is ours.
struct Summary {
  struct Reply {
    PartitionError error;
    bool initialized = false;
    int32_t state_epoch = 0;
    int32_t leader_epoch = 0;
    Offset start_offset = -1;
    int32_t delivery_complete_count = -1;
    int64_t staged_records = 0;
  };
  SharePartitionKey key;
};

// DeleteShareGroupState. An unknown key is success. NON_EMPTY_GROUP naming the owner while records
// are staged.
struct Delete {
  using Reply = PartitionError;
  SharePartitionKey key;
};

// WriteShareGroupState, from outside: nothing in this broker uses it. INVALID_REQUEST (never
// initialised, a batch over a staged offset, a start offset above the first staged one, state 5 or
// ill-formed batches), FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH.
struct Write {
  using Reply = PartitionError;
  SharePartitionKey key;
  int32_t state_epoch = 0;
  int32_t leader_epoch = 0;
  Offset start_offset = -1;
  int32_t delivery_complete_count = -1;
  std::vector<StateBatch> state_batches;
};

// The topic is gone: tombstones for all its keys, staged ones included (protocol 1.2: the marker
// still succeeds).
struct DeleteTopic {
  struct Reply {
    int32_t deleted = 0;
  };
  Uuid topic_id;
};

// Fresh snapshots for the keys whose last one is older than `older_than_ms`, oldest first, so that
// the state topic can be pruned; none while all last snapshots were made so (Kafka).
struct SnapshotCold {
  struct Reply {
    int32_t snapshots = 0;
    bool more = false;  // may be left: run it again
  };
  int64_t older_than_ms = 300000;
  int32_t limit = 500;
};

// ---------------------------------------------------------------- records in flight: Kafka's
// SharePartition (A.9-A.11)

// The first fetch of a group's partition after start or idleness makes the soft state. The service
// resolves an uninitialised start offset by share.auto.offset.reset beforehand: Summary says
// whether it is -1. INVALID_REQUEST when never initialised; FENCED_LEADER_EPOCH. Of an active one:
// nothing changes.
struct Activate {
  struct Reply {
    PartitionError error;
    Offset start_offset = -1;
  };
  SharePartitionKey key;
  int32_t leader_epoch = -1;
  Offset resolved_start_offset = -1;  // used only while the stored one is -1
};

// Where the next fetch of this partition reads, if anywhere.
struct NextFetch {
  struct Reply {
    PartitionError error;
    bool inactive = false;         // Activate first
    std::optional<Offset> offset;  // none: the in-flight limit is reached
  };
  SharePartitionKey key;
  Offset log_start_offset = 0;      // a move of it is taken in (A.9)
  int32_t max_record_locks = 2000;  // share.partition.max.record.locks
};

// Acquires records of the batches that a read from NextFetch's offset returned.
struct Acquire {
  struct Reply {
    PartitionError error;
    bool inactive = false;
    std::vector<AcquiredRecords> acquired;  // ascending; aborted records are cut out
    int64_t record_count = 0;
  };
  SharePartitionKey key;
  Holder holder;
  AcquireRequest request;  // share_partition.h
};

// ShareAcknowledge, or a ShareFetch's piggybacked acknowledgements, for several partitions. Each
// all or nothing. Per partition: INVALID_REQUEST, INVALID_RECORD_STATE; UNKNOWN_TOPIC_OR_PARTITION
// when not active (A.11).
struct Acknowledge {
  struct Partition {
    SharePartitionKey key;
    std::vector<AcknowledgementBatch> batches;
    DeliveryLimit limit;               // its `dlq` counts for REJECT too
    bool tolerate_repeats = false;     // share.acknowledgement.retry.tolerance
    int32_t lock_duration_ms = 30000;  // share.record.lock.duration.ms, for RENEW
    bool renew_enabled = true;         // share.renew.acknowledge.enable
  };
  using Reply = std::vector<PartitionError>;  // in the order of `partitions`
  std::string member_id;
  int8_t max_type = 4;  // 3 unless IsRenewAck
  std::vector<Partition> partitions;
};

// A session ends (final epoch, disconnect): what the member still holds in these partitions becomes
// AVAILABLE.
struct ReleaseMember {
  struct Reply {
    int64_t released_records = 0;
  };
  Holder holder;  // and what it acquired in earlier sessions
  std::vector<SharePartitionKey> keys;
  DeliveryLimit limit;
  bool closed = false;  // in words: it will repeat no acknowledgement
};

// ReleaseSharePartitions: an operator frees acquired ranges, at once: of one member, or whoever
// holds them. All or nothing:
// INVALID_RECORD_STATE when one of the offsets is staged; INVALID_REQUEST for ill-formed ranges;
// offsets that are not acquired are passed over.
struct ReleaseRanges {
  struct Reply {
    PartitionError error;
    int64_t released_records = 0;
  };
  SharePartitionKey key;
  std::vector<OffsetRange> ranges;
  std::optional<std::string> member_id;
  DeliveryLimit limit;
};

// The group's last session on this broker is gone: its soft state is dropped, acquired records and
// their delivery counts with it (as Kafka). Staged ranges stay; and so does the soft state of a
// partition where a later session has acquired something meanwhile.
struct DropSoft {
  struct Reply {};
  GroupId group_id;
  SessionNumber session = 0;  // the group's last one
};

// ---------------------------------------------------------------- dead letters (A.12)

// What waits for its dead letters is handed out by take_archived() again: nobody writes them after
// a start.
struct ResumeLetters {
  struct Reply {
    int64_t waiting_records = 0;
  };
};

// The letters of these ranges are written, or given up: ARCHIVING becomes ARCHIVED. Offsets in
// another state, and a share partition that is gone, are passed over.
struct FinishLetters {
  struct Reply {
    int64_t finished_records = 0;
  };
  SharePartitionKey key;
  std::vector<OffsetRange> ranges;
};

// ---------------------------------------------------------------- transactional acknowledgements
// (protocol part 1)

// Whose tokens and staged ranges are meant: a producer id of any epoch, or a group's batch
// transaction.
struct OwnerId {
  ProducerId producer_id;
  GroupId group_id;                // batch only
  TransactionalId transaction_id;  // batch only
  friend bool operator==(const OwnerId&, const OwnerId&) = default;
  friend auto operator<=>(const OwnerId& a, const OwnerId& b) {
    if (auto c = a.producer_id <=> b.producer_id; c != 0) return c;
    if (auto c = a.group_id.sv() <=> b.group_id.sv(); c != 0) return c;
    return a.transaction_id.sv() <=> b.transaction_id.sv();
  }
};

// Step 6 of TxnShareAcknowledge. Taken before the enlisting, so that a marker in between voids it.
struct TakeGuard {
  using Reply = Guard;
  OwnerId owner;
  uint64_t token = 0;  // random, not 0
};

// Step 8: all of one request's partitions that live in this shard. One transactional batch of
// ShareUpdates.
struct Stage {
  struct Partition {
    SharePartitionKey key;
    std::vector<AcknowledgementBatch>
        batches;                          // shapes and types were checked: check_staged_batches()
    bool dlq = false;                     // decided now: a committed REJECT leads to ARCHIVING
    int32_t max_staged_records = 200000;  // share.partition.max.staged.records
  };
  // In the order of `partitions`. INVALID_RECORD_STATE, THROTTLING_QUOTA_EXCEEDED;
  // UNKNOWN_TOPIC_OR_PARTITION never: a key without soft state has nothing acquired. For all of
  // them alike: INVALID_TXN_STATE or COORDINATOR_NOT_AVAILABLE (guard), INVALID_PRODUCER_EPOCH.
  // `dooms` says whether the transaction must become abort-only (1.3).
  struct PartitionReply {
    PartitionError error;
    bool dooms = false;
  };
  using Reply = std::vector<PartitionReply>;
  Owner owner;  // its timestamp is set by the decision
  Guard guard;
  std::string member_id;
  std::optional<log::ProducerView> producer;  // the state partition's log on this producer id
  std::vector<Partition> partitions;
};

// Whether every offset is staged by this owner (epoch included) with the same type already: then a
// retry succeeds without membership (1.1 step 5).
struct IsStagedBy {
  struct Reply {
    bool staged = false;
  };
  struct Partition {
    SharePartitionKey key;
    std::vector<AcknowledgementBatch> batches;
  };
  Owner owner;
  std::vector<Partition> partitions;
};

// Before a marker from the wire: what its producer has staged here, and a guard that tells whether
// it was ended meanwhile.
struct WatchProducer {
  struct Reply {
    Guard guard;
    int64_t staged_records = 0;
  };
  ProducerId producer_id;
  uint64_t token = 0;  // random, not 0
};

// A transaction ends here. INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED (1.3); a repeat
// is success. From the wire (1.5): after these rules INVALID_TXN_STATE when a transaction that is
// open lists this state partition, or when something was staged or is about to be since `watched`.
struct Marker {
  struct FromTheWire {
    WatchProducer::Reply watched;
    bool listed = false;  // by an open transaction, asked after the watch began
  };
  struct Reply {
    PartitionError error;
    int64_t resolved_records = 0;
  };
  log::EndMarker marker;
  std::optional<log::ProducerView> producer;
  std::optional<FromTheWire> from_the_wire;
};

// ---------------------------------------------------------------- views

// DescribeSharePartitions. Never initialised: all -1. At most `max_ranges` ranges, ascending.
struct Describe {
  struct Reply {
    bool initialized = false;
    Offset start_offset = -1;
    Offset end_offset = -1;
    std::vector<InFlightRange> ranges;
  };
  SharePartitionKey key;
  int32_t max_ranges = 1000;
};

// Where every share partition stands: metrics.
struct Positions {
  struct Entry {
    SharePartitionKey key;
    Offset start_offset = -1;  // -1: not known yet
    int64_t done = 0;          // offsets above it that are done with
  };
  struct Reply {
    std::vector<Entry> entries;
  };
};

// Count and age of what is staged here, by owner: metrics.
struct StagedByOwner {
  struct Entry {
    SharePartitionKey key;
    Owner owner;
    int64_t records = 0;
  };
  struct Reply {
    std::vector<Entry> entries;
  };
};

struct ShardConfig {
  uint64_t incarnation = 0;                            // random, new at each load
  int32_t snapshot_update_records_per_snapshot = 500;  // share.coordinator.…
  int64_t batch_transaction_retention_ms = 86400000;   // share.batch.transaction.retention.ms
};

// ---------------------------------------------------------------- soft changes

struct ActivateEffect {
  SharePartitionKey key;
  Offset start_offset = -1;
};
struct AcquireEffect {
  SharePartitionKey key;
  Holder holder;
  AcquireDecision decision;
  DeliveryLimit limit;  // what the end of a lock goes by
  int64_t deadline_ms = 0;
};
struct RenewEffect {
  SharePartitionKey key;
  std::vector<OffsetRange> ranges;
  int64_t deadline_ms = 0;
};
struct LogStartEffect {
  SharePartitionKey key;
  Offset log_start_offset = 0;
};
struct DropSoftEffect {
  GroupId group_id;
  SessionNumber session = 0;
};
struct DeactivateEffect {  // one key was initialised anew
  SharePartitionKey key;
};
struct GuardEffect {
  OwnerId owner;
  uint64_t token = 0;
  int64_t deadline_ms = 0;
};
struct GuardUsedEffect {
  uint64_t token = 0;
};
struct RememberEffect {
  SharePartitionKey key;
  std::string member_id;
  std::vector<AcknowledgementBatch> batches;
};
struct ForgetMemberEffect {
  SharePartitionKey key;
  std::string member_id;
};
struct WaitEffect {
  SharePartitionKey key;
  std::vector<WaitingRange> ranges;
};
struct WaitsOverEffect {
  SharePartitionKey key;
  int64_t steady_ms = 0;
};
struct ArchivedEffect {  // no state changes: take_archived() hands it out
  Archived archived;
};

struct GuardsVoidedEffect {
  OwnerId owner;
};
// Nothing of it is staged here any more.
struct BatchOwnerForgottenEffect {
  BatchTxnId id;
};

class ShareShard {
 public:
  using Record = ShareRecord;
  using Effect =
      std::variant<ActivateEffect, AcquireEffect, RenewEffect, LogStartEffect, DropSoftEffect,
                   DeactivateEffect, GuardEffect, GuardUsedEffect, ArchivedEffect,
                   GuardsVoidedEffect, BatchTxnEffect, BatchOwnerForgottenEffect, RememberEffect,
                   ForgetMemberEffect, WaitEffect, WaitsOverEffect>;
  struct TickReply {
    int64_t expired_records = 0;
    std::vector<BatchTxnId> timed_out;  // batch transactions that are to be aborted
  };
  template <class Reply>
  using Outcome = coordinator::Outcome<ShareShard, Reply>;

  explicit ShareShard(ShardConfig config)
      : config_(config), batch_transactions_(config.batch_transaction_retention_ms) {}

  static log::EncodedRecord encode(const Record& record) { return share::encode(record); }
  static Result<std::optional<Record>> decode(std::span<const std::byte> key,
                                              std::optional<std::span<const std::byte>> value) {
    return share::decode(key, value);
  }

  Outcome<PartitionError> decide(const Initialize&, io::Now) const;
  Outcome<Read::Reply> decide(const Read&, io::Now) const;
  Outcome<Summary::Reply> decide(const Summary&, io::Now) const;
  Outcome<PartitionError> decide(const Delete&, io::Now) const;
  Outcome<PartitionError> decide(const Write&, io::Now) const;
  Outcome<DeleteTopic::Reply> decide(const DeleteTopic&, io::Now) const;
  Outcome<SnapshotCold::Reply> decide(const SnapshotCold&, io::Now) const;
  Outcome<Activate::Reply> decide(const Activate&, io::Now) const;
  Outcome<NextFetch::Reply> decide(const NextFetch&, io::Now) const;
  Outcome<Acquire::Reply> decide(const Acquire&, io::Now) const;
  Outcome<Acknowledge::Reply> decide(const Acknowledge&, io::Now) const;
  Outcome<ReleaseMember::Reply> decide(const ReleaseMember&, io::Now) const;
  Outcome<ReleaseRanges::Reply> decide(const ReleaseRanges&, io::Now) const;
  Outcome<DropSoft::Reply> decide(const DropSoft&, io::Now) const;
  Outcome<ResumeLetters::Reply> decide(const ResumeLetters&, io::Now) const;
  Outcome<FinishLetters::Reply> decide(const FinishLetters&, io::Now) const;
  Outcome<Guard> decide(const TakeGuard&, io::Now) const;
  Outcome<Stage::Reply> decide(const Stage&, io::Now) const;
  Outcome<IsStagedBy::Reply> decide(const IsStagedBy&, io::Now) const;
  Outcome<WatchProducer::Reply> decide(const WatchProducer&, io::Now) const;
  Outcome<Marker::Reply> decide(const Marker&, io::Now) const;
  Outcome<Describe::Reply> decide(const Describe&, io::Now) const;
  Outcome<Positions::Reply> decide(const Positions&, io::Now) const;
  Outcome<StagedByOwner::Reply> decide(const StagedByOwner&, io::Now) const;
  Outcome<CloseBatchTxnHere::Reply> decide(const CloseBatchTxnHere&, io::Now) const;
  Outcome<ResolveBatchTxnHere::Reply> decide(const ResolveBatchTxnHere&, io::Now) const;
  Outcome<DescribeBatchTxnHere::Reply> decide(const DescribeBatchTxnHere&, io::Now) const;
  // Of a batch transaction's coordinator.
  template <BatchTxnOperation Op>
  Outcome<typename Op::Reply> decide(const Op& op, io::Now now) const {
    BatchTransactions::Changes changes;
    Outcome<typename Op::Reply> outcome;
    outcome.reply = batch_transactions_.decide(op, now, changes);
    add(std::move(changes), outcome);
    return outcome;
  }
  Outcome<TickReply> decide(const coordinator::Tick&, io::Now) const;

  void apply(const Record& record, const coordinator::RecordContext& context);
  void apply_end_marker(const log::EndMarker& marker, const coordinator::RecordContext& context);
  void apply_soft(const Effect& effect);
  std::optional<int64_t> next_deadline() const;

  // The keys of which something may have become available since the last call: for waking waiting
  // fetches, from the runner's on_applied hook. Const because it is no state: nothing is decided by
  // it.
  std::vector<SharePartitionKey> take_wakes() const;
  // What was given up since the last call, for the hook as well: whoever acts on it waits until the
  // log is durable.
  std::vector<Archived> take_archived() const { return std::exchange(archived_, {}); }
  // Everything below is of no use to a load any more (pruning).
  Offset prunable_offset() const;
  // Null when never initialised.
  const SharePartition* find(const SharePartitionKey& key) const;
  size_t size() const { return hard_.partitions.size(); }
  const BatchTransactions& batch_transactions() const { return batch_transactions_; }
  // The topics of all keys.
  std::set<Uuid> topics() const;

 private:
  struct HardState {
    std::map<SharePartitionKey, SharePartition>
        partitions;  // each holds its own hard and soft part
    // Where a producer may have staged ranges; more keys than that do no harm.
    std::map<ProducerId, std::set<SharePartitionKey>> staged_by;
    std::map<BatchTxnId, std::set<SharePartitionKey>> staged_by_batch;  // the same
    // Where the latest snapshot of each key stands in the log, which can be cut at the first.
    std::set<std::pair<Offset, SharePartitionKey>> snapshots;
    int64_t not_cold = 0;   // keys whose latest snapshot was due by their updates
    Offset end_offset = 0;  // of the log, as far as it has been applied
  };
  struct GuardState {
    OwnerId owner;
    int64_t deadline_ms = 0;
  };
  struct SoftState {
    std::unordered_map<uint64_t, GuardState> guards;
    std::set<std::pair<OwnerId, uint64_t>> guards_by_owner;
    std::set<std::pair<int64_t, uint64_t>> guards_by_deadline;
    std::set<std::pair<int64_t, SharePartitionKey>>
        lock_deadlines;  // the earliest of each partition
    std::unordered_map<SharePartitionKey, int64_t> deadline_of;
  };

  SharePartition* find_to_change(const SharePartitionKey& key);
  // Live and with soft state.
  const SharePartition* find_active(const SharePartitionKey& key) const;
  ShareRecord record_of(const SharePartitionKey& key, const SharePartition& partition,
                        const PartitionChange& change, io::Now now) const;
  static void add_archived(std::vector<Effect>& effects, const SharePartitionKey& key,
                           PartitionChange& change);
  static void add_waits(std::vector<Effect>& effects, const SharePartitionKey& key,
                        const PartitionChange& change, const DeliveryLimit& limit, io::Now now);
  bool snapshot_due(const SharePartition& partition) const;
  int16_t last_epoch_of(ProducerId id, const std::optional<log::ProducerView>& view) const;
  ShareRecord with_leader_epoch(const SharePartitionKey& key, int32_t leader_epoch,
                                io::Now now) const;
  PartitionError check_write(const Write& op) const;
  bool has_staged(ProducerId id) const;
  PartitionError check_marker(const Marker& op) const;
  int64_t staged_records_of(ProducerId id) const;
  bool would_tear(const Marker& op) const;
  PartitionError check_stage(const Stage& op, io::Now now) const;
  PartitionError check_guard(const Guard& guard, const OwnerId& owner, io::Now now) const;
  PartitionError staged_by_others(const SharePartition& partition, const char* what) const;
  const std::set<SharePartitionKey>& keys_of(const BatchTxnId& id) const;
  void apply_soft_batch(const Effect& effect);
  template <class Reply>
  static void add(BatchTransactions::Changes changes, Outcome<Reply>& outcome) {
    if (!changes.records.empty()) {
      auto& batch = outcome.batches.emplace_back();
      for (BatchTxnRecord& record : changes.records) batch.records.push_back(std::move(record));
    }
    for (BatchTxnEffect& effect : changes.effects) outcome.effects.push_back(std::move(effect));
  }
  void drop_guard(uint64_t token);
  void drop_guards_of(const OwnerId& owner);
  void index_owners(const SharePartitionKey& key, const std::vector<Owner>& owners);
  // After each change of a partition: its deadline and its waiting fetches.
  void touched(const SharePartitionKey& key, SharePartition& partition);
  void forget(const SharePartitionKey& key);
  void count_snapshot(const SharePartitionKey& key, const SharePartition& partition, int64_t sign);
  void forget_deadline(const SharePartitionKey& key);
  template <class Change>
  void change(const SharePartitionKey& key, Change&& change);

  ShardConfig config_;
  BatchTransactions batch_transactions_;
  HardState hard_;
  SoftState soft_;
  mutable std::set<SharePartitionKey> wakes_;
  mutable std::vector<Archived> archived_;
};

}  // namespace ackord::share
