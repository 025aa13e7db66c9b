#include "tools/conform/kit/payloads.h"

#include <lz4frame.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>

#include "protocol/record_batch/big_endian.h"
#include "protocol/record_batch/crc32c.h"
#include "tools/conform/kit/kit.h"

namespace ackord::conform {
namespace {

namespace format = protocol::batch_format;

// The framing of the Java library, which everybody else took over.
constexpr unsigned char kXerialHeader[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0,
                                           0,    0,   0,   1,   0,   0,   0,   1};

const char* chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}
void put_text(Bytes& out, const std::string& text) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}
void put_varint(Bytes& out, int64_t value) {
  auto rest = static_cast<uint64_t>(value << 1) ^ static_cast<uint64_t>(value >> 63);
  for (; rest >= 0x80; rest >>= 7) out.push_back(static_cast<std::byte>(rest | 0x80));
  out.push_back(static_cast<std::byte>(rest));
}
// The compressors fail only on wrong calls.
void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

Bytes payload_of(const Bytes& batch) { return {batch.begin() + format::kHeaderSize, batch.end()}; }

Bytes with_payload(const Bytes& batch, const Bytes& payload, Codec codec) {
  Bytes out(batch.begin(), batch.begin() + format::kHeaderSize);
  out.insert(out.end(), payload.begin(), payload.end());
  out = with_length(std::move(out), static_cast<int32_t>(format::kMinBatchLength + payload.size()));
  auto attributes = protocol::load_big<int16_t>(out.data() + format::kAttributes);
  attributes =
      static_cast<int16_t>((attributes & ~format::kCodecMask) | static_cast<int16_t>(codec));
  protocol::store_big(out.data() + format::kAttributes, attributes);
  protocol::store_big(out.data() + format::kCrc,
                      protocol::crc32c(std::span(out).subspan(format::kAttributes)));
  return out;
}

Bytes with_length(Bytes batch, int32_t length) {
  protocol::store_big(batch.data() + format::kBatchLength, length);
  return batch;
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Bytes cut(Bytes whole, size_t from_end) {
  whole.resize(whole.size() - from_end);
  return whole;
}

Bytes raw_record(const RawRecord& record) {
  Bytes body{static_cast<std::byte>(record.attributes)};
  put_varint(body, record.timestamp_delta);
  put_varint(body, record.offset_delta);
  put_varint(
      body, record.key_length.value_or(record.key ? static_cast<int32_t>(record.key->size()) : -1));
  put_text(body, record.key.value_or(""));
  put_varint(body, record.value_length.value_or(static_cast<int32_t>(record.value.size())));
  put_text(body, record.value);
  put_varint(body, record.headers_count);
  body = joined(std::move(body), record.headers);
  Bytes out;
  put_varint(out, record.length.value_or(static_cast<int32_t>(body.size())));
  return joined(std::move(out), body);
}

Bytes raw_batch(int32_t count, const Bytes& payload) {
  return with_payload(
      build_batch(
          {.records = records_of({"x"}), .last_offset_delta = count - 1, .records_count = count}),
      payload);
}

Bytes gzip_of(const Bytes& plain, int level) {
  constexpr int kGzipWindow = MAX_WBITS + 16;
  z_stream stream{};
  require(deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes out(deflateBound(&stream, static_cast<uLong>(plain.size())));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Bytes snappy_raw(const Bytes& plain) {
  Bytes out(snappy::MaxCompressedLength(plain.size()));
  size_t size = 0;
  snappy::RawCompress(chars(plain), plain.size(), reinterpret_cast<char*>(out.data()), &size);
  out.resize(size);
  return out;
}

Bytes snappy_xerial(const Bytes& plain, size_t block_size) {
  Bytes out;
  for (const unsigned char c : kXerialHeader) out.push_back(static_cast<std::byte>(c));
  for (size_t at = 0; at < plain.size(); at += block_size) {
    const auto end =
        plain.begin() + static_cast<ptrdiff_t>(std::min(at + block_size, plain.size()));
    const Bytes block = snappy_raw({plain.begin() + static_cast<ptrdiff_t>(at), end});
    std::byte size[4];
    protocol::store_big(size, static_cast<int32_t>(block.size()));
    out.insert(out.end(), std::begin(size), std::end(size));
    out = joined(std::move(out), block);
  }
  return out;
}

Bytes lz4_of(const Bytes& plain, const Lz4Framing& framing) {
  LZ4F_preferences_t how{};
  how.frameInfo.blockSizeID = static_cast<LZ4F_blockSizeID_t>(framing.block_size_id);
  how.frameInfo.blockMode = framing.linked_blocks ? LZ4F_blockLinked : LZ4F_blockIndependent;
  how.frameInfo.blockChecksumFlag =
      framing.block_checksums ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
  how.frameInfo.contentChecksumFlag =
      framing.content_checksum ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
  how.frameInfo.contentSize = framing.content_size ? plain.size() : 0;
  how.compressionLevel = framing.level;
  Bytes out(LZ4F_compressFrameBound(plain.size(), &how) + LZ4F_HEADER_SIZE_MAX);
  // Not LZ4F_compressFrame, which would choose another block size and mode for small input.
  LZ4F_cctx* context = nullptr;
  require(!LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION)));
  size_t used = LZ4F_compressBegin(context, out.data(), out.size(), &how);
  used += LZ4F_compressUpdate(context, out.data() + used, out.size() - used, plain.data(),
                              plain.size(), nullptr);
  const size_t rest = LZ4F_compressEnd(context, out.data() + used, out.size() - used, nullptr);
  require(!LZ4F_isError(rest));
  out.resize(used + rest);
  LZ4F_freeCompressionContext(context);
  return out;
}

Bytes zstd_of(const Bytes& plain, const ZstdFraming& framing) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, framing.level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, framing.checksum ? 1 : 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, framing.content_size ? 1 : 0);
  Bytes out(ZSTD_compressBound(plain.size()));
  const size_t size = ZSTD_compress2(context, out.data(), out.size(), plain.data(), plain.size());
  require(!ZSTD_isError(size));
  out.resize(size);
  ZSTD_freeCCtx(context);
  return out;
}

}  // namespace ackord::conform
