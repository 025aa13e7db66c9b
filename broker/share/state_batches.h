// StateBatches: the logged states of one share partition as an interval map, and Kafka's combiner
// with what staging adds.
//
// Hard state: changed by records and markers only. An offset that no range covers is AVAILABLE with
// count 0. Ranges never overlap; neighbours that are equal in everything are one. Costs: O(log n +
// ranges touched). Source: semantics A.6 (merge rule), protocol 1.4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/share/share_types.h"

namespace ackord::share {

class StateBatches {
 public:
  static constexpr int32_t kNoOwner = -1;

  struct Range {
    Offset last_offset = 0;
    RecordState state = RecordState::AVAILABLE;
    int16_t delivery_count = 0;
    int32_t owner = kNoOwner;  // a slot of owner_of()
    int8_t ack_type = -1;
    RecordState state_on_commit = RecordState::AVAILABLE;

    bool same_as(const Range& other) const {
      return state == other.state && delivery_count == other.delivery_count &&
             owner == other.owner && ack_type == other.ack_type &&
             state_on_commit == other.state_on_commit;
    }
  };
  using Map = std::map<Offset, Range>;

  // Takes over a snapshot.
  void assign(const std::vector<StateBatch>& batches, const std::vector<Owner>& owners);
  // Takes in an update. A range in state 5 replaces what it covers, whatever covers a staged offset
  // replaces it; else the higher delivery count wins, then the higher state. What lies below
  // `start_offset` is cut off first and afterwards, but never from the first staged offset on.
  void merge(const std::vector<StateBatch>& batches, const std::vector<Owner>& owners,
             Offset start_offset);
  // A marker: every range of the producer takes the state of the verdict; this replaces, it never
  // merges. The ranges that became AVAILABLE are added to `released`. Returns the number of
  // offsets.
  int64_t resolve(ProducerId producer, bool commit, std::vector<OffsetRange>& released);

  // The states from `start_offset` on, with the owners they refer to, in a fixed order.
  std::pair<std::vector<StateBatch>, std::vector<Owner>> to_state_batches(
      Offset start_offset) const;

  const Map& ranges() const { return ranges_; }
  // The range that covers `offset`, else the first one above it.
  Map::const_iterator at_or_after(Offset offset) const;
  // Splits [first, last] at the ranges' edges and calls visit(first, last, const Range*) in order;
  // null: not covered.
  template <class Visit>
  void for_each_piece(Offset first, Offset last, Visit&& visit) const;

  const Owner& owner_of(int32_t slot) const { return owners_.at(slot).owner; }
  // The owner as it is held here (with the time of its first record), when it holds something.
  std::optional<Owner> find_owner(const Owner& owner) const;
  std::vector<std::pair<Owner, int64_t>> owners() const;
  size_t owner_count() const { return owners_.size(); }
  // Of this producer's staged ranges; -1: none.
  int16_t highest_epoch(ProducerId producer) const;
  std::vector<OffsetRange> staged_by(ProducerId producer) const;
  // Of this very owner; in the order of their offsets.
  std::vector<OffsetRange> staged_by(const Owner& owner) const;

  int64_t staged() const { return staged_; }
  std::optional<Offset> first_staged() const;
  std::optional<Offset> last_offset() const;
  // Offsets that are done with, from `start_offset` on; below it all of them are.
  int64_t terminal() const { return terminal_; }
  // Those above the first staged offset; 0 when nothing is staged.
  int64_t terminal_above_staged() const;
  // `from` moved over the terminal ranges that begin there.
  Offset skip_terminal(Offset from) const;

 private:
  using Identity = std::tuple<int64_t, int16_t, bool, std::string>;
  struct OwnerState {
    Owner owner;
    int64_t records = 0;
    std::set<Offset> first_offsets;
  };

  static Identity identity_of(const Owner& owner);
  int32_t slot_of(const Owner& owner);
  void drop_unused_owners();
  void split_at(Offset offset);
  void insert(Offset first, const Range& range);
  Map::iterator erase(Map::iterator at);
  void put(Offset first, Offset last, const Range& range);
  void cut_below(Offset start_offset);
  void count(Offset first, const Range& range, int64_t sign);
  void settle_staged_mark();

  Map ranges_;
  std::map<int32_t, OwnerState> owners_;
  std::map<Identity, int32_t> slots_;
  int32_t next_slot_ = 0;
  std::vector<int32_t> unused_slots_;  // perhaps: looked at when an operation ends
  std::set<Offset> staged_first_offsets_;
  int64_t staged_ = 0;
  int64_t terminal_ = 0;
  // terminal_below_ = terminal offsets below mark_, so that a count beside the first staged offset
  // needs no walk over all.
  Offset mark_ = 0;
  int64_t terminal_below_ = 0;
};

template <class Visit>
void StateBatches::for_each_piece(Offset first, Offset last, Visit&& visit) const {
  for (auto at = at_or_after(first); first <= last; ++at) {
    if (at == ranges_.end() || at->first > last) {
      visit(first, last, static_cast<const Range*>(nullptr));
      return;
    }
    if (at->first > first) {
      visit(first, at->first - 1, static_cast<const Range*>(nullptr));
      first = at->first;
    }
    const Offset end = std::min(last, at->second.last_offset);
    visit(first, end, &at->second);
    first = end + 1;
  }
}

// Ranges of offsets, for the soft part: what is free.
class OffsetSet {
 public:
  void add(Offset first, Offset last);
  void remove(Offset first, Offset last);
  void clear() { ranges_.clear(); }
  bool empty() const { return ranges_.empty(); }
  Offset front() const { return ranges_.begin()->first; }
  const std::map<Offset, Offset>& ranges() const { return ranges_; }
  // The range that covers `offset`, else the first one above it.
  std::map<Offset, Offset>::const_iterator at_or_after(Offset offset) const;

 private:
  std::map<Offset, Offset> ranges_;
};

}  // namespace ackord::share
