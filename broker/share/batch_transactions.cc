#include "broker/share/batch_transactions.h"

#include <algorithm>

#include "broker/base/planted_bug.h"

namespace ackord::share {
namespace {

// How long after a timeout that could not be carried out it is tried again.
constexpr int64_t kTimeoutRetryMs = 1000;
// How many offsets of the log may stay for each transaction that is remembered.
constexpr int64_t kHeldBackForEach = 4;

PartitionError failure(ErrorCode code, std::string why) { return {code, std::move(why)}; }

int64_t after(io::Now now, TimeMs wall_ms) {
  return now.steady_ms + std::max<int64_t>(0, wall_ms - now.wall_ms);
}

}  // namespace

BatchTxnReply BatchTransactions::reply_of(const BatchTxnRecord::Value& value) {
  BatchTxnReply reply;
  reply.state = value.state;
  reply.staged_records = value.staged_records;
  reply.participants = value.state_partitions;
  return reply;
}

BatchTxnReply BatchTransactions::wrong_state(const BatchTxnRecord::Value& value) {
  BatchTxnReply reply = reply_of(value);
  reply.participants.clear();
  reply.error = failure(ErrorCode::INVALID_TXN_STATE,
                        "The transaction is in state " + std::string(name_of(value.state)) + ".");
  return reply;
}

BatchTxnReply BatchTransactions::not_found() {
  BatchTxnReply reply;
  reply.error = failure(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND,
                        "The group has no batch transaction of this id.");
  return reply;
}

const BatchTxnRecord::Value* BatchTransactions::find(const BatchTxnId& id) const {
  const auto at = hard_.transactions.find(id);
  return at == hard_.transactions.end() ? nullptr : &at->second.value;
}

// ---------------------------------------------------------------- decisions

void BatchTransactions::set_timer(const BatchTxnId& id, const BatchTxnRecord::Value& value,
                                  io::Now now, Changes& changes) const {
  if (value.state == BatchTxnState::ONGOING) {
    changes.effects.push_back(
        BatchTimerSet{id, after(now, value.create_time_ms + value.timeout_ms)});
  } else if (is_decided(value.state) && value.state_partitions.empty()) {
    changes.effects.push_back(BatchTimerSet{id, after(now, value.last_update_ms + retention_ms_)});
  }
}

BatchTxnReply BatchTransactions::decide(const BeginBatchTxn& op, io::Now now,
                                        Changes& changes) const {
  if (const BatchTxnRecord::Value* known = find(op.id)) {
    if (known->state != BatchTxnState::ONGOING) return wrong_state(*known);
    BatchTxnReply reply = reply_of(*known);
    reply.busy = is_closing(op.id);
    return reply;
  }
  BatchTxnRecord record{op.id, BatchTxnRecord::Value()};
  record.value->create_time_ms = now.wall_ms;
  record.value->last_update_ms = now.wall_ms;
  record.value->timeout_ms = op.timeout_ms;
  set_timer(op.id, *record.value, now, changes);
  BatchTxnReply reply = reply_of(*record.value);
  changes.records.push_back(std::move(record));
  return reply;
}

PartitionError BatchTransactions::decide(const EnlistBatchTxn& op, io::Now now,
                                         Changes& changes) const {
  const BatchTxnRecord::Value* known = find(op.id);
  if (known == nullptr) return not_found().error;
  if (known->state != BatchTxnState::ONGOING) return wrong_state(*known).error;
  if (is_closing(op.id) && !base::planted(base::PlantedBug::kEnlistWhileClosing))
    return failure(ErrorCode::INVALID_TXN_STATE, "The transaction is being closed.");
  std::set<int32_t> all(known->state_partitions.begin(), known->state_partitions.end());
  all.insert(op.participants.begin(), op.participants.end());
  if (all.size() == known->state_partitions.size()) return {};
  BatchTxnRecord record{op.id, *known};
  record.value->state = move_to(known->state, BatchTxnState::ONGOING);
  record.value->state_partitions.assign(all.begin(), all.end());
  record.value->last_update_ms = now.wall_ms;
  changes.records.push_back(std::move(record));
  return {};
}

DoomBatchTxn::Reply BatchTransactions::decide(const DoomBatchTxn& op, io::Now now,
                                              Changes& changes) const {
  const BatchTxnRecord::Value* known = find(op.id);
  if (known == nullptr || known->state != BatchTxnState::ONGOING || known->abort_only ||
      is_closing(op.id))
    return {};
  BatchTxnRecord record{op.id, *known};
  record.value->state = move_to(known->state, BatchTxnState::ONGOING);
  record.value->abort_only = true;
  record.value->last_update_ms = now.wall_ms;
  changes.records.push_back(std::move(record));
  return {};
}

CloseBatchTxn::Reply BatchTransactions::decide(const CloseBatchTxn& op, io::Now now,
                                               Changes& changes) const {
  const BatchTxnRecord::Value* known = find(op.id);
  if (known == nullptr) return {not_found(), false};
  const bool prepare = op.why == BatchTxnClosing::PREPARE;
  if (known->state == BatchTxnState::ONGOING) {
    CloseBatchTxn::Reply reply{reply_of(*known), false};
    if (is_closing(op.id)) {
      reply.result.busy = true;
    } else if (prepare && known->abort_only) {
      reply.result.error = failure(ErrorCode::TRANSACTION_ABORTABLE,
                                   "An acknowledgement was refused: only an abort is left.");
    } else {
      reply.closing = true;
      changes.effects.push_back(BatchClosingBegun{op.id, op.token});
    }
    return reply;
  }
  const BatchTxnState wanted = prepare ? BatchTxnState::PREPARE : BatchTxnState::ABORTED;
  if (known->state == wanted) return {reply_of(*known), false};
  // What is prepared is aborted by its coordinator alone, never by the time.
  const bool by_time = base::planted(base::PlantedBug::kPreparedTimesOut);
  if (known->state == BatchTxnState::PREPARE && (op.why == BatchTxnClosing::ABORT || by_time)) {
    return {conclude(op.id, *known, BatchTxnState::ABORTED, known->staged_records, now, changes),
            false};
  }
  return {wrong_state(*known), false};
}

BatchTxnReply BatchTransactions::conclude(const BatchTxnId& id, const BatchTxnRecord::Value& before,
                                          BatchTxnState to, int64_t staged_records, io::Now now,
                                          Changes& changes) const {
  BatchTxnRecord record{id, before};
  record.value->state = move_to(before.state, to);
  record.value->staged_records = staged_records;
  record.value->last_update_ms = now.wall_ms;
  if (to == BatchTxnState::PREPARE) record.value->prepare_time_ms = now.wall_ms;
  set_timer(id, *record.value, now, changes);
  BatchTxnReply reply = reply_of(*record.value);
  changes.records.push_back(std::move(record));
  return reply;
}

BatchTxnReply BatchTransactions::decide(const DecideBatchTxn& op, io::Now now,
                                        Changes& changes) const {
  const auto closing = soft_.closings.find(op.id);
  const BatchTxnRecord::Value* known = find(op.id);
  if (closing == soft_.closings.end() || closing->second != op.token || known == nullptr ||
      known->state != BatchTxnState::ONGOING) {
    BatchTxnReply reply = known == nullptr ? not_found() : reply_of(*known);
    reply.participants.clear();
    reply.error = failure(ErrorCode::CONCURRENT_TRANSACTIONS, "The closing has been overtaken.");
    return reply;
  }
  changes.effects.push_back(BatchClosingEnded{op.id});
  const bool prepare = op.why == BatchTxnClosing::PREPARE;
  return conclude(op.id, *known, prepare ? BatchTxnState::PREPARE : BatchTxnState::ABORTED,
                  op.staged_records, now, changes);
}

GiveUpClosingBatchTxn::Reply BatchTransactions::decide(const GiveUpClosingBatchTxn& op, io::Now,
                                                       Changes& changes) const {
  const auto closing = soft_.closings.find(op.id);
  if (closing == soft_.closings.end() || closing->second != op.token) return {};
  changes.effects.push_back(BatchClosingEnded{op.id});
  return {};
}

BatchTxnReply BatchTransactions::decide(const CommitBatchTxn& op, io::Now now,
                                        Changes& changes) const {
  const BatchTxnRecord::Value* known = find(op.id);
  if (known == nullptr) return not_found();
  if (known->state == BatchTxnState::COMMITTED) return reply_of(*known);
  if (base::planted(base::PlantedBug::kCommitUnprepared) &&
      known->state == BatchTxnState::ONGOING) {
    BatchTxnRecord::Value prepared = *known;
    prepared.state = BatchTxnState::PREPARE;
    return conclude(op.id, prepared, BatchTxnState::COMMITTED, 0, now, changes);
  }
  if (known->state != BatchTxnState::PREPARE) {
    BatchTxnReply reply = wrong_state(*known);
    // It is about to be something else: the answer should say what.
    reply.busy = known->state == BatchTxnState::ONGOING && is_closing(op.id);
    return reply;
  }
  return conclude(op.id, *known, BatchTxnState::COMMITTED, known->staged_records, now, changes);
}

BatchTxnResolved::Reply BatchTransactions::decide(const BatchTxnResolved& op, io::Now now,
                                                  Changes& changes) const {
  const BatchTxnRecord::Value* known = find(op.id);
  if (known == nullptr || !is_decided(known->state)) return {};
  BatchTxnRecord record{op.id, *known};
  std::erase_if(record.value->state_partitions, [&op](int32_t partition) {
    return std::find(op.participants.begin(), op.participants.end(), partition) !=
           op.participants.end();
  });
  if (record.value->state_partitions.size() == known->state_partitions.size()) return {};
  record.value->state = move_to(known->state, known->state);
  record.value->last_update_ms = now.wall_ms;
  set_timer(op.id, *record.value, now, changes);
  changes.records.push_back(std::move(record));
  return {};
}

std::map<BatchTxnId, BatchTransactions::Transaction>::const_iterator BatchTransactions::first_of(
    const GroupId& group) const {
  return hard_.transactions.lower_bound({group, TransactionalId()});
}

ListBatchTxns::Reply BatchTransactions::decide(const ListBatchTxns& op, io::Now, Changes&) const {
  ListBatchTxns::Reply reply;
  auto at = hard_.transactions.lower_bound({op.group_id, TransactionalId(op.prefix)});
  for (; at != hard_.transactions.end() && at->first.group_id == op.group_id; ++at) {
    if (!at->first.transaction_id.sv().starts_with(op.prefix)) break;
    const BatchTxnRecord::Value& value = at->second.value;
    if (!op.states.empty() &&
        std::find(op.states.begin(), op.states.end(), value.state) == op.states.end())
      continue;
    reply.push_back({at->first, value});
  }
  return reply;
}

CountLiveBatchTxns::Reply BatchTransactions::decide(const CountLiveBatchTxns& op, io::Now,
                                                    Changes&) const {
  CountLiveBatchTxns::Reply reply;
  auto at = op.group_id ? first_of(*op.group_id) : hard_.transactions.begin();
  for (; at != hard_.transactions.end(); ++at) {
    if (op.group_id && at->first.group_id != *op.group_id) break;
    if (!is_decided(at->second.value.state)) ++reply.live;
  }
  return reply;
}

ResumeBatchTxns::Reply BatchTransactions::decide(const ResumeBatchTxns&, io::Now now,
                                                 Changes& changes) const {
  ResumeBatchTxns::Reply reply;
  for (const auto& [id, transaction] : hard_.transactions) {
    const BatchTxnRecord::Value& value = transaction.value;
    set_timer(id, value, now, changes);
    if (base::planted(base::PlantedBug::kDecisionNotResumed)) continue;
    if (is_decided(value.state) && !value.state_partitions.empty()) {
      reply.decisions.push_back(
          {id, value.state == BatchTxnState::COMMITTED, value.state_partitions});
    }
  }
  return reply;
}

std::vector<BatchTxnId> BatchTransactions::tick(io::Now now, Changes& changes) const {
  std::vector<BatchTxnId> timed_out;
  for (const auto& [deadline, id] : soft_.timers_by_deadline) {
    if (deadline > now.steady_ms) break;
    const BatchTxnRecord::Value* known = find(id);
    if (known != nullptr && is_decided(known->state)) {
      changes.records.push_back({id, std::nullopt});
      continue;
    }
    const bool times_out = known != nullptr && (known->state == BatchTxnState::ONGOING ||
                                                base::planted(base::PlantedBug::kPreparedTimesOut));
    if (times_out) {
      timed_out.push_back(id);
      // Looked at again in case that its abort does not get through.
      changes.effects.push_back(BatchTimerSet{id, now.steady_ms + kTimeoutRetryMs});
    }
  }
  return timed_out;
}

// ---------------------------------------------------------------- changes

bool BatchTransactions::log_anew(Offset end, size_t budget, Changes& changes) const {
  if (hard_.by_offset.empty()) return false;
  const int64_t behind = end - hard_.by_offset.begin()->first;
  if (behind <= kHeldBackForEach * static_cast<int64_t>(hard_.by_offset.size())) return false;
  for (const auto& [offset, id] : hard_.by_offset) {
    if (budget-- == 0) return true;
    changes.records.push_back({id, hard_.transactions.at(id).value});
  }
  return false;
}

void BatchTransactions::apply(const BatchTxnRecord& record,
                              const coordinator::RecordContext& context) {
  const auto known = hard_.transactions.find(record.id);
  if (known != hard_.transactions.end())
    hard_.by_offset.erase({known->second.log_offset, record.id});
  if (!record.value) {
    if (known != hard_.transactions.end()) hard_.transactions.erase(known);
    soft_.closings.erase(record.id);
    drop_timer(record.id);
    return;
  }
  hard_.transactions[record.id] = {*record.value, context.offset};
  hard_.by_offset.insert({context.offset, record.id});
  // Only ONGOING times out; effects that come with the record set the timer of the others.
  if (base::planted(base::PlantedBug::kPreparedTimesOut) && !is_decided(record.value->state))
    return;
  if (record.value->state != BatchTxnState::ONGOING) drop_timer(record.id);
}

void BatchTransactions::apply_soft(const BatchTxnEffect& effect) {
  if (const auto* begun = std::get_if<BatchClosingBegun>(&effect)) {
    soft_.closings[begun->id] = begun->token;
  } else if (const auto* ended = std::get_if<BatchClosingEnded>(&effect)) {
    soft_.closings.erase(ended->id);
    closing_ended_ = true;
  } else {
    const auto& timer = std::get<BatchTimerSet>(effect);
    drop_timer(timer.id);
    soft_.timers[timer.id] = timer.deadline_ms;
    soft_.timers_by_deadline.insert({timer.deadline_ms, timer.id});
  }
}

void BatchTransactions::drop_timer(const BatchTxnId& id) {
  const auto at = soft_.timers.find(id);
  if (at == soft_.timers.end()) return;
  soft_.timers_by_deadline.erase({at->second, id});
  soft_.timers.erase(at);
}

std::optional<int64_t> BatchTransactions::next_deadline() const {
  if (soft_.timers_by_deadline.empty()) return std::nullopt;
  return soft_.timers_by_deadline.begin()->first;
}

std::optional<Offset> BatchTransactions::first_needed_offset() const {
  if (hard_.by_offset.empty() || base::planted(base::PlantedBug::kBatchRecordPruned))
    return std::nullopt;
  return hard_.by_offset.begin()->first;
}

}  // namespace ackord::share
