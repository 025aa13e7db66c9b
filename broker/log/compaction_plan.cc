#include "broker/log/compaction_plan.h"

#include <algorithm>

namespace ackord::log {
namespace {

// Longer than any log lives; sums with it do not overflow.
constexpr int64_t kForever = int64_t{1} << 52;

Offset believed(const PartitionLog& log, Offset cleaned_up_to) {
  const bool fits = cleaned_up_to >= log.log_start() && cleaned_up_to <= log.log_end();
  return fits ? cleaned_up_to : log.log_start();
}

// The base offset of the segment that holds `offset`, or of the first one.
Offset base_below(const PartitionLog& log, Offset offset) {
  const SegmentPtr segment = log.segment_for(offset);
  return segment ? segment->base_offset() : log.segments().begin()->first;
}

}  // namespace

std::vector<SegmentPtr> segments_of_unknown_age(const PartitionLog& log, Offset cleaned_up_to) {
  std::vector<SegmentPtr> found;
  if (log.config().max_compaction_lag_ms == INT64_MAX) return found;
  const Offset first = base_below(log, believed(log, cleaned_up_to));
  for (auto at = log.segments().find(first); at != log.segments().end(); ++at) {
    const SegmentPtr& segment = at->second;
    if (segment == log.active()) break;
    if (segment->first_timestamp() < 0 && segment->size() != 0) found.push_back(segment);
  }
  return found;
}

CompactionPlan plan_compaction(const PartitionLog& log, Offset cleaned_up_to, TimeMs now_ms) {
  const LogConfig& config = log.config();
  CompactionPlan plan;
  plan.first_dirty = believed(log, cleaned_up_to);
  const Offset sealed_end = log.active()->base_offset();
  Offset stable = std::min(log.last_stable_offset(), sealed_end);
  if (!log.sealed().empty()) {
    stable = std::min(stable, log.sealed().front()->segment->base_offset());
  }
  plan.round_end = base_below(log, stable);
  plan.held_back = plan.round_end < sealed_end;
  const int64_t min_lag = std::min(config.min_compaction_lag_ms, kForever);
  const int64_t max_lag = std::min(config.max_compaction_lag_ms, kForever);
  const auto again_in = [&plan](int64_t ms) {
    plan.again_in_ms = std::min(plan.again_in_ms.value_or(INT64_MAX), std::max<int64_t>(ms, 1));
  };
  bool overdue = false;
  const auto first = log.segments().find(base_below(log, plan.first_dirty));
  for (auto at = first; at != log.segments().end() && at->first < plan.round_end; ++at) {
    const Segment& segment = *at->second;
    if (min_lag > 0 && segment.max_timestamp() > now_ms - min_lag) {
      plan.round_end = at->first;
      again_in(segment.max_timestamp() - now_ms + min_lag);
      break;
    }
    if (max_lag == kForever || segment.first_timestamp() <= 0) continue;
    const int64_t age = now_ms - segment.first_timestamp();
    if (age > max_lag) overdue = true;
    if (age <= max_lag) again_in(max_lag - age + 1);
  }
  for (const auto& [base, segment] : log.segments()) {
    if (base >= plan.round_end) break;
    plan.segments.push_back(segment);
    (base < plan.first_dirty ? plan.clean_bytes : plan.dirty_bytes) += segment->size();
  }
  if (plan.dirty_bytes == 0 || plan.first_dirty >= plan.round_end) return plan;
  const double all = static_cast<double>(plan.clean_bytes + plan.dirty_bytes);
  const double ratio = static_cast<double>(plan.dirty_bytes) / all;
  plan.due = overdue || ratio > config.min_cleanable_dirty_ratio;
  return plan;
}

}  // namespace ackord::log
