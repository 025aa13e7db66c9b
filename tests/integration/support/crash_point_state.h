// What CrashPoint and its preloaded library share: a mapped file.
#pragma once

#include <atomic>
#include <cstdint>

namespace ackord::integration {

// The variable that names the file.
constexpr char kCrashPointVariable[] = "ACKORD_TEST_CRASH_POINT";

struct CrashPointState {
  std::atomic<int64_t> steps_left;  // 0: it has struck; negative: disarmed
  char directory[4096];             // with a slash at its end; written while disarmed
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

}  // namespace ackord::integration
