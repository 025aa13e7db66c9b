// What joins a transaction, and what dooms it: AddPartitions, Enlist, Verify, Doom.
#include <algorithm>

#include "broker/base/planted_bug.h"
#include "broker/txn/txn_shard.h"

namespace ackord::txn {
namespace {

// Of a kept transaction: it takes nothing more, and its successor's own begins after it.
ErrorCode check_kept(const Transaction& transaction, log::ProducerStamp producer) {
  const log::ProducerStamp next = transaction.next_producer();
  if (producer == next) {
    return is_prepared(transaction.state) ? ErrorCode::CONCURRENT_TRANSACTIONS
                                          : ErrorCode::INVALID_TXN_STATE;
  }
  const bool known = producer.id == transaction.producer.id || producer.id == next.id;
  return known ? ErrorCode::PRODUCER_FENCED : ErrorCode::INVALID_PRODUCER_ID_MAPPING;
}

}  // namespace

// In Kafka's order: a fenced producer hears of it even while the next transaction has to wait.
ErrorCode TxnShard::check(const Transaction* transaction, log::ProducerStamp producer) const {
  if (transaction != nullptr && transaction->kept()) return check_kept(*transaction, producer);
  // EndTxn of version 2 has named a new id when the epochs were exhausted; it takes over when the
  // markers are written.
  if (transaction != nullptr && is_prepared(transaction->state) &&
      transaction->next_producer_id.value >= 0 && producer == transaction->next_producer()) {
    return ErrorCode::CONCURRENT_TRANSACTIONS;
  }
  if (transaction == nullptr || transaction->producer.id != producer.id) {
    return ErrorCode::INVALID_PRODUCER_ID_MAPPING;
  }
  if (transaction->producer.epoch != producer.epoch) return ErrorCode::PRODUCER_FENCED;
  if (is_prepared(transaction->state)) return ErrorCode::CONCURRENT_TRANSACTIONS;
  return ErrorCode::NONE;
}

Transaction TxnShard::open(const Transaction& current, io::Now now) const {
  Transaction next = current;
  next.previous_producer_id = current.producer.id;
  next.last_update_ms = now.wall_ms;
  if (current.state != TxnState::kOngoing) {
    next.start_ms = std::max(now.wall_ms, current.start_ms + 1);
    next.abort_only = false;
  }
  next.move_to(TxnState::kOngoing);
  return next;
}

TxnShard::Outcome<AddPartitions::Reply> TxnShard::decide(const AddPartitions& op,
                                                         io::Now now) const {
  using Reply = AddPartitions::Reply;
  const Transaction* current = find(op.who.id);
  const ErrorCode refusal = check(current, op.who.producer);
  if (refusal != ErrorCode::NONE) return Outcome<Reply>::answer({refusal});
  Transaction next = open(*current, now);
  const bool added = next.add(op.partitions);
  if (current->state == TxnState::kOngoing && !added) return Outcome<Reply>::answer({});
  next.client_transaction_version = static_cast<int16_t>(op.client_version);
  return write_open(op.who.id, *current, next, op.transaction_version, Reply{}, now);
}

TxnShard::Outcome<Enlist::Reply> TxnShard::decide(const Enlist& op, io::Now now) const {
  const Transaction* current = find(op.who.id);
  EnlistReply reply;
  reply.error = check(current, op.who.producer);
  if (reply.error != ErrorCode::NONE) return Outcome<EnlistReply>::answer(std::move(reply));
  const bool ongoing = current->state == TxnState::kOngoing;
  const bool any_start = base::planted(base::PlantedBug::kNoStartTime);
  if (op.start && !any_start && (!ongoing || *op.start != current->start_ms)) {
    reply.error = ErrorCode::INVALID_TXN_STATE;
    reply.message =
        ongoing ? "The open transaction has another start time." : "No transaction is open.";
    return Outcome<EnlistReply>::answer(std::move(reply));
  }
  Transaction next = open(*current, now);
  const bool added = next.add(op.partitions);
  reply.start_time_ms = next.start_ms;
  if (ongoing && !added) return Outcome<EnlistReply>::answer(std::move(reply));
  return write_open(op.who.id, *current, next, op.transaction_version, std::move(reply), now);
}

TxnShard::Outcome<Verify::Reply> TxnShard::decide(const Verify& op, io::Now) const {
  const Transaction* current = find(op.who.id);
  const ErrorCode refusal = check(current, op.who.producer);
  Verify::Reply reply;
  reply.reserve(op.partitions.size());
  for (const TopicPartition& partition : op.partitions) {
    ErrorCode code = refusal;
    if (code == ErrorCode::NONE && !current->lists(partition))
      code = ErrorCode::TRANSACTION_ABORTABLE;
    reply.emplace_back(partition, code);
  }
  return Outcome<Verify::Reply>::answer(std::move(reply));
}

TxnShard::Outcome<Doom::Reply> TxnShard::decide(const Doom& op, io::Now now) const {
  using Reply = Doom::Reply;
  const Transaction* current = find(op.who.id);
  const ErrorCode refusal = check(current, op.who.producer);
  if (refusal != ErrorCode::NONE) return Outcome<Reply>::answer({refusal});
  const bool ongoing = current->state == TxnState::kOngoing;
  const bool other_start = op.start && (!ongoing || *op.start != current->start_ms);
  if (current->two_phase() || other_start)
    return Outcome<Reply>::answer({ErrorCode::INVALID_TXN_STATE});
  if (ongoing && current->abort_only) return Outcome<Reply>::answer({});
  Transaction next = open(*current, now);
  next.abort_only = true;
  return write_open(op.who.id, *current, next, op.transaction_version, Reply{}, now);
}

}  // namespace ackord::txn
