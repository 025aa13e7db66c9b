// PositionGate: coroutines that wait until a position (a durable log end) has been reached. One
// core. One advance() wakes all that it satisfies, so many writers share one fdatasync.
#pragma once

#include <coroutine>
#include <cstdint>
#include <map>
#include <optional>

#include "broker/io/executor.h"
#include "protocol/types/result.h"

namespace ackord::io {

class PositionGate {
 public:
  explicit PositionGate(int64_t position) : position_(position) {}
  PositionGate(const PositionGate&) = delete;
  PositionGate& operator=(const PositionGate&) = delete;

  int64_t position() const { return position_; }
  const std::optional<Error>& failure() const { return failure_; }

  // Raises the position (a lower one changes nothing) and resumes whoever waited for it, through
  // the executor.
  void advance(int64_t position);
  // Nothing will become durable any more: all waiters, present and later, get `error`.
  void fail(Error error);

  // Resumes once position() >= `position`, at once when it is; with the error after fail() when it
  // is not.
  Task<Result<void>> reached(int64_t position);

 private:
  struct Await;
  void release(Await& await);

  int64_t position_;
  std::optional<Error> failure_;
  std::multimap<int64_t, Await*> waiters_;
};

}  // namespace ackord::io
