#include <lz4frame.h>

#include <cstdlib>
#include <memory>

#include "protocol/compression/codec_impl.h"

namespace ackord::protocol::codec {
namespace {

struct Context {
  LZ4F_dctx* context = nullptr;
  Context() {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) std::abort();
  }
  ~Context() { LZ4F_freeDecompressionContext(context); }
};

// Blocks that refer to earlier ones are refused: Java cannot read them, so nobody may write them.
// The frame: magic int32 | flags int8, with bit 5 set where blocks are independent.
bool blocks_are_linked(Input in) {
  constexpr size_t kFlags = 4;
  constexpr auto kIndependent = std::byte{0x20};
  return in.size() > kFlags && (in[kFlags] & kIndependent) == std::byte{0};
}

}  // namespace

void lz4_compress(int level, Input in, Output& out) {
  // Java's reader knows independent blocks only, and Kafka writes 64 KiB ones without checksums.
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  preferences.compressionLevel = level;
  const size_t before = out.size();
  out.resize(before + LZ4F_compressFrameBound(in.size(), &preferences));
  const size_t size = LZ4F_compressFrame(out.data() + before, out.size() - before, in.data(),
                                         in.size(), &preferences);
  if (LZ4F_isError(size)) std::abort();  // the bound is the library's promise
  out.resize(before + size);
}

Result<void> lz4_decompress(Input in, size_t limit, Output& out) {
  if (blocks_are_linked(in)) return corrupt("lz4", "its blocks are linked");
  thread_local Context kept;
  LZ4F_resetDecompressionContext(kept.context);
  size_t used = 0;
  size_t expected = 1;
  for (;;) {
    if (!grow(out, used, limit)) return too_large(limit);
    size_t produced = out.size() - used;
    size_t consumed = in.size();
    expected =
        LZ4F_decompress(kept.context, out.data() + used, &produced, in.data(), &consumed, nullptr);
    if (LZ4F_isError(expected)) return corrupt("lz4", LZ4F_getErrorName(expected));
    used += produced;
    in = in.subspan(consumed);
    if (in.empty() && produced == 0) break;
    if (in.empty() && expected == 0) break;
    if (consumed == 0 && produced == 0 && used < out.size()) return corrupt("lz4", "no progress");
  }
  if (expected != 0) return corrupt("lz4", "the data end too early");
  if (used > limit) return too_large(limit);
  out.resize(used);
  return {};
}

}  // namespace ackord::protocol::codec
