#include "broker/share/share_partition.h"

#include <algorithm>

#include "broker/base/planted_bug.h"

namespace ackord::share {

// ---------------------------------------------------------------- hard state

void SharePartition::apply_snapshot(const ShareSnapshot::Value& value,
                                    const coordinator::RecordContext& context) {
  hard_.snapshot_epoch = value.snapshot_epoch;
  hard_.state_epoch = value.state_epoch;
  hard_.leader_epoch = value.leader_epoch;
  hard_.written_start_offset = value.start_offset;
  hard_.start_offset = value.start_offset;
  hard_.delivery_complete_count = value.delivery_complete_count;
  hard_.create_timestamp = value.create_timestamp;
  hard_.write_timestamp = value.write_timestamp;
  hard_.batches.assign(value.state_batches, value.owners);
  hard_.updates_since_snapshot = 0;
  hard_.snapshot_log_offset = context.offset;
  if (soft_) {
    drop_overridden(0, soft_->end_offset - 1);
    extend_end(hard_.batches.last_offset().value_or(-1) + 1);
    rebuild_free();
  }
  settle();
}

void SharePartition::apply_update(const ShareUpdate& update, const coordinator::RecordContext&) {
  const int64_t in_flight_before = in_flight();
  if (update.leader_epoch != -1) hard_.leader_epoch = update.leader_epoch;
  const int32_t count = update.delivery_complete_count;
  if (update.start_offset > hard_.written_start_offset) {
    hard_.written_start_offset = update.start_offset;
    hard_.delivery_complete_count = count;
  } else if (update.start_offset == hard_.written_start_offset) {
    hard_.delivery_complete_count = std::max(hard_.delivery_complete_count, count);
  }
  hard_.batches.merge(update.state_batches, update.owners, hard_.written_start_offset);
  ++hard_.updates_since_snapshot;
  if (soft_) {
    for (const StateBatch& batch : update.state_batches) {
      forget_stagers(batch.first_offset, batch.last_offset);
    }
    for (const StateBatch& batch : update.state_batches) {
      drop_overridden(batch.first_offset, batch.last_offset);
      extend_end(batch.last_offset + 1);
      free_what_is_available(batch.first_offset, batch.last_offset);
    }
  }
  settle();
  freed_ = freed_ || in_flight() < in_flight_before;
}

int64_t SharePartition::resolve(ProducerId producer, bool commit) {
  std::vector<OffsetRange> released;
  const std::vector<OffsetRange> staged = hard_.batches.staged_by(producer);
  const int64_t done_before = hard_.batches.terminal();
  const int64_t resolved = hard_.batches.resolve(producer, commit, released);
  const int64_t done = hard_.batches.terminal() - done_before;
  if (done != 0) {
    hard_.delivery_complete_count =
        std::max(hard_.delivery_complete_count, 0) + static_cast<int32_t>(done);
  }
  if (soft_) {
    for (const OffsetRange& range : staged) forget_stagers(range.first_offset, range.last_offset);
    for (const OffsetRange& range : released) {
      free_what_is_available(range.first_offset, range.last_offset);
    }
  }
  settle();
  freed_ = freed_ || soft_.has_value();
  return resolved;
}

int32_t SharePartition::delivery_complete_count_of(const StateBatches& batches,
                                                   Offset start_offset) const {
  int64_t done = batches.terminal();
  // What is done with below the start offset is at the front, and cut off by the next write.
  for (const auto& [first, range] : batches.ranges()) {
    if (first >= start_offset) break;
    if (is_terminal(range.state)) done -= std::min(range.last_offset, start_offset - 1) - first + 1;
  }
  return static_cast<int32_t>(done);
}

ShareSnapshot::Value SharePartition::snapshot_value(const PartitionChange& change,
                                                    TimeMs now_ms) const {
  const Offset start = std::max(start_offset(), hard_.written_start_offset);
  StateBatches merged = hard_.batches;
  merged.merge(change.batches, change.owners, start);
  ShareSnapshot::Value value;
  value.snapshot_epoch = hard_.snapshot_epoch + 1;
  value.state_epoch = hard_.state_epoch;
  value.leader_epoch = hard_.leader_epoch;
  value.start_offset = start;
  value.delivery_complete_count =
      start < 0 ? hard_.delivery_complete_count : delivery_complete_count_of(merged, start);
  value.create_timestamp = now_ms;
  value.write_timestamp = now_ms;
  std::tie(value.state_batches, value.owners) = merged.to_state_batches(start);
  return value;
}

ShareSnapshot::Value SharePartition::snapshot_as_written(TimeMs now_ms) const {
  ShareSnapshot::Value value;
  value.snapshot_epoch = hard_.snapshot_epoch + 1;
  value.state_epoch = hard_.state_epoch;
  value.leader_epoch = hard_.leader_epoch;
  value.start_offset = hard_.written_start_offset;
  value.delivery_complete_count = hard_.delivery_complete_count;
  value.create_timestamp = now_ms;
  value.write_timestamp = now_ms;
  std::tie(value.state_batches, value.owners) =
      hard_.batches.to_state_batches(hard_.written_start_offset);
  return value;
}

ShareUpdate SharePartition::update_of(const SharePartitionKey& key,
                                      const PartitionChange& change) const {
  const Offset start = std::max(start_offset(), hard_.written_start_offset);
  ShareUpdate update;
  update.key = key;
  update.snapshot_epoch = hard_.snapshot_epoch;
  update.leader_epoch = hard_.leader_epoch;
  update.start_offset = start;
  update.delivery_complete_count =
      start < 0 ? -1 : delivery_complete_count_of(hard_.batches, start);
  for (const StateBatch& batch : change.batches) {
    if (!is_terminal(batch.delivery_state)) continue;
    const Offset first = std::max(batch.first_offset, start);
    update.delivery_complete_count +=
        static_cast<int32_t>(std::max<int64_t>(0, batch.last_offset - first + 1));
  }
  update.state_batches = change.batches;
  update.owners = change.owners;
  return update;
}

// ---------------------------------------------------------------- soft state

void SharePartition::activate(Offset resolved_start_offset) {
  fenced_ = false;
  SoftState& soft = soft_.emplace();
  soft.start_offset = hard_.start_offset >= 0 ? hard_.start_offset : resolved_start_offset;
  soft.end_offset = std::max(soft.start_offset, hard_.batches.last_offset().value_or(-1) + 1);
  for (const auto& [first, range] : hard_.batches.ranges()) {
    soft.in_flight.emplace_hint(soft.in_flight.end(), first, range.last_offset);
  }
  rebuild_free();
  if (base::planted(base::PlantedBug::kReloadFreesStaged)) {
    for (const auto& [first, range] : hard_.batches.ranges()) {
      if (range.state == RecordState::TX_PENDING) soft.free.add(first, range.last_offset);
    }
  }
  settle();
}

void SharePartition::apply_acquire(const Holder& holder, const AcquireDecision& decision,
                                   DeliveryLimit limit, int64_t deadline_ms) {
  ACKORD_ASSERT(soft_.has_value(), "acquired from what is active");
  SoftState& soft = *soft_;
  const bool freed_before = freed_;
  soft.limit = limit;
  for (const OffsetRange& batch : decision.in_flight) {
    soft.in_flight[batch.first_offset] = batch.last_offset;
  }
  for (const AcquiredRecords& taken : decision.acquired) {
    // With nothing in flight the partition begins where the log has its next record (Kafka).
    if (soft.start_offset == soft.end_offset && taken.first_offset > soft.start_offset) {
      soft.start_offset = soft.end_offset = taken.first_offset;
    }
    extend_end(taken.last_offset + 1);
    soft.free.remove(taken.first_offset, taken.last_offset);
    remembered_.forget(taken.first_offset, taken.last_offset);
    soft.acquired[taken.first_offset] = {taken.last_offset, taken.delivery_count, holder.member_id,
                                         holder.session, deadline_ms};
    soft.locks.emplace(deadline_ms, taken.first_offset);
  }
  freed_ = freed_before;  // what was taken is nobody else's
  settle();
}

void SharePartition::apply_renew(const std::vector<OffsetRange>& ranges, int64_t deadline_ms) {
  for (const OffsetRange& range : ranges) {
    split_acquired(range.first_offset);
    split_acquired(range.last_offset + 1);
    for (auto at = soft_->acquired.lower_bound(range.first_offset);
         at != soft_->acquired.end() && at->first <= range.last_offset; ++at) {
      soft_->locks.erase({at->second.deadline_ms, at->first});
      at->second.deadline_ms = deadline_ms;
      soft_->locks.emplace(deadline_ms, at->first);
    }
  }
}

void SharePartition::apply_log_start(Offset log_start_offset) {
  if (!soft_ || log_start_offset <= soft_->log_start_offset) return;
  soft_->log_start_offset = log_start_offset;
  soft_->free.remove(0, log_start_offset - 1);
  settle();
  freed_ = true;  // the in-flight limit may not hold any more
}

std::optional<int64_t> SharePartition::earliest_deadline() const {
  if (!soft_) return std::nullopt;
  std::optional<int64_t> deadline = soft_->waiting.earliest();
  if (soft_->locks.empty()) return deadline;
  const int64_t lock = soft_->locks.begin()->first;
  return deadline ? std::min(*deadline, lock) : lock;
}

bool SharePartition::waits_over(int64_t steady_ms) const {
  if (!soft_) return false;
  const std::optional<int64_t> earliest = soft_->waiting.earliest();
  return earliest && *earliest <= steady_ms;
}

void SharePartition::apply_wait(const std::vector<WaitingRange>& ranges) {
  if (!soft_) return;
  for (const WaitingRange& range : ranges) {
    soft_->waiting.add(range);
    soft_->free.remove(range.first_offset, range.last_offset);
  }
}

void SharePartition::apply_waits_over(int64_t steady_ms) {
  if (!soft_) return;
  for (const WaitingRange& range : soft_->waiting.take_due(steady_ms))
    free_what_is_available(range.first_offset, range.last_offset);
}

bool SharePartition::acquired_after(SessionNumber session) const {
  return soft_ && std::any_of(soft_->acquired.begin(), soft_->acquired.end(),
                              [&](const auto& at) { return at.second.session > session; });
}

// Brings the start offsets up to date after a change. Idempotent.
void SharePartition::settle() {
  if (hard_.written_start_offset >= 0) {
    hard_.start_offset =
        hard_.batches.skip_terminal(std::max(hard_.start_offset, hard_.written_start_offset));
  }
  if (!soft_) return;
  SoftState& soft = *soft_;
  const Offset before = soft.start_offset;
  Offset start = hard_.batches.skip_terminal(std::max(soft.start_offset, hard_.start_offset));
  if (soft.log_start_offset > start) start = hard_.batches.skip_terminal(below_log_start(start));
  soft.start_offset = start;
  soft.end_offset = std::max(soft.end_offset, start);
  if (start == before) return;
  soft.free.remove(0, start - 1);
  soft.waiting.remove(0, start - 1);
  remembered_.forget(0, start - 1);  // there every acknowledgement succeeds
  while (!soft.in_flight.empty() && soft.in_flight.begin()->second < start) {
    soft.in_flight.erase(soft.in_flight.begin());
  }
  freed_ = true;
}

// How far the log start carries the start offset: to the first record that somebody still decides.
Offset SharePartition::below_log_start(Offset start) const {
  Offset limit = soft_->log_start_offset;
  if (!soft_->acquired.empty()) limit = std::min(limit, soft_->acquired.begin()->first);
  for (auto at = hard_.batches.at_or_after(start); at != hard_.batches.ranges().end(); ++at) {
    if (at->first >= limit) break;
    if (at->second.state == RecordState::TX_PENDING || at->second.state == RecordState::ARCHIVING) {
      limit = at->first;
    }
  }
  return std::max(start, limit);
}

void SharePartition::extend_end(Offset end_offset) {
  if (end_offset <= soft_->end_offset) return;
  const Offset before = soft_->end_offset;
  soft_->end_offset = end_offset;
  free_what_is_available(before, end_offset - 1);
}

void SharePartition::split_acquired(Offset offset) {
  const auto at = soft_->acquired.lower_bound(offset);
  if (at == soft_->acquired.begin()) return;
  const auto before = std::prev(at);
  if (before->second.last_offset < offset) return;
  Acquired right = before->second;
  before->second.last_offset = offset - 1;
  soft_->locks.emplace(right.deadline_ms, offset);
  soft_->acquired.emplace_hint(at, offset, std::move(right));
}

// A lock stands over AVAILABLE and over a count that is lower than its own: whatever else the log
// says overrides it.
void SharePartition::drop_overridden(Offset first, Offset last) {
  auto at = soft_->acquired.upper_bound(first);
  if (at != soft_->acquired.begin() && std::prev(at)->second.last_offset >= first) --at;
  std::vector<OffsetRange> over;
  for (; at != soft_->acquired.end() && at->first <= last; ++at) {
    const Acquired& acquired = at->second;
    hard_.batches.for_each_piece(at->first, acquired.last_offset,
                                 [&](Offset from, Offset to, const StateBatches::Range* range) {
                                   if (range == nullptr) return;
                                   if (range->state == RecordState::AVAILABLE &&
                                       range->delivery_count < acquired.delivery_count)
                                     return;
                                   if (range->state == RecordState::TX_PENDING &&
                                       base::planted(base::PlantedBug::kLockOutlivesStage))
                                     return;
                                   if (range->state == RecordState::TX_PENDING)
                                     soft_->stagers[from] = {to, acquired.member_id};
                                   over.push_back({from, to});
                                 });
  }
  for (const OffsetRange& range : over) {
    split_acquired(range.first_offset);
    split_acquired(range.last_offset + 1);
    auto gone = soft_->acquired.lower_bound(range.first_offset);
    while (gone != soft_->acquired.end() && gone->first <= range.last_offset) {
      soft_->locks.erase({gone->second.deadline_ms, gone->first});
      gone = soft_->acquired.erase(gone);
    }
  }
}

void SharePartition::forget_stagers(Offset first, Offset last) {
  auto at = soft_->stagers.lower_bound(first);
  while (at != soft_->stagers.end() && at->first <= last) at = soft_->stagers.erase(at);
}

// Sets what of [first, last] is free, inside of what is in flight and still in the log.
void SharePartition::free_what_is_available(Offset first, Offset last) {
  SoftState& soft = *soft_;
  soft.free.remove(first, last);
  first = std::max({first, soft.start_offset, soft.log_start_offset});
  last = std::min(last, soft.end_offset - 1);
  if (first > last) return;
  bool any = false;
  hard_.batches.for_each_piece(first, last,
                               [&](Offset from, Offset to, const StateBatches::Range* range) {
                                 if (range != nullptr && range->state != RecordState::AVAILABLE)
                                   return;
                                 soft.free.add(from, to);
                                 any = true;
                               });
  auto at = soft.acquired.upper_bound(first);
  if (at != soft.acquired.begin()) --at;
  for (; at != soft.acquired.end() && at->first <= last; ++at) {
    soft.free.remove(at->first, at->second.last_offset);
  }
  for (const WaitingRange& range : soft.waiting.within(first, last))
    soft.free.remove(range.first_offset, range.last_offset);
  freed_ = freed_ || any;
}

void SharePartition::rebuild_free() {
  soft_->free.clear();
  free_what_is_available(soft_->start_offset, soft_->end_offset - 1);
}

// ---------------------------------------------------------------- what both see

Offset SharePartition::start_offset() const {
  return soft_ ? soft_->start_offset : hard_.start_offset;
}

Offset SharePartition::end_offset() const {
  const Offset end = soft_ ? soft_->end_offset : hard_.batches.last_offset().value_or(-1) + 1;
  return std::max(start_offset(), end - 1);
}

// Kafka counts the span; a slow transaction must not stall the partition, so what it holds, and
// what is done with above it, do not count (protocol 1.2).
int64_t SharePartition::in_flight() const {
  if (!soft_) return 0;
  return soft_->end_offset - soft_->start_offset - hard_.batches.staged() -
         hard_.batches.terminal_above_staged();
}

int64_t SharePartition::done_above_start() const {
  return delivery_complete_count_of(hard_.batches, start_offset());
}

std::vector<InFlightRange> SharePartition::describe(size_t max_ranges, io::Now now) const {
  std::vector<InFlightRange> out;
  const Offset start = start_offset();
  const Offset end = soft_ ? soft_->end_offset : hard_.batches.last_offset().value_or(-1) + 1;
  for (Offset at = start; at >= 0 && at < end && out.size() < max_ranges;) {
    InFlightRange range = describe_at(at, end - 1, now);
    at = range.last_offset + 1;
    out.push_back(std::move(range));
  }
  return out;
}

InFlightRange SharePartition::describe_at(Offset first, Offset last, io::Now now) const {
  InFlightRange out;
  out.first_offset = first;
  const auto at = hard_.batches.at_or_after(first);
  const bool covered = at != hard_.batches.ranges().end() && at->first <= first;
  if (at != hard_.batches.ranges().end()) {
    last = std::min(last, covered ? at->second.last_offset : at->first - 1);
  }
  if (covered) {
    out.state = at->second.state;
    out.delivery_count = at->second.delivery_count;
    if (out.state == RecordState::TX_PENDING) {
      out.owner = hard_.batches.owner_of(at->second.owner);
      out.staged_for_ms = std::max<int64_t>(0, now.wall_ms - out.owner->staged_timestamp_ms);
      out.acknowledge_type = at->second.ack_type;
    }
  }
  if (soft_ && out.state == RecordState::AVAILABLE) {
    auto lock = soft_->acquired.upper_bound(first);
    if (lock != soft_->acquired.begin() && std::prev(lock)->second.last_offset >= first) {
      const Acquired& acquired = std::prev(lock)->second;
      last = std::min(last, acquired.last_offset);
      out.state = RecordState::ACQUIRED;
      out.delivery_count = acquired.delivery_count;
      out.member_id = acquired.member_id;
      out.lock_expires_in_ms = std::max<int64_t>(0, acquired.deadline_ms - now.steady_ms);
    } else {
      if (lock != soft_->acquired.end()) last = std::min(last, lock->first - 1);
      const std::vector<WaitingRange> waiting = soft_->waiting.within(first, last);
      if (!waiting.empty() && waiting.front().first_offset > first) {
        last = waiting.front().first_offset - 1;
      } else if (!waiting.empty()) {
        last = waiting.front().last_offset;
        out.available_in_ms = std::max<int64_t>(0, waiting.front().until_ms - now.steady_ms);
      }
    }
  }
  if (soft_ && out.state == RecordState::TX_PENDING) {
    auto stager = soft_->stagers.upper_bound(first);
    if (stager != soft_->stagers.end()) last = std::min(last, stager->first - 1);
    if (stager != soft_->stagers.begin() && std::prev(stager)->second.last_offset >= first) {
      last = std::min(last, std::prev(stager)->second.last_offset);
      out.member_id = std::prev(stager)->second.member_id;
    }
  }
  out.last_offset = last;
  return out;
}

}  // namespace ackord::share
