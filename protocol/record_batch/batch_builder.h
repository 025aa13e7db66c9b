// BatchBuilder: makes one record batch. Also: end markers, the control batches of transactions.
// Copies what it is given. Records get the offsets base_offset, +1, …
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/compression/compression.h"
#include "protocol/record_batch/batch_header.h"
#include "protocol/record_batch/record_reader.h"
#include "protocol/types/result.h"

namespace ackord::protocol {

struct BatchOptions {
  Offset base_offset = 0;
  int32_t leader_epoch = -1;
  Codec codec = Codec::kNone;
  int level = kDefaultLevel;
  bool log_append_time = false;
  bool transactional = false;
  bool control = false;
  ProducerId producer_id;
  int16_t producer_epoch = batch_format::kNoProducerEpoch;
  int32_t base_sequence = batch_format::kNoSequence;
  std::optional<TimeMs> delete_horizon;  // KIP-534; becomes the base of the timestamps
};

class BatchBuilder {
 public:
  explicit BatchBuilder(BatchOptions options) : options_(options) {}

  void add(TimeMs timestamp, std::optional<std::span<const std::byte>> key,
           std::optional<std::span<const std::byte>> value,
           std::span<const RecordHeader> headers = {});
  // With gaps before it, as compaction leaves them: `offset` grows from call to call.
  void add_at(Offset offset, TimeMs timestamp, std::optional<std::span<const std::byte>> key,
              std::optional<std::span<const std::byte>> value,
              std::span<const RecordHeader> headers);
  int32_t count() const { return count_; }
  // The bytes of the records so far, uncompressed.
  size_t records_size() const { return records_.size(); }

  // The whole batch with its checksum. At least one record; the builder is spent.
  std::vector<std::byte> build();
  // The same for a batch that ended at `last_offset` before its last records went.
  std::vector<std::byte> build_up_to(Offset last_offset);

 private:
  void put_bytes(std::vector<std::byte>& out, std::optional<std::span<const std::byte>> bytes);

  BatchOptions options_;
  int32_t count_ = 0;
  int32_t last_delta_ = -1;
  TimeMs base_timestamp_ = batch_format::kNoTimestamp;
  TimeMs max_timestamp_ = batch_format::kNoTimestamp;
  std::vector<std::byte> records_;
  std::vector<std::byte> record_;  // reused
};

// The end of a transaction, as it stands in a partition (EndTransactionMarker, KIP-98).
struct EndTransactionMarker {
  bool commit = false;
  int32_t coordinator_epoch = 0;
  friend bool operator==(const EndTransactionMarker&, const EndTransactionMarker&) = default;
};

// A control batch with one record. `options` gives producer, epoch, base offset and leader epoch.
std::vector<std::byte> build_end_marker(BatchOptions options, EndTransactionMarker marker,
                                        TimeMs timestamp);
// From a control record. Empty for another kind of control record (Raft's), which readers skip.
Result<std::optional<EndTransactionMarker>> parse_end_marker(const Record& record);

}  // namespace ackord::protocol
