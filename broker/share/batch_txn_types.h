// Batch transactions (docs/PROTOCOL.md part 2): what identifies one, what is logged of it, and what
// its coordinator and its participants are asked. Plain data; any thread.
//
// The coordinator of a group's batch transactions is one partition of `__share_group_state`, a
// participant each partition of it that holds records which the transaction has staged.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/share/batch_txn_state.h"
#include "broker/share/share_types.h"

namespace ackord::share {

// An id is scoped by its group.
struct BatchTxnId {
  GroupId group_id;
  TransactionalId transaction_id;

  // As the owner of what it stages.
  Owner owner() const { return {ProducerId(-1), -1, transaction_id, 0}; }
  friend bool operator==(const BatchTxnId&, const BatchTxnId&) = default;
  friend std::strong_ordering operator<=>(const BatchTxnId& a, const BatchTxnId& b) {
    if (auto c = a.group_id.sv() <=> b.group_id.sv(); c != 0) return c;
    return a.transaction_id.sv() <=> b.transaction_id.sv();
  }
};

constexpr size_t kMaxBatchTxnIdBytes = 249;

// The record, key type 32. No value: the transaction is forgotten.
struct BatchTxnRecord {
  struct Value {
    BatchTxnState state = BatchTxnState::ONGOING;
    TimeMs create_time_ms = 0;
    TimeMs prepare_time_ms = -1;
    int32_t timeout_ms = 0;
    TimeMs last_update_ms = 0;
    bool abort_only = false;
    int64_t staged_records = 0;             // as counted by the closing; 0 before
    std::vector<int32_t> state_partitions;  // participants that are not resolved; ascending
    friend bool operator==(const Value&, const Value&) = default;
  };
  BatchTxnId id;
  std::optional<Value> value;
  friend bool operator==(const BatchTxnRecord&, const BatchTxnRecord&) = default;
};

// ---------------------------------------------------------------- asked of the coordinator

// What all requests about one transaction are answered.
struct BatchTxnReply {
  PartitionError error;
  std::optional<BatchTxnState> state;  // where it stands; absent: there is none
  int64_t staged_records = 0;
  // Another request or the timer is about to close it: to be asked again when that has ended.
  bool busy = false;
  // Participants that the caller has to close (CloseBatchTxn), to ask for what is staged
  // (BeginBatchTxn), or to resolve (a decision).
  std::vector<int32_t> participants;
};

// INVALID_TXN_STATE when there is an ended or prepared one of that id; of an ONGOING one nothing
// changes.
struct BeginBatchTxn {
  using Reply = BatchTxnReply;
  BatchTxnId id;
  int32_t timeout_ms = 0;
};

// These state partitions become participants. TRANSACTIONAL_ID_NOT_FOUND; INVALID_TXN_STATE unless
// it is ONGOING and not being closed.
struct EnlistBatchTxn {
  using Reply = PartitionError;
  BatchTxnId id;
  std::vector<int32_t> participants;
};

// A stage was refused for good: only an abort is left. Nothing, unless it is ONGOING and not being
// closed.
struct DoomBatchTxn {
  struct Reply {};
  BatchTxnId id;
};

enum class BatchTxnClosing : int8_t { PREPARE, ABORT, TIMEOUT };

// The first step of all that ends ONGOING: from now on nothing joins, and the caller closes the
// participants in the reply, then decides or gives up with the same token. Not ONGOING: the reply
// is the final one (idempotent repeats, wrong order, an abort of PREPARE, which is decided here).
// TRANSACTION_ABORTABLE for PREPARE of one that is abort-only. TIMEOUT: busy means that somebody
// else ends it.
struct CloseBatchTxn {
  struct Reply {
    BatchTxnReply result;
    bool closing = false;  // else `result` is the answer
  };
  BatchTxnId id;
  BatchTxnClosing why = BatchTxnClosing::ABORT;
  uint64_t token = 0;  // random, not 0
};

// All participants are closed and hold `staged_records`. CONCURRENT_TRANSACTIONS when the closing
// does not stand any more.
struct DecideBatchTxn {
  using Reply = BatchTxnReply;
  BatchTxnId id;
  BatchTxnClosing why = BatchTxnClosing::ABORT;
  uint64_t token = 0;
  int64_t staged_records = 0;
};

// A participant could not be closed: acknowledgements may join again.
struct GiveUpClosingBatchTxn {
  struct Reply {};
  BatchTxnId id;
  uint64_t token = 0;
};

struct CommitBatchTxn {
  using Reply = BatchTxnReply;
  BatchTxnId id;
};

// What was staged there is resolved by the decision.
struct BatchTxnResolved {
  struct Reply {};
  BatchTxnId id;
  std::vector<int32_t> participants;
};

struct ListBatchTxns {
  struct Entry {
    BatchTxnId id;
    BatchTxnRecord::Value value;
  };
  using Reply = std::vector<Entry>;  // in the order of the ids
  GroupId group_id;
  std::vector<BatchTxnState> states;  // none: all
  std::string prefix;
};

// How many are ONGOING or in PREPARE, of one group or of all.
struct CountLiveBatchTxns {
  struct Reply {
    int64_t live = 0;
  };
  std::optional<GroupId> group_id;
};

// After a load: timers start, and decisions that not all participants know are driven on.
struct ResumeBatchTxns {
  struct Decision {
    BatchTxnId id;
    bool commit = false;
    std::vector<int32_t> participants;
  };
  struct Reply {
    std::vector<Decision> decisions;
  };
};

template <class Op>
concept BatchTxnOperation =
    std::same_as<Op, BeginBatchTxn> || std::same_as<Op, EnlistBatchTxn> ||
    std::same_as<Op, DoomBatchTxn> || std::same_as<Op, CloseBatchTxn> ||
    std::same_as<Op, DecideBatchTxn> || std::same_as<Op, GiveUpClosingBatchTxn> ||
    std::same_as<Op, CommitBatchTxn> || std::same_as<Op, BatchTxnResolved> ||
    std::same_as<Op, ListBatchTxns> || std::same_as<Op, CountLiveBatchTxns> ||
    std::same_as<Op, ResumeBatchTxns>;

// ---------------------------------------------------------------- asked of a participant

// Voids the transaction's guards, so that no stage is under way once the answer is durable.
struct CloseBatchTxnHere {
  struct Reply {
    int64_t staged_records = 0;
  };
  BatchTxnId id;
};

// A decision that is durable at the coordinator. Nothing staged is success.
struct ResolveBatchTxnHere {
  struct Reply {
    int64_t resolved_records = 0;
  };
  BatchTxnId id;
  bool commit = false;
};

// What it has staged here.
struct DescribeBatchTxnHere {
  struct Range {
    OffsetRange offsets;
    int8_t acknowledge_type = -1;
  };
  struct Partition {
    SharePartitionKey key;
    std::vector<Range> ranges;  // ascending
  };
  struct Reply {
    std::vector<Partition> partitions;
    int64_t staged_records = 0;
  };
  BatchTxnId id;
};

}  // namespace ackord::share
