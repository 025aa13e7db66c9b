#include "protocol/record_batch/record_reader.h"

#include <string>

#include "protocol/compression/compression.h"
#include "protocol/wire/reader.h"

namespace ackord::protocol {
namespace {

// A varint length, -1 for null, and that many bytes.
bool read_nullable(Reader& in, std::optional<std::span<const std::byte>>& out) {
  const int32_t size = in.varint();
  if (size < 0) {
    out.reset();
    return in.ok() && size == -1;
  }
  if (static_cast<size_t>(size) > in.remaining()) return false;
  out = in.raw(static_cast<size_t>(size));
  return true;
}

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
  Reader outer(left_);
  const int32_t size = outer.varint();
  if (!outer.ok() || size < 0 || static_cast<size_t>(size) > outer.remaining()) {
    return fail("its length exceeds the batch");
  }
  const auto body = outer.raw(static_cast<size_t>(size));
  left_ = left_.subspan(outer.position());
  Reader in(body);
  in.int8();  // attributes: none is defined
  const int64_t timestamp_delta = in.varlong();
  const int32_t offset_delta = in.varint();
  if (!in.ok()) return fail("it ends within its fixed fields");
  out.offset = header_.base_offset + offset_delta;
  out.timestamp = header_.log_append_time()
                      ? header_.max_timestamp
                      : static_cast<TimeMs>(static_cast<uint64_t>(header_.base_timestamp) +
                                            static_cast<uint64_t>(timestamp_delta));
  if (!read_nullable(in, out.key)) return fail("bad key length");
  if (!read_nullable(in, out.value)) return fail("bad value length");
  if (!read_headers(in, out)) return false;
  if (in.remaining() != 0) return fail("bytes after its headers");
  ++read_;
  return true;
}

bool RecordReader::read_headers(Reader& in, Record& out) {
  out.headers.clear();
  const int32_t count = in.varint();
  if (!in.ok() || count < 0) return fail("bad header count");
  // A header takes two bytes at least.
  if (static_cast<size_t>(count) * 2 > in.remaining()) return fail("more headers than bytes");
  for (int32_t i = 0; i < count; ++i) {
    RecordHeader header;
    std::optional<std::span<const std::byte>> key;
    if (!read_nullable(in, key) || !key) return fail("bad header key");
    header.key = {reinterpret_cast<const char*>(key->data()), key->size()};
    if (!read_nullable(in, header.value)) return fail("bad header value");
    out.headers.push_back(header);
  }
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
