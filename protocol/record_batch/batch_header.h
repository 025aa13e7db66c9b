// The header of a record batch (batch_format.h): parsed, checked, and patched in place.
// Plain values; borrows nothing. Errors: CORRUPT_MESSAGE for bytes that are no batch or fail their
// checksum, UNSUPPORTED_FOR_MESSAGE_FORMAT for the old magic 0 and 1.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/record_batch/batch_format.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::protocol {

struct BatchHeader {
  Offset base_offset = 0;
  int32_t batch_length = 0;
  int32_t leader_epoch = -1;
  uint32_t crc = 0;
  int16_t attributes = 0;
  int32_t last_offset_delta = 0;
  TimeMs base_timestamp = batch_format::kNoTimestamp;
  TimeMs max_timestamp = batch_format::kNoTimestamp;
  ProducerId producer_id;
  int16_t producer_epoch = batch_format::kNoProducerEpoch;
  int32_t base_sequence = batch_format::kNoSequence;
  int32_t records_count = 0;

  // The whole batch, with what batch_length does not count.
  size_t size() const { return batch_format::kLogOverhead + static_cast<size_t>(batch_length); }
  Offset last_offset() const { return base_offset + last_offset_delta; }
  Offset next_offset() const { return last_offset() + 1; }
  int codec() const { return attributes & batch_format::kCodecMask; }
  bool log_append_time() const { return (attributes & batch_format::kLogAppendTime) != 0; }
  bool transactional() const { return (attributes & batch_format::kTransactional) != 0; }
  bool control() const { return (attributes & batch_format::kControl) != 0; }
  // From when on a compaction may drop the batch's tombstones or its marker (KIP-534); the records'
  // timestamps count from it then.
  std::optional<TimeMs> delete_horizon() const {
    if ((attributes & batch_format::kDeleteHorizon) == 0) return std::nullopt;
    return base_timestamp;
  }
  bool has_producer() const { return producer_id.value >= 0; }
  // -1 without a sequence; wraps after INT32_MAX.
  int32_t last_sequence() const;

  friend bool operator==(const BatchHeader&, const BatchHeader&) = default;
};

using HeaderBytes = std::array<std::byte, batch_format::kHeaderSize>;

// `bytes` begins with a batch; it may end before the batch does, but not within the header.
Result<BatchHeader> parse_header(std::span<const std::byte> bytes);
void write_header(const BatchHeader& header, std::span<std::byte, batch_format::kHeaderSize> out);

// Of a whole batch: that its bytes are there, its checksum, and that the counts agree.
Result<void> check_batch(const BatchHeader& header, std::span<const std::byte> bytes);
// The checksum as it must be for a header with these values and this body.
uint32_t batch_crc(const HeaderBytes& header, std::span<const std::byte> body);

// Sequence numbers wrap from INT32_MAX to 0.
int32_t add_sequence(int32_t sequence, int32_t delta);
int32_t subtract_sequence(int32_t sequence, int32_t delta);

}  // namespace ackord::protocol
