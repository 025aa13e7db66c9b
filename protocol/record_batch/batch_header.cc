#include "protocol/record_batch/batch_header.h"

#include <string>

#include "protocol/record_batch/big_endian.h"
#include "protocol/record_batch/crc32c.h"

namespace ackord::protocol {
namespace {

namespace f = batch_format;
constexpr int64_t kSequences = int64_t{INT32_MAX} + 1;

}  // namespace

int32_t add_sequence(int32_t sequence, int32_t delta) {
  return static_cast<int32_t>((int64_t{sequence} + delta) % kSequences);
}

int32_t subtract_sequence(int32_t sequence, int32_t delta) {
  return static_cast<int32_t>((int64_t{sequence} - delta + kSequences) % kSequences);
}

int32_t BatchHeader::last_sequence() const {
  if (base_sequence == f::kNoSequence) return f::kNoSequence;
  return add_sequence(base_sequence, last_offset_delta);
}

Result<BatchHeader> parse_header(std::span<const std::byte> bytes) {
  if (bytes.size() < f::kMagicEnd) {
    return error(ErrorCode::CORRUPT_MESSAGE, "the bytes end before a batch's version");
  }
  const std::byte* at = bytes.data();
  const auto magic = load_big<int8_t>(at + f::kMagic);
  if (magic == 0 || magic == 1) {
    return error(ErrorCode::UNSUPPORTED_FOR_MESSAGE_FORMAT,
                 "message format version " + std::to_string(magic) + " is not supported");
  }
  if (magic != f::kMagicV2) {
    return error(ErrorCode::CORRUPT_MESSAGE, "unknown batch version " + std::to_string(magic));
  }
  if (bytes.size() < f::kHeaderSize) {
    return error(ErrorCode::CORRUPT_MESSAGE, "the bytes end within a batch's header");
  }
  BatchHeader header;
  header.base_offset = load_big<int64_t>(at + f::kBaseOffset);
  header.batch_length = load_big<int32_t>(at + f::kBatchLength);
  header.leader_epoch = load_big<int32_t>(at + f::kLeaderEpoch);
  header.crc = load_big<uint32_t>(at + f::kCrc);
  header.attributes = load_big<int16_t>(at + f::kAttributes);
  header.last_offset_delta = load_big<int32_t>(at + f::kLastOffsetDelta);
  header.base_timestamp = load_big<int64_t>(at + f::kBaseTimestamp);
  header.max_timestamp = load_big<int64_t>(at + f::kMaxTimestamp);
  header.producer_id = ProducerId(load_big<int64_t>(at + f::kProducerId));
  header.producer_epoch = load_big<int16_t>(at + f::kProducerEpoch);
  header.base_sequence = load_big<int32_t>(at + f::kBaseSequence);
  header.records_count = load_big<int32_t>(at + f::kRecordsCount);
  if (header.batch_length < static_cast<int32_t>(f::kMinBatchLength)) {
    return error(ErrorCode::CORRUPT_MESSAGE,
                 "batch length " + std::to_string(header.batch_length) + " is less than a header");
  }
  return header;
}

void write_header(const BatchHeader& header, std::span<std::byte, f::kHeaderSize> out) {
  std::byte* at = out.data();
  store_big(at + f::kBaseOffset, header.base_offset);
  store_big(at + f::kBatchLength, header.batch_length);
  store_big(at + f::kLeaderEpoch, header.leader_epoch);
  store_big(at + f::kMagic, f::kMagicV2);
  store_big(at + f::kCrc, header.crc);
  store_big(at + f::kAttributes, header.attributes);
  store_big(at + f::kLastOffsetDelta, header.last_offset_delta);
  store_big(at + f::kBaseTimestamp, header.base_timestamp);
  store_big(at + f::kMaxTimestamp, header.max_timestamp);
  store_big(at + f::kProducerId, header.producer_id.value);
  store_big(at + f::kProducerEpoch, header.producer_epoch);
  store_big(at + f::kBaseSequence, header.base_sequence);
  store_big(at + f::kRecordsCount, header.records_count);
}

Result<void> check_batch(const BatchHeader& header, std::span<const std::byte> bytes) {
  if (bytes.size() < header.size()) {
    return error(ErrorCode::CORRUPT_MESSAGE, "the bytes end within a batch");
  }
  const uint32_t crc = crc32c(bytes.first(header.size()).subspan(f::kAttributes));
  if (crc != header.crc) {
    return error(ErrorCode::CORRUPT_MESSAGE, "batch checksum is " + std::to_string(crc) +
                                                 ", its header says " + std::to_string(header.crc));
  }
  if (header.base_offset < 0 || header.last_offset_delta < 0) {
    return error(ErrorCode::CORRUPT_MESSAGE, "negative offset in a batch");
  }
  return {};
}

uint32_t batch_crc(const HeaderBytes& header, std::span<const std::byte> body) {
  const uint32_t crc = crc32c(std::span(header).subspan(f::kAttributes));
  return crc32c_extend(crc, body);
}

}  // namespace ackord::protocol
