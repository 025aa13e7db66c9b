#include "tools/ackordctl/table.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace ackord::ctl {

std::string aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}", row[i], widths[i] + 2);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string range_text(Offset first, Offset last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string acknowledge_name(int8_t type) {
  constexpr std::array<const char*, 5> kNames = {"gap", "accept", "release", "reject", "renew"};
  if (type < 0 || static_cast<size_t>(type) >= kNames.size()) return std::to_string(type);
  return kNames[static_cast<size_t>(type)];
}

std::string seconds_text(int64_t ms) {
  return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
}

std::string time_text(TimeMs time_ms) {
  if (time_ms < 0) return "-";
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(time_ms / 1000)));
}

}  // namespace ackord::ctl
