// Reading a state topic's partition from its start, batch by batch, for ShardRunner::load.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "broker/io/task.h"
#include "broker/log/partition.h"

namespace ackord::coordinator {

// Views into the bytes that were read: they live until the callback returns.
struct LoadedRecord {
  Offset offset = 0;
  std::span<const std::byte> key;
  std::optional<std::span<const std::byte>> value;
};
struct LoadedBatch {
  Offset base_offset = 0;
  TimeMs timestamp_ms = 0;
  std::optional<log::ProducerStamp> transaction;
  std::optional<log::EndMarker> marker;  // a control batch; then there are no records
  std::vector<LoadedRecord> records;
};

// Hands every batch up to the log's end to `replay`, in order, and stops at its first error. Errors
// of its own: CORRUPT_MESSAGE with partition and offset for a batch that cannot be parsed,
// KAFKA_STORAGE_ERROR.
io::Task<Result<void>> load_partition(log::Partition& partition,
                                      std::function<Result<void>(const LoadedBatch&)> replay);

}  // namespace ackord::coordinator
