#include <zlib.h>

#include <climits>
#include <cstdlib>
#include <memory>

#include "protocol/compression/codec_impl.h"

namespace ackord::protocol::codec {
namespace {

// zlib's flag that asks for the gzip header and trailer instead of zlib's.
constexpr int kGzipWindow = MAX_WBITS + 16;

struct Deflater {
  z_stream stream{};
  int level;
  explicit Deflater(int l) : level(l) {
    if (deflateInit2(&stream, l, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      std::abort();
  }
  ~Deflater() { deflateEnd(&stream); }
};

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) std::abort();
  }
  ~Inflater() { inflateEnd(&stream); }
};

Bytef* pointer(const std::byte* at) { return reinterpret_cast<Bytef*>(const_cast<std::byte*>(at)); }

}  // namespace

void gzip_compress(int level, Input in, Output& out) {
  thread_local std::unique_ptr<Deflater> kept;
  if (!kept || kept->level != level) kept = std::make_unique<Deflater>(level);
  z_stream& stream = kept->stream;
  deflateReset(&stream);
  const size_t before = out.size();
  const size_t bound = deflateBound(&stream, static_cast<uLong>(in.size()));
  out.resize(before + bound);
  stream.next_in = pointer(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = pointer(out.data() + before);
  stream.avail_out = static_cast<uInt>(bound);
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();  // the bound is zlib's promise
  out.resize(before + bound - stream.avail_out);
}

Result<void> gzip_decompress(Input in, size_t limit, Output& out) {
  thread_local Inflater kept;
  z_stream& stream = kept.stream;
  inflateReset(&stream);
  if (in.size() > UINT_MAX) return too_large(limit);
  stream.next_in = pointer(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  size_t used = 0;
  for (;;) {
    if (!grow(out, used, limit)) return too_large(limit);
    const size_t room = std::min<size_t>(out.size() - used, UINT_MAX);
    stream.next_out = pointer(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    if (code == Z_STREAM_END) {
      if (stream.avail_in == 0) break;
      inflateReset(&stream);  // a further member
      continue;
    }
    if (code != Z_OK) return corrupt("gzip", stream.msg ? stream.msg : "the data end too early");
  }
  if (used > limit) return too_large(limit);
  out.resize(used);
  return {};
}

}  // namespace ackord::protocol::codec
