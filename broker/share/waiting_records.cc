#include "broker/share/waiting_records.h"

#include <algorithm>
#include <cmath>

namespace ackord::share {

int64_t RetryBackoff::delay_ms(int16_t delivery_count) const {
  if (backoff_ms <= 0 || delivery_count <= 0) return 0;
  const double grown = static_cast<double>(backoff_ms) * std::pow(multiplier, delivery_count - 1);
  return grown < static_cast<double>(max_ms) ? static_cast<int64_t>(grown) : max_ms;
}

void WaitingRecords::split_at(Offset offset) {
  const auto at = ranges_.lower_bound(offset);
  if (at == ranges_.begin()) return;
  Range& before = std::prev(at)->second;
  if (before.last_offset < offset) return;
  by_time_.emplace(before.until_ms, offset);
  ranges_.emplace_hint(at, offset, before);
  before.last_offset = offset - 1;
}

void WaitingRecords::remove(Offset first, Offset last) {
  if (ranges_.empty() || first > last) return;
  split_at(first);
  split_at(last + 1);
  auto at = ranges_.lower_bound(first);
  while (at != ranges_.end() && at->first <= last) {
    by_time_.erase({at->second.until_ms, at->first});
    at = ranges_.erase(at);
  }
}

void WaitingRecords::add(const WaitingRange& range) {
  remove(range.first_offset, range.last_offset);
  ranges_[range.first_offset] = {range.last_offset, range.until_ms};
  by_time_.emplace(range.until_ms, range.first_offset);
}

std::vector<WaitingRange> WaitingRecords::take_due(int64_t steady_ms) {
  std::vector<WaitingRange> due;
  while (!by_time_.empty() && by_time_.begin()->first <= steady_ms) {
    const auto at = ranges_.find(by_time_.begin()->second);
    due.push_back({at->first, at->second.last_offset, at->second.until_ms});
    ranges_.erase(at);
    by_time_.erase(by_time_.begin());
  }
  return due;
}

std::optional<int64_t> WaitingRecords::earliest() const {
  if (by_time_.empty()) return std::nullopt;
  return by_time_.begin()->first;
}

std::vector<WaitingRange> WaitingRecords::within(Offset first, Offset last) const {
  std::vector<WaitingRange> out;
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin() && std::prev(at)->second.last_offset >= first) --at;
  for (; at != ranges_.end() && at->first <= last; ++at) {
    out.push_back(
        {std::max(first, at->first), std::min(last, at->second.last_offset), at->second.until_ms});
  }
  return out;
}

}  // namespace ackord::share
