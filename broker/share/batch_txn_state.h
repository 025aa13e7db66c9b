// The states of a batch transaction and which may follow which (docs/PROTOCOL.md part 2).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "broker/base/assert.h"

namespace ackord::share {

// The numbers stand in BatchTxnValue.State; the names go over the wire.
enum class BatchTxnState : int8_t {
  ONGOING = 0,    // acknowledgements may join
  PREPARE = 1,    // closed; only the coordinator decides, never the time
  COMMITTED = 2,  // decided; participants are told
  ABORTED = 3,
};

struct BatchTxnTransition {
  BatchTxnState from;
  BatchTxnState to;
};

inline constexpr std::array kBatchTxnTransitions{
    // received BatchTxnAcknowledge => a state partition joins; refused for good => abort-only
    BatchTxnTransition{BatchTxnState::ONGOING, BatchTxnState::ONGOING},
    // received PrepareBatchTxn, after the closing => the engine may make its own commit durable
    BatchTxnTransition{BatchTxnState::ONGOING, BatchTxnState::PREPARE},
    // received AbortBatchTxn, timeout, after the closing => the decision
    BatchTxnTransition{BatchTxnState::ONGOING, BatchTxnState::ABORTED},
    // received CommitBatchTxn, AbortBatchTxn => the decision
    BatchTxnTransition{BatchTxnState::PREPARE, BatchTxnState::COMMITTED},
    BatchTxnTransition{BatchTxnState::PREPARE, BatchTxnState::ABORTED},
    // a participant has resolved what was staged there => it is dropped
    BatchTxnTransition{BatchTxnState::COMMITTED, BatchTxnState::COMMITTED},
    BatchTxnTransition{BatchTxnState::ABORTED, BatchTxnState::ABORTED},
};

constexpr bool may_move(BatchTxnState from, BatchTxnState to) {
  for (const BatchTxnTransition& transition : kBatchTxnTransitions) {
    if (transition.from == from && transition.to == to) return true;
  }
  return false;
}

// The only way from one state to another.
constexpr BatchTxnState move_to(BatchTxnState from, BatchTxnState to) {
  ACKORD_ASSERT(may_move(from, to), "a batch transaction follows the transition table");
  return to;
}

constexpr bool is_decided(BatchTxnState state) {
  return state == BatchTxnState::COMMITTED || state == BatchTxnState::ABORTED;
}

constexpr bool is_known_batch_txn_state(int8_t id) { return id >= 0 && id <= 3; }

constexpr std::string_view name_of(BatchTxnState state) {
  switch (state) {
    case BatchTxnState::ONGOING: return "ONGOING";
    case BatchTxnState::PREPARE: return "PREPARE";
    case BatchTxnState::COMMITTED: return "COMMITTED";
    case BatchTxnState::ABORTED: return "ABORTED";
  }
  return "UNKNOWN";
}

constexpr std::optional<BatchTxnState> batch_txn_state_named(std::string_view name) {
  for (const BatchTxnState state : {BatchTxnState::ONGOING, BatchTxnState::PREPARE,
                                    BatchTxnState::COMMITTED, BatchTxnState::ABORTED}) {
    if (name_of(state) == name) return state;
  }
  return std::nullopt;
}

static_assert(!may_move(BatchTxnState::ONGOING, BatchTxnState::COMMITTED));
static_assert(!may_move(BatchTxnState::COMMITTED, BatchTxnState::ABORTED));
static_assert(!may_move(BatchTxnState::ABORTED, BatchTxnState::ONGOING));

}  // namespace ackord::share
