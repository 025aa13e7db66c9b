#include <zstd.h>

#include <cstdlib>

#include "protocol/compression/codec_impl.h"

namespace ackord::protocol::codec {
namespace {

struct Compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Compressor() { ZSTD_freeCCtx(context); }
};
struct Decompressor {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~Decompressor() { ZSTD_freeDCtx(context); }
};

}  // namespace

void zstd_compress(int level, Input in, Output& out) {
  thread_local Compressor kept;
  const size_t before = out.size();
  out.resize(before + ZSTD_compressBound(in.size()));
  const size_t size = ZSTD_compressCCtx(kept.context, out.data() + before, out.size() - before,
                                        in.data(), in.size(), level);
  if (ZSTD_isError(size)) std::abort();  // the bound is the library's promise
  out.resize(before + size);
}

Result<void> zstd_decompress(Input in, size_t limit, Output& out) {
  thread_local Decompressor kept;
  ZSTD_DCtx_reset(kept.context, ZSTD_reset_session_only);
  ZSTD_inBuffer input{in.data(), in.size(), 0};
  size_t used = 0;
  size_t left = 1;
  for (;;) {
    if (!grow(out, used, limit)) return too_large(limit);
    ZSTD_outBuffer output{out.data() + used, out.size() - used, 0};
    left = ZSTD_decompressStream(kept.context, &output, &input);
    if (ZSTD_isError(left)) return corrupt("zstd", ZSTD_getErrorName(left));
    used += output.pos;
    const bool all_read = input.pos == input.size;
    if (all_read && (left == 0 || output.pos < output.size)) break;
  }
  if (left != 0) return corrupt("zstd", "the data end too early");
  if (used > limit) return too_large(limit);
  out.resize(used);
  return {};
}

}  // namespace ackord::protocol::codec
