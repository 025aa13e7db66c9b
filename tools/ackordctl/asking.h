// What the calls of all commands have in common: when to ask again, what an error says, which
// brokers there are.
#pragma once

#include <optional>
#include <string>

#include "client/cluster.h"
#include "client/retry.h"

namespace ackord::ctl {

// The broker's code, with its message where it has one.
template <class Text>
Error answered(ErrorCode code, const std::optional<Text>& message) {
  const std::string why = message ? std::string(message->sv()) : std::string();
  return error(code, why.empty() ? std::string(name_of(code)) : why);
}

// Until it is answered for good, or the deadline comes. That a topic does not exist is an answer
// here: who types a name wrong need not wait.
template <class Attempt>
auto ask(client::Cluster& cluster, const client::Deadline& deadline, Attempt attempt)
    -> decltype(attempt()) {
  return client::retry(cluster.config(), deadline, attempt, [](ErrorCode code) {
    return client::may_pass(code) && code != ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  });
}

// One request to the coordinator of `key`, once. A coordinator that cannot be reached is looked up
// anew by the next attempt; forget_if_stale() does the same for an answer that says so.
template <class Response, class Request>
Result<client::Answer<Response>> call_coordinator(client::Cluster& cluster,
                                                  client::CoordinatorType type,
                                                  const std::string& key, const Request& request,
                                                  const client::Deadline& deadline) {
  Result<client::Connection*> coordinator = cluster.coordinator(type, key, deadline);
  if (!coordinator) {
    cluster.forget_coordinator(type, key);
    return coordinator.error();
  }
  return (*coordinator)->template call<Response>(request, deadline);
}

inline void forget_if_stale(client::Cluster& cluster, client::CoordinatorType type,
                            const std::string& key, ErrorCode code) {
  if (client::is_stale(code)) cluster.forget_coordinator(type, key);
}

// One request to each broker; `take` is given each answer and its broker, and may return an error.
template <class Response, class Request, class Take>
Result<void> call_each_broker(client::Cluster& cluster, const Request& request,
                              const client::Deadline& deadline, Take take) {
  if (Result<void> refreshed = cluster.refresh({}, deadline); !refreshed) return refreshed;
  for (const BrokerId id : cluster.brokers()) {
    Result<client::Connection*> broker = cluster.broker(id, deadline);
    if (!broker) return broker.error();
    auto answer = (*broker)->template call<Response>(request, deadline);
    if (!answer) return answer.error();
    if (Result<void> taken = take(answer->message, id); !taken) return taken;
  }
  return {};
}

}  // namespace ackord::ctl
