#include "broker/share/state_batches.h"

#include <algorithm>
#include <limits>

#include "broker/base/planted_bug.h"

namespace ackord::share {

namespace {

// Kafka's order of preference between two states of one offset.
bool beats(const StateBatch& batch, const StateBatches::Range& range) {
  if (batch.delivery_count != range.delivery_count) {
    return batch.delivery_count > range.delivery_count;
  }
  return batch.delivery_state > range.state;
}

int64_t overlap(Offset first, Offset last, Offset from, Offset to) {
  return std::max<int64_t>(0, std::min(last, to) - std::max(first, from) + 1);
}

}  // namespace

void StateBatches::assign(const std::vector<StateBatch>& batches,
                          const std::vector<Owner>& owners) {
  *this = StateBatches();
  merge(batches, owners, std::numeric_limits<Offset>::min());
}

void StateBatches::merge(const std::vector<StateBatch>& batches, const std::vector<Owner>& owners,
                         Offset start_offset) {
  cut_below(start_offset);
  for (const StateBatch& batch : batches) {
    Offset first = batch.first_offset;
    if (first < start_offset)
      first = std::max(first, std::min(start_offset, first_staged().value_or(start_offset)));
    if (first > batch.last_offset) continue;
    Range range{batch.last_offset, batch.delivery_state, batch.delivery_count};
    if (batch.delivery_state == RecordState::TX_PENDING) {
      range.owner = slot_of(owners.at(static_cast<size_t>(batch.owner_index)));
      range.ack_type = batch.staged_ack_type;
      range.state_on_commit = static_cast<RecordState>(batch.staged_delivery_state);
      put(first, batch.last_offset, range);
      continue;
    }
    std::vector<OffsetRange> won;
    for_each_piece(first, batch.last_offset, [&](Offset from, Offset to, const Range* old) {
      if (old != nullptr && old->state != RecordState::TX_PENDING && !beats(batch, *old)) return;
      if (!won.empty() && won.back().last_offset + 1 == from) {
        won.back().last_offset = to;
      } else {
        won.push_back({from, to});
      }
    });
    for (const OffsetRange& piece : won) put(piece.first_offset, piece.last_offset, range);
  }
  drop_unused_owners();
  settle_staged_mark();
}

int64_t StateBatches::resolve(ProducerId producer, bool commit,
                              std::vector<OffsetRange>& released) {
  int64_t resolved = 0;
  std::vector<int32_t> slots;
  for (auto at = slots_.lower_bound({producer.value, INT16_MIN, false, ""});
       at != slots_.end() && std::get<0>(at->first) == producer.value; ++at) {
    slots.push_back(at->second);
  }
  for (const int32_t slot : slots) {
    const std::set<Offset> first_offsets = owners_.at(slot).first_offsets;
    for (const Offset first : first_offsets) {
      const Range staged = ranges_.at(first);
      const RecordState verdict = commit ? staged.state_on_commit : RecordState::AVAILABLE;
      if (base::planted(base::PlantedBug::kVerdictMerges) &&
          !beats({first, staged.last_offset, verdict, staged.delivery_count}, staged))
        continue;
      put(first, staged.last_offset,
          {staged.last_offset, move_to(RecordState::TX_PENDING, verdict), staged.delivery_count});
      if (!commit) released.push_back({first, staged.last_offset});
      resolved += staged.last_offset - first + 1;
    }
  }
  drop_unused_owners();
  settle_staged_mark();
  return resolved;
}

std::pair<std::vector<StateBatch>, std::vector<Owner>> StateBatches::to_state_batches(
    Offset start_offset) const {
  std::pair<std::vector<StateBatch>, std::vector<Owner>> out;
  std::map<int32_t, int16_t> indexes;
  for (auto at = at_or_after(start_offset); at != ranges_.end(); ++at) {
    const Range& range = at->second;
    StateBatch batch{std::max(at->first, start_offset), range.last_offset, range.state,
                     range.delivery_count};
    if (range.owner != kNoOwner) {
      const auto [index, is_new] =
          indexes.emplace(range.owner, static_cast<int16_t>(indexes.size()));
      if (is_new) out.second.push_back(owner_of(range.owner));
      batch.owner_index = index->second;
      batch.staged_ack_type = range.ack_type;
      batch.staged_delivery_state = static_cast<int8_t>(range.state_on_commit);
    }
    out.first.push_back(batch);
  }
  return out;
}

StateBatches::Map::const_iterator StateBatches::at_or_after(Offset offset) const {
  auto at = ranges_.upper_bound(offset);
  if (at != ranges_.begin()) {
    const auto before = std::prev(at);
    if (before->second.last_offset >= offset) return before;
  }
  return at;
}

std::optional<Owner> StateBatches::find_owner(const Owner& owner) const {
  const auto at = slots_.find(identity_of(owner));
  if (at == slots_.end()) return std::nullopt;
  return owner_of(at->second);
}

std::vector<std::pair<Owner, int64_t>> StateBatches::owners() const {
  std::vector<std::pair<Owner, int64_t>> out;
  for (const auto& [identity, slot] : slots_) {
    const OwnerState& state = owners_.at(slot);
    out.emplace_back(state.owner, state.records);
  }
  return out;
}

int16_t StateBatches::highest_epoch(ProducerId producer) const {
  auto at = slots_.lower_bound({producer.value, INT16_MAX, true, ""});
  // Identities of one producer are ordered by epoch; the bound may stand before owners of the
  // highest one.
  while (at != slots_.end() && std::get<0>(at->first) == producer.value) ++at;
  if (at == slots_.begin()) return -1;
  --at;
  return std::get<0>(at->first) == producer.value ? std::get<1>(at->first) : int16_t{-1};
}

std::vector<OffsetRange> StateBatches::staged_by(ProducerId producer) const {
  std::vector<OffsetRange> out;
  for (auto at = slots_.lower_bound({producer.value, INT16_MIN, false, ""});
       at != slots_.end() && std::get<0>(at->first) == producer.value; ++at) {
    for (const Offset first : owners_.at(at->second).first_offsets) {
      out.push_back({first, ranges_.at(first).last_offset});
    }
  }
  return out;
}

std::optional<Offset> StateBatches::first_staged() const {
  if (staged_first_offsets_.empty()) return std::nullopt;
  return *staged_first_offsets_.begin();
}

std::optional<Offset> StateBatches::last_offset() const {
  if (ranges_.empty()) return std::nullopt;
  return ranges_.rbegin()->second.last_offset;
}

int64_t StateBatches::terminal_above_staged() const {
  return staged_first_offsets_.empty() ? 0 : terminal_ - terminal_below_;
}

Offset StateBatches::skip_terminal(Offset from) const {
  for (auto at = at_or_after(from);
       at != ranges_.end() && at->first <= from && is_terminal(at->second.state); ++at) {
    from = at->second.last_offset + 1;
  }
  return from;
}

std::vector<OffsetRange> StateBatches::staged_by(const Owner& owner) const {
  std::vector<OffsetRange> out;
  const auto slot = slots_.find(identity_of(owner));
  if (slot == slots_.end()) return out;
  for (const Offset first : owners_.at(slot->second).first_offsets)
    out.push_back({first, ranges_.at(first).last_offset});
  return out;
}

StateBatches::Identity StateBatches::identity_of(const Owner& owner) {
  return {owner.producer_id.value, owner.producer_epoch, owner.transaction_id.has_value(),
          owner.transaction_id ? owner.transaction_id->str() : std::string()};
}

int32_t StateBatches::slot_of(const Owner& owner) {
  const auto [at, is_new] = slots_.emplace(identity_of(owner), next_slot_);
  // An owner that is known keeps the time of its first record.
  if (is_new) owners_[next_slot_++].owner = owner;
  return at->second;
}

void StateBatches::drop_unused_owners() {
  for (const int32_t slot : unused_slots_) {
    const auto at = owners_.find(slot);
    if (at == owners_.end() || at->second.records != 0) continue;
    slots_.erase(identity_of(at->second.owner));
    owners_.erase(at);
  }
  unused_slots_.clear();
}

void StateBatches::count(Offset first, const Range& range, int64_t sign) {
  const int64_t offsets = range.last_offset - first + 1;
  if (is_terminal(range.state)) {
    terminal_ += sign * offsets;
    terminal_below_ += sign * overlap(first, range.last_offset, first, mark_ - 1);
  }
  if (range.state != RecordState::TX_PENDING) return;
  OwnerState& owner = owners_.at(range.owner);
  staged_ += sign * offsets;
  owner.records += sign * offsets;
  if (sign > 0) {
    staged_first_offsets_.insert(first);
    owner.first_offsets.insert(first);
  } else {
    staged_first_offsets_.erase(first);
    owner.first_offsets.erase(first);
    if (owner.records == 0) unused_slots_.push_back(range.owner);
  }
}

void StateBatches::insert(Offset first, const Range& range) {
  ranges_.emplace(first, range);
  count(first, range, 1);
}

StateBatches::Map::iterator StateBatches::erase(Map::iterator at) {
  count(at->first, at->second, -1);
  return ranges_.erase(at);
}

void StateBatches::split_at(Offset offset) {
  const auto at = ranges_.lower_bound(offset);
  if (at == ranges_.begin()) return;
  const auto before = std::prev(at);
  if (before->second.last_offset < offset) return;
  const Offset first = before->first;
  Range left = before->second;
  const Range right = before->second;
  left.last_offset = offset - 1;
  erase(before);
  insert(first, left);
  insert(offset, right);
}

void StateBatches::put(Offset first, Offset last, const Range& range) {
  split_at(first);
  split_at(last + 1);
  for (auto at = ranges_.lower_bound(first); at != ranges_.end() && at->first <= last;)
    at = erase(at);
  Range whole = range;
  whole.last_offset = last;
  const auto after = ranges_.find(last + 1);
  if (after != ranges_.end() && after->second.same_as(whole)) {
    whole.last_offset = after->second.last_offset;
    erase(after);
  }
  auto before = ranges_.lower_bound(first);
  if (before != ranges_.begin()) {
    --before;
    if (before->second.last_offset + 1 == first && before->second.same_as(whole)) {
      first = before->first;
      erase(before);
    }
  }
  insert(first, whole);
}

void StateBatches::cut_below(Offset start_offset) {
  const Offset limit = std::min(start_offset, first_staged().value_or(start_offset));
  if (ranges_.empty() || ranges_.begin()->first >= limit) return;
  split_at(limit);
  for (auto at = ranges_.begin(); at != ranges_.end() && at->first < limit;) at = erase(at);
}

void StateBatches::settle_staged_mark() {
  const std::optional<Offset> first = first_staged();
  if (!first || *first == mark_) return;
  const Offset from = std::min(*first, mark_);
  const Offset to = std::max(*first, mark_) - 1;
  int64_t between = 0;
  for (auto at = at_or_after(from); at != ranges_.end() && at->first <= to; ++at) {
    if (is_terminal(at->second.state))
      between += overlap(at->first, at->second.last_offset, from, to);
  }
  terminal_below_ += *first > mark_ ? between : -between;
  mark_ = *first;
}

void OffsetSet::add(Offset first, Offset last) {
  if (first > last) return;
  auto at = ranges_.upper_bound(last + 1);
  while (at != ranges_.begin()) {
    const auto before = std::prev(at);
    if (before->second + 1 < first) break;
    first = std::min(first, before->first);
    last = std::max(last, before->second);
    at = ranges_.erase(before);
  }
  ranges_[first] = last;
}

void OffsetSet::remove(Offset first, Offset last) {
  if (first > last) return;
  auto at = ranges_.upper_bound(last);
  while (at != ranges_.begin()) {
    const auto before = std::prev(at);
    if (before->second < first) break;
    const auto [from, to] = *before;
    at = ranges_.erase(before);
    if (to > last) at = ranges_.emplace(last + 1, to).first;
    if (from < first) {
      ranges_[from] = first - 1;
      break;
    }
  }
}

std::map<Offset, Offset>::const_iterator OffsetSet::at_or_after(Offset offset) const {
  auto at = ranges_.upper_bound(offset);
  if (at != ranges_.begin()) {
    const auto before = std::prev(at);
    if (before->second >= offset) return before;
  }
  return at;
}

}  // namespace ackord::share
