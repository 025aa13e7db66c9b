// A producer snapshot (.snapshot), version 1: the producer state as of the offset in the file's
// name.
//   version int16 = 1 | crc uint32 (CRC-32C of all that follows) | count int32 | entry*
//   entry: producer_id int64 | epoch int16 | last_sequence int32 | last_offset int64 | offset_delta
//   int32 |
//     timestamp int64 | coordinator_epoch int32 | current_txn_first_offset int64 (-1: none)
// A producer with several remembered batches has one entry for each, the newest last: readers that
// know one entry per producer keep the last, and ours still knows the older batches of the window
// after a restart.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ackord::log::snapshot_format {

constexpr int16_t kVersion = 1;
constexpr size_t kCrc = 2;
constexpr size_t kEntries = 6;
constexpr size_t kHeaderSize = 10;
constexpr size_t kEntrySize = 46;

}  // namespace ackord::log::snapshot_format
