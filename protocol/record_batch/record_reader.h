// RecordReader: walks the records of one batch.
// Ownership: borrows the uncompressed records; a Record's spans point into them and live as long as
// they do. Errors: INVALID_RECORD; every length is checked against the bytes present.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/record_batch/batch_header.h"
#include "protocol/types/result.h"

namespace ackord::protocol {

struct RecordHeader {
  std::string_view key;
  std::optional<std::span<const std::byte>> value;
};

struct Record {
  Offset offset = 0;
  TimeMs timestamp = batch_format::kNoTimestamp;
  std::optional<std::span<const std::byte>> key;
  std::optional<std::span<const std::byte>> value;
  std::vector<RecordHeader> headers;
};

class RecordReader {
 public:
  // `records`: what follows the header, uncompressed.
  RecordReader(const BatchHeader& header, std::span<const std::byte> records);

  // False after the last record, or at an error (see failure()). `out` is reused.
  bool next(Record& out);
  // Set when the bytes are not what the header's count promises.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  bool fail(const char* why);

  BatchHeader header_;
  std::span<const std::byte> left_;
  int32_t read_ = 0;
  std::optional<Error> failure_;
};

// The records of a whole batch: a view into it, or `buffer` filled by decompression, never above
// `limit` bytes.
Result<std::span<const std::byte>> uncompressed_records(const BatchHeader& header,
                                                        std::span<const std::byte> batch,
                                                        size_t limit,
                                                        std::vector<std::byte>& buffer);

}  // namespace ackord::protocol
