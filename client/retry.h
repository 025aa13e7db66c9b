// Calls `attempt` (which returns a Result) until it succeeds, fails for good, or the deadline
// comes.
#pragma once

#include "client/cluster.h"
#include "client/deadline.h"

namespace ackord::client {

// Whether the same request may succeed later.
inline bool may_pass(ErrorCode code) {
  return is_stale(code) || is_retriable(code) || code == ErrorCode::BROKER_NOT_AVAILABLE;
}

// `passing`: whether an error is one to wait for.
template <class Attempt, class Passing>
auto retry(const ClientConfig& config, const Deadline& deadline, Attempt attempt, Passing passing)
    -> decltype(attempt()) {
  Backoff backoff(config);
  while (true) {
    auto result = attempt();
    if (result) return result;
    if (!passing(result.error().code) || !backoff.sleep(deadline)) return result;
  }
}

template <class Attempt>
auto retry(const ClientConfig& config, const Deadline& deadline, Attempt attempt)
    -> decltype(attempt()) {
  return retry(config, deadline, std::move(attempt), may_pass);
}

}  // namespace ackord::client
