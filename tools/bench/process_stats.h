// What a process of this machine has used so far, read from /proc. Errors: std::runtime_error when
// there is no such process.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace ackord::bench {

struct ProcessStats {
  double cpu_s = 0;  // user and system, of all threads that ever were
  uint64_t context_switches = 0;
  uint64_t rss_bytes = 0;
  uint64_t peak_rss_bytes = 0;  // since the process began
};

ProcessStats read_stats(pid_t pid);

}  // namespace ackord::bench
