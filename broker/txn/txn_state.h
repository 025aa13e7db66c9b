// The states of a transaction and which may follow which (KIP-98, KIP-360; Kafka's ids and names).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ackord::txn {

enum class TxnState : int8_t {
  kEmpty = 0,          // a producer, no transaction yet
  kOngoing = 1,        // partitions may join
  kPrepareCommit = 2,  // decided; markers are on their way
  kPrepareAbort = 3,
  kCompleteCommit = 4,  // all markers are written
  kCompleteAbort = 5,
  kDead = 6,  // expired: a tombstone, so never in a value
  kPrepareEpochFence =
      7,  // Kafka's step between Ongoing and an abort by the coordinator; never in a value
};

struct TxnTransition {
  TxnState from;
  TxnState to;
};

inline constexpr std::array kTxnTransitions{
    // received InitProducerId => a new epoch, or a new producer id
    TxnTransition{TxnState::kEmpty, TxnState::kEmpty},
    TxnTransition{TxnState::kCompleteCommit, TxnState::kEmpty},
    TxnTransition{TxnState::kCompleteAbort, TxnState::kEmpty},
    // received AddPartitionsToTxn, AddOffsetsToTxn, share acknowledgements => partitions join;
    // doomed => abort-only
    TxnTransition{TxnState::kEmpty, TxnState::kOngoing},
    TxnTransition{TxnState::kCompleteCommit, TxnState::kOngoing},
    TxnTransition{TxnState::kCompleteAbort, TxnState::kOngoing},
    TxnTransition{TxnState::kOngoing, TxnState::kOngoing},
    // received EndTxn(commit) => the decision
    TxnTransition{TxnState::kOngoing, TxnState::kPrepareCommit},
    // received EndTxn(abort), InitProducerId of a successor, timeout => the decision
    TxnTransition{TxnState::kOngoing, TxnState::kPrepareAbort},
    TxnTransition{TxnState::kPrepareEpochFence, TxnState::kPrepareAbort},
    // received EndTxn(abort) v5 with nothing in the transaction => only the epoch moves
    TxnTransition{TxnState::kEmpty, TxnState::kPrepareAbort},
    TxnTransition{TxnState::kCompleteCommit, TxnState::kPrepareAbort},
    TxnTransition{TxnState::kCompleteAbort, TxnState::kPrepareAbort},
    // all markers written => complete
    TxnTransition{TxnState::kPrepareCommit, TxnState::kCompleteCommit},
    TxnTransition{TxnState::kPrepareAbort, TxnState::kCompleteAbort},
    // transactional.id.expiration.ms over => forgotten
    TxnTransition{TxnState::kEmpty, TxnState::kDead},
    TxnTransition{TxnState::kCompleteCommit, TxnState::kDead},
    TxnTransition{TxnState::kCompleteAbort, TxnState::kDead},
    TxnTransition{TxnState::kOngoing, TxnState::kPrepareEpochFence},
};

constexpr bool may_move(TxnState from, TxnState to) {
  for (const TxnTransition& transition : kTxnTransitions) {
    if (transition.from == from && transition.to == to) return true;
  }
  return false;
}

// Decided, and not complete yet.
constexpr bool is_prepared(TxnState state) {
  return state == TxnState::kPrepareCommit || state == TxnState::kPrepareAbort;
}
// Nothing is open, and nothing is left to be done.
constexpr bool is_settled(TxnState state) {
  return state == TxnState::kEmpty || state == TxnState::kCompleteCommit ||
         state == TxnState::kCompleteAbort;
}

// As DescribeTransactions and ListTransactions say it.
constexpr std::string_view name_of(TxnState state) {
  switch (state) {
    case TxnState::kEmpty: return "Empty";
    case TxnState::kOngoing: return "Ongoing";
    case TxnState::kPrepareCommit: return "PrepareCommit";
    case TxnState::kPrepareAbort: return "PrepareAbort";
    case TxnState::kCompleteCommit: return "CompleteCommit";
    case TxnState::kCompleteAbort: return "CompleteAbort";
    case TxnState::kDead: return "Dead";
    case TxnState::kPrepareEpochFence: return "PrepareEpochFence";
  }
  return "Unknown";
}

}  // namespace ackord::txn
