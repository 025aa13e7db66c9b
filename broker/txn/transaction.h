// Transaction: what is known of one transactional id, as TransactionLogValue stores it. Hard state:
// it changes only by records. A decision copies it, changes the copy, and logs that.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "broker/log/types.h"
#include "broker/txn/txn_state.h"
#include "protocol/types/ids.h"

namespace ackord::txn {

// "2PC" and "never times out" are one (KIP-939).
inline constexpr int32_t kTwoPhaseCommitTimeoutMs = std::numeric_limits<int32_t>::max();
// From this epoch on a producer goes on under a new producer id: the last epoch is the
// coordinator's own, for fencing.
inline constexpr int16_t kExhaustedEpoch = std::numeric_limits<int16_t>::max() - 1;

struct Transaction {
  TxnState state = TxnState::kEmpty;
  log::ProducerStamp producer;
  ProducerId previous_producer_id;   // of the state before this one
  ProducerId next_producer_id;       // takes over at completion; -1: none
  int16_t next_producer_epoch = -1;  // its epoch; -1: 0, and the transaction is not kept
  int32_t timeout_ms = 0;
  int16_t client_transaction_version = 0;  // of the client that made the last change
  bool abort_only = false;                 // Ackord's: no commit any more
  TimeMs last_update_ms = -1;
  TimeMs start_ms = -1;                    // of the open or last transaction; grows strictly
  std::vector<TopicPartition> partitions;  // sorted

  bool two_phase() const { return timeout_ms == kTwoPhaseCommitTimeoutMs; }
  bool epoch_exhausted() const { return producer.epoch >= kExhaustedEpoch; }
  // KeepPreparedTxn (KIP-939): a successor has been told next_producer() while the transaction of
  // `producer` stayed open. Until it is complete nothing joins it; either of the two may end it.
  bool kept() const { return next_producer_epoch >= 0; }
  log::ProducerStamp next_producer() const {
    return {next_producer_id, kept() ? next_producer_epoch : int16_t{0}};
  }
  bool lists(const TopicPartition& partition) const;
  // False when all of them were there.
  bool add(const std::vector<TopicPartition>& more);
  // The only way to another state; asserts that the table has it.
  void move_to(TxnState next);

  friend bool operator==(const Transaction&, const Transaction&) = default;
};

}  // namespace ackord::txn
