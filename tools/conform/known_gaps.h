// Known gaps: the checks that a broker is known to fail. A run against such a list is good when
// what fails is exactly what is listed.
#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tools/conform/runner.h"

namespace ackord::conform {

// One name a line; empty lines and lines that begin with # say nothing. Throws std::runtime_error
// when the file cannot be read, or names no check of `all`.
std::set<std::string> read_known_gaps(const std::string& path, const std::vector<Check>& all);

// Writes what differs, a line each: a check that fails and is not listed, one that is listed and
// does not fail. True when nothing differs.
bool compare_with_gaps(std::ostream& out, const std::vector<Result>& results,
                       const std::set<std::string>& gaps);

}  // namespace ackord::conform
