// The end of a transaction: EndTxn, the coordinator's own abort, Complete.
#include <algorithm>
#include <limits>

#include "broker/base/assert.h"
#include "broker/txn/txn_shard.h"

namespace ackord::txn {
namespace {

int16_t epoch_after(int16_t epoch) {
  return static_cast<int16_t>(std::min<int32_t>(epoch + 1, std::numeric_limits<int16_t>::max()));
}

}  // namespace

TxnShard::Preparation TxnShard::prepare_v0(const Transaction& current, TxnState state,
                                           io::Now now) const {
  Preparation preparation{current, -1};
  Transaction& next = preparation.next;
  next.previous_producer_id = current.producer.id;
  next.client_transaction_version = static_cast<int16_t>(ClientTransactionVersion::kV0);
  next.abort_only = false;
  next.last_update_ms = now.wall_ms;
  next.move_to(state);
  return preparation;
}

TxnShard::Preparation TxnShard::prepare_v2(const Transaction& current, TxnState state,
                                           std::optional<ProducerId> fresh, io::Now now) const {
  Preparation preparation = prepare_v0(current, state, now);
  Transaction& next = preparation.next;
  next.client_transaction_version = static_cast<int16_t>(ClientTransactionVersion::kV2);
  next.producer.epoch = epoch_after(current.producer.epoch);
  if (current.epoch_exhausted() && !current.kept()) next.next_producer_id = fresh.value();
  // An abort of nothing has a start too: markers and listings want one.
  if (current.state != TxnState::kOngoing)
    next.start_ms = std::max(now.wall_ms, current.start_ms + 1);
  // The epoch before a kept transaction's successor is nobody's: who had it is fenced.
  if (!current.kept()) preparation.last_epoch = current.producer.epoch;
  return preparation;
}

std::optional<TxnShard::Preparation> TxnShard::prepare_fencing_abort(
    const Transaction& current, int16_t transaction_version, std::optional<ProducerId> fresh,
    io::Now now) const {
  if (current.kept()) {
    // The successor, too, is fenced at once.
    Transaction fenced = current;
    if (!advance_successor(fenced, fresh)) return std::nullopt;
    return prepare_v2(fenced, TxnState::kPrepareAbort, fresh, now);
  }
  if (transaction_version >= 2) {
    if (current.epoch_exhausted() && !fresh) return std::nullopt;
    return prepare_v2(current, TxnState::kPrepareAbort, fresh, now);
  }
  Preparation preparation = prepare_v0(current, TxnState::kPrepareAbort, now);
  preparation.next.producer.epoch = epoch_after(current.producer.epoch);
  return preparation;
}

// A kept transaction is ended by whoever decides for it, under its own identity or the last
// successor's. `prepare` as below.
ErrorCode TxnShard::judge_end_kept(const EndTxn& op, const Transaction& current,
                                   bool& prepare) const {
  const log::ProducerStamp asked = op.who.producer;
  const log::ProducerStamp next = current.next_producer();
  if (asked.id != current.producer.id && asked.id != next.id)
    return ErrorCode::INVALID_PRODUCER_ID_MAPPING;
  if (current.state == TxnState::kOngoing) {
    prepare = asked == current.producer || asked == next;
    return prepare ? ErrorCode::NONE : ErrorCode::PRODUCER_FENCED;
  }
  log::ProducerStamp after = asked;
  if (op.client_version == ClientTransactionVersion::kV2) after.epoch = epoch_after(asked.epoch);
  const bool repeat = after == current.producer || after == next || asked == next;
  if (!repeat) return ErrorCode::PRODUCER_FENCED;
  return op.commit == (current.state == TxnState::kPrepareCommit)
             ? ErrorCode::CONCURRENT_TRANSACTIONS
             : ErrorCode::INVALID_TXN_STATE;
}

// EndTxn up to v4: the epoch stays, so a repeat of a finished one cannot be told from the next one
// of nothing.
ErrorCode TxnShard::judge_end_v0(const EndTxn& op, const Transaction& current) const {
  if (current.producer.id != op.who.producer.id) return ErrorCode::INVALID_PRODUCER_ID_MAPPING;
  if (current.producer.epoch != op.who.producer.epoch) return ErrorCode::PRODUCER_FENCED;
  const bool same =
      current.state == (op.commit ? TxnState::kPrepareCommit : TxnState::kPrepareAbort) ||
      current.state == (op.commit ? TxnState::kCompleteCommit : TxnState::kCompleteAbort);
  if (current.state == TxnState::kOngoing) return ErrorCode::NONE;
  if (!same) return ErrorCode::INVALID_TXN_STATE;
  return is_prepared(current.state) ? ErrorCode::CONCURRENT_TRANSACTIONS : ErrorCode::NONE;
}

// EndTxn v5: the epoch tells a repeat (it names the one before) from the next transaction's end.
// `prepare` says that there is something to decide; NONE without it is a repeat's success.
ErrorCode TxnShard::judge_end_v2(const EndTxn& op, const Transaction& current,
                                 bool& prepare) const {
  // What is decided is being completed, and Kafka looks at nothing else meanwhile: the end of the
  // next transaction, under the epoch that the producer was told with the decision, comes too soon.
  if (is_prepared(current.state)) return ErrorCode::CONCURRENT_TRANSACTIONS;
  const log::ProducerStamp asked = op.who.producer;
  const bool repeat_over_overflow = asked.id == current.previous_producer_id &&
                                    asked.epoch == kExhaustedEpoch && current.producer.epoch == 0;
  const bool repeat = repeat_over_overflow || current.producer.epoch == asked.epoch + 1;
  if (current.producer.id != asked.id && !repeat_over_overflow)
    return ErrorCode::INVALID_PRODUCER_ID_MAPPING;

  const bool is_current = asked.epoch == current.producer.epoch;
  switch (current.state) {
    case TxnState::kOngoing:
      if (!is_current) return ErrorCode::PRODUCER_FENCED;
      prepare = true;
      return ErrorCode::NONE;
    case TxnState::kEmpty:
      if (!is_current) return ErrorCode::PRODUCER_FENCED;
      prepare = !op.commit;
      return prepare ? ErrorCode::NONE : ErrorCode::INVALID_TXN_STATE;
    case TxnState::kCompleteCommit:
    case TxnState::kCompleteAbort:
      if (!repeat && !is_current) return ErrorCode::PRODUCER_FENCED;
      if (repeat) {
        return op.commit == (current.state == TxnState::kCompleteCommit)
                   ? ErrorCode::NONE
                   : ErrorCode::INVALID_TXN_STATE;
      }
      prepare = !op.commit;
      return prepare ? ErrorCode::NONE : ErrorCode::INVALID_TXN_STATE;
    case TxnState::kPrepareCommit:
    case TxnState::kPrepareAbort:
    case TxnState::kDead:
    case TxnState::kPrepareEpochFence: break;
  }
  ACKORD_ASSERT(false, "a state that is never stored, or is no end's concern");
}

TxnShard::Outcome<EndTxn::Reply> TxnShard::decide(const EndTxn& op, io::Now now) const {
  using Reply = EndTxn::Reply;
  Reply reply;
  const Transaction* current = find(op.who.id);
  if (current == nullptr) {
    reply.error = ErrorCode::INVALID_PRODUCER_ID_MAPPING;
    return Outcome<Reply>::answer(reply);
  }
  const bool v2 = op.client_version == ClientTransactionVersion::kV2;
  bool prepare = current->state == TxnState::kOngoing;
  if (current->kept()) {
    reply.error = judge_end_kept(op, *current, prepare);
  } else {
    reply.error = v2 ? judge_end_v2(op, *current, prepare) : judge_end_v0(op, *current);
  }
  if (reply.error != ErrorCode::NONE) return Outcome<Reply>::answer(reply);
  if (!prepare) {
    if (v2) reply.next = current->producer;
    return Outcome<Reply>::answer(reply);
  }
  if (op.commit && current->abort_only) {
    reply.error = ErrorCode::TRANSACTION_ABORTABLE;
    return Outcome<Reply>::answer(reply);
  }
  Transaction ended = *current;
  bool has_next = true;
  if (v2 && !current->kept()) has_next = !current->epoch_exhausted() || op.fresh.has_value();
  // A successor that ends it moves on as after any end, so that its repeat is known.
  if (v2 && current->kept() && op.who.producer == current->next_producer())
    has_next = advance_successor(ended, op.fresh);
  if (!has_next) {
    reply.needs_producer_id = true;
    return Outcome<Reply>::answer(reply);
  }
  const TxnState state = op.commit ? TxnState::kPrepareCommit : TxnState::kPrepareAbort;
  const Preparation preparation =
      v2 ? prepare_v2(ended, state, op.fresh, now) : prepare_v0(ended, state, now);
  const Transaction& next = preparation.next;
  if (v2) reply.next = next.next_producer_id.value >= 0 ? next.next_producer() : next.producer;
  reply.prepared = prepared_of(op.who.id, next);
  auto outcome = write(op.who.id, next, op.transaction_version, reply);
  if (v2) outcome.effects.push_back(SetLastEpoch{op.who.id, preparation.last_epoch});
  return outcome;
}

TxnShard::Outcome<AbortTimedOut::Reply> TxnShard::decide(const AbortTimedOut& op,
                                                         io::Now now) const {
  using Reply = AbortTimedOut::Reply;
  Reply reply;
  const Transaction* current = find(op.who.id);
  const bool still_open = current != nullptr && current->state == TxnState::kOngoing &&
                          current->producer == op.who.producer && current->start_ms == op.start_ms;
  if (!still_open) return Outcome<Reply>::answer(reply);
  const auto abort = prepare_fencing_abort(*current, op.transaction_version, op.fresh, now);
  if (!abort) {
    reply.needs_producer_id = true;
    return Outcome<Reply>::answer(reply);
  }
  reply.prepared = prepared_of(op.who.id, abort->next);
  auto outcome = write(op.who.id, abort->next, op.transaction_version, reply);
  outcome.effects.push_back(SetLastEpoch{op.who.id, abort->last_epoch});
  return outcome;
}

TxnShard::Outcome<Complete::Reply> TxnShard::decide(const Complete& op, io::Now now) const {
  const Transaction* current = find(op.who.id);
  if (current == nullptr || !is_prepared(current->state) || current->producer != op.who.producer) {
    return Outcome<bool>::answer(false);
  }
  Transaction next = *current;
  next.previous_producer_id = current->producer.id;
  if (current->next_producer_id.value >= 0) {
    next.producer = current->next_producer();
    next.next_producer_id = ProducerId();
    next.next_producer_epoch = -1;
  }
  next.partitions.clear();
  next.last_update_ms = now.wall_ms;
  next.move_to(current->state == TxnState::kPrepareCommit ? TxnState::kCompleteCommit
                                                          : TxnState::kCompleteAbort);
  auto outcome = write(op.who.id, next, op.transaction_version, true);
  if (next.producer != current->producer) {
    outcome.effects.push_back(SetLastEpoch{op.who.id, last_epoch_of(op.who.id)});
  }
  return outcome;
}

}  // namespace ackord::txn
