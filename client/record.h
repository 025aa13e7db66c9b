// ShareRecord: one record as a share consumer delivers it. Owns its bytes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::client {

struct Header {
  std::string key;
  std::optional<std::string> value;
};

struct ShareRecord {
  TopicName topic;
  TopicIdPartition source;
  Offset offset = 0;
  TimeMs timestamp = -1;
  int16_t delivery_count = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<Header> headers;
};

// A range that the broker has handed to this member, with how often it has been delivered.
struct AcquiredRange {
  Offset first = 0;
  Offset last = 0;
  int16_t delivery_count = 0;
};

// What a fetched partition's bytes hold within the acquired ranges.
struct FetchedRecords {
  std::vector<ShareRecord> records;  // ascending; topic and source are set
  std::vector<Offset>
      gaps;  // acquired, but no record: control records, and what compaction removed
  std::vector<Offset> corrupt;  // acquired, and within a batch that could not be read
};

// `bytes` holds whole record batches; more than `max_batch_size` uncompressed bytes in one count as
// corrupt.
FetchedRecords read_records(const TopicName& topic, const TopicIdPartition& source,
                            std::span<const std::byte> bytes,
                            std::span<const AcquiredRange> acquired, size_t max_batch_size);

}  // namespace ackord::client
