#include "tools/bench/coordinator.h"

#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"

namespace ackord::bench {
namespace {

constexpr std::chrono::milliseconds kPause{50};
constexpr std::chrono::seconds kLimit{60};

}  // namespace

bool is_starting(ErrorCode code) {
  return code == ErrorCode::COORDINATOR_NOT_AVAILABLE || code == ErrorCode::NOT_COORDINATOR ||
         code == ErrorCode::COORDINATOR_LOAD_IN_PROGRESS ||
         code == ErrorCode::CONCURRENT_TRANSACTIONS;
}

Attempts::Attempts(Bench& bench, const char* what)
    : bench_(bench), what_(what), limit_(Clock::now() + kLimit) {}

Task<> Attempts::again(ErrorCode code) {
  if (Clock::now() > limit_) expect_none(code, what_);
  asio::steady_timer timer(bench_.context(), kPause);
  co_await timer.async_wait(asio::use_awaitable);
}

Task<> await_coordinator(Bench& bench, Wire& wire, Coordinator type, const std::string& key) {
  protocol::FindCoordinatorRequest request;
  request.key_type = static_cast<int8_t>(type);
  request.coordinator_keys = {String(key)};
  Attempts attempts(bench, "FindCoordinator");
  while (true) {
    const auto found = co_await wire.call<protocol::FindCoordinatorResponse>(request);
    const ErrorCode code = found.message.coordinators.at(0).error_code;
    if (code == ErrorCode::NONE) co_return;
    if (!is_starting(code)) expect_none(code, "FindCoordinator");
    co_await attempts.again(code);
  }
}

}  // namespace ackord::bench
