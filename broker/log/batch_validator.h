// What a client's batch must be like before it is stored, and the header that it is stored with.
// Pure. Messages and codes are those of Kafka's own validator (KIP-98, KIP-467, KIP-937).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "broker/log/types.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::log {

// The most that one batch may decompress to.
constexpr size_t kMaxUncompressedBatch = size_t{256} << 20;

struct ValidBatch {
  // Values to store; base_offset, leader_epoch (and the checksum, when new_crc) are set by who
  // writes it.
  protocol::BatchHeader header;
  // What follows the header: a view into the client's bytes, or into `recompressed`.
  std::span<const std::byte> body;
  std::vector<std::byte> recompressed;
  bool new_crc = false;
};

// The header of the one batch that a partition's part of a Produce has to be; its content is not
// looked at. INVALID_RECORD unless it is one whole batch of the present format, CORRUPT_MESSAGE for
// a format that is not known, UNSUPPORTED_COMPRESSION_TYPE for zstd from a client that is older.
Result<protocol::BatchHeader> sole_batch(std::span<const std::byte> records,
                                         int16_t produce_version);

// Checks `request` and fills `out`. False with the answer in `refusal`.
bool validate(const ClientAppend& request, const LogConfig& config, TimeMs now_ms, ValidBatch& out,
              AppendResult& refusal);

}  // namespace ackord::log
