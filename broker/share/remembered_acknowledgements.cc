#include "broker/share/remembered_acknowledgements.h"

#include <iterator>
#include <utility>

namespace ackord::share {

RememberedAcknowledgements::Ranges::iterator RememberedAcknowledgements::erase(
    Ranges::iterator at) {
  by_age_.erase(at->second.number);
  return ranges_.erase(at);
}

void RememberedAcknowledgements::split_at(Offset offset) {
  const auto at = ranges_.lower_bound(offset);
  if (at == ranges_.begin()) return;
  Range& before = std::prev(at)->second;
  if (before.last_offset < offset) return;
  Range rest = before;
  before.last_offset = offset - 1;
  rest.number = next_number_++;
  by_age_.emplace(rest.number, offset);
  ranges_.emplace_hint(at, offset, std::move(rest));
}

void RememberedAcknowledgements::forget(Offset first, Offset last) {
  if (ranges_.empty() || first > last) return;
  split_at(first);
  split_at(last + 1);
  auto at = ranges_.lower_bound(first);
  while (at != ranges_.end() && at->first <= last) at = erase(at);
}

void RememberedAcknowledgements::forget_member(const std::string& member) {
  for (auto at = ranges_.begin(); at != ranges_.end();)
    at = at->second.member == member ? erase(at) : std::next(at);
}

void RememberedAcknowledgements::clear() {
  ranges_.clear();
  by_age_.clear();
}

void RememberedAcknowledgements::add(const std::string& member, AcknowledgeType type, Offset first,
                                     Offset last) {
  forget(first, last);
  // A member that acknowledges record by record fills one range.
  const auto after = ranges_.lower_bound(first);
  if (after != ranges_.begin()) {
    Range& before = std::prev(after)->second;
    if (before.last_offset + 1 == first && before.type == type && before.member == member) {
      before.last_offset = last;
      return;
    }
  }
  const uint64_t number = next_number_++;
  ranges_[first] = {last, type, member, number};
  by_age_.emplace(number, first);
  while (ranges_.size() > kMaxRanges) erase(ranges_.find(by_age_.begin()->second));
}

std::optional<Offset> RememberedAcknowledgements::same_until(const std::string& member,
                                                             AcknowledgeType type,
                                                             Offset offset) const {
  auto at = ranges_.upper_bound(offset);
  if (at == ranges_.begin()) return std::nullopt;
  const Range& range = std::prev(at)->second;
  if (range.last_offset < offset || range.type != type || range.member != member)
    return std::nullopt;
  return range.last_offset;
}

}  // namespace ackord::share
