// Records that a share group holds for long, and their offsets one by one.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/share_member.h"

namespace ackord::bench {

struct Alternating {
  std::vector<Acquired> even;
  std::vector<Acquired> odd;
};

// Every offset as a range of its own.
Alternating alternate(const std::vector<Acquired>& ranges);

// Reads from the beginning; as many locks as a broker lets a group have, for as long as it lets.
void configure_holding(Bench& bench, const std::string& group);

}  // namespace ackord::bench
