#include "tools/bench/record_counts.h"

#include "protocol/record_batch/batch_header.h"
#include "tools/bench/wire.h"

namespace ackord::bench {

RecordCounts count_records(std::span<const std::byte> bytes) {
  RecordCounts counts;
  while (bytes.size() >= protocol::batch_format::kHeaderSize) {
    const auto header = protocol::parse_header(bytes);
    if (!header) throw BenchError("fetched bytes: " + header.error().message);
    if (header->size() > bytes.size()) break;
    if (!header->control()) counts.records += header->records_count;
    counts.bytes += header->size();
    counts.next_offset = header->next_offset();
    bytes = bytes.subspan(header->size());
  }
  return counts;
}

}  // namespace ackord::bench
