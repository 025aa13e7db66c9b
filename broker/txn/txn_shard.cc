#include "broker/txn/txn_shard.h"

#include <algorithm>

namespace ackord::txn {
namespace {

// How soon a timeout is tried again whose abort could not be logged.
constexpr int64_t kTimeoutRetryMs = 1000;

}  // namespace

TxnShard::TxnShard(TxnSettings settings, io::Now loaded_at)
    : settings_(settings), loaded_at_(loaded_at) {
  soft_.expiration_check_ms = loaded_at.steady_ms + settings.expiration_check_ms;
}

log::EncodedRecord TxnShard::encode(const Record& record) {
  return txn::encode(std::get<TransactionRecord>(record));
}

Result<std::optional<TxnShard::Record>> TxnShard::decode(
    std::span<const std::byte> key, std::optional<std::span<const std::byte>> value) {
  Result<std::optional<TransactionRecord>> decoded = txn::decode(key, value);
  if (!decoded) return decoded.error();
  if (!*decoded) return std::optional<Record>();
  return std::optional<Record>(std::move(**decoded));
}

// ---- changes

void TxnShard::apply(const Record& record, const coordinator::RecordContext&) {
  const auto& [id, transaction, version] = std::get<TransactionRecord>(record);
  if (!transaction) {
    set_deadline(id, std::nullopt);
    hard_.transactions.erase(id);
    soft_.transactions.erase(id);
    return;
  }
  Transaction& current = hard_.transactions[id];
  SoftTransaction& soft = soft_.transactions[id];
  if (current.producer != transaction->producer) soft.last_epoch = -1;
  const bool same_open =
      current.state == TxnState::kOngoing && current.start_ms == transaction->start_ms;
  current = *transaction;
  if (current.state != TxnState::kOngoing || current.two_phase()) {
    set_deadline(id, std::nullopt);
  } else if (!same_open || !soft.deadline_ms) {
    set_deadline(id, deadline_after_load(current));
  }
}

void TxnShard::apply_soft(const Effect& effect) {
  if (const auto* last = std::get_if<SetLastEpoch>(&effect)) {
    soft_.transactions[last->id].last_epoch = last->epoch;
  } else if (const auto* deadline = std::get_if<SetDeadline>(&effect)) {
    set_deadline(deadline->id, deadline->deadline_ms);
  } else {
    soft_.expiration_check_ms = std::get<SetExpirationCheck>(effect).at_ms;
  }
}

void TxnShard::set_deadline(const TransactionalId& id, std::optional<int64_t> deadline_ms) {
  const auto at = soft_.transactions.find(id);
  if (at == soft_.transactions.end()) return;
  std::optional<int64_t>& current = at->second.deadline_ms;
  if (current) soft_.deadlines.erase({*current, id});
  if (deadline_ms) soft_.deadlines.emplace(*deadline_ms, id);
  current = deadline_ms;
}

// The wall clock may have jumped meanwhile: a transaction gets its timeout once more at most.
int64_t TxnShard::deadline_after_load(const Transaction& transaction) const {
  const int64_t elapsed = std::max<int64_t>(loaded_at_.wall_ms - transaction.start_ms, 0);
  return loaded_at_.steady_ms + std::max<int64_t>(transaction.timeout_ms - elapsed, 0);
}

// ---- timers

std::optional<int64_t> TxnShard::next_deadline() const {
  if (hard_.transactions.empty()) return std::nullopt;
  if (soft_.deadlines.empty()) return soft_.expiration_check_ms;
  return std::min(soft_.deadlines.begin()->first, soft_.expiration_check_ms);
}

TxnShard::Outcome<TxnShard::TickReply> TxnShard::decide(const coordinator::Tick&,
                                                        io::Now now) const {
  Outcome<TickReply> outcome;
  for (const auto& [deadline, id] : soft_.deadlines) {
    if (deadline > now.steady_ms || outcome.reply.size() == kMaxPerTick) break;
    const Transaction& transaction = *find(id);
    outcome.reply.push_back({{id, transaction.producer}, transaction.start_ms});
    outcome.effects.push_back(SetDeadline{id, now.steady_ms + kTimeoutRetryMs});
  }
  if (soft_.expiration_check_ms > now.steady_ms) return outcome;

  std::vector<Record> expired;
  for (const auto& [id, transaction] : hard_.transactions) {
    if (expired.size() == kMaxPerTick) break;
    if (!is_settled(transaction.state)) continue;
    if (transaction.last_update_ms > now.wall_ms - settings_.id_expiration_ms) continue;
    expired.push_back(TransactionRecord{id, std::nullopt, 1});
  }
  const bool more = expired.size() == kMaxPerTick;
  outcome.effects.push_back(
      SetExpirationCheck{now.steady_ms + (more ? 1 : settings_.expiration_check_ms)});
  if (!expired.empty()) outcome.batches.push_back({std::move(expired), std::nullopt, std::nullopt});
  return outcome;
}

// ---- looking

const Transaction* TxnShard::find(const TransactionalId& id) const {
  const auto at = hard_.transactions.find(id);
  return at == hard_.transactions.end() ? nullptr : &at->second;
}

int16_t TxnShard::last_epoch_of(const TransactionalId& id) const {
  const auto at = soft_.transactions.find(id);
  return at == soft_.transactions.end() ? int16_t{-1} : at->second.last_epoch;
}

bool TxnShard::is_settling(const TransactionalId& id) const {
  const Transaction* transaction = find(id);
  return transaction != nullptr && is_prepared(transaction->state);
}

bool TxnShard::lists_open(ProducerId producer_id, const TopicPartition& partition) const {
  for (const auto& [id, transaction] : hard_.transactions) {
    if (transaction.producer.id != producer_id || is_settled(transaction.state)) continue;
    if (transaction.lists(partition)) return true;
  }
  return false;
}

PreparedTransaction TxnShard::prepared_of(const TransactionalId& id,
                                          const Transaction& transaction) const {
  PreparedTransaction prepared;
  prepared.id = id;
  prepared.marker.producer = transaction.producer;
  prepared.marker.commit = transaction.state == TxnState::kPrepareCommit;
  prepared.marker.coordinator_epoch = settings_.coordinator_epoch;
  prepared.marker.transaction_version = static_cast<int8_t>(transaction.client_transaction_version);
  prepared.partitions = transaction.partitions;
  prepared.kept = transaction.kept();
  return prepared;
}

std::vector<PreparedTransaction> TxnShard::prepared() const {
  std::vector<PreparedTransaction> found;
  for (const auto& [id, transaction] : hard_.transactions) {
    if (is_prepared(transaction.state)) found.push_back(prepared_of(id, transaction));
  }
  return found;
}

std::vector<log::ProducerStamp> TxnShard::kept() const {
  std::vector<log::ProducerStamp> found;
  for (const auto& [id, transaction] : hard_.transactions) {
    if (transaction.kept()) found.push_back(transaction.producer);
  }
  return found;
}

TxnShard::Outcome<Describe::Reply> TxnShard::decide(const Describe& op, io::Now) const {
  TransactionDescription description;
  const Transaction* transaction = find(op.id);
  if (transaction == nullptr) {
    description.error = ErrorCode::TRANSACTIONAL_ID_NOT_FOUND;
    return Outcome<Describe::Reply>::answer(std::move(description));
  }
  description.state = name_of(transaction->state);
  description.timeout_ms = transaction->timeout_ms;
  // Empty may hold the start of the transaction before, so that the next one's is greater.
  description.start_time_ms = transaction->state == TxnState::kEmpty ? -1 : transaction->start_ms;
  description.producer = transaction->producer;
  description.partitions = transaction->partitions;
  return Outcome<Describe::Reply>::answer(std::move(description));
}

TxnShard::Outcome<List::Reply> TxnShard::decide(const List&, io::Now) const {
  List::Reply listing;
  listing.reserve(hard_.transactions.size());
  for (const auto& [id, transaction] : hard_.transactions) {
    const TimeMs start = transaction.state == TxnState::kEmpty ? -1 : transaction.start_ms;
    listing.push_back(
        {id, transaction.producer.id, std::string(name_of(transaction.state)), start});
  }
  return Outcome<List::Reply>::answer(std::move(listing));
}

}  // namespace ackord::txn
