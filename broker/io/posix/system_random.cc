#include "broker/io/posix/system_random.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "broker/base/assert.h"

namespace ackord::io {
namespace {

struct Block {
  std::array<uint64_t, 32>
      numbers;  // 256 bytes: the kernel never gives fewer than asked up to that size
  size_t used = 32;
};
thread_local Block block;

}  // namespace

uint64_t SystemRandom::next() {
  if (block.used == block.numbers.size()) {
    ssize_t got;
    do {
      got = ::getrandom(block.numbers.data(), sizeof block.numbers, 0);
    } while (got < 0 && errno == EINTR);
    ACKORD_ASSERT(got == static_cast<ssize_t>(sizeof block.numbers), "the kernel has randomness");
    block.used = 0;
  }
  const uint64_t number = block.numbers[block.used];
  block.numbers[block.used++] = 0;  // an id that was given out is not left lying here
  return number;
}

}  // namespace ackord::io
