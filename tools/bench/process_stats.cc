#include "tools/bench/process_stats.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace ackord::bench {
namespace {

// The number after `name:` in a status file; 0 without it.
uint64_t status_number(const std::filesystem::path& path, const std::string& name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size() + 1, name + ":") == 0)
      return std::stoull(line.substr(name.size() + 1));
  }
  return 0;
}

}  // namespace

ProcessStats read_stats(pid_t pid) {
  ProcessStats stats;
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
    throw std::runtime_error("there is no process " + std::to_string(pid));
  stats.cpu_s = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
  const std::filesystem::path process = "/proc/" + std::to_string(pid);
  stats.rss_bytes = status_number(process / "status", "VmRSS") * 1024;
  stats.peak_rss_bytes = status_number(process / "status", "VmHWM") * 1024;
  std::error_code ignored;  // threads come and go
  for (const auto& thread : std::filesystem::directory_iterator(process / "task", ignored)) {
    stats.context_switches += status_number(thread.path() / "status", "voluntary_ctxt_switches");
    stats.context_switches += status_number(thread.path() / "status", "nonvoluntary_ctxt_switches");
  }
  return stats;
}

}  // namespace ackord::bench
