// The index files of a segment. Numbers are big-endian, entries have no padding and grow in order.
//   .index      { relative_offset int32 | position int32 }*: a batch's last offset, and where the
//   batch begins .timeindex  { timestamp int64 | relative_offset int32 }*: no record before or at
//   the offset is later .txnindex   { version int16 = 0 | producer_id int64 | first_offset int64 |
//   last_offset int64 |
//                 last_stable_offset int64 }*: aborted transactions, in the order of their markers
#pragma once

#include <cstddef>
#include <cstdint>

namespace ackord::log::index_format {

constexpr size_t kOffsetEntrySize = 8;
constexpr size_t kTimeEntrySize = 12;
constexpr size_t kTxnEntrySize = 34;
constexpr int16_t kTxnEntryVersion = 0;

}  // namespace ackord::log::index_format
