#include "tools/bench/held_records.h"

namespace ackord::bench {
namespace {

// What a broker allows when it is configured to allow the most.
constexpr const char* kMostLocks = "10000";
constexpr const char* kLongestLockMs = "3600000";

}  // namespace

Alternating alternate(const std::vector<Acquired>& ranges) {
  Alternating halves;
  for (const Acquired& range : ranges) {
    for (Offset offset = range.first; offset <= range.last; ++offset) {
      auto& half = offset % 2 == 0 ? halves.even : halves.odd;
      half.push_back(Acquired{range.partition, offset, offset});
    }
  }
  return halves;
}

void configure_holding(Bench& bench, const std::string& group) {
  bench.configure_group(group, {{"share.auto.offset.reset", "earliest"},
                                {"share.partition.max.record.locks", kMostLocks},
                                {"share.record.lock.duration.ms", kLongestLockMs}});
}

}  // namespace ackord::bench
