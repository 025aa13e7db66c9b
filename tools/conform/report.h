// The results of a run in three forms: lines for people, JUnit XML, JSON.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tools/conform/runner.h"

namespace ackord::conform {

struct Counts {
  size_t passed = 0;
  size_t failed = 0;
  size_t skipped = 0;
};
Counts count(const std::vector<Result>& results);

// "passed area.case[v1] (12 ms)", with the message below it when there is one.
void write_line(std::ostream& out, const Result& result);
// "N passed, N failed, N skipped".
void write_closing_line(std::ostream& out, const std::vector<Result>& results);
void write_junit(std::ostream& out, const std::vector<Result>& results);
// {"label", "broker", "passed", "failed", "skipped", "areas": {name: {title, …}}, "results": […]}
void write_json(std::ostream& out, const std::vector<Result>& results, const std::string& label,
                const std::string& address);

}  // namespace ackord::conform
