// The record batch, format version 2 (Kafka's "magic 2", KIP-98). All numbers are big-endian.
//
//    0 base_offset int64             12 partition_leader_epoch int32   27 base_timestamp int64
//    8 batch_length int32            16 magic int8                     35 max_timestamp int64
//                                    17 crc uint32                     43 producer_id int64
//                                    21 attributes int16               51 producer_epoch int16
//                                    23 last_offset_delta int32        53 base_sequence int32
//   57 records_count int32           61 records, or their compressed form
// batch_length counts what follows it; crc is the CRC-32C of all from attributes on.
//
// A record: length varint | attributes int8 | timestamp_delta varlong | offset_delta varint |
//   key_length varint (-1: null) | key | value_length varint (-1: null) | value |
//   header_count varint | { key_length varint | key | value_length varint (-1: null) | value }*
// A control record's key: version int16 = 0 | type int16.
// An end marker's value: version int16 = 0 | coordinator_epoch int32.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ackord::protocol::batch_format {

constexpr size_t kBaseOffset = 0;
constexpr size_t kBatchLength = 8;
constexpr size_t kLeaderEpoch = 12;
constexpr size_t kMagic = 16;
constexpr size_t kCrc = 17;
constexpr size_t kAttributes = 21;
constexpr size_t kLastOffsetDelta = 23;
constexpr size_t kBaseTimestamp = 27;
constexpr size_t kMaxTimestamp = 35;
constexpr size_t kProducerId = 43;
constexpr size_t kProducerEpoch = 51;
constexpr size_t kBaseSequence = 53;
constexpr size_t kRecordsCount = 57;
constexpr size_t kHeaderSize = 61;

// What batch_length does not count.
constexpr size_t kLogOverhead = 12;
constexpr size_t kMinBatchLength = kHeaderSize - kLogOverhead;
// The same in all versions: enough to read the size and the version.
constexpr size_t kMagicEnd = kMagic + 1;

constexpr int8_t kMagicV2 = 2;

constexpr int16_t kCodecMask = 0x07;
constexpr int16_t kLogAppendTime = 0x08;
constexpr int16_t kTransactional = 0x10;
constexpr int16_t kControl = 0x20;
constexpr int16_t kDeleteHorizon = 0x40;

constexpr int64_t kNoTimestamp = -1;
constexpr int64_t kNoProducerId = -1;
constexpr int16_t kNoProducerEpoch = -1;
constexpr int32_t kNoSequence = -1;

// The least bytes of a record: length, attributes, two deltas, two lengths, header count.
constexpr size_t kMinRecordSize = 7;

constexpr int16_t kControlKeyVersion = 0;
constexpr int16_t kControlAbort = 0;
constexpr int16_t kControlCommit = 1;
constexpr int16_t kEndMarkerVersion = 0;
constexpr size_t kControlKeySize = 4;
constexpr size_t kEndMarkerSize = 6;

}  // namespace ackord::protocol::batch_format
