// What must be true of every record when all journals are there: it reached its end, nobody got it
// after a verdict on it was answered, and no delivery count is beyond the limit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/integration/share_churn/journal.h"

namespace ackord::integration {

struct DeliveryFinding {
  int32_t partition = 0;
  Offset offset = 0;
  std::string text;
};

struct DeliverySummary {
  int64_t records = 0;
  int64_t deliveries = 0;
  int64_t accepted = 0;           // answered so
  int64_t rejected = 0;           // answered so
  int64_t in_doubt = 0;           // a last verdict was sent, its answer is not known
  int64_t at_the_limit = 0;       // archived because of its delivery count
  int64_t refused_verdicts = 0;   // offsets in acknowledgements that came too late
  std::map<int, int64_t> counts;  // deliveries by delivery count
  std::vector<DeliveryFinding> findings;
};

// Offsets that the broker says it has archived because of their delivery count.
struct ArchivedRange {
  int32_t partition = 0;
  Offset first = 0;
  Offset last = 0;
};

// `ends`: the end offset of each partition; all records are offsets from 0 up to it.
DeliverySummary check_deliveries(const std::vector<Offset>& ends, int delivery_count_limit,
                                 const std::vector<std::vector<JournalEntry>>& journals,
                                 const std::vector<ArchivedRange>& archived);

// All that the journals know of one record, in the order of time; a line each.
std::vector<std::string> story_of(int32_t partition, Offset offset,
                                  const std::vector<std::vector<JournalEntry>>& journals);

}  // namespace ackord::integration
