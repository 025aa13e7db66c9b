// TxnShard: the transactions of one partition of `__transaction_state`, as a pure state machine
// (coordinator/shard.h).
//
// Operations and replies are below, next to what they mean. Source: KIP-98, KIP-360, KIP-890 as
// Kafka 4.4 behaves; Enlist, Doom and the strictly growing start are Ackord's (protocol
// 0, 1.1, 1.3). Kafka has a "pending state" between decision and append; here nothing can happen in
// between, so there is none. An operation that may need a new producer id says so
// (needs_producer_id) and changes nothing: it is run again with one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "broker/coordinator/shard.h"
#include "broker/log/types.h"
#include "broker/txn/transaction.h"
#include "broker/txn/txn_records.h"
#include "broker/txn/txn_service.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::txn {

struct TxnSettings {
  int32_t max_timeout_ms = 900000;       // transaction.max.timeout.ms
  bool two_phase_commit = false;         // transaction.two.phase.commit.enable
  int64_t id_expiration_ms = 604800000;  // transactional.id.expiration.ms
  int64_t expiration_check_ms = 3600000;
  int32_t coordinator_epoch = 0;  // leader epoch of the shard's partition; goes into markers
};

// A decided transaction: the marker that each of its partitions must get before Complete.
struct PreparedTransaction {
  TransactionalId id;
  log::EndMarker marker;
  std::vector<TopicPartition> partitions;
  bool kept = false;  // its producer was sealed (SealedProducers)
  friend bool operator==(const PreparedTransaction&, const PreparedTransaction&) = default;
};

// `transaction_version` of the operations that write: the finalized feature level.

// InitProducerId of a transactional id. Over an open transaction: it is aborted (`prepared`), and
// the answer is CONCURRENT_TRANSACTIONS. With `keep_prepared` and under two-phase commit it stays
// as it is (`ongoing`); INVALID_TXN_STATE when one of the two is not under two-phase commit.
struct InitProducerId {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    log::ProducerStamp producer;
    bool needs_producer_id = false;
    std::optional<PreparedTransaction> prepared;
    log::ProducerStamp ongoing;  // of the transaction that was kept
    friend bool operator==(const Reply&, const Reply&) = default;
  };
  TransactionalId id;
  int32_t timeout_ms = 0;
  bool enable_2pc = false;
  bool keep_prepared = false;
  std::optional<log::ProducerStamp> expected;
  std::optional<ProducerId> fresh;
  int16_t transaction_version = 2;
};

// Partitions join; sorted, each once.
struct AddPartitions {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    friend bool operator==(const Reply&, const Reply&) = default;
  };
  TxnIdentity who;
  std::vector<TopicPartition> partitions;
  ClientTransactionVersion client_version = ClientTransactionVersion::kV0;
  int16_t transaction_version = 2;
};

// State partitions of share acknowledgements join. Nothing is written when they are in it already.
struct Enlist {
  using Reply = EnlistReply;
  TxnIdentity who;
  std::optional<TimeMs> start;
  std::vector<TopicPartition> partitions;
  int16_t transaction_version = 2;
};

struct Verify {
  using Reply = std::vector<std::pair<TopicPartition, ErrorCode>>;
  TxnIdentity who;
  std::vector<TopicPartition> partitions;
};

struct EndTxn {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    log::ProducerStamp next;
    bool needs_producer_id = false;
    std::optional<PreparedTransaction> prepared;
    friend bool operator==(const Reply&, const Reply&) = default;
  };
  TxnIdentity who;
  bool commit = false;
  ClientTransactionVersion client_version = ClientTransactionVersion::kV2;
  std::optional<ProducerId> fresh;
  int16_t transaction_version = 2;
};

// Makes the transaction abort-only. NONE: it is that afterwards. CONCURRENT_TRANSACTIONS: in a
// Prepare state, to be tried again. Else why nothing is to be doomed: INVALID_PRODUCER_ID_MAPPING,
// PRODUCER_FENCED, INVALID_TXN_STATE (another start, or a two-phase-commit transaction).
struct Doom {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    friend bool operator==(const Reply&, const Reply&) = default;
  };
  TxnIdentity who;
  std::optional<TimeMs> start;
  int16_t transaction_version = 2;
};

// Aborts the transaction that a Tick found to be overdue, if it is still the open one.
struct AbortTimedOut {
  struct Reply {
    bool needs_producer_id = false;
    std::optional<PreparedTransaction> prepared;
    friend bool operator==(const Reply&, const Reply&) = default;
  };
  TxnIdentity who;
  TimeMs start_ms = -1;
  std::optional<ProducerId> fresh;
  int16_t transaction_version = 2;
};

// All markers are written. `who` as in the markers; true when the transaction was waiting for it.
struct Complete {
  using Reply = bool;
  TxnIdentity who;
  int16_t transaction_version = 2;
};

struct Describe {
  using Reply = TransactionDescription;
  TransactionalId id;
};

struct List {
  using Reply = std::vector<TransactionListing>;
};

// ---- soft changes

// The epoch before the current one, for a repeated InitProducerId. Not stored: Kafka forgets it
// with a restart too.
struct SetLastEpoch {
  TransactionalId id;
  int16_t epoch = -1;
  friend bool operator==(const SetLastEpoch&, const SetLastEpoch&) = default;
};
// When the open transaction times out, steady ms.
struct SetDeadline {
  TransactionalId id;
  int64_t deadline_ms = 0;
  friend bool operator==(const SetDeadline&, const SetDeadline&) = default;
};
// When transactional ids are looked through for expired ones, steady ms.
struct SetExpirationCheck {
  int64_t at_ms = 0;
  friend bool operator==(const SetExpirationCheck&, const SetExpirationCheck&) = default;
};

struct TimedOut {
  TxnIdentity who;
  TimeMs start_ms = -1;
};

class TxnShard {
 public:
  using Record = std::variant<TransactionRecord>;
  using Effect = std::variant<SetLastEpoch, SetDeadline, SetExpirationCheck>;
  using TickReply = std::vector<TimedOut>;  // each is to be run as AbortTimedOut
  template <class Reply>
  using Outcome = coordinator::Outcome<TxnShard, Reply>;

  // At most so many transactions time out, and so many ids expire, in one Tick.
  static constexpr size_t kMaxPerTick = 1000;

  // `loaded_at`: for the timeouts of transactions that the log holds.
  TxnShard(TxnSettings settings, io::Now loaded_at);

  static log::EncodedRecord encode(const Record& record);
  static Result<std::optional<Record>> decode(std::span<const std::byte> key,
                                              std::optional<std::span<const std::byte>> value);

  void apply(const Record& record, const coordinator::RecordContext& context);
  // Nobody's transactions are on this partition; a marker that was written here from outside means
  // nothing.
  void apply_end_marker(const log::EndMarker&, const coordinator::RecordContext&) {}
  void apply_soft(const Effect& effect);
  std::optional<int64_t> next_deadline() const;

  Outcome<InitProducerId::Reply> decide(const InitProducerId& op, io::Now now) const;
  Outcome<AddPartitions::Reply> decide(const AddPartitions& op, io::Now now) const;
  Outcome<Enlist::Reply> decide(const Enlist& op, io::Now now) const;
  Outcome<Verify::Reply> decide(const Verify& op, io::Now now) const;
  Outcome<EndTxn::Reply> decide(const EndTxn& op, io::Now now) const;
  Outcome<Doom::Reply> decide(const Doom& op, io::Now now) const;
  Outcome<AbortTimedOut::Reply> decide(const AbortTimedOut& op, io::Now now) const;
  Outcome<Complete::Reply> decide(const Complete& op, io::Now now) const;
  Outcome<Describe::Reply> decide(const Describe& op, io::Now now) const;
  Outcome<List::Reply> decide(const List& op, io::Now now) const;
  Outcome<TickReply> decide(const coordinator::Tick& tick, io::Now now) const;

  // ---- looking without an operation
  const Transaction* find(const TransactionalId& id) const;
  // In PrepareCommit or PrepareAbort.
  bool is_settling(const TransactionalId& id) const;
  bool lists_open(ProducerId producer_id, const TopicPartition& partition) const;
  // Everything that was decided and is not complete: after a load its markers are sent again.
  std::vector<PreparedTransaction> prepared() const;
  // Whose transactions are kept and not complete.
  std::vector<log::ProducerStamp> kept() const;

 private:
  // A function of the log.
  struct HardState {
    std::unordered_map<TransactionalId, Transaction> transactions;
  };
  struct SoftTransaction {
    int16_t last_epoch = -1;
    std::optional<int64_t> deadline_ms;
  };
  struct SoftState {
    std::unordered_map<TransactionalId, SoftTransaction> transactions;
    std::set<std::pair<int64_t, TransactionalId>> deadlines;
    int64_t expiration_check_ms = 0;
  };
  // A decision to commit or to abort.
  struct Preparation {
    Transaction next;
    int16_t last_epoch = -1;
  };

  int16_t last_epoch_of(const TransactionalId& id) const;
  void set_deadline(const TransactionalId& id, std::optional<int64_t> deadline_ms);
  int64_t deadline_after_load(const Transaction& transaction) const;
  ErrorCode check(const Transaction* transaction, log::ProducerStamp producer) const;
  PreparedTransaction prepared_of(const TransactionalId& id, const Transaction& transaction) const;

  bool may_init(const Transaction& transaction, log::ProducerStamp expected) const;
  Outcome<InitProducerId::Reply> first_init(const InitProducerId& op, int32_t timeout_ms,
                                            io::Now now) const;
  Outcome<InitProducerId::Reply> next_init(const InitProducerId& op, const Transaction& current,
                                           int32_t timeout_ms, io::Now now) const;
  Outcome<InitProducerId::Reply> keep(const InitProducerId& op, const Transaction& current,
                                      io::Now now) const;
  ErrorCode judge_end_kept(const EndTxn& op, const Transaction& current, bool& prepare) const;
  ErrorCode judge_end_v0(const EndTxn& op, const Transaction& current) const;
  ErrorCode judge_end_v2(const EndTxn& op, const Transaction& current, bool& prepare) const;
  Preparation prepare_v0(const Transaction& current, TxnState next, io::Now now) const;
  Preparation prepare_v2(const Transaction& current, TxnState next, std::optional<ProducerId> fresh,
                         io::Now now) const;
  // The successor of a kept transaction moves on by one epoch. False: a producer id is needed.
  static bool advance_successor(Transaction& transaction, std::optional<ProducerId> fresh);
  // The coordinator's own abort fences the producer: its epoch moves whatever the version. Null: a
  // producer id is needed.
  std::optional<Preparation> prepare_fencing_abort(const Transaction& current,
                                                   int16_t transaction_version,
                                                   std::optional<ProducerId> fresh,
                                                   io::Now now) const;
  // The Ongoing that follows: a new transaction, or the open one.
  Transaction open(const Transaction& current, io::Now now) const;
  template <class Reply>
  Outcome<Reply> write(const TransactionalId& id, const Transaction& next,
                       int16_t transaction_version, Reply reply) const;
  template <class Reply>
  Outcome<Reply> write_open(const TransactionalId& id, const Transaction& current,
                            const Transaction& next, int16_t transaction_version, Reply reply,
                            io::Now now) const;

  TxnSettings settings_;
  io::Now loaded_at_;
  HardState hard_;
  SoftState soft_;
};

// -----------------------------------------------------------------------------------------------

template <class Reply>
coordinator::Outcome<TxnShard, Reply> TxnShard::write(const TransactionalId& id,
                                                      const Transaction& next,
                                                      int16_t transaction_version,
                                                      Reply reply) const {
  std::vector<Record> records;
  records.push_back(make_record(id, next, transaction_version));
  return Outcome<Reply>::of(std::move(records), std::move(reply));
}

template <class Reply>
coordinator::Outcome<TxnShard, Reply> TxnShard::write_open(const TransactionalId& id,
                                                           const Transaction& current,
                                                           const Transaction& next,
                                                           int16_t transaction_version, Reply reply,
                                                           io::Now now) const {
  auto outcome = write(id, next, transaction_version, std::move(reply));
  if (current.state != TxnState::kOngoing && !next.two_phase()) {
    outcome.effects.push_back(SetDeadline{id, now.steady_ms + next.timeout_ms});
  }
  return outcome;
}

}  // namespace ackord::txn
