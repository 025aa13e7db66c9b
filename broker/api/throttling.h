// What handlers need to keep clients within their quotas (broker/quota).
#pragma once

#include <algorithm>
#include <cstdint>

#include "broker/api/handler.h"
#include "broker/quota/client_quotas.h"

namespace ackord::api {

inline quota::ClientName quota_client(const RequestContext& context) {
  return {context.client->principal.name, context.client_id};
}

// Throttles the connection, and says so in the answer (KIP-219: the answer goes at once, and the
// broker listens to the connection again when the time is over). The longest one counts.
template <class Response>
void throttle(RequestContext& context, Response& response, int32_t time_ms) {
  response.throttle_time_ms = std::max(response.throttle_time_ms, time_ms);
  context.throttle_ms = std::max(context.throttle_ms, time_ms);
}

// The controller mutations of one request (KIP-599). A strict one that finds its client above the
// quota is refused and throttled; who gets above it by an allowed one is not. Versions before that
// make what they were asked for and are throttled afterwards.
class Mutations {
 public:
  Mutations(io::Clock& clock, quota::Charge charge, bool strict)
      : clock_(clock), charge_(std::move(charge)), strict_(strict) {}

  bool limited() const { return charge_.limited(); }
  // False: not now (THROTTLING_QUOTA_EXCEEDED), and nothing is charged.
  bool take(int32_t partitions) {
    if (strict_ && refused_for_ms_ == 0) refused_for_ms_ = above_ms();
    if (refused_for_ms_ > 0) return false;
    charge_.record(clock_.now().steady_ms, partitions);
    return true;
  }
  int32_t throttle_ms() const { return strict_ ? refused_for_ms_ : above_ms(); }

 private:
  int32_t above_ms() const {
    return charge_.limited() ? charge_.throttle_ms(clock_.now().steady_ms) : 0;
  }

  io::Clock& clock_;
  quota::Charge charge_;
  bool strict_;
  // As it was when the first was refused: by the end of the request there may be room again.
  int32_t refused_for_ms_ = 0;
};
inline io::Task<Mutations> mutations_of(RequestContext& context, bool strict) {
  quota::Charge charge;
  if (context.services.quotas.any()) {
    auto charging = context.services.quotas.charge(quota::Kind::kMutation, quota_client(context));
    charge = co_await std::move(charging);
  }
  co_return Mutations(context.core.clock, std::move(charge), strict);
}
inline constexpr const char* kMutationsExceeded = "The throttling quota has been exceeded.";

}  // namespace ackord::api
