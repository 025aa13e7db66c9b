// Runs checks, several at a time, each with an end to its time.
// Whatever the broker does (hangs, closes, answers garbage), a check ends as a Result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/conform/case.h"

namespace ackord::conform {

enum class Outcome : int8_t { kPassed, kFailed, kSkipped };

struct Result {
  Check check;
  Outcome outcome = Outcome::kPassed;
  // Of a failure: expected and received, then request and answer. Of a skip: the reason.
  std::string message;
  Millis took{0};
};

std::string_view name_of(Outcome outcome);

// `jobs` threads; those that must be alone run last, one by one. `report` is called with every
// result as it comes, one call at a time. The results are in the order of `checks`.
std::vector<Result> run_checks(const Broker& broker, const std::vector<Check>& checks, int jobs,
                               const std::function<void(const Result&)>& report);

}  // namespace ackord::conform
