#include "broker/io/position_gate.h"

#include <utility>

namespace ackord::io {

struct PositionGate::Await {
  PositionGate& gate;
  int64_t position;
  std::coroutine_handle<> caller;
  std::multimap<int64_t, Await*>::iterator at;
  bool linked = false;

  Await(PositionGate& g, int64_t p) : gate(g), position(p) {}
  Await(const Await&) = delete;
  ~Await() {
    if (linked) gate.waiters_.erase(at);
  }
  bool await_ready() noexcept { return gate.failure_ || gate.position_ >= position; }
  void await_suspend(std::coroutine_handle<> handle) {
    caller = handle;
    at = gate.waiters_.emplace(position, this);
    linked = true;
  }
  void await_resume() noexcept {}
};

void PositionGate::release(Await& await) {
  await.linked = false;
  Executor::current()->resume(await.caller);
}

void PositionGate::advance(int64_t position) {
  if (failure_ || position <= position_) return;
  position_ = position;
  while (!waiters_.empty() && waiters_.begin()->first <= position) {
    Await* first = waiters_.begin()->second;
    waiters_.erase(waiters_.begin());
    release(*first);
  }
}

void PositionGate::fail(Error error) {
  if (failure_) return;
  failure_ = std::move(error);
  for (auto& [position, await] : std::exchange(waiters_, {})) release(*await);
}

Task<Result<void>> PositionGate::reached(int64_t position) {
  Await await(*this, position);
  co_await await;
  if (position_ >= position) co_return Result<void>();
  co_return *failure_;
}

}  // namespace ackord::io
