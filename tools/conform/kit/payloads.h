// Record batches whose records are given as bytes: spoiled records, and each codec in every framing
// that its format allows, where kit/batches.h writes only the usual one. Throws nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/conform/kit/batches.h"

namespace ackord::conform {

using Bytes = std::vector<std::byte>;

// What follows a batch's header: its records, or their compressed form.
Bytes payload_of(const Bytes& batch);
// The same header before another payload; length, codec and checksum follow.
Bytes with_payload(const Bytes& batch, const Bytes& payload, Codec codec = Codec::kNone);
// The batch with its length field as given; the checksum stays as it is.
Bytes with_length(Bytes batch, int32_t length);
Bytes joined(Bytes first, const Bytes& second);
Bytes cut(Bytes whole, size_t from_end);

// A record, with what its lengths say instead of what is true.
struct RawRecord {
  std::string value = "x";
  std::optional<std::string> key;
  std::optional<int32_t> length;
  int8_t attributes = 0;
  int64_t timestamp_delta = 0;
  int32_t offset_delta = 0;
  std::optional<int32_t> key_length;
  std::optional<int32_t> value_length;
  int32_t headers_count = 0;
  Bytes headers;
};
Bytes raw_record(const RawRecord& record);
// A batch that says it has `count` records, now, and has this payload.
Bytes raw_batch(int32_t count, const Bytes& payload);

Bytes gzip_of(const Bytes& plain, int level = -1);
Bytes snappy_raw(const Bytes& plain);
Bytes snappy_xerial(const Bytes& plain, size_t block_size = 32 << 10);

struct Lz4Framing {
  int block_size_id = 4;  // 4: 64 KiB, 5: 256 KiB, 6: 1 MiB, 7: 4 MiB
  bool linked_blocks = false;
  bool block_checksums = false;
  bool content_checksum = false;
  bool content_size = false;
  int level = 0;
};
Bytes lz4_of(const Bytes& plain, const Lz4Framing& framing = {});

struct ZstdFraming {
  int level = 3;
  bool checksum = false;
  bool content_size = true;
};
Bytes zstd_of(const Bytes& plain, const ZstdFraming& framing = {});

}  // namespace ackord::conform
