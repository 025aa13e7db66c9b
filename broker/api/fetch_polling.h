// The long poll of a Fetch: looks at partitions, and again when something has come, until there are
// MinBytes, a partition has an error, or the time is over.
//
// A fetch without a session looks at all partitions that it names. One of a session looks at those
// that may have something (fetch_session.h; when the session begins that is all of them), in
// portions, until the limit of bytes is reached.
// Threads: on the connection's core; the partitions are read on theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "broker/api/fetch_reading.h"
#include "broker/api/fetch_session.h"
#include "broker/api/handler.h"

namespace ackord::api {

struct FetchLimits {
  int64_t max_bytes;
  int64_t min_bytes;
  int64_t deadline_ms;  // steady
  log::Isolation isolation;
  bool from_replica;
};

struct FetchLook {
  FetchTarget* target;
  FetchResult result;
  bool left_out = false;  // it has records, for which the limits left no room
};

// Whether an incremental answer must name this partition.
bool has_news(const FetchLook& look);
// Whether the next fetch must look at it again, even if nothing happens to it meanwhile.
bool comes_again(const FetchLook& look);

// All of them, in their order. They live longer.
io::Task<std::vector<FetchLook>> poll_all(RequestContext& context,
                                          std::vector<FetchTarget>* targets, FetchLimits limits);
// Partitions that an incremental fetch looks at in one go.
inline constexpr size_t kFetchPortion = 64;
// Those that were looked at last. The session does not look at them again by itself before
// something happens to them: whoever answers says look_again() of those that come again.
io::Task<std::vector<FetchLook>> poll_session(RequestContext& context, FetchSession& session,
                                              FetchLimits limits, size_t portion);

}  // namespace ackord::api
