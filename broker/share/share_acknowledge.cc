// The half of SharePartition that ends an acquisition: acknowledgements, releases, stages
// (semantics A.11, protocol 1.1).
#include <algorithm>

#include "broker/base/planted_bug.h"
#include "broker/share/share_partition.h"

namespace ackord::share {

namespace {

constexpr size_t kMaxOwners = INT16_MAX;  // OwnerIndex is an int16

PartitionError invalid_state(const char* why) { return {ErrorCode::INVALID_RECORD_STATE, why}; }

struct TypedRange {
  Offset first_offset;
  Offset last_offset;
  AcknowledgeType type;
};

// The batch as runs of one type each, from `start` on.
std::vector<TypedRange> runs_of(const AcknowledgementBatch& batch, Offset start) {
  const Offset first = std::max(batch.first_offset, start);
  if (batch.acknowledge_types.size() == 1) {
    return {
        {first, batch.last_offset, static_cast<AcknowledgeType>(batch.acknowledge_types.front())}};
  }
  std::vector<TypedRange> out;
  for (Offset at = first; at <= batch.last_offset; ++at) {
    const auto type = static_cast<AcknowledgeType>(
        batch.acknowledge_types[static_cast<size_t>(at - batch.first_offset)]);
    if (!out.empty() && out.back().type == type) {
      out.back().last_offset = at;
    } else {
      out.push_back({at, at, type});
    }
  }
  return out;
}

RecordState rejected(bool dlq) { return dlq ? RecordState::ARCHIVING : RecordState::ARCHIVED; }

// Why a committed transaction gives up a record that was staged with this type.
ArchiveReason reason_of(int8_t ack_type) {
  return ack_type == static_cast<int8_t>(AcknowledgeType::REJECT) ? ArchiveReason::kRejected
                                                                  : ArchiveReason::kGap;
}

}  // namespace

void PartitionChange::add(Offset first, Offset last, RecordState state, int16_t delivery_count) {
  if (!batches.empty()) {
    StateBatch& before = batches.back();
    if (before.last_offset + 1 == first && before.delivery_state == state &&
        before.delivery_count == delivery_count && before.owner_index == -1) {
      before.last_offset = last;
      return;
    }
  }
  batches.push_back({first, last, state, delivery_count});
}

void PartitionChange::archive(Offset first, Offset last, RecordState state, int16_t delivery_count,
                              ArchiveReason reason) {
  add(first, last, state, delivery_count);
  if (!archived.empty()) {
    ArchivedRange& before = archived.back();
    if (before.last_offset + 1 == first && before.state == state && before.reason == reason &&
        before.delivery_count == delivery_count) {
      before.last_offset = last;
      return;
    }
  }
  archived.push_back({first, last, delivery_count, state, reason});
}

void PartitionChange::add_staged(Offset first, Offset last, int16_t delivery_count, int8_t ack_type,
                                 RecordState state_on_commit) {
  if (!batches.empty()) {
    StateBatch& before = batches.back();
    if (before.last_offset + 1 == first && before.delivery_count == delivery_count &&
        before.staged_ack_type == ack_type) {
      before.last_offset = last;
      return;
    }
  }
  batches.push_back({first, last, RecordState::TX_PENDING, delivery_count, 0, ack_type,
                     static_cast<int8_t>(state_on_commit)});
}

const SharePartition::Acquired* SharePartition::acquired_at(Offset offset) const {
  if (!soft_) return nullptr;
  const auto at = soft_->acquired.upper_bound(offset);
  if (at == soft_->acquired.begin() || std::prev(at)->second.last_offset < offset) return nullptr;
  return &std::prev(at)->second;
}

RecordState SharePartition::released(Offset offset, int16_t delivery_count,
                                     const DeliveryLimit& limit) const {
  if (offset < soft_->log_start_offset) return RecordState::ARCHIVED;
  return delivery_count >= limit.count ? rejected(limit.dlq) : RecordState::AVAILABLE;
}

// Ends [first, last] of one acquired range; the log start may cut it in two.
void SharePartition::add_release(Offset first, Offset last, int16_t delivery_count,
                                 const DeliveryLimit& limit, PartitionChange& change) const {
  const Offset log_start = soft_->log_start_offset;
  if (first < log_start && log_start <= last) {
    add_release(first, log_start - 1, delivery_count, limit, change);
    first = log_start;
  }
  const RecordState state = move_to(RecordState::ACQUIRED, released(first, delivery_count, limit));
  if (state == RecordState::AVAILABLE) {
    change.add(first, last, state, delivery_count);
  } else {
    change.archive(first, last, state, delivery_count,
                   first < log_start ? ArchiveReason::kLeftTheLog : ArchiveReason::kDeliveryLimit);
  }
}

PartitionError SharePartition::acknowledge(const std::string& member_id,
                                           const std::vector<AcknowledgementBatch>& batches,
                                           const AcknowledgeRules& rules, PartitionChange& change,
                                           std::vector<OffsetRange>& renewed) const {
  if (PartitionError error = check_acknowledgement_batches(batches, rules.max_type); !error.ok())
    return error;
  Offset next = soft_->start_offset;
  for (const AcknowledgementBatch& batch : batches) {
    if (batch.last_offset < soft_->start_offset) continue;  // long done with
    if (soft_->start_offset == soft_->end_offset) return invalid_state("Nothing is in flight.");
    if (batch.last_offset >= soft_->end_offset) {
      return {ErrorCode::INVALID_REQUEST, "The last offset lies beyond what was acquired."};
    }
    const Offset first = std::max(batch.first_offset, soft_->start_offset);
    if (first < next) return invalid_state("An offset is acknowledged twice.");
    next = batch.last_offset + 1;
    for (const TypedRange& run : runs_of(batch, first)) {
      PartitionError error = acknowledge_run(member_id, run.type, run.first_offset, run.last_offset,
                                             rules, change, renewed);
      if (!error.ok()) return error;
    }
  }
  return {};
}

PartitionError SharePartition::acknowledge_run(const std::string& member_id, AcknowledgeType type,
                                               Offset first, Offset last,
                                               const AcknowledgeRules& rules,
                                               PartitionChange& change,
                                               std::vector<OffsetRange>& renewed) const {
  if (type == AcknowledgeType::RENEW && !rules.renew_enabled)
    return invalid_state("Renewing is switched off for the group.");
  for (Offset at = first; at <= last;) {
    if (rules.tolerate_repeats) {
      if (const auto until = remembered_.same_until(member_id, type, at)) {
        at = *until + 1;
        continue;
      }
    }
    const Acquired* acquired = acquired_at(at);
    if (acquired == nullptr) return invalid_state("The record is not acquired.");
    if (acquired->member_id != member_id) return invalid_state("The record is another member's.");
    const Offset end = std::min(last, acquired->last_offset);
    const int16_t count = acquired->delivery_count;
    switch (type) {
      case AcknowledgeType::ACCEPT:
        change.add(at, end, move_to(RecordState::ACQUIRED, RecordState::ACKNOWLEDGED), count);
        break;
      case AcknowledgeType::GAP:
        change.archive(at, end, move_to(RecordState::ACQUIRED, RecordState::ARCHIVED), count,
                       ArchiveReason::kGap);
        break;
      case AcknowledgeType::REJECT:
        change.archive(at, end, move_to(RecordState::ACQUIRED, rejected(rules.limit.dlq)), count,
                       ArchiveReason::kRejected);
        break;
      case AcknowledgeType::RELEASE: add_release(at, end, count, rules.limit, change); break;
      case AcknowledgeType::RENEW: renewed.push_back({at, end}); break;
    }
    at = end + 1;
  }
  return {};
}

void SharePartition::remember(const std::string& member_id,
                              const std::vector<AcknowledgementBatch>& batches) {
  const Offset start = std::max<Offset>(0, start_offset());
  for (const AcknowledgementBatch& batch : batches) {
    if (batch.last_offset < start) continue;
    for (const TypedRange& run : runs_of(batch, start)) {
      // A lock is renewed again without more ado.
      if (run.type != AcknowledgeType::RENEW)
        remembered_.add(member_id, run.type, run.first_offset, run.last_offset);
    }
  }
}

void SharePartition::forget_acknowledgements_of(const std::string& member_id) {
  remembered_.forget_member(member_id);
}

std::vector<WaitingRange> SharePartition::waits_of(const PartitionChange& change,
                                                   const RetryBackoff& retry, int64_t steady_ms) {
  std::vector<WaitingRange> out;
  for (const StateBatch& batch : change.batches) {
    if (batch.delivery_state != RecordState::AVAILABLE) continue;
    const int64_t delay_ms = retry.delay_ms(batch.delivery_count);
    if (delay_ms > 0) out.push_back({batch.first_offset, batch.last_offset, steady_ms + delay_ms});
  }
  return out;
}

int64_t SharePartition::release(const Holder* holder, Offset first, Offset last,
                                const DeliveryLimit& limit, PartitionChange& change) const {
  int64_t offsets = 0;
  auto at = soft_->acquired.upper_bound(first);
  if (at != soft_->acquired.begin() && std::prev(at)->second.last_offset >= first) --at;
  for (; at != soft_->acquired.end() && at->first <= last; ++at) {
    const Acquired& acquired = at->second;
    if (holder != nullptr &&
        (acquired.member_id != holder->member_id || acquired.session > holder->session))
      continue;
    const Offset from = std::max(first, at->first);
    const Offset to = std::min(last, acquired.last_offset);
    add_release(from, to, acquired.delivery_count, limit, change);
    offsets += to - from + 1;
  }
  return offsets;
}

int64_t SharePartition::expire(int64_t steady_ms, PartitionChange& change) const {
  std::set<Offset> due;
  for (const auto& [deadline, first] : soft_->locks) {
    if (deadline > steady_ms) break;
    due.insert(first);
  }
  int64_t offsets = 0;
  for (const Offset first : due) {
    const Acquired& acquired = soft_->acquired.at(first);
    add_release(first, acquired.last_offset, acquired.delivery_count, soft_->limit, change);
    offsets += acquired.last_offset - first + 1;
  }
  return offsets;
}

// Whether the range that holds `offset` is this owner's with this type; then `last` is its end.
bool SharePartition::staged_same(const Owner& owner, AcknowledgeType type, Offset offset,
                                 Offset& last) const {
  const auto at = hard_.batches.at_or_after(offset);
  if (at == hard_.batches.ranges().end() || at->first > offset) return false;
  const StateBatches::Range& range = at->second;
  if (range.state != RecordState::TX_PENDING || range.ack_type != static_cast<int8_t>(type))
    return false;
  const Owner& holder = hard_.batches.owner_of(range.owner);
  if (holder.producer_id != owner.producer_id || holder.producer_epoch != owner.producer_epoch ||
      holder.transaction_id != owner.transaction_id) {
    return false;
  }
  last = range.last_offset;
  return true;
}

PartitionError SharePartition::stage(const Owner& owner, const std::string& member_id,
                                     const std::vector<AcknowledgementBatch>& batches, bool dlq,
                                     int64_t max_staged_records, PartitionChange& change) const {
  int64_t fresh = 0;
  for (const AcknowledgementBatch& batch : batches) {
    for (const TypedRange& run : runs_of(batch, batch.first_offset)) {
      const bool accept = run.type == AcknowledgeType::ACCEPT;
      const bool to_dlq = dlq && run.type == AcknowledgeType::REJECT;
      const RecordState verdict = accept ? RecordState::ACKNOWLEDGED : rejected(to_dlq);
      for (Offset at = run.first_offset; at <= run.last_offset;) {
        Offset last = 0;
        if (base::planted(base::PlantedBug::kStageBelowStart) && at < start_offset()) {
          ++at;
          continue;
        }
        if (staged_same(owner, run.type, at, last)) {
          at = std::min(last, run.last_offset) + 1;
          continue;
        }
        const Acquired* acquired = acquired_at(at);
        if (acquired == nullptr || acquired->member_id != member_id) {
          return invalid_state("The record is not acquired by this member.");
        }
        last = std::min(run.last_offset, acquired->last_offset);
        move_to(RecordState::ACQUIRED, RecordState::TX_PENDING);
        change.add_staged(at, last, acquired->delivery_count, static_cast<int8_t>(run.type),
                          verdict);
        fresh += last - at + 1;
        at = last + 1;
      }
    }
  }
  if (fresh == 0) return {};
  const std::optional<Owner> known = hard_.batches.find_owner(owner);
  if (hard_.batches.staged() + fresh > max_staged_records ||
      (!known && hard_.batches.owner_count() >= kMaxOwners)) {
    return {ErrorCode::THROTTLING_QUOTA_EXCEEDED,
            "Too many records are staged in this share partition."};
  }
  change.owners.push_back(known.value_or(owner));
  return {};
}

bool SharePartition::is_staged_by(const Owner& owner,
                                  const std::vector<AcknowledgementBatch>& batches) const {
  for (const AcknowledgementBatch& batch : batches) {
    for (const TypedRange& run : runs_of(batch, batch.first_offset)) {
      for (Offset at = run.first_offset; at <= run.last_offset;) {
        Offset last = 0;
        if (!staged_same(owner, run.type, at, last)) return false;
        at = last + 1;
      }
    }
  }
  return true;
}

void SharePartition::archive_below_log_start(ProducerId producer, PartitionChange& change) const {
  if (!soft_) return;
  for (const OffsetRange& range : hard_.batches.staged_by(producer)) {
    const Offset last = std::min(range.last_offset, soft_->log_start_offset - 1);
    if (range.first_offset > last) continue;
    const int16_t count = hard_.batches.at_or_after(range.first_offset)->second.delivery_count;
    change.archive(range.first_offset, last,
                   move_to(RecordState::TX_PENDING, RecordState::ARCHIVED), count,
                   ArchiveReason::kLeftTheLog);
  }
}

std::vector<ArchivedRange> SharePartition::given_up_by_commit(ProducerId producer) const {
  std::vector<ArchivedRange> out;
  for (const OffsetRange& staged : hard_.batches.staged_by(producer)) {
    const StateBatches::Range& range = hard_.batches.at_or_after(staged.first_offset)->second;
    if (range.state_on_commit == RecordState::ACKNOWLEDGED) continue;
    Offset first = staged.first_offset;
    // archive_below_log_start() has that part.
    if (soft_) first = std::max(first, soft_->log_start_offset);
    if (first > staged.last_offset) continue;
    out.push_back({first, staged.last_offset, range.delivery_count, range.state_on_commit,
                   reason_of(range.ack_type)});
  }
  return out;
}

std::vector<ArchivedRange> SharePartition::archiving() const {
  std::vector<ArchivedRange> out;
  for (const auto& [first, range] : hard_.batches.ranges()) {
    if (range.state != RecordState::ARCHIVING) continue;
    out.push_back({first, range.last_offset, range.delivery_count, RecordState::ARCHIVING,
                   ArchiveReason::kUnknown});
  }
  return out;
}

void SharePartition::finish_letters(Offset first, Offset last, PartitionChange& change) const {
  hard_.batches.for_each_piece(
      first, last, [&](Offset from, Offset to, const StateBatches::Range* range) {
        if (range == nullptr || range->state != RecordState::ARCHIVING) return;
        change.add(from, to, move_to(RecordState::ARCHIVING, RecordState::ARCHIVED),
                   range->delivery_count);
      });
}

int64_t SharePartition::resolve_batch(const Owner& owner, bool commit,
                                      PartitionChange& change) const {
  int64_t resolved = 0;
  for (const OffsetRange& staged : hard_.batches.staged_by(owner)) {
    const StateBatches::Range range = hard_.batches.at_or_after(staged.first_offset)->second;
    resolved += staged.last_offset - staged.first_offset + 1;
    Offset first = staged.first_offset;
    // What has left the log can be neither delivered nor done with (protocol 1.2).
    const Offset gone = std::min(staged.last_offset, soft_ ? soft_->log_start_offset - 1 : -1);
    if (gone >= first) {
      change.archive(first, gone, move_to(RecordState::TX_PENDING, RecordState::ARCHIVED),
                     range.delivery_count, ArchiveReason::kLeftTheLog);
      first = gone + 1;
    }
    if (first > staged.last_offset) continue;
    const RecordState verdict =
        move_to(RecordState::TX_PENDING, commit ? range.state_on_commit : RecordState::AVAILABLE);
    if (verdict == RecordState::ARCHIVED || verdict == RecordState::ARCHIVING) {
      change.archive(first, staged.last_offset, verdict, range.delivery_count,
                     reason_of(range.ack_type));
    } else {
      change.add(first, staged.last_offset, verdict, range.delivery_count);
    }
  }
  return resolved;
}

}  // namespace ackord::share
