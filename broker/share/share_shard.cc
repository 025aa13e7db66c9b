#include "broker/share/share_shard.h"

#include <algorithm>

namespace ackord::share {

namespace {

// More guards than requests can be under way: the oldest go first, and their stages are answered
// INVALID_TXN_STATE.
constexpr size_t kMaxGuards = 65536;

}  // namespace

const SharePartition* ShareShard::find(const SharePartitionKey& key) const {
  const auto at = hard_.partitions.find(key);
  return at == hard_.partitions.end() ? nullptr : &at->second;
}

std::set<Uuid> ShareShard::topics() const {
  std::set<Uuid> topics;
  for (const auto& [key, partition] : hard_.partitions) topics.insert(key.topic_id);
  return topics;
}

SharePartition* ShareShard::find_to_change(const SharePartitionKey& key) {
  const auto at = hard_.partitions.find(key);
  return at == hard_.partitions.end() ? nullptr : &at->second;
}

const SharePartition* ShareShard::find_active(const SharePartitionKey& key) const {
  const SharePartition* partition = find(key);
  return partition != nullptr && partition->active() ? partition : nullptr;
}

bool ShareShard::snapshot_due(const SharePartition& partition) const {
  return partition.hard().updates_since_snapshot >= config_.snapshot_update_records_per_snapshot;
}

ShareRecord ShareShard::record_of(const SharePartitionKey& key, const SharePartition& partition,
                                  const PartitionChange& change, io::Now now) const {
  if (snapshot_due(partition))
    return ShareSnapshot{key, partition.snapshot_value(change, now.wall_ms)};
  return partition.update_of(key, change);
}

void ShareShard::add_archived(std::vector<Effect>& effects, const SharePartitionKey& key,
                              PartitionChange& change) {
  if (!change.archived.empty())
    effects.push_back(ArchivedEffect{{key, std::move(change.archived)}});
}

void ShareShard::add_waits(std::vector<Effect>& effects, const SharePartitionKey& key,
                           const PartitionChange& change, const DeliveryLimit& limit, io::Now now) {
  std::vector<WaitingRange> waits = SharePartition::waits_of(change, limit.retry, now.steady_ms);
  if (!waits.empty()) effects.push_back(WaitEffect{key, std::move(waits)});
}

// ---------------------------------------------------------------- hard state

void ShareShard::apply(const Record& record, const coordinator::RecordContext& context) {
  hard_.end_offset = context.offset + 1;
  if (const auto* update = std::get_if<ShareUpdate>(&record)) {
    SharePartition* partition = find_to_change(update->key);
    if (partition == nullptr) return;  // its snapshot was deleted, or pruned with a deleted key
    partition->apply_update(*update, context);
    index_owners(update->key, update->owners);
    touched(update->key, *partition);
    return;
  }
  if (const auto* transaction = std::get_if<BatchTxnRecord>(&record)) {
    batch_transactions_.apply(*transaction, context);
    return;
  }
  const auto& snapshot = std::get<ShareSnapshot>(record);
  if (!snapshot.value) {
    forget(snapshot.key);
    wakes_.insert(snapshot.key);
    return;
  }
  const auto [at, made] = hard_.partitions.try_emplace(snapshot.key);
  SharePartition& partition = at->second;
  if (!made) count_snapshot(snapshot.key, partition, -1);
  partition.apply_snapshot(*snapshot.value, context);
  count_snapshot(snapshot.key, partition, 1);
  index_owners(snapshot.key, snapshot.value->owners);
  touched(snapshot.key, partition);
}

void ShareShard::count_snapshot(const SharePartitionKey& key, const SharePartition& partition,
                                int64_t sign) {
  const SharePartition::HardState& hard = partition.hard();
  if (hard.create_timestamp == hard.write_timestamp) hard_.not_cold += sign;
  if (sign > 0) {
    hard_.snapshots.emplace(hard.snapshot_log_offset, key);
  } else {
    hard_.snapshots.erase({hard.snapshot_log_offset, key});
  }
}

void ShareShard::apply_end_marker(const log::EndMarker& marker,
                                  const coordinator::RecordContext& context) {
  hard_.end_offset = context.offset + 1;
  const ProducerId id = marker.producer.id;
  drop_guards_of({id, {}, {}});
  const auto at = hard_.staged_by.find(id);
  if (at == hard_.staged_by.end()) return;
  for (const SharePartitionKey& key : at->second) {
    SharePartition* partition = find_to_change(key);
    if (partition == nullptr) continue;
    partition->resolve(id, marker.commit);
    touched(key, *partition);
  }
  hard_.staged_by.erase(at);
}

void ShareShard::forget(const SharePartitionKey& key) {
  forget_deadline(key);
  const auto at = hard_.partitions.find(key);
  if (at == hard_.partitions.end()) return;
  for (const auto& [owner, records] : at->second.hard().batches.owners()) {
    if (owner.is_batch() && owner.transaction_id) {
      const auto keys = hard_.staged_by_batch.find({key.group_id, *owner.transaction_id});
      if (keys != hard_.staged_by_batch.end()) keys->second.erase(key);
      continue;
    }
    const auto keys = hard_.staged_by.find(owner.producer_id);
    if (keys == hard_.staged_by.end()) continue;
    keys->second.erase(key);
    if (keys->second.empty()) hard_.staged_by.erase(keys);
  }
  count_snapshot(key, at->second, -1);
  hard_.partitions.erase(at);
}

void ShareShard::index_owners(const SharePartitionKey& key, const std::vector<Owner>& owners) {
  for (const Owner& owner : owners) {
    if (!owner.is_batch()) {
      hard_.staged_by[owner.producer_id].insert(key);
    } else if (owner.transaction_id) {
      hard_.staged_by_batch[{key.group_id, *owner.transaction_id}].insert(key);
    }
  }
}

// ---------------------------------------------------------------- soft state

template <class Change>
void ShareShard::change(const SharePartitionKey& key, Change&& change) {
  SharePartition* partition = find_to_change(key);
  if (partition == nullptr) return;
  change(*partition);
  touched(key, *partition);
}

void ShareShard::apply_soft(const Effect& effect) {
  if (const auto* activate = std::get_if<ActivateEffect>(&effect)) {
    change(activate->key, [&](SharePartition& p) { p.activate(activate->start_offset); });
  } else if (const auto* acquire = std::get_if<AcquireEffect>(&effect)) {
    change(acquire->key, [&](SharePartition& p) {
      p.apply_acquire(acquire->holder, acquire->decision, acquire->limit, acquire->deadline_ms);
    });
  } else if (const auto* renew = std::get_if<RenewEffect>(&effect)) {
    change(renew->key,
           [&](SharePartition& p) { p.apply_renew(renew->ranges, renew->deadline_ms); });
  } else if (const auto* log_start = std::get_if<LogStartEffect>(&effect)) {
    change(log_start->key,
           [&](SharePartition& p) { p.apply_log_start(log_start->log_start_offset); });
  } else if (const auto* drop = std::get_if<DropSoftEffect>(&effect)) {
    auto at = hard_.partitions.lower_bound({drop->group_id, Uuid{}, INT32_MIN});
    for (; at != hard_.partitions.end() && at->first.group_id == drop->group_id; ++at) {
      if (at->second.acquired_after(drop->session)) continue;
      at->second.drop_soft();
      forget_deadline(at->first);
      wakes_.insert(at->first);
    }
  } else if (const auto* deactivate = std::get_if<DeactivateEffect>(&effect)) {
    change(deactivate->key, [&](SharePartition& p) { p.fence(); });
    wakes_.insert(deactivate->key);
  } else if (const auto* guard = std::get_if<GuardEffect>(&effect)) {
    if (soft_.guards.size() >= kMaxGuards) drop_guard(soft_.guards_by_deadline.begin()->second);
    soft_.guards[guard->token] = {guard->owner, guard->deadline_ms};
    soft_.guards_by_owner.emplace(guard->owner, guard->token);
    soft_.guards_by_deadline.emplace(guard->deadline_ms, guard->token);
  } else if (const auto* remember = std::get_if<RememberEffect>(&effect)) {
    change(remember->key,
           [&](SharePartition& p) { p.remember(remember->member_id, remember->batches); });
  } else if (const auto* forget = std::get_if<ForgetMemberEffect>(&effect)) {
    change(forget->key,
           [&](SharePartition& p) { p.forget_acknowledgements_of(forget->member_id); });
  } else if (const auto* wait = std::get_if<WaitEffect>(&effect)) {
    change(wait->key, [&](SharePartition& p) { p.apply_wait(wait->ranges); });
  } else if (const auto* over = std::get_if<WaitsOverEffect>(&effect)) {
    change(over->key, [&](SharePartition& p) { p.apply_waits_over(over->steady_ms); });
  } else if (const auto* archived = std::get_if<ArchivedEffect>(&effect)) {
    archived_.push_back(archived->archived);
  } else if (const auto* used = std::get_if<GuardUsedEffect>(&effect)) {
    drop_guard(used->token);
  } else {
    apply_soft_batch(effect);
  }
}

void ShareShard::drop_guard(uint64_t token) {
  const auto at = soft_.guards.find(token);
  if (at == soft_.guards.end()) return;
  soft_.guards_by_owner.erase({at->second.owner, token});
  soft_.guards_by_deadline.erase({at->second.deadline_ms, token});
  soft_.guards.erase(at);
}

void ShareShard::drop_guards_of(const OwnerId& owner) {
  std::vector<uint64_t> tokens;
  for (auto at = soft_.guards_by_owner.lower_bound({owner, 0});
       at != soft_.guards_by_owner.end() && at->first == owner; ++at) {
    tokens.push_back(at->second);
  }
  for (const uint64_t token : tokens) drop_guard(token);
}

void ShareShard::touched(const SharePartitionKey& key, SharePartition& partition) {
  if (partition.take_freed() && partition.active()) wakes_.insert(key);
  const std::optional<int64_t> deadline = partition.earliest_deadline();
  const auto known = soft_.deadline_of.find(key);
  if (known == soft_.deadline_of.end()) {
    if (!deadline) return;
  } else {
    if (deadline && known->second == *deadline) return;
    forget_deadline(key);
    if (!deadline) return;
  }
  soft_.deadline_of[key] = *deadline;
  soft_.lock_deadlines.emplace(*deadline, key);
}

void ShareShard::forget_deadline(const SharePartitionKey& key) {
  const auto known = soft_.deadline_of.find(key);
  if (known == soft_.deadline_of.end()) return;
  soft_.lock_deadlines.erase({known->second, key});
  soft_.deadline_of.erase(known);
}

// ---------------------------------------------------------------- time

std::optional<int64_t> ShareShard::next_deadline() const {
  std::optional<int64_t> next;
  if (!soft_.lock_deadlines.empty()) next = soft_.lock_deadlines.begin()->first;
  if (!soft_.guards_by_deadline.empty()) {
    const int64_t guard = soft_.guards_by_deadline.begin()->first;
    next = next ? std::min(*next, guard) : guard;
  }
  if (const auto batch = batch_transactions_.next_deadline())
    next = next ? std::min(*next, *batch) : *batch;
  return next;
}

// Kafka frees in memory first and logs later; here both are one step, so that the count survives a
// restart.
ShareShard::Outcome<ShareShard::TickReply> ShareShard::decide(const coordinator::Tick&,
                                                              io::Now now) const {
  std::vector<Record> records;
  std::vector<Effect> effects;
  TickReply reply;
  for (const auto& [deadline, key] : soft_.lock_deadlines) {
    if (deadline > now.steady_ms) break;
    const SharePartition& partition = hard_.partitions.at(key);
    PartitionChange change;
    reply.expired_records += partition.expire(now.steady_ms, change);
    if (!change.empty()) records.push_back(record_of(key, partition, change, now));
    add_archived(effects, key, change);
    add_waits(effects, key, change, partition.soft()->limit, now);
    if (partition.waits_over(now.steady_ms)) effects.push_back(WaitsOverEffect{key, now.steady_ms});
  }
  BatchTransactions::Changes changes;
  reply.timed_out = batch_transactions_.tick(now, changes);
  auto outcome = Outcome<TickReply>::of(std::move(records), std::move(reply));
  outcome.effects = std::move(effects);
  add(std::move(changes), outcome);
  for (const auto& [deadline, token] : soft_.guards_by_deadline) {
    if (deadline > now.steady_ms) break;
    outcome.effects.push_back(GuardUsedEffect{token});
  }
  return outcome;
}

std::vector<SharePartitionKey> ShareShard::take_wakes() const {
  std::vector<SharePartitionKey> out(wakes_.begin(), wakes_.end());
  wakes_.clear();
  return out;
}

// Without keys nothing is of use, tombstones included.
Offset ShareShard::prunable_offset() const {
  const Offset needed = batch_transactions_.first_needed_offset().value_or(hard_.end_offset);
  return hard_.snapshots.empty() ? needed : std::min(needed, hard_.snapshots.begin()->first);
}

}  // namespace ackord::share
