// Finding a coordinator, and what its answers mean. One thread. Errors: BenchError.
#pragma once

#include <string>

#include "tools/bench/bench.h"

namespace ackord::bench {

enum class Coordinator : int8_t { kGroup = 0, kTransaction = 1 };

// Asks until there is one for the key: the first question makes Kafka create the state topic.
Task<> await_coordinator(Bench& bench, Wire& wire, Coordinator type, const std::string& key);

// Whether a coordinator answers so while it is being made ready.
bool is_starting(ErrorCode code);

// A pause between two attempts; BenchError, with `code`, when there were too many.
class Attempts {
 public:
  Attempts(Bench& bench, const char* what);
  Task<> again(ErrorCode code);

 private:
  Bench& bench_;
  const char* what_;
  Clock::time_point limit_;
};

}  // namespace ackord::bench
