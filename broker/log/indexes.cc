#include "broker/log/indexes.h"

#include <algorithm>

#include "broker/log/index_format.h"
#include "protocol/record_batch/big_endian.h"

namespace ackord::log {
namespace {

using protocol::load_big;
using protocol::store_big;
namespace f = index_format;

Error corrupt(const char* why) { return error(ErrorCode::CORRUPT_MESSAGE, why); }

}  // namespace

void SegmentIndexes::add_offset(Offset last_offset, uint64_t position) {
  offsets_.push_back(
      {static_cast<int32_t>(last_offset - base_offset_), static_cast<int32_t>(position)});
}

void SegmentIndexes::add_time(TimeMs timestamp, Offset offset) {
  const auto relative = static_cast<int32_t>(offset - base_offset_);
  if (timestamp < 0) return;
  if (!times_.empty() &&
      (timestamp <= times_.back().timestamp || relative <= times_.back().relative_offset)) {
    return;
  }
  times_.push_back({timestamp, relative});
}

uint64_t SegmentIndexes::position_of(Offset offset) const {
  const int64_t relative = offset - base_offset_;
  auto after = std::upper_bound(
      offsets_.begin(), offsets_.end(), relative,
      [](int64_t value, const OffsetEntry& entry) { return value < entry.relative_offset; });
  return after == offsets_.begin() ? 0 : static_cast<uint64_t>(std::prev(after)->position);
}

uint64_t SegmentIndexes::position_before(uint64_t position, Offset bound) const {
  const int64_t relative = bound - base_offset_;
  auto end = std::lower_bound(
      offsets_.begin(), offsets_.end(), relative,
      [](const OffsetEntry& entry, int64_t value) { return entry.relative_offset < value; });
  auto after = std::upper_bound(offsets_.begin(), end, position,
                                [](uint64_t value, const OffsetEntry& entry) {
                                  return value < static_cast<uint64_t>(entry.position);
                                });
  return after == offsets_.begin() ? 0 : static_cast<uint64_t>(std::prev(after)->position);
}

Offset SegmentIndexes::offset_before(TimeMs timestamp) const {
  auto at = std::lower_bound(
      times_.begin(), times_.end(), timestamp,
      [](const TimeEntry& entry, TimeMs value) { return entry.timestamp < value; });
  return at == times_.begin() ? base_offset_ : base_offset_ + std::prev(at)->relative_offset;
}

std::vector<std::byte> SegmentIndexes::encode_offsets() const {
  std::vector<std::byte> out(offsets_.size() * f::kOffsetEntrySize);
  std::byte* at = out.data();
  for (const OffsetEntry& entry : offsets_) {
    store_big(at, entry.relative_offset);
    store_big(at + 4, entry.position);
    at += f::kOffsetEntrySize;
  }
  return out;
}

std::vector<std::byte> SegmentIndexes::encode_times() const {
  std::vector<std::byte> out(times_.size() * f::kTimeEntrySize);
  std::byte* at = out.data();
  for (const TimeEntry& entry : times_) {
    store_big(at, entry.timestamp);
    store_big(at + 8, entry.relative_offset);
    at += f::kTimeEntrySize;
  }
  return out;
}

Result<void> SegmentIndexes::decode(std::span<const std::byte> offsets,
                                    std::span<const std::byte> times, uint64_t log_size) {
  offsets_.clear();
  times_.clear();
  if (offsets.size() % f::kOffsetEntrySize != 0)
    return corrupt("the offset index ends in an entry");
  if (times.size() % f::kTimeEntrySize != 0) return corrupt("the time index ends in an entry");
  for (size_t at = 0; at < offsets.size(); at += f::kOffsetEntrySize) {
    const OffsetEntry entry{load_big<int32_t>(offsets.data() + at),
                            load_big<int32_t>(offsets.data() + at + 4)};
    if (at != 0 && entry == OffsetEntry{}) break;
    // An entry for the first batch would be useless, so a leading pair of zeros is preallocated
    // space too.
    if (at == 0 && entry == OffsetEntry{}) break;
    if (entry.position < 0 || static_cast<uint64_t>(entry.position) >= log_size) {
      return corrupt("an offset index entry points beyond the log");
    }
    if (!offsets_.empty() && (entry.relative_offset <= offsets_.back().relative_offset ||
                              entry.position <= offsets_.back().position)) {
      return corrupt("the offset index does not grow");
    }
    offsets_.push_back(entry);
  }
  for (size_t at = 0; at < times.size(); at += f::kTimeEntrySize) {
    const TimeEntry entry{load_big<int64_t>(times.data() + at),
                          load_big<int32_t>(times.data() + at + 8)};
    if (entry == TimeEntry{}) break;
    if (!times_.empty() && (entry.timestamp < times_.back().timestamp ||
                            entry.relative_offset < times_.back().relative_offset)) {
      return corrupt("the time index does not grow");
    }
    times_.push_back(entry);
  }
  return {};
}

std::vector<std::byte> encode_aborted(std::span<const AbortedRange> entries) {
  std::vector<std::byte> out(entries.size() * f::kTxnEntrySize);
  std::byte* at = out.data();
  for (const AbortedRange& entry : entries) {
    store_big(at, f::kTxnEntryVersion);
    store_big(at + 2, entry.producer_id.value);
    store_big(at + 10, entry.first_offset);
    store_big(at + 18, entry.last_offset);
    store_big(at + 26, entry.last_stable_offset);
    at += f::kTxnEntrySize;
  }
  return out;
}

Result<std::vector<AbortedRange>> decode_aborted(std::span<const std::byte> bytes) {
  if (bytes.size() % f::kTxnEntrySize != 0)
    return corrupt("the transaction index ends in an entry");
  std::vector<AbortedRange> entries;
  for (size_t at = 0; at < bytes.size(); at += f::kTxnEntrySize) {
    const std::byte* p = bytes.data() + at;
    if (load_big<int16_t>(p) != f::kTxnEntryVersion) {
      return corrupt("unknown version of a transaction index entry");
    }
    entries.push_back({ProducerId(load_big<int64_t>(p + 2)), load_big<int64_t>(p + 10),
                       load_big<int64_t>(p + 18), load_big<int64_t>(p + 26)});
  }
  return entries;
}

}  // namespace ackord::log
