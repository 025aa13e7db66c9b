// Record batches as cases write them, sound or spoiled in one place, and as they come back.
// Errors: Failure for bytes in an answer that are no batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/compression/compression.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::conform {

using protocol::Codec;

struct RecordSpec {
  std::optional<std::string> value;
  std::optional<std::string> key;
  std::optional<int64_t> timestamp;  // nothing: now
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

struct BatchSpec {
  std::vector<RecordSpec> records;
  Codec codec = Codec::kNone;
  int64_t producer_id = -1;
  int16_t producer_epoch = -1;
  int32_t base_sequence = -1;
  bool transactional = false;
  bool control = false;

  // What the header says instead of what is true. The checksum covers it, unless `bad_crc`.
  std::optional<int64_t> base_offset;
  std::optional<int32_t> leader_epoch;
  std::optional<int8_t> magic;
  std::optional<int16_t> attributes;
  std::optional<int32_t> last_offset_delta;
  std::optional<int64_t> base_timestamp;
  std::optional<int64_t> max_timestamp;
  std::optional<int32_t> records_count;
  bool bad_crc = false;
};

std::vector<std::byte> build_batch(const BatchSpec& spec);
// Records with these values, without keys, now.
std::vector<RecordSpec> records_of(const std::vector<std::string>& values);
// "<prefix>0" … "<prefix><count - 1>".
std::vector<std::string> numbered(int count, const std::string& prefix = "v");
// A message set of the old format (magic 0 or 1) with one message.
std::vector<std::byte> old_message(int8_t magic, const std::string& value);

struct RecordRead {
  int64_t offset = 0;
  int64_t timestamp = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

struct BatchRead {
  protocol::BatchHeader header;
  bool crc_ok = false;
  std::vector<RecordRead> records;
  Codec codec() const { return static_cast<Codec>(header.codec()); }
};

// The last batch may be cut, as a Fetch may cut it; it is left out.
std::vector<BatchRead> parse_batches(std::span<const std::byte> bytes);
// Of the batches that are no control batches.
std::vector<std::string> values_of(const std::vector<BatchRead>& batches);
std::vector<int64_t> offsets_of(const std::vector<BatchRead>& batches);

}  // namespace ackord::conform
