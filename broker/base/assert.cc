#include "broker/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace ackord::base {

void assertion_failed(const char* condition, const char* why, std::source_location where) {
  // No logger here: it may be what is broken.
  std::fprintf(stderr, "%s:%u: %s: assertion failed: %s (%s)\n", where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name(), condition, why);
  std::fflush(stderr);
  std::abort();
}

}  // namespace ackord::base
