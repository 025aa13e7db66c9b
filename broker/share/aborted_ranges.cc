#include "broker/share/aborted_ranges.h"

#include <unordered_set>

namespace ackord::share {

std::vector<OffsetRange> aborted_ranges(const std::vector<log::BatchInfo>& batches,
                                        const std::vector<log::AbortedTransaction>& aborted) {
  std::vector<OffsetRange> ranges;
  std::unordered_set<ProducerId> open;
  size_t next = 0;
  for (const log::BatchInfo& batch : batches) {
    while (next < aborted.size() && aborted[next].first_offset <= batch.last_offset) {
      open.insert(aborted[next++].producer_id);
    }
    if (batch.control) {
      open.erase(batch.producer.id);
    } else if (batch.transactional && open.contains(batch.producer.id)) {
      if (!ranges.empty() && ranges.back().last_offset + 1 == batch.base_offset) {
        ranges.back().last_offset = batch.last_offset;
      } else {
        ranges.push_back({batch.base_offset, batch.last_offset});
      }
    }
  }
  return ranges;
}

}  // namespace ackord::share
