#include "tools/conform/known_gaps.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace ackord::conform {

std::set<std::string> read_known_gaps(const std::string& path, const std::vector<Check>& all) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::set<std::string> gaps;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (std::ranges::none_of(all, [&](const Check& check) { return check.name == line; }))
      throw std::runtime_error(path + ": no check is named " + line);
    gaps.insert(line);
  }
  return gaps;
}

bool compare_with_gaps(std::ostream& out, const std::vector<Result>& results,
                       const std::set<std::string>& gaps) {
  bool same = true;
  for (const Result& result : results) {
    const bool known = gaps.contains(result.check.name);
    if (result.outcome == Outcome::kFailed && !known) {
      out << "not a known gap: " << result.check.name << " failed\n";
      same = false;
    } else if (result.outcome != Outcome::kFailed && known) {
      out << "no longer a gap: " << result.check.name << " " << name_of(result.outcome)
          << "; remove it from the list\n";
      same = false;
    }
  }
  return same;
}

}  // namespace ackord::conform
