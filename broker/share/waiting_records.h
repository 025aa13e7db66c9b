// WaitingRecords: records that were given back and are not handed out before a time: the delayed
// retry of a share group (group configs share.retry.backoff.*; Ackord's own).
//
// A mere "not before", laid over what is AVAILABLE: whoever takes what is due looks at the state
// again. Soft. Bounded by what is in flight. Costs: O(log n + ranges touched). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "broker/share/share_types.h"

namespace ackord::share {

// How long a record waits after its n-th delivery: backoff × multiplier^(n-1), at most max.
struct RetryBackoff {
  int64_t backoff_ms = 0;  // 0: it does not wait
  double multiplier = 2;
  int64_t max_ms = 0;

  int64_t delay_ms(int16_t delivery_count) const;
  friend bool operator==(const RetryBackoff&, const RetryBackoff&) = default;
};

struct WaitingRange {
  Offset first_offset = 0;
  Offset last_offset = 0;
  int64_t until_ms = 0;  // steady
  friend bool operator==(const WaitingRange&, const WaitingRange&) = default;
};

class WaitingRecords {
 public:
  // Takes the place of what the range waited for before.
  void add(const WaitingRange& range);
  void remove(Offset first, Offset last);
  // Removes and returns what is due.
  std::vector<WaitingRange> take_due(int64_t steady_ms);
  std::optional<int64_t> earliest() const;
  // What of [first, last] waits, ascending.
  std::vector<WaitingRange> within(Offset first, Offset last) const;
  bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    Offset last_offset;
    int64_t until_ms;
  };
  void split_at(Offset offset);

  std::map<Offset, Range> ranges_;
  std::set<std::pair<int64_t, Offset>> by_time_;
};

}  // namespace ackord::share
