// How many records lie in fetched bytes, from the headers of their batches alone. A last batch that
// is cut off counts for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/types/ids.h"

namespace ackord::bench {

struct RecordCounts {
  int64_t records = 0;  // control records are none
  size_t bytes = 0;     // of whole batches
  Offset next_offset = -1;
};

// BenchError for bytes that are no batches.
RecordCounts count_records(std::span<const std::byte> bytes);

}  // namespace ackord::bench
