// ACKORD_ASSERT: a programmer error stops the process, in release too. A broker that goes on with a
// broken invariant would break promises that were already given; one that stops keeps them.
#pragma once

#include <source_location>

namespace ackord::base {

[[noreturn]] void assertion_failed(const char* condition, const char* why,
                                   std::source_location where);

}  // namespace ackord::base

#define ACKORD_ASSERT(condition, why)                                                     \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::ackord::base::assertion_failed(#condition, why, std::source_location::current()); \
  } while (false)
