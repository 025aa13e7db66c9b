// InitProducerId: who may be the producer of a transactional id, and under which epoch.
#include "broker/txn/txn_shard.h"

namespace ackord::txn {

TxnShard::Outcome<InitProducerId::Reply> TxnShard::decide(const InitProducerId& op,
                                                          io::Now now) const {
  using Reply = InitProducerId::Reply;
  Reply reply;
  if (op.enable_2pc && !settings_.two_phase_commit) {
    reply.error = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    return Outcome<Reply>::answer(reply);
  }
  if (!op.enable_2pc && (op.timeout_ms <= 0 || op.timeout_ms > settings_.max_timeout_ms)) {
    reply.error = ErrorCode::INVALID_TRANSACTION_TIMEOUT;
    return Outcome<Reply>::answer(reply);
  }
  const int32_t timeout_ms = op.enable_2pc ? kTwoPhaseCommitTimeoutMs : op.timeout_ms;
  const Transaction* current = find(op.id);
  if (current == nullptr) return first_init(op, timeout_ms, now);
  if (op.expected && !may_init(*current, *op.expected)) {
    reply.error = ErrorCode::PRODUCER_FENCED;
    return Outcome<Reply>::answer(reply);
  }
  if (is_settled(current->state)) return next_init(op, *current, timeout_ms, now);
  if (op.keep_prepared && current->state == TxnState::kOngoing) return keep(op, *current, now);

  // The abort's own epoch is never told to anybody: the successor asks again and gets the one after
  // it.
  reply.error = ErrorCode::CONCURRENT_TRANSACTIONS;
  if (is_prepared(current->state)) return Outcome<Reply>::answer(reply);
  const auto abort = prepare_fencing_abort(*current, op.transaction_version, op.fresh, now);
  if (!abort) {
    reply.error = ErrorCode::NONE;
    reply.needs_producer_id = true;
    return Outcome<Reply>::answer(reply);
  }
  reply.prepared = prepared_of(op.id, abort->next);
  auto outcome = write(op.id, abort->next, op.transaction_version, reply);
  outcome.effects.push_back(SetLastEpoch{op.id, abort->last_epoch});
  return outcome;
}

// The epoch is looked at later, but a kept transaction is out of the hands of all but the last
// successor. The producer id before the current one may come from a client whose answer was lost
// when its epochs were exhausted.
bool TxnShard::may_init(const Transaction& transaction, log::ProducerStamp expected) const {
  if (transaction.kept()) return expected == transaction.next_producer();
  if (expected.id == transaction.producer.id) return true;
  return expected.id == transaction.previous_producer_id && expected.epoch >= kExhaustedEpoch;
}

bool TxnShard::advance_successor(Transaction& transaction, std::optional<ProducerId> fresh) {
  const log::ProducerStamp last =
      transaction.kept() ? transaction.next_producer() : transaction.producer;
  if (last.epoch < kExhaustedEpoch) {
    transaction.next_producer_id = last.id;
    transaction.next_producer_epoch = static_cast<int16_t>(last.epoch + 1);
    return true;
  }
  if (!fresh) return false;
  transaction.next_producer_id = *fresh;
  transaction.next_producer_epoch = 0;
  return true;
}

// The transaction stays as it is; only who follows changes. So a successor that crashes as well is
// fenced by the next one.
TxnShard::Outcome<InitProducerId::Reply> TxnShard::keep(const InitProducerId& op,
                                                        const Transaction& current,
                                                        io::Now now) const {
  using Reply = InitProducerId::Reply;
  Reply reply;
  if (!op.enable_2pc || !current.two_phase()) {
    reply.error = ErrorCode::INVALID_TXN_STATE;
    return Outcome<Reply>::answer(reply);
  }
  if (op.expected && !current.kept() && *op.expected != current.producer) {
    reply.error = ErrorCode::PRODUCER_FENCED;
    return Outcome<Reply>::answer(reply);
  }
  Transaction next = current;
  next.previous_producer_id = current.producer.id;
  next.last_update_ms = now.wall_ms;
  next.move_to(TxnState::kOngoing);
  if (!advance_successor(next, op.fresh)) {
    reply.needs_producer_id = true;
    return Outcome<Reply>::answer(reply);
  }
  reply.producer = next.next_producer();
  reply.ongoing = next.producer;
  return write(op.id, next, op.transaction_version, reply);
}

TxnShard::Outcome<InitProducerId::Reply> TxnShard::first_init(const InitProducerId& op,
                                                              int32_t timeout_ms,
                                                              io::Now now) const {
  InitProducerId::Reply reply;
  if (!op.fresh) {
    reply.needs_producer_id = true;
    return Outcome<InitProducerId::Reply>::answer(reply);
  }
  Transaction next;
  next.producer = {*op.fresh, 0};
  next.previous_producer_id = *op.fresh;
  next.timeout_ms = timeout_ms;
  next.last_update_ms = now.wall_ms;
  reply.producer = next.producer;
  return write(op.id, next, op.transaction_version, reply);
}

TxnShard::Outcome<InitProducerId::Reply> TxnShard::next_init(const InitProducerId& op,
                                                             const Transaction& current,
                                                             int32_t timeout_ms,
                                                             io::Now now) const {
  using Reply = InitProducerId::Reply;
  Reply reply;
  Transaction next = current;
  next.previous_producer_id = current.producer.id;
  next.timeout_ms = timeout_ms;
  next.last_update_ms = now.wall_ms;
  next.partitions.clear();
  next.abort_only = false;
  int16_t last_epoch = -1;
  const int16_t epoch = current.producer.epoch;
  const bool is_current = op.expected && op.expected->epoch == epoch;
  if (current.epoch_exhausted() && (!op.expected || is_current)) {
    if (!op.fresh) {
      reply.needs_producer_id = true;
      return Outcome<Reply>::answer(reply);
    }
    next.producer = {*op.fresh, 0};
    next.start_ms = -1;
    if (is_current) last_epoch = epoch;
  } else if (!op.expected || is_current) {
    next.producer.epoch = static_cast<int16_t>(epoch + 1);
    next.start_ms = -1;
    if (is_current) last_epoch = epoch;
  } else if (op.expected->epoch == last_epoch_of(op.id)) {
    // A repeat: the epoch stays, and with it the start below which no later transaction may begin.
    last_epoch = op.expected->epoch;
  } else {
    reply.error = ErrorCode::PRODUCER_FENCED;
    return Outcome<Reply>::answer(reply);
  }
  next.move_to(TxnState::kEmpty);
  reply.producer = next.producer;
  auto outcome = write(op.id, next, op.transaction_version, reply);
  outcome.effects.push_back(SetLastEpoch{op.id, last_epoch});
  return outcome;
}

}  // namespace ackord::txn
