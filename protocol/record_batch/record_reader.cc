#include "protocol/record_batch/record_reader.h"

#include <string>

#include "protocol/compression/compression.h"
#include "protocol/wire/varint.h"

namespace ackord::protocol {
namespace {

// Reader's numbers, for the loop that walks every record of every produced batch: nearly all of
// them are varints of one or two bytes. A failure is an answer, and leaves the cursor anywhere.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool skip(size_t size) {
    if (size > left()) return false;
    at_ += size;
    return true;
  }
  std::span<const std::byte> take(size_t size) {
    const std::span<const std::byte> bytes(at_, size);
    at_ += size;
    return bytes;
  }
  bool varint(int32_t& out) {
    uint64_t value = 0;
    if (!unsigned_varint<kMaxVarintSize>(value) || value > UINT32_MAX) return false;
    out = unzigzag32(static_cast<uint32_t>(value));
    return true;
  }
  bool varlong(int64_t& out) {
    uint64_t value = 0;
    if (!unsigned_varint<kMaxVarlongSize>(value)) return false;
    out = unzigzag64(value);
    return true;
  }
  // A varint length, -1 for null, and that many bytes.
  bool nullable(std::optional<std::span<const std::byte>>& out) {
    int32_t size = 0;
    if (!varint(size)) return false;
    if (size < 0) {
      out.reset();
      return size == -1;
    }
    if (static_cast<size_t>(size) > left()) return false;
    out = take(static_cast<size_t>(size));
    return true;
  }

 private:
  template <size_t kMaxSize>
  bool unsigned_varint(uint64_t& out) {
    for (size_t i = 0; i < kMaxSize && at_ != end_; ++i) {
      const auto byte = static_cast<uint8_t>(*at_++);
      out |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace

RecordReader::RecordReader(const BatchHeader& header, std::span<const std::byte> records)
    : header_(header), left_(records) {}

bool RecordReader::fail(const char* why) {
  failure_ =
      error(ErrorCode::INVALID_RECORD, "record " + std::to_string(read_) + " of the batch: " + why);
  return false;
}

bool RecordReader::next(Record& out) {
  if (failure_) return false;
  if (read_ >= header_.records_count) {
    if (!left_.empty()) return fail("bytes after the last record");
    return false;
  }
  Cursor outer(left_);
  int32_t size = 0;
  if (!outer.varint(size) || size < 0 || static_cast<size_t>(size) > outer.left()) {
    return fail("its length exceeds the batch");
  }
  Cursor in(outer.take(static_cast<size_t>(size)));
  left_ = left_.last(outer.left());
  int64_t timestamp_delta = 0;
  int32_t offset_delta = 0;
  // Of the attributes none is defined.
  if (!in.skip(1) || !in.varlong(timestamp_delta) || !in.varint(offset_delta)) {
    return fail("it ends within its fixed fields");
  }
  out.offset = header_.base_offset + offset_delta;
  out.timestamp = header_.log_append_time()
                      ? header_.max_timestamp
                      : static_cast<TimeMs>(static_cast<uint64_t>(header_.base_timestamp) +
                                            static_cast<uint64_t>(timestamp_delta));
  if (!in.nullable(out.key)) return fail("bad key length");
  if (!in.nullable(out.value)) return fail("bad value length");
  int32_t headers = 0;
  if (!in.varint(headers) || headers < 0) return fail("bad header count");
  // A header takes two bytes at least.
  if (static_cast<size_t>(headers) * 2 > in.left()) return fail("more headers than bytes");
  out.headers.clear();
  for (int32_t i = 0; i < headers; ++i) {
    RecordHeader header;
    std::optional<std::span<const std::byte>> key;
    if (!in.nullable(key) || !key) return fail("bad header key");
    header.key = {reinterpret_cast<const char*>(key->data()), key->size()};
    if (!in.nullable(header.value)) return fail("bad header value");
    out.headers.push_back(header);
  }
  if (in.left() != 0) return fail("bytes after its headers");
  ++read_;
  return true;
}

Result<std::span<const std::byte>> uncompressed_records(const BatchHeader& header,
                                                        std::span<const std::byte> batch,
                                                        size_t limit,
                                                        std::vector<std::byte>& buffer) {
  const auto body = batch.first(header.size()).subspan(batch_format::kHeaderSize);
  if (header.codec() == 0) return body;
  const CodecInfo* codec = find_codec(header.codec());
  if (codec == nullptr) {
    return error(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
                 "unknown compression type " + std::to_string(header.codec()));
  }
  auto done = decompress(codec->codec, body, limit, buffer);
  if (done.has_error()) return done.error();
  return std::span<const std::byte>(buffer);
}

}  // namespace ackord::protocol
