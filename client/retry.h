// Calls `attempt` (which returns a Result) until it succeeds, fails for good, or the deadline
// comes.
#pragma once

#include "client/cluster.h"
#include "client/deadline.h"

namespace ackord::client {

template <class Attempt>
auto retry(const ClientConfig& config, const Deadline& deadline, Attempt attempt)
    -> decltype(attempt()) {
  Backoff backoff(config);
  while (true) {
    auto result = attempt();
    if (result) return result;
    const ErrorCode code = result.error().code;
    const bool passing =
        is_stale(code) || is_retriable(code) || code == ErrorCode::BROKER_NOT_AVAILABLE;
    if (!passing || !backoff.sleep(deadline)) return result;
  }
}

}  // namespace ackord::client
