// The quota of a Fetch: what it may answer at most, and whether it answers anything (KIP-219).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "broker/api/fetch_polling.h"
#include "broker/api/throttling.h"
#include "protocol/generated/fetch_response.h"

namespace ackord::api {

inline io::Task<quota::Charge> fetch_charge(RequestContext& context) {
  quota::Charge charge;
  if (context.services.quotas.any()) {
    auto charging = context.services.quotas.charge(quota::Kind::kFetch, quota_client(context));
    charge = co_await std::move(charging);
  }
  co_return charge;
}

// Whether the client has had too much: then it gets nothing of this now.
inline bool is_throttled(RequestContext& context, quota::Charge& charge,
                         const std::vector<FetchLook>& looks, protocol::FetchResponse& response) {
  if (!charge.limited()) return false;
  int64_t bytes = 0;
  for (const FetchLook& look : looks) bytes += static_cast<int64_t>(look.result.records.size());
  const int64_t now_ms = context.core.clock.now().steady_ms;
  charge.record(now_ms, bytes);
  const int32_t wait_ms = charge.throttle_ms(now_ms);
  if (wait_ms == 0) return false;
  charge.record(now_ms, -bytes);
  throttle(context, response, wait_ms);
  return true;
}

}  // namespace ackord::api
