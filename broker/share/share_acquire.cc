// The acquiring half of SharePartition (semantics A.10).
#include <algorithm>

#include "broker/share/share_partition.h"

namespace ackord::share {

namespace {

int16_t throttle_limit(int16_t delivery_count_limit) {
  return std::max<int16_t>(2, static_cast<int16_t>((delivery_count_limit + 1) / 2));
}

// Size of the next delivery of a batch of `size` records, one of which may be bad: halved with
// every attempt.
int64_t throttled_size(int64_t size, int16_t delivery_count, int16_t limit) {
  const int shift = std::min(62, delivery_count - limit + 1);
  return std::max<int64_t>(1, size >> shift);
}

int64_t size_of(const OffsetRange& range) { return range.last_offset - range.first_offset + 1; }

}  // namespace

// One acquire over the free ranges, in-flight batch by in-flight batch.
class SharePartition::Acquirer {
 public:
  Acquirer(const SharePartition& partition, const AcquireRequest& request)
      : hard_(partition.hard_),
        soft_(*partition.soft_),
        request_(request),
        limit_(request.limit.count),
        throttle_(throttle_limit(request.limit.count)) {}

  AcquireDecision run(Offset first, Offset last, int64_t max_records) {
    first_ = first;
    last_ = last;
    max_ = max_records;
    Offset at = first;
    while (at <= last_ && taken_ < max_ && !stopped_) {
      const std::optional<Offset> next = next_free(at);
      if (!next || *next > last_) break;
      const std::optional<OffsetRange> batch = in_flight_batch(*next);
      if (batch) {
        take_again(*batch);
        at = batch->last_offset + 1;
      } else {
        at = take_new(*next) + 1;
      }
    }
    return std::move(decision_);
  }

 private:
  // From `at` on: a record that was in flight and is free again, or a new one.
  std::optional<Offset> next_free(Offset at) const {
    const auto free = soft_.free.at_or_after(at);
    if (free != soft_.free.ranges().end()) return std::max(at, free->first);
    return std::max(at, soft_.end_offset);
  }

  std::optional<OffsetRange> in_flight_batch(Offset offset) const {
    const auto batch = soft_.in_flight.upper_bound(offset);
    if (batch != soft_.in_flight.begin() && std::prev(batch)->second >= offset) {
      return OffsetRange{std::prev(batch)->first, std::prev(batch)->second};
    }
    // Logged without having been in flight here.
    const auto range = hard_.batches.at_or_after(offset);
    if (range == hard_.batches.ranges().end() || range->first > offset) return std::nullopt;
    return OffsetRange{range->first, range->second.last_offset};
  }

  // Free pieces of [first, last] with the counts that they have.
  std::vector<AcquiredRecords> free_pieces(Offset first, Offset last) const {
    std::vector<AcquiredRecords> out;
    for (auto at = soft_.free.at_or_after(first);
         at != soft_.free.ranges().end() && at->first <= last; ++at) {
      hard_.batches.for_each_piece(
          std::max(first, at->first), std::min(last, at->second),
          [&](Offset from, Offset to, const StateBatches::Range* range) {
            out.push_back({from, to, range == nullptr ? int16_t{0} : range->delivery_count});
          });
    }
    return out;
  }

  void take_again(const OffsetRange& batch) {
    const std::vector<AcquiredRecords> pieces =
        free_pieces(std::max(batch.first_offset, first_), std::min(batch.last_offset, last_));
    bool throttled = false;
    for (const AcquiredRecords& piece : pieces)
      throttled = throttled || piece.delivery_count >= throttle_;
    if (throttled && taken_ > 0) {
      stopped_ = true;
      return;
    }
    const int64_t taken = take_pieces(pieces, size_of(batch));
    taken_ += taken;
    stopped_ = throttled && taken > 0;
  }

  int64_t take_pieces(const std::vector<AcquiredRecords>& pieces, int64_t batch_size) {
    int64_t taken = 0;
    int64_t throttled_max = -1;
    const size_t before = decision_.acquired.size();
    for (const AcquiredRecords& piece : pieces) {
      const int16_t count = piece.delivery_count;
      const bool last_attempt = limit_ > 2 && count == limit_ - 1;
      if (last_attempt && taken > 0) break;
      if (count >= throttle_ && throttled_max < 0) {
        throttled_max = throttled_size(batch_size, count, throttle_);
      }
      int64_t size = piece.last_offset - piece.first_offset + 1;
      if (last_attempt) size = 1;
      if (request_.mode == ShareAcquireMode::RECORD_LIMIT)
        size = std::min(size, max_ - taken_ - taken);
      if (throttled_max > taken) size = std::min(size, throttled_max - taken);
      if (size <= 0) break;
      add(before,
          {piece.first_offset, piece.first_offset + size - 1, static_cast<int16_t>(count + 1)});
      taken += size;
      if (last_attempt || taken == throttled_max) break;
    }
    return taken;
  }

  // Neighbours of one in-flight batch with the same count are one range.
  void add(size_t from, const AcquiredRecords& records) {
    if (decision_.acquired.size() > from) {
      AcquiredRecords& last = decision_.acquired.back();
      if (last.last_offset + 1 == records.first_offset &&
          last.delivery_count == records.delivery_count) {
        last.last_offset = records.last_offset;
        return;
      }
    }
    decision_.acquired.push_back(records);
  }

  // Records that were never in flight, from `first` on. Returns the last offset taken.
  Offset take_new(Offset first) {
    Offset last = last_;
    const auto free = soft_.free.at_or_after(first);
    if (free != soft_.free.ranges().end() && free->first <= first)
      last = std::min(last, free->second);
    const auto next_batch = soft_.in_flight.upper_bound(first);
    if (next_batch != soft_.in_flight.end()) last = std::min(last, next_batch->first - 1);
    const auto next_range = hard_.batches.at_or_after(first);
    if (next_range != hard_.batches.ranges().end()) last = std::min(last, next_range->first - 1);
    const bool exact = request_.mode == ShareAcquireMode::RECORD_LIMIT;
    if (last - first + 1 > max_ - taken_) {
      const Offset wanted = first + (max_ - taken_) - 1;
      last = exact ? wanted : std::min(last, end_of_log_batch(wanted));
    }
    Offset at = first;
    if (!exact && last - first + 1 > request_.batch_size) {
      for (const FetchedBatch& batch : request_.batches) {
        if (batch.base_offset > last) break;
        if (batch.base_offset - at < std::max(1, request_.batch_size)) continue;
        add_new(at, batch.base_offset - 1);
        at = batch.base_offset;
      }
    }
    add_new(at, last);
    taken_ += last - first + 1;
    return last;
  }

  void add_new(Offset first, Offset last) {
    decision_.acquired.push_back({first, last, 1});
    decision_.in_flight.push_back({first, last});
  }

  // The batch that holds `offset`; when none does, because a compaction took it: the one before
  // that hole.
  Offset end_of_log_batch(Offset offset) const {
    const auto after = std::upper_bound(
        request_.batches.begin(), request_.batches.end(), offset,
        [](Offset at, const FetchedBatch& batch) { return at < batch.base_offset; });
    if (after == request_.batches.begin()) return offset;
    return std::max(offset, std::prev(after)->last_offset);
  }

  const HardState& hard_;
  const SoftState& soft_;
  const AcquireRequest& request_;
  const int16_t limit_;
  const int16_t throttle_;
  Offset first_ = 0;
  Offset last_ = 0;
  int64_t max_ = 0;
  int64_t taken_ = 0;
  bool stopped_ = false;
  AcquireDecision decision_;
};

std::optional<Offset> SharePartition::next_fetch(int32_t max_record_locks) const {
  if (!soft_->free.empty()) return soft_->free.front();
  if (in_flight() >= max_record_locks) return std::nullopt;
  return std::max(soft_->end_offset, soft_->log_start_offset);
}

AcquireDecision SharePartition::acquire(const AcquireRequest& request,
                                        PartitionChange& change) const {
  if (request.batches.empty() || request.max_records <= 0) return {};
  const Offset base = request.batches.front().base_offset;
  archive_hole(request.fetch_offset, base - 1, !request.aborted.empty(), change);
  const Offset first = std::max({base, soft_->start_offset, soft_->log_start_offset});
  Offset last = request.batches.back().last_offset;
  int64_t max_records =
      std::min<int64_t>(request.max_records, request.max_record_locks - in_flight());
  if (max_records <= 0) {
    // At the limit only what is in flight already can be taken again.
    last = std::min(last, soft_->end_offset - 1);
    max_records = std::min<int64_t>(request.max_records, soft_->end_offset - request.fetch_offset);
  }
  if (first > last || max_records <= 0) return {};
  AcquireDecision decision = Acquirer(*this, request).run(first, last, max_records);
  archive_aborted_of(request.aborted, decision, change);
  return decision;
}

// The log has nothing there: a compaction took it while it was in flight or before.
void SharePartition::archive_hole(Offset first, Offset last, bool any_aborted,
                                  PartitionChange& change) const {
  if (first > last) return;
  first = std::max(first, soft_->start_offset);
  for (auto at = soft_->free.at_or_after(first);
       at != soft_->free.ranges().end() && at->first <= last; ++at) {
    hard_.batches.for_each_piece(
        std::max(first, at->first), std::min(last, at->second),
        [&](Offset from, Offset to, const StateBatches::Range* range) {
          change.archive(from, to, move_to(RecordState::AVAILABLE, RecordState::ARCHIVED),
                         range == nullptr ? int16_t{0} : range->delivery_count,
                         ArchiveReason::kCompacted);
        });
  }
  // Beyond the end. With nothing in flight and nothing to log, the partition simply begins later.
  const Offset new_first = std::max(first, soft_->end_offset);
  if ((soft_->start_offset != soft_->end_offset || any_aborted) && new_first <= last) {
    change.archive(new_first, last, move_to(RecordState::AVAILABLE, RecordState::ARCHIVED), 0,
                   ArchiveReason::kCompacted);
  }
}

// read_committed: what an aborted producer wrote is delivered to nobody.
void SharePartition::archive_aborted_of(const std::vector<OffsetRange>& aborted,
                                        AcquireDecision& decision, PartitionChange& change) const {
  if (aborted.empty()) return;
  std::vector<AcquiredRecords> kept;
  for (const AcquiredRecords& records : decision.acquired) {
    Offset at = records.first_offset;
    for (const OffsetRange& gone : aborted) {
      if (gone.last_offset < at) continue;
      if (gone.first_offset > records.last_offset) break;
      if (gone.first_offset > at)
        kept.push_back({at, gone.first_offset - 1, records.delivery_count});
      const Offset last = std::min(gone.last_offset, records.last_offset);
      change.archive(std::max(at, gone.first_offset), last,
                     move_to(RecordState::AVAILABLE, RecordState::ARCHIVED), records.delivery_count,
                     ArchiveReason::kAbortedTransaction);
      at = last + 1;
    }
    if (at <= records.last_offset)
      kept.push_back({at, records.last_offset, records.delivery_count});
  }
  decision.acquired = std::move(kept);
}

}  // namespace ackord::share
