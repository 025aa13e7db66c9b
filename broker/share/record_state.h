// RecordState: where one record of a share partition stands for its group (KIP-932, KIP-1191,
// KIP-1289).
//
// Two tables, one over the other. The hard one is for what is logged and replayed; the soft one
// splits AVAILABLE, in memory only, into free and ACQUIRED. A decision checks both, a replay the
// hard one.
#pragma once

#include <cstdint>
#include <string_view>

#include "broker/base/assert.h"

namespace ackord::share {

// The numbers stand in DeliveryState fields of the log and of the wire.
enum class RecordState : int8_t {
  AVAILABLE = 0,
  ACQUIRED = 1,  // soft: never logged
  ACKNOWLEDGED = 2,
  ARCHIVING = 3,  // waits for its dead-letter record
  ARCHIVED = 4,
  TX_PENDING = 5,  // staged: an open transaction decides
};

constexpr std::string_view name_of(RecordState state) {
  switch (state) {
    case RecordState::AVAILABLE: return "AVAILABLE";
    case RecordState::ACQUIRED: return "ACQUIRED";
    case RecordState::ACKNOWLEDGED: return "ACKNOWLEDGED";
    case RecordState::ARCHIVING: return "ARCHIVING";
    case RecordState::ARCHIVED: return "ARCHIVED";
    case RecordState::TX_PENDING: return "TX_PENDING";
  }
  return "UNKNOWN";
}

// Done with: the start offset moves over it, nothing leads out of it.
constexpr bool is_terminal(RecordState state) {
  return state == RecordState::ACKNOWLEDGED || state == RecordState::ARCHIVED;
}

constexpr bool is_known_state(int8_t id) { return id >= 0 && id <= 5; }

// What a consumer says of a record. Values of AcknowledgeTypes on the wire.
enum class AcknowledgeType : int8_t { GAP = 0, ACCEPT = 1, RELEASE = 2, REJECT = 3, RENEW = 4 };

struct RecordTransition {
  RecordState from;
  RecordState to;
};

// Hard: between states that the log holds. A record that no log entry covers is AVAILABLE.
inline constexpr RecordTransition kHardTransitions[] = {
    // received TxnShareAcknowledge, BatchTxnAcknowledge => staged
    {RecordState::AVAILABLE, RecordState::TX_PENDING},
    // received acknowledge ACCEPT => done
    {RecordState::AVAILABLE, RecordState::ACKNOWLEDGED},
    // received acknowledge REJECT, or release at the delivery limit, with a dead-letter topic => to
    // be copied there
    {RecordState::AVAILABLE, RecordState::ARCHIVING},
    // received acknowledge REJECT or gap, release at the delivery limit; the record left the log =>
    // done
    {RecordState::AVAILABLE, RecordState::ARCHIVED},
    // received release, lock time passed => only the delivery count changes
    {RecordState::AVAILABLE, RecordState::AVAILABLE},
    // received abort marker (client, timeout, fencing), batch abort => delivered again
    {RecordState::TX_PENDING, RecordState::AVAILABLE},
    // received commit of ACCEPT => done
    {RecordState::TX_PENDING, RecordState::ACKNOWLEDGED},
    // received commit of REJECT that was staged with a dead-letter topic => to be copied there
    {RecordState::TX_PENDING, RecordState::ARCHIVING},
    // received commit of REJECT or gap => done
    {RecordState::TX_PENDING, RecordState::ARCHIVED},
    // dead-letter record written, or given up => done
    {RecordState::ARCHIVING, RecordState::ARCHIVED},
};

// Soft, over AVAILABLE. Every hard transition out of AVAILABLE also ends ACQUIRED.
inline constexpr RecordTransition kSoftTransitions[] = {
    // received ShareFetch => locked for a member, delivery count + 1
    {RecordState::AVAILABLE, RecordState::ACQUIRED},
    // received RENEW => lock time starts again
    {RecordState::ACQUIRED, RecordState::ACQUIRED},
    // received RELEASE, session end, operator's release; lock time passed => free (below the
    // delivery limit)
    {RecordState::ACQUIRED, RecordState::AVAILABLE},
};

template <size_t N>
constexpr bool is_listed(const RecordTransition (&table)[N], RecordState from, RecordState to) {
  for (const RecordTransition& transition : table) {
    if (transition.from == from && transition.to == to) return true;
  }
  return false;
}

constexpr bool hard_transition_allowed(RecordState from, RecordState to) {
  return is_listed(kHardTransitions, from, to);
}

constexpr bool soft_transition_allowed(RecordState from, RecordState to) {
  return is_listed(kSoftTransitions, from, to);
}

// The only way from one state to another. ACQUIRED stands over AVAILABLE: what may happen to the
// one, may to the other.
constexpr RecordState move_to(RecordState from, RecordState to) {
  const bool allowed =
      soft_transition_allowed(from, to) ||
      hard_transition_allowed(from == RecordState::ACQUIRED ? RecordState::AVAILABLE : from, to);
  ACKORD_ASSERT(allowed, "a record state follows the transition table");
  return to;
}

static_assert(!hard_transition_allowed(RecordState::ACKNOWLEDGED, RecordState::AVAILABLE));
static_assert(!hard_transition_allowed(RecordState::TX_PENDING, RecordState::TX_PENDING));

}  // namespace ackord::share
